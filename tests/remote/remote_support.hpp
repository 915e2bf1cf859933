// Shared by the tests of this room: a range of records read into a plain container, and a reference
// model of R.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "genista/remote/remote.hpp"

namespace genista::test {

inline constexpr std::uint64_t last_position = ~std::uint64_t{0};

struct record {
    digest where;
    std::string key;

    friend bool operator==(const record&, const record&) = default;
    // The order of R, written independently of the library: std::string compares unsigned bytes,
    // with prefixes first.
    friend bool operator<(const record& a, const record& b) {
        return std::tie(a.where.position, a.where.seed, a.key) < std::tie(b.where.position, b.where.seed, b.key);
    }
};

using model = std::set<record>;

template <class R>
[[nodiscard]] std::vector<record> read_range(R& remote, std::uint64_t first, std::uint64_t last) {
    std::vector<record> read;
    const auto done = remote.for_each(first, last, [&](const digest& where, key_view key) {
        read.push_back({where, std::string{key.text()}});
        return true;
    });
    EXPECT_TRUE(done) << done.error().message();
    return read;
}

template <class R>
[[nodiscard]] std::vector<record> read_all(R& remote) {
    return read_range(remote, 0, last_position);
}

[[nodiscard]] inline std::vector<record> range_of(const model& exact, std::uint64_t first, std::uint64_t last,
                                                  std::size_t at_most) {
    std::vector<record> found;
    if (first > last) return found;
    for (auto at = exact.lower_bound({digest{first, 0}, ""});
         at != exact.end() && at->where.position <= last && found.size() < at_most; ++at) {
        found.push_back(*at);
    }
    return found;
}

}  // namespace genista::test
