// disordered_map: an R with the right records in a wrong order: in a range two neighbours are
// swapped. faulty_map has no such kind of fault.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "genista/remote/memory_map.hpp"

namespace genista::test {

class disordered_map {
  public:
    // Swaps in every range, or only in those that hold this position.
    explicit disordered_map(memory_map& wrapped, std::optional<std::uint64_t> position = std::nullopt) noexcept
        : inner_{wrapped}, position_{position} {}

    result<bool> put(const digest& where, key_view key) { return inner_.put(where, key); }
    result<bool> erase(const digest& where, key_view key) { return inner_.erase(where, key); }
    result<bool> contains(const digest& where, key_view key) { return inner_.contains(where, key); }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        std::vector<std::pair<digest, std::string>> records;
        const auto read = inner_.for_each(first, last, [&](const digest& where, key_view key) {
            records.emplace_back(where, key.text());
            return true;
        });
        const bool lies = !position_ || (first <= *position_ && *position_ <= last);
        if (lies && records.size() > 3) std::swap(records[1], records[2]);
        for (const auto& [where, key] : records) {
            if (!visit(where, key_view{key})) break;
        }
        return read;
    }

  private:
    memory_map& inner_;
    std::optional<std::uint64_t> position_;
};

}  // namespace genista::test
