// False positives and false negatives, counted in batches. See rates.hpp.
#include "bench/rates.hpp"

#include <algorithm>
#include <vector>

namespace genista::tool::bench {
namespace {

std::uint64_t count_positives(const reader& of, const key_source& keys, key_use use, std::uint64_t total) {
    std::vector<std::uint64_t> some(static_cast<std::size_t>(std::min<std::uint64_t>(total, key_chunk)));
    std::uint64_t positives = 0;
    for (std::uint64_t first = 0; first < total; first += key_chunk) {
        const std::span part =
            std::span{some}.first(static_cast<std::size_t>(std::min<std::uint64_t>(total - first, key_chunk)));
        keys.fill(use, first, part);
        of.before_lookups(part, use == key_use::stored);
        positives += of.count_batch(part);
    }
    return positives;
}

}  // namespace

void measure_rate(const reader& of, const key_source& keys, std::uint64_t queries, figures& into) {
    into.rate_queries = queries;
    into.false_positives = count_positives(of, keys, key_use::rate, queries);
    into.fpr_interval = lab::exact_interval(into.false_positives, queries);
}

void count_lost_keys(const reader& of, const key_source& keys, std::uint64_t stored, figures& into) {
    into.lost_keys += stored - count_positives(of, keys, key_use::stored, stored);
}

}  // namespace genista::tool::bench
