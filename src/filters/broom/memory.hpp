// side_memory: memory that readers may look at while writers change it: words with acquire loads
// and release stores, in one range of addresses that stays mapped for as long as the table lives.
//
// A reader takes a version, reads, and checks the version again (table.hpp). What it read in
// between may be torn, or belong to another block by now, so every word is read atomically, and a
// block may always be read to its greatest length. Acquire loads keep the second version check
// after the reads, without fences, which ThreadSanitizer does not understand.
//
// Blocks are whole granules of 8 bytes. A map has a bit for every free granule. A free block is in
// a list of its size, and its own words hold the links:
//
//     first word    the blocks before and after it in its list, 32 bits each
//     second, last  where it begins and how long it is; a block of one granule has neither, and
//                   needs none
//
// A block that is given back is joined with free neighbours at once: the map says whether there are
// any, their words say where they begin and end. So the space of small blocks serves larger ones,
// no two free blocks are neighbours, and every call takes constant time [broom18 Thm 6], except for
// the map's own growth: it moves by an eighth, a bit for 64 of these bits. (Joining all free blocks
// in one sweep, when it pays, is constant on average only: 385,000 instructions within one write at
// 10^6 keys.)
//
// Addresses are reserved from the start for the worst case, of which a filter uses a few percent.
// The memory asks for small pages: huge pages would be given for 8 bytes of each, and the bytes
// taken could not be counted. What is counted is the pages touched.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "filters/broom/budget.hpp"
#include "genista/base/result.hpp"
#include "genista/detail/filters/broom/faults.hpp"
#include "genista/detail/filters/broom/layout.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

[[nodiscard]] inline std::uint64_t load_word(const std::uint64_t* from) noexcept {
    return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}
// NOLINTNEXTLINE(readability-non-const-parameter): the builtin writes through it
inline void store_word(std::uint64_t* to, std::uint64_t value) noexcept {
    __atomic_store_n(to, value, __ATOMIC_RELEASE);
}

class side_memory {
  public:
    using handle = std::uint32_t;  // in granules from the start; 0 is no block

    static constexpr std::uint64_t most_granules = 1536;  // of one block: 12 KiB

    side_memory() noexcept = default;
    side_memory(const side_memory&) = delete;
    side_memory& operator=(const side_memory&) = delete;
    ~side_memory();

    // Reserves addresses for `granules`, and takes no memory yet.
    [[nodiscard]] result<void> reserve(std::uint64_t granules) noexcept;

    // The budget that pays for pages taken from now on.
    void charge(budget& who) noexcept { budget_ = &who; }

    [[nodiscard]] std::uint64_t* words(handle block) const noexcept { return start_ + block; }

    // 0 if there is no memory, or if the budget's limit forbids it; then `refused` is set.
    [[nodiscard]] handle take(std::uint64_t granules, budget_class from, bool& refused) noexcept;
    void give_back(handle block, std::uint64_t granules) noexcept;
    // Gives every page back and keeps the addresses, for late readers. No block may be taken
    // afterwards.
    void release() noexcept;
    // Pages ever touched, and the map of free granules.
    [[nodiscard]] std::uint64_t allocated_bytes() const noexcept;

  private:
    [[nodiscard]] handle carve(std::uint64_t granules, budget_class from, bool& refused) noexcept;
    [[nodiscard]] static std::uint64_t bytes_touched(std::uint64_t used_granules) noexcept;
    void mark(handle block, std::uint64_t granules, bool free) noexcept;
    [[nodiscard]] bool is_free(std::uint64_t granule) const noexcept;
    [[nodiscard]] std::uint64_t length_from_start(handle block) const noexcept;  // of a free block
    [[nodiscard]] std::uint64_t length_from_end(std::uint64_t last) const noexcept;
    void push(handle block, std::uint64_t granules) noexcept;
    void unlink(handle block, std::uint64_t granules) noexcept;
    [[nodiscard]] handle pop(std::uint64_t at_least, std::uint64_t& found) noexcept;

    mutable std::mutex lock_;
    budget* budget_ = nullptr;
    std::uint64_t* start_ = nullptr;
    std::uint64_t mapped_bytes_ = 0;
    std::uint64_t reserved_ = 0;                     // granules
    std::uint64_t used_ = 1;                         // granules ever carved; granule 0 is never used
    std::array<handle, most_granules + 1> lists_{};  // by length; the last one also has all longer blocks
    std::array<std::uint64_t, most_granules / 64 + 1> filled_lists_{};  // a bit for each list that is not empty
    std::vector<std::uint64_t> free_map_;
};

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
