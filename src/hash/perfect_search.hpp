// perfect_search: the search of minimal_perfect for the seeds of the buckets of one partition.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "genista/detail/hash/minimal_perfect.hpp"

namespace genista {

// One thread's memory for the search. The constructor may throw std::bad_alloc; nothing else does.
class perfect_search {
  public:
    // Seeds are below this. The hardest case is the last key, with one free slot among some 3,000:
    // the probability that so many seeds fail is below e^-300. So if none works, the keys cannot be
    // separated by any seed.
    static constexpr std::uint32_t most_seeds = std::uint32_t{1} << 20;

    perfect_search(const minimal_perfect::shape& form, std::uint64_t factor, std::uint64_t most_keys);

    // REQUIRES: `keys` are those of one partition, ascending. False: some bucket has no seed, and
    // `seeds` are undefined.
    [[nodiscard]] bool place(std::span<const digest> keys, std::span<std::uint32_t> seeds) noexcept;

  private:
    void sort_buckets(std::span<const digest> keys) noexcept;
    [[nodiscard]] bool fits(std::span<const std::uint64_t> words, std::uint32_t seed, std::uint64_t slots) noexcept;

    std::uint64_t partitions_, buckets_, factor_;
    std::vector<std::uint64_t> words_;    // of the keys
    std::vector<std::uint32_t> starts_;   // the keys of bucket b: starts_[b] .. starts_[b + 1]
    std::vector<std::uint32_t> by_size_;  // buckets, large ones first
    std::vector<std::uint32_t> of_size_;  // counting sort
    std::vector<std::uint8_t> is_taken_;  // slots
    std::vector<std::uint16_t> tried_;    // slots of one bucket
};

}  // namespace genista
