// Reference model of cleary_filter's table: builds the whole table from the set of its values, cell
// by cell.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "genista/hash/key.hpp"

namespace genista::test {

// A value: home and remainder.
using cleary_value = std::pair<std::uint64_t, std::uint64_t>;

struct cleary_layout {
    std::vector<bool> occupied, ends, taken;
    std::vector<std::uint64_t> remainders;
    std::vector<std::uint64_t> offsets;  // one for each 60 cells, 255 at the most
};

class cleary_model {
  public:
    cleary_model(std::uint64_t cells, unsigned bits) : cells_{cells}, bits_{bits} {}

    [[nodiscard]] cleary_value value_of(const digest& d) const {
        return {scale(d.position, cells_), d.seed >> (64 - bits_)};
    }
    [[nodiscard]] bool contains(const digest& d) const { return values_.contains(value_of(d)); }
    [[nodiscard]] bool is_full() const { return values_.size() == cells_; }
    void insert(const digest& d) { values_.insert(value_of(d)); }
    [[nodiscard]] const std::set<cleary_value>& values() const { return values_; }

    // Places the runs in the order of their homes, starting at a home that no run slides over:
    // there the number of homes so far minus the number of values so far is largest.
    [[nodiscard]] cleary_layout layout() const {
        const std::uint64_t first = quiet_home();
        cleary_layout built{std::vector<bool>(cells_), std::vector<bool>(cells_), std::vector<bool>(cells_),
                            std::vector<std::uint64_t>(cells_), std::vector<std::uint64_t>(cells_ / 60)};
        std::uint64_t next = first;
        for (std::uint64_t home = first; home < first + cells_; ++home) {
            if (home % 60 == 0) built.offsets[home % cells_ / 60] = std::min<std::uint64_t>(255, next - home);
            for (auto at = values_.lower_bound({home % cells_, 0}); at != values_.end() && at->first == home % cells_;
                 ++at) {
                built.occupied[home % cells_] = true;
                built.taken[next % cells_] = true;
                built.remainders[next % cells_] = at->second;
                const auto after = std::next(at);
                built.ends[next % cells_] = after == values_.end() || after->first != at->first;
                ++next;
            }
            next = std::max(next, home + 1);
        }
        return built;
    }

  private:
    [[nodiscard]] std::uint64_t quiet_home() const {
        std::vector<std::int64_t> counts(cells_);
        for (const cleary_value& each : values_) ++counts[each.first];
        std::int64_t sum = 0, least = 0;
        std::uint64_t found = 0;
        for (std::uint64_t home = 0; home < cells_; ++home) {
            sum += counts[home] - 1;
            if (sum < least) least = sum, found = home + 1;
        }
        return found % cells_;
    }

    std::uint64_t cells_;
    unsigned bits_;
    std::set<cleary_value> values_;
};

}  // namespace genista::test
