// Where the bytes of a buffer come from: the C++ allocator, or mmap with huge pages advised from 2 MiB on.
#include "genista/base/buffer.hpp"

#include <sys/mman.h>

#include <cstring>
#include <limits>
#include <new>

namespace genista {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

constexpr std::size_t round_up(std::size_t value, std::size_t unit) {
    return (value + unit - 1) / unit * unit;
}

}  // namespace

result<buffer> buffer::zeroed(std::uint64_t size_bytes) noexcept {
    const auto no_memory = [&] {
        return error::make(error_code::out_of_memory, "cannot allocate %llu bytes",
                           static_cast<unsigned long long>(size_bytes));
    };
    if (size_bytes > std::numeric_limits<std::size_t>::max() / 4) return no_memory();
    const auto size = static_cast<std::size_t>(size_bytes);
    buffer made;
    if (size == 0) return made;
    if (size >= huge_page) {
        // Whole pages only; the kernel rounds a huge mapping by itself where it can.
        const std::size_t length = round_up(size, 4096);
        void* address = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (address == MAP_FAILED) return no_memory();
        (void)::madvise(address, length, MADV_HUGEPAGE);  // a hint: refusal costs speed, not correctness
        made.data_ = static_cast<std::byte*>(address);
        made.allocated_ = length;
    } else {
        const std::size_t length = round_up(size, alignment);
        void* address = ::operator new (length, std::align_val_t{alignment}, std::nothrow);
        if (address == nullptr) return no_memory();
        std::memset(address, 0, length);
        made.data_ = static_cast<std::byte*>(address);
        made.allocated_ = length;
    }
    made.size_ = size;
    return made;
}

void buffer::give_pages_back() noexcept {
    if (data_ == nullptr || size_ < huge_page) return;
    if (::madvise(data_, round_up(size_, 4096), MADV_DONTNEED) == 0) allocated_ = 0;
}

buffer::~buffer() {
    if (data_ == nullptr) return;
    if (size_ >= huge_page) {
        ::munmap(data_, round_up(size_, 4096));
    } else {
        ::operator delete (data_, std::align_val_t{alignment});
    }
}

}  // namespace genista
