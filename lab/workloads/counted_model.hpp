// counted_model: a filter that counts, beside the exact counts: mixed inserts and erases, and the
// errors found.
#pragma once

#include <cstdint>
#include <vector>

#include "genista/filters/filter.hpp"
#include "lab/experiment.hpp"
#include "lab/workloads/random.hpp"

namespace genista::lab {

struct model_seen {
    std::uint64_t operations = 0;
    std::uint64_t too_small = 0;  // a count below the exact one, or a stored key denied
    std::uint64_t refused = 0;    // an insert, or an erase of a key that is there
};

// Keys 0 .. exact.size() - 1, drawn by draw(). The number of keys rises and falls between a quarter
// of `most` and `most`.
template <class Filter, class Draw>
model_seen play_mixed(Filter& filter, std::vector<std::uint64_t>& exact, std::uint64_t operations, std::uint64_t most,
                      std::uint64_t seed, Draw draw) {
    model_seen seen{.operations = operations};
    random_stream chance{seed};
    std::uint64_t size = 0;
    for (const std::uint64_t each : exact) size += each;
    bool grows = true;
    for (std::uint64_t i = 0; i < operations; ++i) {
        const std::uint64_t key = draw();
        grows = size >= most ? false : size <= most / 4 ? true : grows;
        const bool up = size < most && (size == 0 || (chance() % 8 < 5) == grows);
        if (up) {
            if (filter.insert(key) != insert_outcome::inserted) {
                ++seen.refused;
                continue;
            }
            ++exact[key], ++size;
        } else if (exact[key] > 0) {
            if (filter.erase(key) != erase_outcome::erased) ++seen.refused;
            --exact[key], --size;
        }
        if (filter.count(key) < exact[key] || (exact[key] > 0 && !filter.may_contain(key))) ++seen.too_small;
    }
    return seen;
}

}  // namespace genista::lab
