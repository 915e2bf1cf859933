// blocked_bloom_filter but for its hot kernels, which are compiled here: sizing, making, merging,
// saving and loading.
#include "genista/filters/blocked_bloom.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/cpu.hpp"
#include "filters/common.hpp"
#include "filters/snapshot_fields.hpp"
#include "hash/digest_kernels_includes.hpp"

#define GENISTA_KERNELS "filters/blocked_bloom_kernels.inl"
#include "base/foreach_isa.hpp"

namespace genista {
namespace {

const blocked_bloom_kernels* blocked_bloom_kernels_for(block_layout layout) noexcept {
    switch (layout) {
        case block_layout::quad:
            return GENISTA_PICK(quad_kernels);
        case block_layout::octet:
            return GENISTA_PICK(octet_kernels);
        case block_layout::sixteen:
            return GENISTA_PICK(sixteen_kernels);
    }
    return nullptr;
}

struct layout_shape {
    block_layout layout;
    unsigned lanes;
    unsigned lane_bits;

    [[nodiscard]] constexpr std::uint64_t block_bits() const noexcept { return std::uint64_t{lanes} * lane_bits; }
    [[nodiscard]] constexpr std::uint64_t block_bytes() const noexcept { return block_bits() / 8; }
};

constexpr std::array<layout_shape, 3> layout_shapes = {
    {{block_layout::quad, 4, 64}, {block_layout::octet, 8, 64}, {block_layout::sixteen, 16, 32}}};

// The expected rate by the formula at the top of blocked_bloom.hpp. `load` is the mean number of
// keys in a block.
double block_rate_at(const layout_shape& shape, double load) noexcept {
    if (load <= 0) return 0;
    const double spread = 14 * std::sqrt(load) + 40;  // the Poisson tails beyond weigh less than 1e-30
    const double first = std::max(0.0, std::floor(load - spread));
    const double keep = 1 - 1.0 / shape.lane_bits;  // the probability that one key leaves one bit of a lane zero
    double weight = std::exp(-load + first * std::log(load) - std::lgamma(first + 1));
    double clear = std::pow(keep, first);
    double rate = 0;
    for (double j = first; j <= load + spread; ++j) {
        double hit = 1 - clear;
        for (unsigned lanes = shape.lanes; lanes > 1; lanes /= 2) hit *= hit;  // lanes are a power of two
        rate += weight * hit;
        weight *= load / (j + 1);
        clear *= keep;
    }
    return std::min(1.0, rate);
}

// The largest mean load that keeps `rate`. block_rate_at grows with the load.
double block_load_for(const layout_shape& shape, double rate) noexcept {
    double low = 0;
    double high = static_cast<double>(shape.block_bits());  // a bit for each key: the rate is above 1/2 in every layout
    for (int step = 0; step < 60; ++step) {
        const double middle = (low + high) / 2;
        (block_rate_at(shape, middle) <= rate ? low : high) = middle;
    }
    return low;
}

struct blocked_plan {
    const layout_shape* shape;
    double load;

    [[nodiscard]] std::uint64_t blocks(std::uint64_t capacity) const noexcept {
        return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(static_cast<double>(capacity) / load)));
    }
    [[nodiscard]] std::uint64_t bits(std::uint64_t capacity) const noexcept {
        return blocks(capacity) * shape->block_bits();
    }
};

// The layout with the fewest bits for a key.
blocked_plan blocked_plan_for(double rate) noexcept {
    blocked_plan best{};
    double best_bits = std::numeric_limits<double>::infinity();
    for (const layout_shape& shape : layout_shapes) {
        const double load = block_load_for(shape, rate);
        const double bits = static_cast<double>(shape.block_bits()) / load;
        if (bits < best_bits) {
            best_bits = bits;
            best = {&shape, load};
        }
    }
    return best;
}

const layout_shape* layout_shape_of(std::uint8_t number) noexcept {
    for (const layout_shape& shape : layout_shapes) {
        if (static_cast<std::uint8_t>(shape.layout) == number) return &shape;
    }
    return nullptr;
}

constexpr std::uint16_t blocked_bloom_version = 1;

}  // namespace

blocked_bloom_filter::blocked_bloom_filter(const filter_options& options, const hasher& hash, block_layout layout,
                                           buffer table) noexcept
    : counted_table{blocked_bloom_kernels_for(layout), hash, std::move(table), options}, layout_{layout} {
    state_.bytes = table_.data();
    state_.blocks = table_.size_bytes() / layout_shape_of(static_cast<std::uint8_t>(layout))->block_bytes();
}

result<blocked_bloom_filter> blocked_bloom_filter::make_with(const filter_options& options, block_layout layout,
                                                             std::uint64_t blocks) noexcept {
    auto hash = hasher_from(options);
    if (!hash) return hash.error();
    auto table = buffer::zeroed(blocks * layout_shape_of(static_cast<std::uint8_t>(layout))->block_bytes());
    if (!table) return table.error();
    return blocked_bloom_filter{options, *hash, layout, *std::move(table)};
}

result<blocked_bloom_filter> blocked_bloom_filter::make(const filter_options& options) noexcept {
    if (const auto checked = check_options(name, options, min_false_positive_rate); !checked) return checked.error();
    const blocked_plan chosen = blocked_plan_for(options.false_positive_rate);
    return make_with(options, chosen.shape->layout, chosen.blocks(options.capacity));
}

result<void> blocked_bloom_filter::merge(const blocked_bloom_filter& other) noexcept {
    if (const auto same = check_same_hash(hash_, other.hash_); !same) return same.error();
    if (layout_ != other.layout_ || state_.blocks != other.state_.blocks) {
        return error::make(
            error_code::mismatch,
            "merge: the tables differ (%llu and %llu bytes, layouts %u and %u); give both the same capacity "
            "and false-positive rate",
            static_cast<unsigned long long>(table_.size_bytes()),
            static_cast<unsigned long long>(other.table_.size_bytes()), static_cast<unsigned>(layout_),
            static_cast<unsigned>(other.layout_));
    }
    or_into(table_.bytes(), other.table_.bytes());
    if (this != &other) keys_ += other.keys_;
    return {};
}

result<std::uint64_t> blocked_bloom_filter::bits_for(std::uint64_t capacity, double rate) noexcept {
    const auto checked = check_options(name, {capacity, rate, std::nullopt}, min_false_positive_rate);
    if (!checked) return checked.error();
    return blocked_plan_for(rate).bits(capacity);
}

double blocked_bloom_filter::fpr_for(std::uint64_t capacity, std::uint64_t bits) noexcept {
    double best = 1;
    for (const layout_shape& shape : layout_shapes) {
        const std::uint64_t blocks = bits / shape.block_bits();
        if (blocks == 0) continue;
        best = std::min(best, block_rate_at(shape, static_cast<double>(capacity) / static_cast<double>(blocks)));
    }
    return best;
}

result<std::uint64_t> blocked_bloom_filter::keys_for_bits(std::uint64_t bits, double rate) noexcept {
    const auto checked = check_options(name, {1, rate, std::nullopt}, min_false_positive_rate);
    if (!checked) return checked.error();
    const blocked_plan chosen = blocked_plan_for(rate);
    return largest_capacity(bits, [&](std::uint64_t capacity) { return chosen.bits(capacity); });
}

result<void> blocked_bloom_filter::save(sink& out) const noexcept {
    const std::array sections = {table_.bytes()};
    return save_filter(
        out, snapshot_kind::blocked_bloom, blocked_bloom_version, stats(), hash_, sections,
        [this](field_writer& fields) { fields.u8(static_cast<std::uint8_t>(layout_)).u64(state_.blocks); });
}

result<blocked_bloom_filter> blocked_bloom_filter::load(std::span<const std::byte> bytes) noexcept {
    auto opened =
        open_filter(snapshot_kind::blocked_bloom, blocked_bloom_version, 1, bytes, name, min_false_positive_rate);
    if (!opened) return opened.error();
    auto& [view, fields, common] = *opened;
    const std::uint8_t layout = fields.u8();
    const std::uint64_t blocks = fields.u64();
    const layout_shape* shape = layout_shape_of(layout);
    const std::span<const std::byte> table = view.sections[0];
    if (!fields.finished() || shape == nullptr || blocks == 0 || table.size() % shape->block_bytes() != 0 ||
        blocks != table.size() / shape->block_bytes()) {
        return error::make(error_code::corrupt,
                           "blocked_bloom snapshot: layout %u with %llu blocks does not fit %zu bytes",
                           unsigned{layout}, static_cast<unsigned long long>(blocks), table.size());
    }
    auto made = make_with(common.options, shape->layout, blocks);
    if (!made) return made.error();
    std::memcpy(made->table_.data(), table.data(), table.size());
    made->keys_ = common.keys;
    return made;
}

}  // namespace genista
