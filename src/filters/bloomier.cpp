// bloomier_filter but for its hot kernels, which are compiled here: building, sizing, updating,
// saving and loading.
#include "genista/filters/bloomier.hpp"

#include <algorithm>
#include <array>
#include <atomic>
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
#include "base/team.hpp"
#include "hash/digests_in_order.hpp"

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

// ---- Building
//
// Sort the digests and drop repetitions, find a perfect hash function,
// then go through the keys once more and write the entry of each.
//
// Entries are or-ed into words that are zero, so that threads may share a word, and a key that
// comes twice with one value may be written twice. If a key comes twice with *different* values,
// the or of them differs from one of them at least: if there are repetitions, a last pass over the
// keys compares, and finds it.
namespace {

constexpr std::uint64_t keys_per_thread = 4096;  // the fewest; a thread costs more than this many keys

void or_bits(std::span<std::uint64_t> words, std::uint64_t bit, unsigned width, std::uint64_t value) noexcept {
    if (value == 0) return;
    const auto shift = static_cast<unsigned>(bit % 64);
    std::atomic_ref{words[bit / 64]}.fetch_or(value << shift, std::memory_order_relaxed);
    if (shift + width > 64)
        std::atomic_ref{words[bit / 64 + 1]}.fetch_or(value >> (64 - shift), std::memory_order_relaxed);
}

error too_large(std::uint64_t value, std::size_t key, unsigned value_bits) noexcept {
    return error::make(error_code::invalid_argument,
                       "bloomier: value %llu of key number %zu, allowed are 0 to %llu (%u bits)",
                       static_cast<unsigned long long>(value), key,
                       static_cast<unsigned long long>(bits::low_mask(value_bits)), value_bits);
}

result<void> check_values(std::size_t keys, std::span<const std::uint64_t> values, unsigned value_bits) noexcept {
    if (values.size() != keys && !(values.empty() && value_bits == 0))
        return error::make(error_code::invalid_argument, "bloomier: %zu values for %zu keys, allowed is one a key%s",
                           values.size(), keys, value_bits == 0 ? ", or none" : "");
    const std::uint64_t largest = bits::low_mask(value_bits);
    const auto found = std::ranges::find_if(values, [&](std::uint64_t value) { return value > largest; });
    if (found == values.end()) return {};
    return too_large(*found, static_cast<std::size_t>(found - values.begin()), value_bits);
}

}  // namespace

class bloomier_builder {
  public:
    template <class Key>
    static result<bloomier_filter> build(const bloomier_options& options, std::span<const Key> keys,
                                         std::span<const std::uint64_t> values, unsigned threads) noexcept {
        if (const auto checked = bloomier_filter::check(keys.size(), options.false_positive_rate, options.value_bits);
            !checked)
            return checked.error();
        if (const auto checked = check_values(keys.size(), values, options.value_bits); !checked)
            return checked.error();
        const auto hash = hasher_from({1, options.false_positive_rate, options.hash});
        if (!hash) return hash.error();
        const auto team = static_cast<unsigned>(
            std::clamp<std::uint64_t>(keys.size() / keys_per_thread, 1, std::clamp(threads, 1u, 1024u)));
        return without_throwing(bloomier_filter::name, [&]() -> result<bloomier_filter> {
            auto perfect = perfect_of(*hash, keys, team);
            if (!perfect) return perfect.error();
            auto made = bloomier_filter::make_with(options, *hash, *std::move(perfect));
            if (!made) return made;
            fill(*made, keys, values, team);
            if (made->state_.keys == keys.size() || values.empty()) return made;
            if (const auto agreed = compare(*made, keys, values, team); !agreed) return agreed.error();
            return made;
        });
    }

  private:
    template <class Key>
    static result<minimal_perfect> perfect_of(const hasher& hash, std::span<const Key> keys, unsigned team) {
        std::vector<digest> sorted = digests_in_order(hash, keys, team);
        sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
        return minimal_perfect::build(sorted, team);
    }

    // Calls visit(thread, number of the key, digest).
    template <class Key, class Visit>
    static void for_each_key(const hasher& hash, std::span<const Key> keys, unsigned team, const Visit& visit) {
        in_team(team, [&](unsigned t) noexcept {
            const std::size_t first = keys.size() * t / team;
            for_each_digest(hash, keys.subspan(first, keys.size() * (t + 1) / team - first),
                            [&](std::size_t i, const digest& d) { visit(t, first + i, d); });
        });
    }

    template <class Key>
    static void fill(bloomier_filter& made, std::span<const Key> keys, std::span<const std::uint64_t> values,
                     unsigned team) {
        const bloomier_state& state = made.state_;
        const unsigned check_bits = state.entry_bits - state.value_bits;
        for_each_key(made.hash_, keys, team, [&](unsigned, std::size_t i, const digest& d) {
            const std::uint64_t bit = made.perfect_(d) * state.entry_bits;
            or_bits(made.words(), bit, check_bits, state.check(d.seed));
            if (!values.empty()) or_bits(made.words(), bit + check_bits, state.value_bits, values[i]);
        });
    }

    // The first key whose value is not what was written, and the key with the same digest.
    template <class Key>
    static result<void> compare(const bloomier_filter& made, std::span<const Key> keys,
                                std::span<const std::uint64_t> values, unsigned team) {
        std::vector<std::size_t> first_wrong(team, keys.size());
        for_each_key(made.hash_, keys, team, [&](unsigned t, std::size_t i, const digest& d) {
            if (first_wrong[t] == keys.size() && made.find(d) != values[i]) first_wrong[t] = i;
        });
        const std::size_t wrong = std::ranges::min(first_wrong);
        if (wrong == keys.size()) return {};
        digest its;
        hash_all(made.hash_, keys.subspan(wrong, 1), std::span{&its, 1});
        std::size_t other = keys.size();
        for_each_key(made.hash_, keys, 1, [&](unsigned, std::size_t i, const digest& d) {
            if (other == keys.size() && d == its && values[i] != values[wrong]) other = i;
        });
        return error::make(
            error_code::invalid_argument,
            "bloomier: keys number %zu and %zu are the same and have values %llu and %llu, allowed is one value a key",
            std::min(wrong, other), std::max(wrong, other),
            static_cast<unsigned long long>(values[std::min(wrong, other)]),
            static_cast<unsigned long long>(values[std::max(wrong, other)]));
    }
};

result<bloomier_filter> bloomier_filter::build(const bloomier_options& options, std::span<const std::uint64_t> keys,
                                               std::span<const std::uint64_t> values, unsigned threads) noexcept {
    return bloomier_builder::build(options, keys, values, threads);
}
result<bloomier_filter> bloomier_filter::build(const bloomier_options& options, std::span<const key_view> keys,
                                               std::span<const std::uint64_t> values, unsigned threads) noexcept {
    return bloomier_builder::build(options, keys, values, threads);
}
result<bloomier_filter> bloomier_filter::build(const bloomier_options& options, std::span<const digest> keys,
                                               std::span<const std::uint64_t> values, unsigned threads) noexcept {
    return bloomier_builder::build(options, keys, values, threads);
}

}  // namespace genista
