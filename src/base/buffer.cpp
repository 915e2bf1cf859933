// buffer: bytes from the C++ allocator or from mmap, with huge pages advised from 2 MiB on. See
// buffer.hpp.
#include "genista/detail/base/buffer.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

namespace genista {
namespace {

constexpr std::size_t round_up(std::size_t value, std::size_t unit) {
    return (value + unit - 1) / unit * unit;
}

// Whole pages, or nullptr. Only a whole 2 MiB at an address that is a multiple of 2 MiB can be a
// huge page: a few more addresses are mapped, and the ends are unmapped.
std::byte* map_pages(std::size_t length) noexcept {
    const std::size_t more = length < buffer::huge_page ? 0 : buffer::huge_page - buffer::page;
    void* const address = ::mmap(nullptr, length + more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED) return nullptr;
    auto* const mapped = static_cast<std::byte*>(address);
    if (more == 0) return mapped;
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const std::size_t before = round_up(at, buffer::huge_page) - at;
    if (before != 0) ::munmap(mapped, before);
    if (before != more) ::munmap(mapped + before + length, more - before);
    (void)::madvise(mapped + before, length, MADV_HUGEPAGE);  // a hint: refusal costs speed, not correctness
    return mapped + before;
}

}  // namespace

result<buffer> buffer::untouched(std::uint64_t size_bytes) noexcept {
    const auto no_memory = [&] {
        return error::make(error_code::out_of_memory, "cannot allocate %llu bytes",
                           static_cast<unsigned long long>(size_bytes));
    };
    if (size_bytes > std::numeric_limits<std::size_t>::max() / 4) return no_memory();
    const auto size = static_cast<std::size_t>(size_bytes);
    buffer made;
    if (size == 0) return made;
    if (size >= least_mapping) {
        made.data_ = map_pages(round_up(size, page));
        if (made.data_ == nullptr) return no_memory();
    } else {
        const std::size_t length = round_up(size, alignment);
        void* const address = ::operator new (length, std::align_val_t{alignment}, std::nothrow);
        if (address == nullptr) return no_memory();
        std::memset(address, 0, length);
        made.data_ = static_cast<std::byte*>(address);
        made.taken_ = length;
    }
    made.size_ = size;
    return made;
}

result<buffer> buffer::zeroed(std::uint64_t size_bytes) noexcept {
    auto made = untouched(size_bytes);
    // The kernel allocates the pages at the first write; they count from now on.
    if (made && made->is_mapped()) made->taken_ = round_up(made->size_, page);
    return made;
}

void buffer::take_pages(std::size_t end) noexcept {
    if (!is_mapped()) return;
    const std::size_t wanted = std::min(round_up(end, piece_for(size_)), round_up(size_, page));
    for (; taken_ < wanted; taken_ += page) {
        // A write allocates the page. It was not used before, so it holds zeros.
        *reinterpret_cast<volatile std::byte*>(data_ + taken_) = std::byte{0};
    }
}

void buffer::give_back_until(std::size_t end) noexcept {
    if (end <= given_back_ || ::madvise(data_ + given_back_, end - given_back_, MADV_DONTNEED) != 0) return;
    given_back_ = end;
    taken_ = std::max(taken_, end);
}

void buffer::give_pages_back(std::size_t end) noexcept {
    const std::size_t piece = piece_for(size_);
    if (is_mapped()) give_back_until(std::min(end, size_) / piece * piece);
}

void buffer::give_pages_back() noexcept {
    if (is_mapped()) give_back_until(round_up(size_, page));
}

buffer::~buffer() {
    if (data_ == nullptr) return;
    if (is_mapped()) {
        ::munmap(data_, round_up(size_, page));
    } else {
        ::operator delete (data_, std::align_val_t{alignment});
    }
}

}  // namespace genista
