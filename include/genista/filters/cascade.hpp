// cascade_filter: any single-hash filter, made adaptive by a cascade of them [broom17 §5 "Extending
// to other AMQs", Thm 20].
//
// A single-hash filter stores h(S): n hash values among n/ε, without loss. Here level 0 is one.
// When a false positive x is found, its value h_0(x) is marked dead, and the keys that have it move
// to level 1, a smaller filter with another hash function and a lower rate; dead there, to level 2;
// and so on:
//
//     level 0   ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒   n keys         rate ε
//     level 1   ▒▒▒▒▒▒                     n ε            rate ε^(1/√ε)
//     level 2   ▒                          n ε ε_1        rate ε^(1/ε_1): a tower, so that O(log*
//                                                         n) levels do
//
//   I1  No false negative: may_contain(x) is true from the moment insert(x) returned until erase(x)
//       begins, under threads, new hash functions, failing stores and failing memory.
//   I2  A call that reports `full` or an error has changed nothing that a call could see.
//   I3  A key is answered by the first level where its value is not dead.
//   I4  What died stays dead until all hash functions are new, even if the keys that had it leave
//       and come back: x, once a false positive, is one again with probability at most ε_1 < ε,
//       whatever happens to the set.
//
// **Take it** where an insert must not read R: it does so only if the filter is full. An erase and
// a false positive read one range of the index for each level that they touch. It keeps its rate
// against every adversary of the lab (`genista lab run adaptive-cascade`). What it cannot do is
// last: it is made for n queries, then all n keys get new hash functions in one go. broom.hpp does
// not need that.
//
// R needs an index (remote/indexed.hpp): one record for each key, at its level and value.
// Everything local is allocated when the filter is made, n log(1/ε) + O(n) bits.
// docs/filters/cascade.md has the formulas.
//
// Any number of threads may call anything but moving, assigning and destroying. Changes wait for
// each other, remote reads included; look-ups wait for the local part of a change.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "genista/detail/base/random_source.hpp"
#include "genista/detail/filters/index_surface.hpp"
#include "genista/detail/filters/plain_surface.hpp"
#include "genista/filters/filter.hpp"

namespace genista {

// How the rates fall from level to level.
enum class cascade_rates : unsigned char {
    tower,  // ε_1 = ε^(1/√ε), ε_i = ε^(1/ε_(i-1)): the paper
    equal,  // all are ε: a control, which needs log n levels
};

struct cascade_options {
    std::uint64_t capacity = 1'000'000;
    double false_positive_rate = 1.0 / 256;
    std::optional<hasher> hash = std::nullopt;  // none: keyed, with a random key of the filter's own
    random_source random{};                     // the operating system's
    cascade_rates rates = cascade_rates::tower;
};

// What it is made of at the moment.
struct cascade_details {
    struct level {
        double rate = 0;              // ε_i
        std::uint64_t most_keys = 0;  // what it is made for: more, and the filter starts afresh
        std::uint64_t come = 0;       // n_i: keys that have come here, those that went on included
        std::uint64_t values = 0;     // the range of h_i
        std::uint64_t stored = 0, dead = 0;
        std::uint64_t bytes = 0;
    };
    std::vector<level> levels{};
    std::uint64_t bins = 0;     // quotients of level 0
    std::uint64_t queries = 0;  // look-ups since the hash functions were new
    std::uint64_t rebuilds = 0;
    std::uint64_t in_doubt = 0;  // inserts of which a failing R left open whether they were the first of their key
};

namespace cascade {
class core;
}

class cascade_filter
    : public indexed_filter<cascade_filter, erasing_surface<cascade_filter, cascade_options, any_indexed_map>,
                            erasing_indexed_body<cascade::core>> {
  public:
    static constexpr std::string_view name = "cascade";

    [[nodiscard]] static result<cascade_filter> make(const cascade_options& options = {}) noexcept;

    // Look-ups are counted, for the filter is made for n of them; a batch is counted at once.
    using plain_surface::may_contain;
    void may_contain(std::span<const std::uint64_t> keys, std::span<std::uint64_t> out_bits) const noexcept {
        each_batch(keys, out_bits);
    }
    void may_contain(std::span<const key_view> keys, std::span<std::uint64_t> out_bits) const noexcept {
        each_batch(keys, out_bits);
    }
    void may_contain(std::span<const digest> digests, std::span<std::uint64_t> out_bits) const noexcept {
        each_batch(digests, out_bits);
    }
    // The level that answers for a key [I3]; not counted.
    [[nodiscard]] unsigned level_of(const digest& d) const noexcept;

    // insert, adapt, erase, forget, rebuild, build, audit: remote_surface.hpp. rate, stats and
    // hash: index_surface.hpp. An insert reads nothing of R. An audit also sees that every value
    // stored is that of a key.

    // A loaded filter answers at once. To change it needs an index that agrees with it, hence a
    // rebuild first; until then insert, erase and adapt are errors.
    [[nodiscard]] result<void> save(sink& out) const noexcept;
    [[nodiscard]] static result<cascade_filter> load(std::span<const std::byte> bytes) noexcept;

    [[nodiscard]] cascade_details details() const;

    // Bits of all levels, which adapting does not change.
    [[nodiscard]] static result<std::uint64_t> bits_for(std::uint64_t capacity, double rate) noexcept;

  private:
    friend plain_surface;
    explicit cascade_filter(std::unique_ptr<cascade::core> core) noexcept;

    using indexed_filter::contains;
    [[nodiscard]] std::uint64_t contains(std::span<const digest> digests) const noexcept;  // up to 64
    [[nodiscard]] digest digest_of(const digest& d) const noexcept { return d; }
    template <class Key>
    [[nodiscard]] digest digest_of(const Key& key) const noexcept {
        return hash()(key);
    }
    template <class Key>
    void each_batch(std::span<const Key> keys, std::span<std::uint64_t> out_bits) const noexcept {
        assert(out_bits.size() >= words_for(keys.size()));
        std::array<digest, 64> digests;
        for (std::size_t first = 0; first < keys.size(); first += digests.size()) {
            const std::size_t count = std::min(digests.size(), keys.size() - first);
            for (std::size_t i = 0; i < count; ++i) digests[i] = digest_of(keys[first + i]);
            out_bits[first / 64] = contains(std::span<const digest>{digests.data(), count});
        }
    }
};

}  // namespace genista
