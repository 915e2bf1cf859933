// failing_allocator: makes the n-th allocation of this thread fail, so that a test can run out of
// memory at every point of a call.
//
// Include it in ONE test file of an executable: it defines the global operator new and delete for
// all of it. Nothing fails until a test asks, and only in the thread that asked:
//
//     for (std::uint64_t n = 0;; ++n) {
//         const failing_allocations armed{n};         // n allocations succeed, then one fails
//         outcome = the_call();
//         if (!armed.failed()) break;                 // n allocations are enough: all were tried
//     }
//
// Also counts the allocations of this thread and the bytes it requested, and reports every block to
// owned_blocks, for tests of accounting.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#include "tests/support/failing_allocations.hpp"

namespace genista::test {

inline void* allocate_or_null(std::size_t size, std::size_t alignment) noexcept {
    if (this_thread_allocations.strike(size)) return nullptr;
    void* made = nullptr;
    if (alignment <= alignof(std::max_align_t)) {
        made = std::malloc(size == 0 ? 1 : size);
    } else if (const std::size_t rounded = (size + alignment - 1) / alignment * alignment; rounded >= size) {
        made = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
    }
    if (made != nullptr) owned_blocks::made(made, size);
    return made;
}

inline void give_back(void* block) noexcept {
    owned_blocks::freed(block);
    std::free(block);
}

inline void* allocate_or_throw(std::size_t size, std::size_t alignment) {
    void* const made = allocate_or_null(size, alignment);
    if (made == nullptr) throw std::bad_alloc{};
    return made;
}

}  // namespace genista::test

// Not inline, so that a second file that includes this is an error of the linker. And never
// inlined: g++ would see the free inside one and the new outside of it, and warn that they do not
// match.
[[gnu::noinline]] void* operator new(std::size_t size) {
    return genista::test::allocate_or_throw(size, 1);
}
[[gnu::noinline]] void* operator new[](std::size_t size) {
    return genista::test::allocate_or_throw(size, 1);
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
    return genista::test::allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t alignment) {
    return genista::test::allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return genista::test::allocate_or_null(size, 1);
}
[[gnu::noinline]] void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return genista::test::allocate_or_null(size, 1);
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return genista::test::allocate_or_null(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return genista::test::allocate_or_null(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* block) noexcept {
    genista::test::give_back(block);
}
[[gnu::noinline]] void operator delete[](void* block) noexcept {
    genista::test::give_back(block);
}
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept {
    genista::test::give_back(block);
}
[[gnu::noinline]] void operator delete[](void* block, std::size_t) noexcept {
    genista::test::give_back(block);
}
[[gnu::noinline]] void operator delete(void* block, std::align_val_t) noexcept {
    genista::test::give_back(block);
}
[[gnu::noinline]] void operator delete[](void* block, std::align_val_t) noexcept {
    genista::test::give_back(block);
}
[[gnu::noinline]] void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
    genista::test::give_back(block);
}
[[gnu::noinline]] void operator delete[](void* block, std::size_t, std::align_val_t) noexcept {
    genista::test::give_back(block);
}
[[gnu::noinline]] void operator delete(void* block, const std::nothrow_t&) noexcept {
    genista::test::give_back(block);
}
[[gnu::noinline]] void operator delete[](void* block, const std::nothrow_t&) noexcept {
    genista::test::give_back(block);
}
[[gnu::noinline]] void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept {
    genista::test::give_back(block);
}
[[gnu::noinline]] void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept {
    genista::test::give_back(block);
}
