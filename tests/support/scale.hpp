// How much a test does: in `./test`, under a sanitizer, and in `./test --long`.
//
//     scaled(quick, thorough)                     the second in the long run
//     effort(native, under_sanitizer, thorough)   a sanitizer makes every step five to twenty times
//                                                 as slow
//
// The quick figure keeps a whole `./test` within minutes. The thorough one is for the long run of
// the release preset, where no test may take more than ten minutes of one core; a sanitizer's long
// run does what the other presets do in a quick one. GENISTA_LONG=20 asks for twenty times the long
// figures. All run the same code and the same checks: only the size of the sample differs.
//
// record_figure is the line in which a test reports how much it did.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace genista::test {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool thread_sanitized = true;
#else
inline constexpr bool thread_sanitized = false;
#endif

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = thread_sanitized;
#endif
#else
inline constexpr bool sanitized = thread_sanitized;
#endif

// What GENISTA_LONG asks for, in multiples of the long figures; 0 is the ordinary run.
[[nodiscard]] inline std::uint64_t long_run() {
    const char* const value = std::getenv("GENISTA_LONG");
    return value == nullptr ? 0 : std::strtoull(value, nullptr, 10);
}

template <class T>
[[nodiscard]] T scaled(T quick, T thorough) {
    const std::uint64_t times = long_run();
    return times == 0 || sanitized ? quick : static_cast<T>(thorough * static_cast<T>(times));
}

[[nodiscard]] inline std::uint64_t effort(std::uint64_t native, std::uint64_t under_sanitizer, std::uint64_t thorough) {
    return sanitized && long_run() == 0 ? under_sanitizer : scaled(native, thorough);
}

// Figures that reports quote: `ctest -V | grep figure`.
inline void record_figure(const std::string& what, std::uint64_t count) {
    testing::Test::RecordProperty(what, std::to_string(count));
    std::printf("figure: %s %llu\n", what.c_str(), static_cast<unsigned long long>(count));
}

}  // namespace genista::test
