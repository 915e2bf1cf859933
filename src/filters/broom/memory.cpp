// Blocks of side memory: from the list of their size, else cut from a larger block, else from
// unused space.
#include "filters/broom/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>

#include "genista/detail/base/buffer.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

side_memory::~side_memory() {
    if (start_ != nullptr) ::munmap(start_, mapped_bytes_);
}

result<void> side_memory::reserve(std::uint64_t granules) noexcept {
    // Readers of a torn block may run up to most_granules past its start.
    const std::uint64_t bytes = 8 * (granules + most_granules);
    if (granules >> handle_place_bits != 0) {  // a flag lies above the place
        return error::make(error_code::unsupported, "broom: %llu granules of side memory are more than 2^%u",
                           static_cast<unsigned long long>(granules), handle_place_bits);
    }
    void* const address =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) {
        return error::make(error_code::out_of_memory, "cannot reserve %llu bytes of addresses",
                           static_cast<unsigned long long>(bytes));
    }
    (void)::madvise(address, bytes, MADV_NOHUGEPAGE);  // a hint, and refused where there are none
    start_ = static_cast<std::uint64_t*>(address);
    reserved_ = granules;
    mapped_bytes_ = bytes;
    return {};
}

side_memory::handle side_memory::take(std::uint64_t granules, budget_class from, bool& refused) noexcept {
    refused = false;
    const std::lock_guard guard{lock_};
    if (granules == 0 || granules > most_granules) return 0;
    std::uint64_t found = 0;
    const handle block = pop(granules, found);
    if (block == 0) return carve(granules, from, refused);
    if (found > granules) push(block + static_cast<handle>(granules), found - granules);
    mark(block, granules, false);
    return block;
}

// Takes unused space, and makes the map long enough for it.
side_memory::handle side_memory::carve(std::uint64_t granules, budget_class from, bool& refused) noexcept {
    if (granules > reserved_ - used_) return 0;
    constexpr std::uint64_t map_word = sizeof free_map_[0];
    const std::uint64_t words = (used_ + granules + 63) / 64;
    const bool longer = free_map_.capacity() < words;
    const std::uint64_t map_words = longer ? words + words / 8 : free_map_.capacity();
    const std::uint64_t price =
        bytes_touched(used_ + granules) - bytes_touched(used_) + map_word * (map_words - free_map_.capacity());
    if (price != 0 && budget_ != nullptr && !budget_->take(price, from)) {
        refused = true;
        return 0;
    }
    try {
        if (longer) free_map_.reserve(map_words);
        if (free_map_.size() < words) free_map_.resize(words);
    } catch (const std::bad_alloc&) {
        if (budget_ != nullptr) budget_->give_back(price);
        return 0;
    }
    const auto block = static_cast<handle>(used_);
    used_ += granules;
    return block;
}

std::uint64_t side_memory::bytes_touched(std::uint64_t used_granules) noexcept {
    return used_granules == 1 ? 0 : (8 * used_granules + buffer::page - 1) / buffer::page * buffer::page;
}

void side_memory::give_back(handle block, std::uint64_t granules) noexcept {
    if (faults.side_blocks_leak) return;
    const std::lock_guard guard{lock_};
    mark(block, granules, true);
    if (is_free(block + granules)) {
        const auto next = static_cast<handle>(block + granules);
        const std::uint64_t length = length_from_start(next);
        unlink(next, length);
        granules += length;
    }
    if (is_free(block - 1)) {
        const std::uint64_t length = length_from_end(block - 1);
        block -= static_cast<handle>(length);
        unlink(block, length);
        granules += length;
    }
    push(block, granules);
}

void side_memory::release() noexcept {
    const std::lock_guard guard{lock_};
    if (start_ != nullptr) (void)::madvise(start_, mapped_bytes_, MADV_DONTNEED);
    if (budget_ != nullptr) budget_->give_back(bytes_touched(used_) + free_map_.capacity() * sizeof free_map_[0]);
    reserved_ = used_ = 1;
    lists_.fill(0);
    filled_lists_.fill(0);
    std::vector<std::uint64_t>{}.swap(free_map_);  // an assignment would keep its memory
}

std::uint64_t side_memory::allocated_bytes() const noexcept {
    const std::lock_guard guard{lock_};
    return bytes_touched(used_) + free_map_.capacity() * sizeof free_map_[0];
}

void side_memory::mark(handle block, std::uint64_t granules, bool free) noexcept {
    for (std::uint64_t at = block; at < block + granules;) {
        const std::uint64_t here = std::min(64 - at % 64, block + granules - at);
        const std::uint64_t bits = (~std::uint64_t{0} >> (64 - here)) << (at % 64);
        free_map_[at / 64] = free ? free_map_[at / 64] | bits : free_map_[at / 64] & ~bits;
        at += here;
    }
}

// Granule 0 and the space that is not carved yet are not free.
bool side_memory::is_free(std::uint64_t granule) const noexcept {
    return granule < used_ && (free_map_[granule / 64] >> (granule % 64) & 1) != 0;
}

namespace {

constexpr std::uint64_t two_handles(std::uint64_t low, std::uint64_t high) noexcept {
    return low | high << 32;
}
constexpr side_memory::handle low_handle(std::uint64_t word) noexcept {
    return static_cast<side_memory::handle>(word);
}
constexpr side_memory::handle high_handle(std::uint64_t word) noexcept {
    return static_cast<side_memory::handle>(word >> 32);
}

}  // namespace

// No two free blocks are neighbours, so a free granule whose other neighbour is taken is a block of
// one granule.
std::uint64_t side_memory::length_from_start(handle block) const noexcept {
    return is_free(block + std::uint64_t{1}) ? high_handle(load_word(words(block) + 1)) : 1;
}

std::uint64_t side_memory::length_from_end(std::uint64_t last) const noexcept {
    return is_free(last - 1) ? high_handle(load_word(start_ + last)) : 1;
}

void side_memory::push(handle block, std::uint64_t granules) noexcept {
    const std::uint64_t list = std::min(granules, most_granules);
    const handle after = lists_[list];
    store_word(words(block), two_handles(0, after));
    if (after != 0) store_word(words(after), two_handles(block, high_handle(load_word(words(after)))));
    if (granules > 1) {
        store_word(words(block) + 1, two_handles(block, granules));
        store_word(words(block) + granules - 1, two_handles(block, granules));
    }
    lists_[list] = block;
    filled_lists_[list / 64] |= std::uint64_t{1} << (list % 64);
}

void side_memory::unlink(handle block, std::uint64_t granules) noexcept {
    const std::uint64_t list = std::min(granules, most_granules);
    const std::uint64_t links = load_word(words(block));
    const handle before = low_handle(links), after = high_handle(links);
    if (after != 0) store_word(words(after), two_handles(before, high_handle(load_word(words(after)))));
    if (before != 0) {
        store_word(words(before), two_handles(low_handle(load_word(words(before))), after));
        return;
    }
    lists_[list] = after;
    if (after == 0) filled_lists_[list / 64] &= ~(std::uint64_t{1} << (list % 64));
}

side_memory::handle side_memory::pop(std::uint64_t at_least, std::uint64_t& found) noexcept {
    std::uint64_t filled = filled_lists_[at_least / 64] >> (at_least % 64) << (at_least % 64);
    for (std::size_t i = at_least / 64;; filled = filled_lists_[i]) {
        if (filled != 0) {
            found = 64 * i + static_cast<std::uint64_t>(std::countr_zero(filled));
            break;
        }
        if (++i == filled_lists_.size()) return 0;
    }
    const handle block = lists_[found];
    if (found == most_granules) found = length_from_start(block);
    unlink(block, found);
    return block;
}

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
