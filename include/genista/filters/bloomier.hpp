// bloomier_filter: a map from keys to values with false positives instead of keys [ppr05 §6.2].
// Built once from all its keys; after that values change in place, keys do not. There is no insert:
// it is *static*.
//
//     x ── minimal perfect hash of S ──→ i < n            < 3 bits a key (hash/minimal_perfect.hpp)
//     entries   | check, value | check, value | ...        entry i: ⌈log2(2/ε)⌉ + value_bits bits, side by side
//
//     find(x)   the value of entry i, if its check is h(x); else absent
//
// h is drawn from a 2-universal family (multiply_shift of hash/families.hpp, its factor from the
// hash key). **Why the rate holds.** An absent key y lands on one entry, that of some x ∈ S,
// whatever h is; the check lets y through if h(y) = h(x), which a 2-universal family with r =
// ⌈log2(2/ε)⌉ bits does with probability ≤ 2/2^r ≤ ε, *proved* over the draw of h. h reads 64 bits
// of a key's digest, as the hash gives them to integers and texts alike; that these differ for x ≠
// y is what a digest is believed to do (all but one in 2^64), which is why rates below 2^-48 are
// refused. A false positive has the value of an element of S, as the paper promises.
//
// Beside its rivals: all in all log2(1/ε) + 1 + 2.7 bits a key and the value, at n = 10^7, where a
// Bloom filter takes 1.44 log2(1/ε) and has no values. Take it where the keys are known beforehand:
// a table of what is where, a static set, a model's exceptions.
//
//   I1  Every key of S finds its value: the one it was built with, or that of its last update.
//   I2  The bits of entry i are [i w, i w + w), w = check bits + value_bits: the check below, the
//       value above it.
//   I3  The bytes depend on hash, options, keys and values alone: not on the order of the keys, nor
//       on the number of threads.
//   I4  A call that reports an error has changed nothing.
//
// **A key twice** with the same value is one key; with different values it is an error. Two keys
// with the same 128 bits of digest are taken for one.
//
// Many threads may look up at once; an update excludes everything else, as with a standard
// container: neighbouring entries share words.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "genista/detail/base/buffer.hpp"
#include "genista/detail/filters/kernel_table.hpp"
#include "genista/detail/hash/families.hpp"
#include "genista/detail/hash/minimal_perfect.hpp"
#include "genista/filters/filter.hpp"

namespace genista {

struct bloomier_options {
    double false_positive_rate = 1.0 / 256;
    unsigned value_bits = 0;                    // of every value, 0 to 64; 0: a set
    std::optional<hasher> hash = std::nullopt;  // none: keyed, with a random key of the filter's own
};

// Where the bits are: local_bytes of stats() is their sum and the object itself.
struct bloomier_details {
    unsigned check_bits = 0, value_bits = 0;
    std::uint64_t perfect_bytes = 0;  // the minimal perfect hash function
    std::uint64_t entries_bytes = 0;
};

enum class [[nodiscard]] update_outcome : unsigned char{
    updated,
    absent,  // the check says that the key is an absent key; nothing has changed
};

struct bloomier_state {
    minimal_perfect_view perfect;
    const std::uint64_t* entries = nullptr;  // and one word more
    std::uint64_t keys = 0;
    std::uint32_t value_bits = 0, entry_bits = 0;
    two_universal_hash_64 check = *two_universal_hash_64::make(1, 1);
};

struct bloomier_found {
    bool is_present;
    std::uint64_t value;
};

struct bloomier_kernels {
    kernel_table<bloomier_state> lookups;
    bloomier_found (*find_integer)(const bloomier_state&, const hash_state&, std::uint64_t) noexcept;
    bloomier_found (*find_digest)(const bloomier_state&, const digest&) noexcept;
    void (*find_integers)(const bloomier_state&, const hash_state&, const std::uint64_t*, std::size_t,
                          std::uint64_t* values, std::uint64_t* out_bits) noexcept;
    void (*find_keys)(const bloomier_state&, const hash_state&, const key_view*, std::size_t, std::uint64_t* values,
                      std::uint64_t* out_bits) noexcept;
    void (*find_digests)(const bloomier_state&, const hash_state&, const digest*, std::size_t, std::uint64_t* values,
                         std::uint64_t* out_bits) noexcept;
};

class bloomier_filter : public filter_surface<bloomier_filter> {
  public:
    static constexpr std::string_view name = "bloomier";
    static constexpr double min_false_positive_rate = 0x1p-48;
    static constexpr unsigned max_value_bits = 64;

    // values[i] belongs to keys[i]; with value_bits = 0 there need be none. Digests, if given, are
    // those of options.hash. No keys at all make a filter to which every key is absent. Beside the
    // filter it takes 17 bytes a key while it works, and 512 KiB a thread at most.
    [[nodiscard]] static result<bloomier_filter> build(const bloomier_options& options,
                                                       std::span<const std::uint64_t> keys,
                                                       std::span<const std::uint64_t> values,
                                                       unsigned threads = 1) noexcept;
    [[nodiscard]] static result<bloomier_filter> build(const bloomier_options& options, std::span<const key_view> keys,
                                                       std::span<const std::uint64_t> values,
                                                       unsigned threads = 1) noexcept;
    [[nodiscard]] static result<bloomier_filter> build(const bloomier_options& options, std::span<const digest> keys,
                                                       std::span<const std::uint64_t> values,
                                                       unsigned threads = 1) noexcept;

    // The value of a key of S; of an absent key nothing, or, with probability ≤ ε, the value of
    // some key of S. Local.
    [[nodiscard]] std::optional<std::uint64_t> find(integer_key key) const noexcept {
        return optional_of(kernels_->find_integer(state_, hash_.state(), key.value()));
    }
    [[nodiscard]] std::optional<std::uint64_t> find(key_view key) const noexcept { return find(hash_(key)); }
    [[nodiscard]] std::optional<std::uint64_t> find(const digest& d) const noexcept {
        return optional_of(kernels_->find_digest(state_, d));
    }

    // Batches, with prefetches ahead. out_values needs keys.size() numbers, 0 where a key is
    // absent; out_bits as may_contain's.
    void find(std::span<const std::uint64_t> keys, std::span<std::uint64_t> out_values,
              std::span<std::uint64_t> out_bits) const noexcept {
        assert(out_values.size() >= keys.size() && out_bits.size() >= words_for(keys.size()));
        kernels_->find_integers(state_, hash_.state(), keys.data(), keys.size(), out_values.data(), out_bits.data());
    }
    void find(std::span<const key_view> keys, std::span<std::uint64_t> out_values,
              std::span<std::uint64_t> out_bits) const noexcept {
        assert(out_values.size() >= keys.size() && out_bits.size() >= words_for(keys.size()));
        kernels_->find_keys(state_, hash_.state(), keys.data(), keys.size(), out_values.data(), out_bits.data());
    }
    void find(std::span<const digest> digests, std::span<std::uint64_t> out_values,
              std::span<std::uint64_t> out_bits) const noexcept {
        assert(out_values.size() >= digests.size() && out_bits.size() >= words_for(digests.size()));
        kernels_->find_digests(state_, hash_.state(), digests.data(), digests.size(), out_values.data(),
                               out_bits.data());
    }

    // REQUIRES: a key of S. An absent key that passes the check (probability ≤ ε) changes the value
    // of another key. A value of more than value_bits bits is an error.
    [[nodiscard]] result<update_outcome> update(const digest& d, std::uint64_t value) noexcept;
    [[nodiscard]] result<update_outcome> update(key_view key, std::uint64_t value) noexcept {
        return update(hash_(key), value);
    }
    [[nodiscard]] result<update_outcome> update(integer_key key, std::uint64_t value) noexcept {
        return update(hash_(key), value);
    }

    [[nodiscard]] result<void> save(sink& out) const noexcept;
    [[nodiscard]] static result<bloomier_filter> load(std::span<const std::byte> bytes) noexcept;

    [[nodiscard]] filter_stats stats() const noexcept;  // capacity: the keys it has, at least 1
    [[nodiscard]] bloomier_details details() const noexcept;
    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }

    // ⌈log2(2/ε)⌉, exact for the number the double is. For rates that build() takes.
    [[nodiscard]] static unsigned check_bits_for(double rate) noexcept;
    // At most, from 10^4 keys on: ⌈log2(2/ε)⌉ + 3 + value_bits a key. What it comes to is known
    // when it is built.
    [[nodiscard]] static result<std::uint64_t> bits_for(std::uint64_t keys, double rate,
                                                        unsigned value_bits = 0) noexcept;

  private:
    friend filter_surface;
    friend class bloomier_builder;
    bloomier_filter(const bloomier_options& options, const hasher& hash, minimal_perfect perfect,
                    buffer entries) noexcept;

    // All entries zero.
    [[nodiscard]] static result<bloomier_filter> make_with(const bloomier_options& options, const hasher& hash,
                                                           minimal_perfect perfect) noexcept;
    [[nodiscard]] static result<void> check(std::uint64_t keys, double rate, std::uint64_t value_bits) noexcept;
    [[nodiscard]] static std::optional<std::uint64_t> optional_of(const bloomier_found& found) noexcept {
        if (!found.is_present) return std::nullopt;
        return found.value;
    }
    [[nodiscard]] const kernel_table<bloomier_state>& kernels() const noexcept { return kernels_->lookups; }
    [[nodiscard]] const bloomier_state& state() const noexcept { return state_; }
    [[nodiscard]] std::span<std::uint64_t> words() noexcept {
        return {reinterpret_cast<std::uint64_t*>(entries_.data()), entries_.size_bytes() / sizeof(std::uint64_t)};
    }

    const bloomier_kernels* kernels_;
    bloomier_state state_;
    hasher hash_;
    minimal_perfect perfect_;
    buffer entries_;
    double rate_;
};

}  // namespace genista
