// rank_select: builds the directory and searches it. See rank_select.hpp.
#include "bits/rank_select.hpp"

#include <algorithm>
#include <bit>

namespace genista::bits {

result<rank_select> rank_select::make(std::span<const std::uint64_t> words, std::uint64_t size_bits) noexcept {
    const std::uint64_t needed = words_for(size_bits);
    if (needed > words.size())
        return error::make(error_code::invalid_argument, "rank_select: %llu bits, allowed are at most the %llu given",
                           static_cast<unsigned long long>(size_bits),
                           static_cast<unsigned long long>(words.size()) * word_bits);
    const auto used = words.first(static_cast<std::size_t>(needed));
    const std::uint64_t last_mask = size_bits % word_bits == 0 ? ~std::uint64_t{0} : low_mask(size_bits % word_bits);

    rank_select made;
    made.size_ = size_bits;
    made.words_ = (needed + block_words - 1) / block_words * block_words;  // words in memory: far below 2^61
    for (const std::uint64_t word : used) made.ones_ += static_cast<std::uint64_t>(std::popcount(word));
    if (needed != 0) made.ones_ -= static_cast<std::uint64_t>(std::popcount(used.back() & ~last_mask));
    const std::uint64_t sample_count = (made.ones_ + ones_per_sample - 1) / ones_per_sample;
    auto memory = buffer::zeroed((made.words_ + made.blocks() + 1 + sample_count) * sizeof(std::uint64_t));
    if (!memory) return memory.error();
    made.memory_ = std::move(*memory);

    std::uint64_t* const bits = made.base();
    std::copy(used.begin(), used.end(), bits);
    if (needed != 0) bits[needed - 1] &= last_mask;
    std::uint64_t* const before = bits + made.words_;
    std::uint64_t* const samples = before + made.blocks() + 1;
    std::uint64_t seen = 0, sampled = 0;
    for (std::uint64_t block = 0; block < made.blocks(); ++block) {
        before[block] = seen;
        for (std::uint64_t w = 0; w < block_words; ++w)
            seen += static_cast<std::uint64_t>(std::popcount(bits[block * block_words + w]));
        while (sampled * ones_per_sample < seen)
            samples[sampled++] = block;  // I2: a block contains at most one sampled one
    }
    before[made.blocks()] = seen;
    assert(seen == made.ones_ && sampled == sample_count);
    return made;
}

std::uint64_t rank_select::rank(std::uint64_t position) const noexcept {
    assert(position <= size_);
    const std::uint64_t block = position / block_bits;
    std::uint64_t total = before()[block];  // position == size() may name the entry after the last block
    const std::uint64_t word = position / word_bits;
    for (std::uint64_t w = block * block_words; w < word; ++w)
        total += static_cast<std::uint64_t>(std::popcount(base()[w]));
    if (position % word_bits != 0) total += bits::rank(base()[word], position % word_bits);
    return total;
}

std::uint64_t rank_select::select(std::uint64_t k) const noexcept {
    assert(k < ones_);
    const std::uint64_t sample = k / ones_per_sample;
    const std::uint64_t* const first = before() + samples()[sample];
    const bool last_sample = (sample + 1) * ones_per_sample >= ones_;
    const std::uint64_t* const last = before() + (last_sample ? blocks() : samples()[sample + 1] + 1);
    // The last block that has at most k ones before it.
    const std::uint64_t* const found = std::upper_bound(first, last, k) - 1;
    std::uint64_t left = k - *found;
    std::uint64_t word = static_cast<std::uint64_t>(found - before()) * block_words;
    for (;; ++word) {
        const auto here = static_cast<std::uint64_t>(std::popcount(base()[word]));
        if (left < here) break;
        left -= here;
    }
    return word * word_bits + select_portable(base()[word], left);
}

}  // namespace genista::bits
