// The filters of the cuckoo family, and the shapes in which the tests make them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "genista/filters/cuckooing.hpp"
#include "papers/cuckoo_family.hpp"

namespace genista::test {

using cuckoo_family = ::testing::Types<cuckoo_filter, cuckooing_filter, cyclic_filter<1>, cyclic_filter<2>,
                                       cyclic_filter<3>, swapping_filter>;

struct cuckoo_names {
    template <class Filter>
    static std::string GetName(int) {
        return std::string{Filter::name};
    }
};

// From the classic two tables, where many inserts need new hash functions, to shapes used in
// practice. Swapping needs at least two slots per bin.
struct cuckoo_form {
    unsigned tables, bin_slots;
    double load;
};
template <class Filter>
std::vector<cuckoo_form> cuckoo_forms() {
    std::vector<cuckoo_form> forms = {{2, 1, 0.5}, {3, 1, 0.9}, {4, 1, 0.95}, {2, 4, 0.95}, {2, 2, 0.88}};
    if (Filter::name == swapping_filter::name) std::erase_if(forms, [](const auto& f) { return f.bin_slots == 1; });
    return forms;
}

inline cuckoo_options cuckoo_made(const cuckoo_form& form, std::uint64_t capacity, unsigned fingerprint_bits,
                                  std::uint64_t seed = 1) {
    cuckoo_options options;
    options.capacity = capacity;
    options.fingerprint_bits = fingerprint_bits;
    options.hash = hasher{hash_key::from_seed(seed)};
    options.tables = form.tables;
    options.bin_slots = form.bin_slots;
    options.load = form.load;
    options.random = repeatable(seed);
    return options;
}

}  // namespace genista::test
