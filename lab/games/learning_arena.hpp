// learning_arena: a filter that adapts, with its R in memory. Remote is one of remotes.hpp, the R
// that this kind of filter needs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "genista/filters/filter.hpp"
#include "lab/experiment.hpp"
#include "lab/games/arena.hpp"
#include "lab/games/remotes.hpp"

namespace genista::lab {

// How a user calls the filter. The adversary's numbers stand for keys of this many bytes.
struct calling_ways {
    enum class erases : unsigned char { alone, assume_present, in_bulk, by_halves };
    std::size_t key_bytes = 8;
    erases erase = erases::alone;
    bool failures_are_counted =
        false;  // true: a mistake that could not be repaired is counted; false: it ends the game
};

template <class Filter, class Remote>
class learning_arena final : public counting_arena {
  public:
    template <class Options>
    explicit learning_arena(const Options& options, const calling_ways& ways = {})
        : filter_{must(Filter::make(options))}, ways_{ways} {}

    [[nodiscard]] std::string_view filter_name() const noexcept override { return Filter::name; }
    [[nodiscard]] double rate() const noexcept override { return filter_.rate(); }
    [[nodiscard]] std::uint64_t bins() const noexcept override {
        if constexpr (requires { filter_.details().bins; }) {
            return filter_.details().bins;
        } else if constexpr (requires { filter_.shape().bins; }) {
            return filter_.shape().bins;
        } else {
            return 0;
        }
    }

    reply query(std::uint64_t key) override {
        reply seen;
        seen.maybe = ways_.key_bytes == 8 ? filter_.may_contain(key) : filter_.may_contain(name_of(key));
        seen.member = members_.contains(key);
        if (count(seen)) {
            const std::uint64_t before = remote_.reads();
            const auto repaired = with_key(key, [&](const auto& each) { return filter_.adapt(each, remote()); });
            if (!repaired && !ways_.failures_are_counted) (void)must(repaired);
            score_.unrepaired += repaired ? 0u : 1u;
            seen.reads = reads_since(before);
        }
        return seen;
    }
    hunt query_run(std::uint64_t first, std::uint64_t most) override {
        if (ways_.key_bytes != 8) return arena::query_run(first, most);
        return this->hunt_in(filter_, first, most);
    }
    unsigned insert(std::uint64_t key) override {
        const tried_insert tried = try_insert(key);
        if (tried.became == insert_reply::refused) throw std::runtime_error{"the arena is full"};
        if (tried.became == insert_reply::failed) throw std::runtime_error{"an insert failed"};
        return tried.reads;
    }
    tried_insert try_insert(std::uint64_t key, bool stays_in_store = false) override {
        ++score_.operations;
        const std::uint64_t before = remote_.reads();
        const auto outcome = with_key(key, [&](const auto& each) {
            (void)must(remote().put(filter_.hash()(each), view_of(each)));
            return filter_.insert(each, remote());
        });
        tried_insert tried;
        if (!outcome) {
            tried.became = insert_reply::failed;
        } else if (*outcome == insert_outcome::full) {
            tried.became = insert_reply::refused;
        } else {
            members_.insert(key);
        }
        tried.reads = reads_since(before);
        if (tried.became != insert_reply::joined && !stays_in_store && !members_.contains(key)) take_out(key);
        return tried;
    }
    unsigned erase(std::uint64_t key) override {
        ++score_.operations;
        const std::uint64_t before = remote_.reads();
        if constexpr (requires { filter_.erase(key, remote()); }) {
            with_key(key, [&](const auto& each) { erase_as_called(each, members_.contains(key)); });
        } else {  // the filter keeps its state of the key, as in a store
            take_out(key);
        }
        members_.erase(key);
        return reads_since(before);
    }

    // All at once, where the filter supports it. REQUIRES: the filter is new.
    void fill(std::uint64_t keys) override {
        if constexpr (Remote::has_part_of_filter) {
            for (std::uint64_t key = 0; key < keys; ++key) {
                with_key(key, [&](const auto& each) { (void)must(remote().put(filter_.hash()(each), view_of(each))); });
                members_.insert(key);
            }
            must(filter_.rebuild(remote()));
        } else {
            arena::fill(keys);
        }
    }

    void grow() override {
        if constexpr (requires { filter_.grow(remote()); }) {
            must(filter_.grow(remote()));
        } else {
            arena::grow();
        }
    }
    void save() override {
        if constexpr (savable_filter<Filter>) {
            saved_ = saved_bytes(filter_);
        } else {
            throw_cannot("be saved");
        }
    }
    void restart() override {
        if constexpr (savable_filter<Filter>) {
            filter_ = must(Filter::load(saved_));
            if constexpr (Remote::has_part_of_filter) must(filter_.rebuild(remote()));
        } else {
            throw_cannot("be saved");
        }
    }
    void rebuild() override {
        if constexpr (requires { filter_.rebuild(remote()); }) {
            must(filter_.rebuild(remote()));
        } else {
            arena::rebuild();
        }
    }
    void break_ranges(bool broken) override {
        if constexpr (requires { remote_.break_ranges(broken); }) {
            remote_.break_ranges(broken);
        } else {
            arena::break_ranges(broken);
        }
    }

    [[nodiscard]] Filter& filter() noexcept { return filter_; }
    [[nodiscard]] auto& remote() noexcept { return remote_.map(); }

  private:
    unsigned reads_since(std::uint64_t before) { return count_reads(remote_.reads() - before); }

    // The key that a number stands for: the number itself, or a name that begins or ends with it.
    [[nodiscard]] std::string name_of(std::uint64_t key) const {
        std::string name(ways_.key_bytes, '/');
        std::memcpy(name.data(), &key, std::min(sizeof key, name.size()));
        return name;
    }
    [[nodiscard]] static key_view view_of(const std::uint64_t& key) noexcept {
        return key_view{reinterpret_cast<const std::byte*>(&key), sizeof key};
    }
    [[nodiscard]] static key_view view_of(key_view key) noexcept { return key; }
    template <class Call>
    auto with_key(std::uint64_t key, const Call& call) {
        if (ways_.key_bytes == 8) return call(key);
        const std::string name = name_of(key);
        return call(key_view{name});
    }
    void take_out(std::uint64_t key) {
        with_key(key, [&](const auto& each) { (void)must(remote().erase(filter_.hash()(each), view_of(each))); });
    }
    // `assume_present` is for stored keys only.
    template <class Key>
    void erase_as_called(const Key& key, bool is_member) {
        using erases = calling_ways::erases;
        if constexpr (requires { filter_.erase(key, remote(), assume_present); }) {
            if (is_member && ways_.erase == erases::assume_present)
                return (void)must(filter_.erase(key, remote(), assume_present));
            if (is_member && ways_.erase == erases::in_bulk)
                return (void)must(filter_.erase(std::span<const Key>{&key, 1}, remote(), assume_present));
            if (is_member && ways_.erase == erases::by_halves) {
                (void)must(remote().erase(filter_.hash()(key), view_of(key)));
                return (void)must(filter_.forget(key, remote()));
            }
        }
        (void)must(filter_.erase(key, remote()));
    }

    Remote remote_;
    Filter filter_;
    calling_ways ways_;
    std::vector<std::byte> saved_;
};

// Our broom filter. Filter is genista::broom_filter of the variant in force (faults.hpp): a
// template parameter, so that arenas of two variants differ.
template <class Filter>
using broom_arena = learning_arena<Filter, records_in_memory>;

// The cuckoo family.
template <class Filter>
using cuckoo_arena = learning_arena<Filter, slots_in_memory>;

// The filters of the two broom papers, with records and index.
template <class Filter>
using index_arena = learning_arena<Filter, index_in_memory>;

}  // namespace genista::lab
