// record_figure: the line in which a test of the broom filter reports how much it did.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "tests/support/scale.hpp"

namespace genista::test {

// Figures that reports quote: `ctest -V | grep figure`.
inline void record_figure(const std::string& what, std::uint64_t count) {
    testing::Test::RecordProperty(what, std::to_string(count));
    std::printf("figure: %s %llu\n", what.c_str(), static_cast<unsigned long long>(count));
}

}  // namespace genista::test
