// What R answers to a range read, as a list, so that two maps can be compared.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "genista/hash/key.hpp"

namespace genista::test {

// position, seed, key
using visited = std::vector<std::tuple<std::uint64_t, std::uint64_t, std::string>>;

// Stops after `most` records.
template <class R>
visited visit_range(R& remote, std::uint64_t first, std::uint64_t last, std::size_t most = SIZE_MAX) {
    visited seen;
    EXPECT_TRUE(remote.for_each(first, last, [&](const digest& at, key_view key) {
        seen.emplace_back(at.position, at.seed, std::string{key.text()});
        return seen.size() < most;
    }));
    return seen;
}

}  // namespace genista::test
