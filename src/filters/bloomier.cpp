// bloomier_filter but for its hot kernels, which are compiled here: sizing, updating, saving and
// loading. Building is in bloomier_build.cpp.
#include "genista/filters/bloomier.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/cpu.hpp"
#include "bits/words.hpp"
#include "filters/common.hpp"
#include "filters/snapshot_fields.hpp"
#include "hash/digest_kernels_includes.hpp"

#define GENISTA_KERNELS "filters/bloomier_kernels.inl"
#include "base/foreach_isa.hpp"

namespace genista {
namespace {

const bloomier_kernels* bloomier_kernels_now() noexcept {
    return GENISTA_PICK(bloomier_table);
}

constexpr std::uint16_t bloomier_version = 1;

// The factor of h, derived from the hash key: an encrypted block that is no key's block, since its
// last byte, where the size of a key stands, is more than 15.
two_universal_hash_64 draw_check(const hasher& hash, unsigned bits) noexcept {
    const std::uint64_t factor = hash.encrypt(0x7265696d6f6f6c62u, ~std::uint64_t{0}).position | 1;  // "bloomier"
    return *two_universal_hash_64::make(bits, factor);
}

}  // namespace

unsigned bloomier_filter::check_bits_for(double rate) noexcept {
    int exponent = 0;
    (void)std::frexp(rate,
                     &exponent);  // rate = f 2^exponent with 1/2 ≤ f < 1: 2/ε is in (2^(1-exponent), 2^(2-exponent)]
    return static_cast<unsigned>(2 - exponent);
}

result<void> bloomier_filter::check(std::uint64_t keys, double rate, std::uint64_t value_bits) noexcept {
    // No keys is a valid number here, unlike in filters that reserve room.
    const filter_options common{std::max<std::uint64_t>(keys, 1), rate, std::nullopt};
    if (const auto checked = check_options(name, common, min_false_positive_rate); !checked) return checked;
    if (value_bits > max_value_bits)
        return error::make(error_code::invalid_argument, "bloomier: values of %llu bits, allowed are 0 to %u",
                           static_cast<unsigned long long>(value_bits), max_value_bits);
    return {};
}

bloomier_filter::bloomier_filter(const bloomier_options& options, const hasher& hash, minimal_perfect perfect,
                                 buffer entries) noexcept
    : kernels_{bloomier_kernels_now()},
      hash_{hash},
      perfect_{std::move(perfect)},
      entries_{std::move(entries)},
      rate_{options.false_positive_rate} {
    const unsigned check_bits = check_bits_for(rate_);
    state_.perfect = perfect_.view();
    state_.entries = reinterpret_cast<const std::uint64_t*>(entries_.data());
    state_.keys = perfect_.size();
    state_.value_bits = options.value_bits;
    state_.entry_bits = check_bits + options.value_bits;
    state_.check = draw_check(hash_, check_bits);
}

result<bloomier_filter> bloomier_filter::make_with(const bloomier_options& options, const hasher& hash,
                                                   minimal_perfect perfect) noexcept {
    const std::uint64_t entry_bits = check_bits_for(options.false_positive_rate) + options.value_bits;
    const std::uint64_t words = bits::words_for(perfect.size() * entry_bits);  // below 2^47 bits
    auto entries = buffer::zeroed(words == 0 ? 0 : (words + 1) * sizeof(std::uint64_t));
    if (!entries) return entries.error();
    return bloomier_filter{options, hash, std::move(perfect), *std::move(entries)};
}

result<update_outcome> bloomier_filter::update(const digest& d, std::uint64_t value) noexcept {
    if (value > bits::low_mask(state_.value_bits))
        return error::make(error_code::invalid_argument, "bloomier: value %llu, allowed are 0 to %llu (%u bits)",
                           static_cast<unsigned long long>(value),
                           static_cast<unsigned long long>(bits::low_mask(state_.value_bits)), state_.value_bits);
    if (!may_contain(d)) return update_outcome::absent;
    const std::uint64_t bit = perfect_(d) * state_.entry_bits + (state_.entry_bits - state_.value_bits);
    bits::write_bits(words(), bit, state_.value_bits, value);
    return update_outcome::updated;
}

filter_stats bloomier_filter::stats() const noexcept {
    const bloomier_details parts = details();
    return plain_stats(state_.keys, std::max<std::uint64_t>(state_.keys, 1), rate_,
                       parts.perfect_bytes + parts.entries_bytes + sizeof *this);
}

bloomier_details bloomier_filter::details() const noexcept {
    return {.check_bits = state_.entry_bits - state_.value_bits,
            .value_bits = state_.value_bits,
            .perfect_bytes = perfect_.allocated_bytes(),
            .entries_bytes = entries_.allocated_bytes()};
}

result<std::uint64_t> bloomier_filter::bits_for(std::uint64_t keys, double rate, unsigned value_bits) noexcept {
    if (const auto checked = check(keys, rate, value_bits); !checked) return checked.error();
    return keys * (check_bits_for(rate) + static_cast<std::uint64_t>(minimal_perfect::most_bits_per_key) + value_bits);
}

result<void> bloomier_filter::save(sink& out) const noexcept {
    return without_throwing(name, [&]() -> result<void> {
        const auto info = describe(snapshot_kind::bloomier, bloomier_version, hash_);
        if (!info) return info.error();
        field_writer fields;
        write_common(fields, stats(), hash_);
        fields.u32(state_.value_bits).u32(perfect_.form().salt);
        std::vector<std::byte> widths(minimal_perfect::widths_bytes(perfect_.form()));
        perfect_.widths(widths);
        const std::uint64_t entries_bytes = bits::words_for(state_.keys * state_.entry_bits) * sizeof(std::uint64_t);
        const std::array sections = {std::span<const std::byte>{widths}, perfect_.records(),
                                     entries_.bytes().first(entries_bytes)};
        return write_snapshot(out, *info, fields.view(), sections);
    });
}

result<bloomier_filter> bloomier_filter::load(std::span<const std::byte> bytes) noexcept {
    auto opened = open_filter(snapshot_kind::bloomier, bloomier_version, 3, bytes, name, min_false_positive_rate);
    if (!opened) return opened.error();
    auto& [view, fields, common] = *opened;
    const std::uint32_t value_bits = fields.u32(), salt = fields.u32();
    const std::uint64_t keys = common.keys;
    const double rate = common.options.false_positive_rate;
    if (!fields.finished() || common.options.capacity != std::max<std::uint64_t>(keys, 1))
        return error::make(error_code::corrupt, "bloomier snapshot: %llu keys and a capacity of %llu",
                           static_cast<unsigned long long>(keys),
                           static_cast<unsigned long long>(common.options.capacity));
    if (const auto checked = check(keys, rate, value_bits); !checked)
        return error::make(error_code::corrupt, "bloomier snapshot: %s", checked.error().message().data());
    const std::uint64_t used_bits = keys * (check_bits_for(rate) + value_bits);
    const std::span<const std::byte> entries = view.sections[2];
    if (entries.size() != bits::words_for(used_bits) * sizeof(std::uint64_t))
        return error::make(error_code::corrupt, "bloomier snapshot: %llu keys do not have %zu bytes of entries",
                           static_cast<unsigned long long>(keys), entries.size());
    minimal_perfect::shape form = minimal_perfect::shape_for(keys);
    form.salt = salt;
    auto perfect = minimal_perfect::from_bytes(form, view.sections[0], view.sections[1]);
    if (!perfect) return error::make(perfect.error().code(), "bloomier snapshot: %s", perfect.error().message().data());
    auto made = make_with({rate, value_bits, std::nullopt}, *common.options.hash, *std::move(perfect));
    if (!made) return made;
    if (!entries.empty()) std::memcpy(made->entries_.data(), entries.data(), entries.size());
    if (used_bits % 64 != 0 && made->words()[used_bits / 64] >> used_bits % 64 != 0)
        return error::make(error_code::corrupt, "bloomier snapshot: bits behind the last entry");
    return made;
}

}  // namespace genista
