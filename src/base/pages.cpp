// Reserving and freeing pages with mmap and madvise. See pages.hpp.
#include "base/pages.hpp"

#include <cstdint>

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#define GENISTA_HAS_PAGES 1
#endif

namespace genista::pages {

#if defined(GENISTA_HAS_PAGES)

namespace {

#if defined(MAP_NORESERVE)
constexpr int reserved_flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
#else
constexpr int reserved_flags = MAP_PRIVATE | MAP_ANONYMOUS;
#endif

}  // namespace

std::byte* reserve(std::size_t size) noexcept {
    // Only 2 MiB at a multiple of 2 MiB can be a huge page: a few more addresses are mapped, and
    // the ends are unmapped.
    const std::size_t more = size < huge_page ? 0 : huge_page - page;
    void* const address = ::mmap(nullptr, size + more, PROT_READ | PROT_WRITE, reserved_flags, -1, 0);
    if (address == MAP_FAILED) return nullptr;
    auto* start = static_cast<std::byte*>(address);
    if (more != 0) {
        const std::size_t before = (0 - reinterpret_cast<std::uintptr_t>(address)) % huge_page;
        if (before != 0) ::munmap(start, before);
        if (before != more) ::munmap(start + before + size, more - before);
        start += before;
    }
    prefer_small(start, size);
    return start;
}

void release(std::byte* start, std::size_t size) noexcept {
    unpoison(start, size);  // another mapping may use the addresses next
    ::munmap(start, size);
}

bool give_back(std::byte* start, std::size_t size) noexcept {
    return ::madvise(start, size, MADV_DONTNEED) == 0;
}

#if defined(MADV_HUGEPAGE) && defined(MADV_NOHUGEPAGE)
void prefer_huge(std::byte* start, std::size_t size) noexcept {
    (void)::madvise(start, size, MADV_HUGEPAGE);
}
void prefer_small(std::byte* start, std::size_t size) noexcept {
    (void)::madvise(start, size, MADV_NOHUGEPAGE);
}
#else
void prefer_huge(std::byte*, std::size_t) noexcept {}
void prefer_small(std::byte*, std::size_t) noexcept {}
#endif

#else  // nothing can be reserved: arrays are on the heap and are copied as they grow

std::byte* reserve(std::size_t) noexcept {
    return nullptr;
}
void release(std::byte*, std::size_t) noexcept {}
bool give_back(std::byte*, std::size_t) noexcept {
    return false;
}
void prefer_huge(std::byte*, std::size_t) noexcept {}
void prefer_small(std::byte*, std::size_t) noexcept {}

#endif

}  // namespace genista::pages
