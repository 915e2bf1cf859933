// perfect_search: hash and displace within one partition. See perfect_search.hpp, and
// minimal_perfect.hpp for why it works.
#include "hash/perfect_search.hpp"

#include <algorithm>
#include <numeric>

namespace genista {

perfect_search::perfect_search(const minimal_perfect::shape& form, std::uint64_t factor, std::uint64_t most_keys)
    : partitions_{form.partitions},
      buckets_{form.buckets},
      factor_{factor},
      words_(most_keys),
      starts_(form.buckets + 1),
      by_size_(form.buckets),
      of_size_(most_keys + 2),
      is_taken_(most_keys),
      tried_(most_keys) {}

// Buckets are ranges of position, so sorted keys are sorted by bucket. Buckets of equal size stay
// in the order of their numbers.
void perfect_search::sort_buckets(std::span<const digest> keys) noexcept {
    std::fill(starts_.begin(), starts_.end(), 0u);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const auto share = static_cast<std::uint64_t>(static_cast<uint128>(keys[i].position) * partitions_);
        ++starts_[minimal_perfect_view::bucket_of(share, buckets_) + 1];
        words_[i] = minimal_perfect_view::word_of(keys[i], factor_);
    }
    const std::size_t most = keys.size();
    std::fill(of_size_.begin(), of_size_.end(), 0u);
    for (std::size_t b = 0; b < buckets_; ++b) ++of_size_[most - starts_[b + 1] + 1];
    std::partial_sum(of_size_.begin(), of_size_.end(), of_size_.begin());
    for (std::uint32_t b = 0; b < buckets_; ++b) by_size_[of_size_[most - starts_[b + 1]]++] = b;
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
}

// Takes slots for all words, if these slots are free and differ; otherwise takes none.
bool perfect_search::fits(std::span<const std::uint64_t> words, std::uint32_t seed, std::uint64_t slots) noexcept {
    std::size_t done = 0;
    for (; done < words.size(); ++done) {
        const std::uint64_t slot = minimal_perfect_view::slot_of(words[done], seed, slots);
        if (is_taken_[slot] != 0) break;
        is_taken_[slot] = 1;
        tried_[done] = static_cast<std::uint16_t>(slot);
    }
    if (done == words.size()) return true;
    while (done-- > 0) is_taken_[tried_[done]] = 0;
    return false;
}

bool perfect_search::place(std::span<const digest> keys, std::span<std::uint32_t> seeds) noexcept {
    sort_buckets(keys);
    std::fill_n(is_taken_.begin(), keys.size(), std::uint8_t{0});
    std::fill(seeds.begin(), seeds.end(), 0u);
    for (const std::uint32_t bucket : by_size_) {
        const auto words = std::span{words_}.subspan(starts_[bucket], starts_[bucket + 1] - starts_[bucket]);
        if (words.empty()) break;  // all later buckets are empty, too
        std::uint32_t seed = 0;
        while (!fits(words, seed, keys.size())) {
            if (++seed == most_seeds) return false;
        }
        seeds[bucket] = seed;
    }
    return true;
}

}  // namespace genista
