// pages: addresses first, memory later. What segmented_array.hpp grows in without copying anything.
//
// reserve() takes addresses and no memory; a page of 4 KiB is there once something is written to
// it, and give_back() frees pages and keeps the addresses. A reservation is one mapping, and
// neighbours become one in the kernel's list: what there may be of them (vm.max_map_count, 65530 as
// a rule) is not used up by thousands of small arrays. A huge page would arrive as a whole, cleared
// by whoever writes first, which is a pause of 0.1 ms: so they are asked for (prefer_huge) only
// where all pages are in use already.
//
// Also marks bytes that are nobody's for the address sanitizer, which knows nothing of what lies
// inside of a mapping or of a block.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define GENISTA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GENISTA_ASAN 1
#endif
#endif
#if defined(GENISTA_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace genista::pages {

inline constexpr std::size_t page = 4096;
inline constexpr std::size_t huge_page = std::size_t{2} << 20;

// A whole number of pages; from 2 MiB on at a multiple of 2 MiB. They read as zeros. Null: no
// addresses, or none here at all.
[[nodiscard]] std::byte* reserve(std::size_t size) noexcept;
void release(std::byte* start, std::size_t size) noexcept;
// Whole pages; they read as zeros again. False: they stay what they were.
[[nodiscard]] bool give_back(std::byte* start, std::size_t size) noexcept;
// Whole huge pages. Hints.
void prefer_huge(std::byte* start, std::size_t size) noexcept;
void prefer_small(std::byte* start, std::size_t size) noexcept;

inline void poison([[maybe_unused]] const void* start, [[maybe_unused]] std::size_t size) noexcept {
#if defined(GENISTA_ASAN)
    __asan_poison_memory_region(start, size);
#endif
}
inline void unpoison([[maybe_unused]] const void* start, [[maybe_unused]] std::size_t size) noexcept {
#if defined(GENISTA_ASAN)
    __asan_unpoison_memory_region(start, size);
#endif
}

}  // namespace genista::pages
