// Building bloomier_filter: sort the digests and drop repetitions, find a perfect hash function,
// then go through the keys once more and write the entry of each.
//
// Entries are or-ed into words that are zero, so that threads may share a word, and a key that
// comes twice with one value may be written twice. If a key comes twice with *different* values,
// the or of them differs from one of them at least: if there are repetitions, a last pass over the
// keys compares, and finds it.
#include <algorithm>
#include <atomic>
#include <vector>

#include "base/team.hpp"
#include "bits/words.hpp"
#include "filters/common.hpp"
#include "genista/filters/bloomier.hpp"
#include "hash/digests_in_order.hpp"

namespace genista {
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
