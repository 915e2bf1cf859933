// Building minimal_perfect: divides the keys into partitions, searches seeds for each, then gives
// every column the width of its largest seed.
#include "genista/detail/hash/minimal_perfect.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <new>
#include <numeric>
#include <span>
#include <vector>

#include "base/team.hpp"
#include "bits/words.hpp"

namespace genista {
namespace {

// ---- The search for the seeds of the buckets of one partition: hash and displace.
// minimal_perfect.hpp says why it works.

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

// ---- Dividing, searching and packing.

using perfect_shape = minimal_perfect::shape;
using perfect_view = minimal_perfect_view;

constexpr std::uint64_t partition_keys = 2048;
constexpr std::uint64_t max_partition_keys = 65'535;
constexpr std::uint64_t few_keys = 256;
constexpr unsigned max_width = 20;  // of a seed below perfect_search::most_seeds
constexpr std::uint32_t most_salts = 4;
constexpr unsigned max_threads = 1024;
// A seed of 0 bits may begin where the last record ends, and number() reads two words from there.
constexpr std::uint64_t words_behind = 2;
static_assert(std::bit_width(perfect_search::most_seeds - 1) == max_width);

std::uint64_t columns_of(const perfect_shape& form) noexcept {
    return (form.buckets + perfect_view::column_buckets - 1) / perfect_view::column_buckets;
}

std::uint64_t factor_of(const perfect_shape& form) noexcept {
    return 0x9e3779b97f4a7c15u * (2 * std::uint64_t{form.salt} + 1);
}

// The index of the first key of each partition, and at the end the number of keys.
std::vector<std::uint64_t> partition_starts(std::span<const digest> sorted, std::uint64_t partitions) {
    std::vector<std::uint64_t> starts(partitions + 1);
    for (std::uint64_t p = 1; p < partitions; ++p) {
        const auto* const at = std::partition_point(sorted.data() + starts[p - 1], sorted.data() + sorted.size(),
                                                    [&](const digest& d) { return scale(d.position, partitions) < p; });
        starts[p] = static_cast<std::uint64_t>(at - sorted.data());
    }
    starts[partitions] = sorted.size();
    return starts;
}

// The keys of a build, and the seeds found so far.
struct search_work {
    std::span<const digest> sorted;
    const std::vector<std::uint64_t>& starts;
    std::vector<std::uint32_t>& seeds;

    [[nodiscard]] std::span<const digest> keys(std::uint64_t p) const {
        return sorted.subspan(starts[p], starts[p + 1] - starts[p]);
    }
    [[nodiscard]] std::span<std::uint32_t> seeds_of(std::uint64_t p, const perfect_shape& form) const {
        return std::span{seeds}.subspan(p * form.buckets, form.buckets);
    }
};

// False: some bucket has no seed under this salt.
bool find_seeds(const search_work& work, const perfect_shape& form, std::uint64_t most_keys, unsigned team) {
    std::vector<perfect_search> searches(team, perfect_search{form, factor_of(form), most_keys});
    std::vector<std::uint8_t> failed(team);
    in_team(team, [&](unsigned t) noexcept {
        for (std::uint64_t p = form.partitions * t / team; p < form.partitions * (t + 1) / team && failed[t] == 0; ++p)
            failed[t] = searches[t].place(work.keys(p), work.seeds_of(p, form)) ? 0 : 1;
    });
    return std::ranges::count(failed, 0) == static_cast<std::ptrdiff_t>(team);
}

std::vector<std::byte> widths_for(const std::vector<std::uint32_t>& seeds, const perfect_shape& form) {
    std::vector<std::uint32_t> largest(columns_of(form));
    for (std::size_t i = 0; i < seeds.size(); ++i) {
        std::uint32_t& here = largest[i % form.buckets / perfect_view::column_buckets];
        here = std::max(here, seeds[i]);
    }
    std::vector<std::byte> widths(largest.size());
    std::ranges::transform(largest, widths.begin(),
                           [](std::uint32_t seed) { return static_cast<std::byte>(std::bit_width(seed)); });
    return widths;
}

// The bits of all seeds of one partition.
std::uint64_t seed_bits(const perfect_shape& form, std::span<const std::byte> widths) noexcept {
    std::uint64_t total = 0;
    for (std::uint64_t c = 0; c < columns_of(form); ++c) {
        const auto buckets =
            std::min<std::uint64_t>(perfect_view::column_buckets, form.buckets - c * perfect_view::column_buckets);
        total += std::to_integer<std::uint64_t>(widths[c]) * buckets;
    }
    return total;
}

}  // namespace

minimal_perfect::shape minimal_perfect::shape_for(std::uint64_t keys) noexcept {
    if (keys == 0) return {};
    const std::uint64_t partitions = std::max<std::uint64_t>(1, (keys + partition_keys / 2) / partition_keys);
    // 4.5 keys a bucket. If there are few keys, nearly all may fall into one bucket, which then has
    // no seed: so one bucket for each key.
    if (keys < few_keys) return {keys, partitions, keys, 0};
    return {keys, partitions, (2 * keys + 9 * partitions - 1) / (9 * partitions), 0};
}

result<minimal_perfect> minimal_perfect::build(std::span<const digest> sorted, unsigned threads) noexcept try {
    assert(std::ranges::is_sorted(sorted) && std::ranges::adjacent_find(sorted) == sorted.end());
    if (sorted.empty()) return minimal_perfect{};
    if (sorted.size() > max_keys)
        return error::make(error_code::invalid_argument, "perfect hash of %zu keys, allowed are 0 to %llu",
                           sorted.size(), static_cast<unsigned long long>(max_keys));
    shape form = shape_for(sorted.size());
    const auto starts = partition_starts(sorted, form.partitions);
    std::uint64_t most_keys = 0, fewest_keys = sorted.size();
    for (std::uint64_t p = 0; p < form.partitions; ++p) {
        most_keys = std::max(most_keys, starts[p + 1] - starts[p]);
        fewest_keys = std::min(fewest_keys, starts[p + 1] - starts[p]);
    }
    if (fewest_keys == 0 || most_keys > max_partition_keys)
        return error::make(
            error_code::invalid_argument,
            "perfect hash: %llu to %llu keys a partition, allowed are 1 to %llu; digests must look random",
            static_cast<unsigned long long>(fewest_keys), static_cast<unsigned long long>(most_keys),
            static_cast<unsigned long long>(max_partition_keys));

    std::vector<std::uint32_t> seeds(form.partitions * form.buckets);
    const search_work work{sorted, starts, seeds};
    const auto team =
        static_cast<unsigned>(std::min<std::uint64_t>(std::clamp(threads, 1u, max_threads), form.partitions));
    while (!find_seeds(work, form, most_keys, team)) {
        if (++form.salt == most_salts)
            return error::make(
                error_code::invalid_argument,
                "perfect hash: a bucket of %llu keys' digests found no seed below %u; digests must look random",
                static_cast<unsigned long long>(form.keys), perfect_search::most_seeds);
    }

    auto made = lay_out(form, widths_for(seeds, form));
    if (!made) return made.error();
    in_team(team, [&](unsigned t) noexcept {
        for (std::uint64_t p = form.partitions * t / team; p < form.partitions * (t + 1) / team; ++p) {
            std::uint64_t* const record = made->mutable_records() + p * made->view_.record_words;
            record[0] = starts[p] | (starts[p + 1] - starts[p]) << perfect_view::start_bits;
            const std::span<std::uint64_t> bits{record + 1, made->view_.record_words - 1};
            const auto found = work.seeds_of(p, form);
            for (std::uint32_t b = 0; b < form.buckets; ++b) {
                const std::uint32_t column = made->view_.columns[b / perfect_view::column_buckets];
                const unsigned width = column & ((1u << perfect_view::column_width_bits) - 1);
                const std::uint32_t offset =
                    (column >> perfect_view::column_width_bits) + b % perfect_view::column_buckets * width;
                bits::write_bits(bits, offset, width, found[b]);
            }
        }
    });
    return made;
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "perfect hash: no memory to build for %zu keys", sorted.size());
}

// Allocates columns and records; records are zero. REQUIRES: shape and widths are valid.
result<minimal_perfect> minimal_perfect::lay_out(const shape& form, std::span<const std::byte> widths) noexcept {
    const std::uint64_t column_count = columns_of(form);
    const std::uint64_t columns_bytes = (column_count * sizeof(std::uint32_t) + 63) / 64 * 64;
    const std::uint64_t record_words = 1 + bits::words_for(seed_bits(form, widths));
    auto memory = buffer::zeroed(columns_bytes + (form.partitions * record_words + words_behind) *
                                                     sizeof(std::uint64_t));  // below 2^48
    if (!memory) return memory.error();
    minimal_perfect made;
    made.shape_ = form;
    made.memory_ = *std::move(memory);
    auto* const columns = reinterpret_cast<std::uint32_t*>(made.memory_.data());
    std::uint32_t offset = 0;
    for (std::uint64_t c = 0; c < column_count; ++c) {
        const auto width = std::to_integer<std::uint32_t>(widths[c]);
        columns[c] = offset << perfect_view::column_width_bits | width;
        offset += perfect_view::column_buckets * width;
    }
    made.view_ = {columns,         reinterpret_cast<const std::uint64_t*>(made.memory_.data() + columns_bytes),
                  form.partitions, record_words,
                  form.buckets,    factor_of(form)};
    return made;
}

std::uint64_t* minimal_perfect::mutable_records() noexcept {
    return reinterpret_cast<std::uint64_t*>(memory_.data() + (reinterpret_cast<const std::byte*>(view_.records) -
                                                              static_cast<const std::byte*>(memory_.data())));
}

std::uint64_t minimal_perfect::widths_bytes(const shape& form) noexcept {
    return columns_of(form);
}

void minimal_perfect::widths(std::span<std::byte> out) const noexcept {
    assert(out.size() == columns_of(shape_));
    for (std::size_t c = 0; c < out.size(); ++c)
        out[c] = static_cast<std::byte>(view_.columns[c] & ((1u << perfect_view::column_width_bits) - 1));
}

std::span<const std::byte> minimal_perfect::records() const noexcept {
    return std::as_bytes(std::span{view_.records, view_.partitions * view_.record_words});
}

result<minimal_perfect> minimal_perfect::from_bytes(const shape& form, std::span<const std::byte> widths,
                                                    std::span<const std::byte> records) noexcept {
    const auto corrupt = [](const char* what) { return error::make(error_code::corrupt, "perfect hash: %s", what); };
    const shape expected = form.keys <= max_keys ? shape_for(form.keys) : shape{};
    if (form.keys > max_keys || form.partitions != expected.partitions || form.buckets != expected.buckets ||
        form.salt >= most_salts)
        return corrupt("partitions, buckets or salt are not those of so many keys");
    if (widths.size() != columns_of(form)) return corrupt("not one width a column");
    if (form.keys == 0 && (form.salt != 0 || !records.empty())) return corrupt("a salt or records of no key");
    if (form.keys == 0) return minimal_perfect{};
    for (const std::byte width : widths)
        if (std::to_integer<unsigned>(width) > max_width) return corrupt("a seed of more than 20 bits");
    const std::uint64_t bits_used = seed_bits(form, widths);
    const std::uint64_t record_bytes = (1 + bits::words_for(bits_used)) * sizeof(std::uint64_t);
    if (records.size() != form.partitions * record_bytes) return corrupt("records of another length");  // below 2^48
    auto made = lay_out(form, widths);
    if (!made) return made;
    std::memcpy(made->mutable_records(), records.data(), records.size());
    std::uint64_t next = 0;
    for (std::uint64_t p = 0; p < form.partitions; ++p) {
        const std::uint64_t* const record = made->view_.records + p * made->view_.record_words;
        const std::uint64_t head = *record;
        const std::uint64_t start = head & bits::low_mask(perfect_view::start_bits),
                            size = head >> perfect_view::start_bits;
        if (start != next || size == 0) return corrupt("a partition does not begin where the last one ends");
        if (bits_used % 64 != 0 && record[made->view_.record_words - 1] >> bits_used % 64 != 0)
            return corrupt("bits behind the last seed");
        next += size;
    }
    if (next != form.keys) return corrupt("partitions hold another number of keys");
    return made;
}

}  // namespace genista
