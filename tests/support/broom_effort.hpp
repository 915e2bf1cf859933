// effort: how much of something a test of the broom filter does: natively, under a sanitizer (which makes every step
// five to twenty times as slow), and in `./test --long`. And the line in which such a test says how much it did.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "support/scale.hpp"

namespace genista::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool thread_sanitized = true;
#else
inline constexpr bool thread_sanitized = false;
#endif

[[nodiscard]] inline std::uint64_t effort(std::uint64_t native, std::uint64_t under_sanitizer, std::uint64_t thorough) {
    return long_run() ? thorough : sanitized ? under_sanitizer : native;
}

// Figures that reports quote: `ctest -V | grep figure`.
inline void record_figure(const std::string& what, std::uint64_t count) {
    testing::Test::RecordProperty(what, std::to_string(count));
    std::printf("figure: %s %llu\n", what.c_str(), static_cast<unsigned long long>(count));
}

}  // namespace genista::test
