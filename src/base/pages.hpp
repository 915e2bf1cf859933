// pages: memory whose addresses are reserved first and whose pages are added later.
// segmented_array.hpp grows in it without copying.
//
// reserve() takes addresses and no memory; a page of 4 KiB is allocated when it is first written
// to, and give_back() frees pages and keeps the addresses. A reservation is one mapping, and the
// kernel joins neighbouring ones, so that thousands of small arrays do not use up the limit of
// mappings (vm.max_map_count, usually 65530). A huge page would be allocated as a whole and cleared
// by the thread that first writes to it, a pause of 0.1 ms: so huge pages are requested
// (prefer_huge) only where all pages are already in use.
//
// It also marks unused bytes for the address sanitizer, which does not track the inside of a
// mapping or of a block.
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
// addresses, or the system cannot reserve any.
[[nodiscard]] std::byte* reserve(std::size_t size) noexcept;
void release(std::byte* start, std::size_t size) noexcept;
// Frees whole pages, which read as zeros again. False: they are unchanged.
[[nodiscard]] bool give_back(std::byte* start, std::size_t size) noexcept;
// Hints, for whole huge pages.
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
