// bloom_filter but for its hot kernels, which are compiled here: sizing, making, merging, saving
// and loading.
#include "genista/filters/bloom.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/cpu.hpp"
#include "filters/common.hpp"
#include "filters/snapshot_fields.hpp"
#include "hash/digest_kernels_includes.hpp"

#define GENISTA_KERNELS "filters/bloom_kernels.inl"
#include "base/foreach_isa.hpp"

namespace genista {
namespace {

const bloom_kernels* bloom_kernels_now() noexcept {
    return GENISTA_PICK(bloom_table);
}

// E[(share of ones)^k] to second order: the share is 1 - e^{-kn/m} on average, and its variance,
// which matters only in small tables, is that of the number of empty cells after kn balls: (e^{-c}
// - (1 + c) e^{-2c}) / m with c = kn/m.
double bloom_rate_at(double keys, double bits, double probes) noexcept {
    if (keys <= 0) return 0;
    const double fill = probes * keys / bits;
    const double ones = -std::expm1(-fill);
    const double variance = std::max(0.0, std::exp(-fill) - (1 + fill) * std::exp(-2 * fill)) / bits;
    const double second_order = probes * (probes - 1) / 2 * variance / (ones * ones);
    return std::min(1.0, std::pow(ones, probes) * (1 + second_order));
}

struct bloom_plan {
    std::uint64_t bits;
    std::uint32_t probes;
};

// The fewest whole lines that keep `rate` with this many probes. The rate falls as the table grows.
std::uint64_t bits_with(std::uint64_t capacity, double rate, std::uint32_t probes) noexcept {
    const auto keys = static_cast<double>(capacity);
    const double k = probes;
    // First order, then up until the second order agrees.
    const double first = -k * keys / std::log1p(-std::pow(rate, 1 / k));
    auto lines = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(first / bloom_line_bits)));
    while (bloom_rate_at(keys, static_cast<double>(lines * bloom_line_bits), k) > rate) lines += 1 + lines / 1'000'000;
    return lines * bloom_line_bits;
}

bloom_plan bloom_plan_for(std::uint64_t capacity, double rate) noexcept {
    // The best k lies beside log2(1/ε); fewer probes win a tie.
    const double ideal = -std::log2(rate);
    const double low = std::clamp(std::floor(ideal), 1.0, double{bloom_filter::max_probes});
    const double high = std::clamp(std::ceil(ideal), 1.0, double{bloom_filter::max_probes});
    const bloom_plan fewer = {bits_with(capacity, rate, static_cast<std::uint32_t>(low)),
                              static_cast<std::uint32_t>(low)};
    const bloom_plan more = {bits_with(capacity, rate, static_cast<std::uint32_t>(high)),
                             static_cast<std::uint32_t>(high)};
    return more.bits < fewer.bits ? more : fewer;
}

constexpr std::uint16_t bloom_version = 1;

}  // namespace

bloom_filter::bloom_filter(const filter_options& options, const hasher& hash, std::uint32_t probes,
                           buffer table) noexcept
    : counted_table{bloom_kernels_now(), hash, std::move(table), options} {
    state_.bytes = table_.data();
    state_.bits = std::uint64_t{table_.size_bytes()} * 8;
    state_.probes = probes;
}

result<bloom_filter> bloom_filter::make_with(const filter_options& options, std::uint64_t bits,
                                             std::uint32_t probes) noexcept {
    const auto hash = hasher_from(options);
    if (!hash) return hash.error();
    auto table = buffer::zeroed(bits / 8);
    if (!table) return table.error();
    return bloom_filter{options, *hash, probes, *std::move(table)};
}

result<bloom_filter> bloom_filter::make(const filter_options& options) noexcept {
    if (const auto checked = check_options(name, options, min_false_positive_rate); !checked) return checked.error();
    const bloom_plan chosen = bloom_plan_for(options.capacity, options.false_positive_rate);
    return make_with(options, chosen.bits, chosen.probes);
}

result<void> bloom_filter::merge(const bloom_filter& other) noexcept {
    if (const auto same = check_same_hash(hash_, other.hash_); !same) return same.error();
    if (state_.bits != other.state_.bits || state_.probes != other.state_.probes) {
        return error::make(
            error_code::mismatch,
            "merge: the tables differ (%llu bits with %u probes, %llu bits with %u probes); give both the "
            "same capacity and false-positive rate",
            static_cast<unsigned long long>(state_.bits), state_.probes,
            static_cast<unsigned long long>(other.state_.bits), other.state_.probes);
    }
    or_into(table_.bytes(), other.table_.bytes());
    if (this != &other) keys_ += other.keys_;
    return {};
}

result<std::uint64_t> bloom_filter::bits_for(std::uint64_t capacity, double rate) noexcept {
    const auto checked = check_options(name, {capacity, rate, std::nullopt}, min_false_positive_rate);
    if (!checked) return checked.error();
    return bloom_plan_for(capacity, rate).bits;
}

double bloom_filter::fpr_for(std::uint64_t capacity, std::uint64_t bits) noexcept {
    if (bits == 0) return 1;
    double best = 1;
    for (std::uint32_t probes = 1; probes <= max_probes; ++probes) {
        best = std::min(best, bloom_rate_at(static_cast<double>(capacity), static_cast<double>(bits), probes));
    }
    return best;
}

result<std::uint64_t> bloom_filter::keys_for_bits(std::uint64_t bits, double rate) noexcept {
    const auto checked = check_options(name, {1, rate, std::nullopt}, min_false_positive_rate);
    if (!checked) return checked.error();
    return largest_capacity(bits, [&](std::uint64_t capacity) { return bloom_plan_for(capacity, rate).bits; });
}

result<void> bloom_filter::save(sink& out) const noexcept {
    const std::array sections = {table_.bytes()};
    return save_filter(out, snapshot_kind::bloom, bloom_version, stats(), hash_, sections,
                       [this](field_writer& fields) { fields.u32(state_.probes).u64(state_.bits); });
}

result<bloom_filter> bloom_filter::load(std::span<const std::byte> bytes) noexcept {
    auto opened = open_filter(snapshot_kind::bloom, bloom_version, 1, bytes, name, min_false_positive_rate);
    if (!opened) return opened.error();
    auto& [view, fields, common] = *opened;
    const std::uint32_t probes = fields.u32();
    const std::uint64_t bits = fields.u64();
    const std::span<const std::byte> table = view.sections[0];
    if (!fields.finished() || probes == 0 || probes > max_probes || bits == 0 || bits % bloom_line_bits != 0 ||
        table.size() != bits / 8) {
        return error::make(error_code::corrupt, "bloom snapshot: %llu bits with %u probes do not fit %zu bytes",
                           static_cast<unsigned long long>(bits), probes, table.size());
    }
    auto made = make_with(common.options, bits, probes);
    if (!made) return made.error();
    std::memcpy(made->table_.data(), table.data(), table.size());
    made->keys_ = common.keys;
    return made;
}

}  // namespace genista
