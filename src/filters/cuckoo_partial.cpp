// cuckoo_partial_filter but for its hot kernels, which are compiled here: sizing, making, saving
// and loading.
#include "genista/filters/cuckoo_partial.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/cpu.hpp"
#include "filters/common.hpp"
#include "filters/cuckoo_bucket.hpp"
#include "filters/cuckoo_path.hpp"
#include "filters/snapshot_fields.hpp"
#include "hash/digest_kernels_includes.hpp"

#define GENISTA_KERNELS "filters/cuckoo_partial_kernels.inl"
#include "base/foreach_isa.hpp"

namespace genista {
namespace {

const cuckoo_partial_kernels* cuckoo_partial_kernels_for(unsigned tag_bits) noexcept {
    return tag_bits == 12 ? GENISTA_PICK(cuckoo12_kernels) : GENISTA_PICK(cuckoo16_kernels);
}

constexpr std::uint64_t slots_per_bucket = 4;
constexpr std::uint16_t cuckoo_partial_version = 1;

constexpr double rate_with(unsigned tag_bits) noexcept {
    return 8.0 / static_cast<double>((std::uint64_t{1} << tag_bits) - 1);
}

constexpr unsigned tag_bits_for(double rate) noexcept {
    return rate >= rate_with(12) ? 12 : 16;
}

// 95 % of the slots; in small tables the chains of moves end earlier for want of new buckets.
// Measured over up to 20,000 hash keys for each size, the first refusal left at most 25 slots + 1.5
// sqrt(n) free below n = 2000, and at most 3 % above 10^4 keys.
std::uint64_t buckets_for(std::uint64_t capacity) noexcept {
    const auto keys = static_cast<double>(capacity);
    const double slots = std::max(keys / 0.95, keys + 32 + 1.5 * std::sqrt(keys));
    return static_cast<std::uint64_t>(std::ceil(slots / slots_per_bucket));
}

constexpr std::uint64_t bucket_bytes(unsigned tag_bits) noexcept {
    return slots_per_bucket * tag_bits / 8;
}

// The table, and the bytes behind it that a word load at the last bucket reads.
constexpr std::uint64_t table_bytes(unsigned tag_bits, std::uint64_t buckets) noexcept {
    return (buckets * bucket_bytes(tag_bits) + (sizeof(std::uint64_t) - bucket_bytes(tag_bits)) + 7) / 8 * 8;
}

// The number of buckets that fit into `bytes`, the bytes behind the last one included.
constexpr std::uint64_t buckets_in(unsigned tag_bits, std::uint64_t bytes) noexcept {
    const std::uint64_t tail = sizeof(std::uint64_t) - bucket_bytes(tag_bits);
    return bytes / 8 * 8 < tail ? 0 : (bytes / 8 * 8 - tail) / bucket_bytes(tag_bits);
}

template <unsigned TagBits>
std::uint64_t tags_in(std::span<const std::byte> table, std::uint64_t buckets) noexcept {
    std::uint64_t tags = 0;
    for (std::uint64_t bucket = 0; bucket < buckets; ++bucket) {
        const std::uint64_t word = cuckoo_bucket<TagBits>::load(table.data(), bucket);
        for (unsigned slot = 0; slot < slots_per_bucket; ++slot)
            tags += cuckoo_bucket<TagBits>::tag_at(word, slot) != 0;
    }
    return tags;
}

}  // namespace

cuckoo_partial_filter::cuckoo_partial_filter(const filter_options& options, const hasher& hash, unsigned tag_bits,
                                             std::uint64_t buckets, buffer table) noexcept
    : counted_table{cuckoo_partial_kernels_for(tag_bits), hash, std::move(table), options}, tag_bits_{tag_bits} {
    state_ = {table_.data(), buckets};
}

result<cuckoo_partial_filter> cuckoo_partial_filter::make_with(const filter_options& options, unsigned tag_bits,
                                                               std::uint64_t buckets) noexcept {
    const auto hash = hasher_from(options);
    if (!hash) return hash.error();
    auto table = buffer::zeroed(table_bytes(tag_bits, buckets));
    if (!table) return table.error();
    return cuckoo_partial_filter{options, *hash, tag_bits, buckets, *std::move(table)};
}

result<cuckoo_partial_filter> cuckoo_partial_filter::make(const filter_options& options) noexcept {
    if (const auto checked = check_options(name, options, min_false_positive_rate); !checked) return checked.error();
    return make_with(options, tag_bits_for(options.false_positive_rate), buckets_for(options.capacity));
}

result<std::uint64_t> cuckoo_partial_filter::bits_for(std::uint64_t capacity, double rate) noexcept {
    const auto checked = check_options(name, {capacity, rate, std::nullopt}, min_false_positive_rate);
    if (!checked) return checked.error();
    return 8 * table_bytes(tag_bits_for(rate), buckets_for(capacity));
}

double cuckoo_partial_filter::fpr_for(std::uint64_t capacity, std::uint64_t bits) noexcept {
    for (const unsigned tag_bits : {16u, 12u}) {
        if (buckets_in(tag_bits, bits / 8) >= buckets_for(std::clamp<std::uint64_t>(capacity, 1, max_capacity))) {
            return rate_with(tag_bits);
        }
    }
    return 1;  // the keys do not fit
}

result<std::uint64_t> cuckoo_partial_filter::keys_for_bits(std::uint64_t bits, double rate) noexcept {
    const auto checked = check_options(name, {1, rate, std::nullopt}, min_false_positive_rate);
    if (!checked) return checked.error();
    const unsigned tag_bits = tag_bits_for(rate);
    return largest_capacity(bits,
                            [&](std::uint64_t capacity) { return 8 * table_bytes(tag_bits, buckets_for(capacity)); });
}

result<void> cuckoo_partial_filter::save(sink& out) const noexcept {
    const std::array sections = {table_.bytes()};
    return save_filter(out, snapshot_kind::cuckoo_partial, cuckoo_partial_version, stats(), hash_, sections,
                       [this](field_writer& fields) { fields.u32(tag_bits_).u64(state_.buckets); });
}

result<cuckoo_partial_filter> cuckoo_partial_filter::load(std::span<const std::byte> bytes) noexcept {
    auto opened =
        open_filter(snapshot_kind::cuckoo_partial, cuckoo_partial_version, 1, bytes, name, min_false_positive_rate);
    if (!opened) return opened.error();
    auto& [view, fields, common] = *opened;
    const std::uint32_t tag_bits = fields.u32();
    const std::uint64_t buckets = fields.u64();
    const std::span<const std::byte> table = view.sections[0];
    if (!fields.finished() || (tag_bits != 12 && tag_bits != 16) || buckets == 0 ||
        buckets > table.size() / bucket_bytes(tag_bits) || table.size() != table_bytes(tag_bits, buckets)) {
        return error::make(error_code::corrupt,
                           "cuckoo_partial snapshot: %llu buckets of %u-bit tags do not fit %zu bytes",
                           static_cast<unsigned long long>(buckets), tag_bits, table.size());
    }
    const auto tail = table.subspan(static_cast<std::size_t>(buckets * bucket_bytes(tag_bits)));
    const std::uint64_t tags = tag_bits == 12 ? tags_in<12>(table, buckets) : tags_in<16>(table, buckets);
    if (tags != common.keys || std::any_of(tail.begin(), tail.end(), [](std::byte b) { return b != std::byte{0}; })) {
        return error::make(error_code::corrupt, "cuckoo_partial snapshot: %llu tags for %llu keys",
                           static_cast<unsigned long long>(tags), static_cast<unsigned long long>(common.keys));
    }
    auto made = make_with(common.options, tag_bits, buckets);
    if (!made) return made.error();
    std::memcpy(made->table_.data(), table.data(), table.size());
    made->keys_ = common.keys;
    return made;
}

}  // namespace genista
