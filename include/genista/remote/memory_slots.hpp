// memory_slots: a slot map in RAM, for tests, experiments and small sets. One ordered tree of pages
// of slots, so that slots that lie together cost one search, and whole stretches can go at once.
//
//     page     64 neighbouring slots; a slot is a string, or nothing
//
// Threads: readers shared, a writer alone, so that a range is one moment. Never throws: no memory
// is an error, and a write that met it has changed nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "genista/remote/slots.hpp"

namespace genista {

class memory_slots {
  public:
    template <slot_reader Take>
    result<bool> read_slot(std::uint64_t slot, Take&& take) {
        const std::shared_lock held{mutex_};
        const auto page = pages_.find(slot / page_slots);
        if (page == pages_.end()) return false;
        const auto& key = page->second[slot % page_slots];
        if (!key) return false;
        take(key_view{*key});
        return true;
    }

    // What may fail for want of memory comes first: copies of the keys, and the pages they go to.
    result<void> write_slots(std::span<const slot_change> changes) try {
        const std::unique_lock held{mutex_};
        std::vector<std::optional<std::string>> values;
        values.reserve(changes.size());
        for (const slot_change& each : changes) {
            values.emplace_back();
            if (each.key) values.back().emplace(each.key->text());
            if (each.key) pages_.try_emplace(each.slot / page_slots);
        }
        for (std::size_t i = 0; i < changes.size(); ++i) {
            const auto page = pages_.find(changes[i].slot / page_slots);
            if (page != pages_.end()) page->second[changes[i].slot % page_slots].swap(values[i]);
        }
        return {};
    } catch (const std::exception&) {  // bad_alloc, or length_error for a key longer than any memory
        return error::make(error_code::out_of_memory, "memory_slots: no memory for %zu changes", changes.size());
    }

    template <slot_visitor Visit>
    result<void> for_each_slot(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        const std::shared_lock held{mutex_};
        for (auto page = pages_.lower_bound(first / page_slots); page != pages_.end(); ++page) {
            for (std::uint64_t i = 0; i < page_slots; ++i) {
                const std::uint64_t slot = page->first * page_slots + i;
                const auto& key = page->second[i];
                if (slot > last) return {};
                if (slot < first || !key) continue;
                if (!visit(slot, key_view{*key})) return {};
            }
        }
        return {};
    }

    result<void> clear_slots(std::uint64_t first, std::uint64_t last) {
        const std::unique_lock held{mutex_};
        for (auto page = pages_.lower_bound(first / page_slots);
             page != pages_.end() && page->first <= last / page_slots;) {
            for (std::uint64_t i = 0; i < page_slots; ++i) {
                const std::uint64_t slot = page->first * page_slots + i;
                if (first <= slot && slot <= last) page->second[i].reset();
            }
            const bool empty =
                std::none_of(page->second.begin(), page->second.end(), [](const auto& key) { return key.has_value(); });
            page = empty ? pages_.erase(page) : std::next(page);
        }
        return {};
    }

  private:
    static constexpr std::uint64_t page_slots = 64;

    std::shared_mutex mutex_;
    std::map<std::uint64_t, std::array<std::optional<std::string>, page_slots>> pages_;
};

static_assert(slot_map<memory_slots>);

}  // namespace genista
