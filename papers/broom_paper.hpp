// broom_paper_filter: the broom filter as its paper has it [broom18 §4, §5], beside our own
// (broom.hpp).
//
// One hash function for every key; what is stored of it is a *fingerprint*, its shortest prefix
// that is enough:
//
//     fingerprint    quotient │ remainder │ adaptivity bits
//                    where    │ r bits    │ none at first; more when another key matches
//
//   I1  No false negative: may_contain(x) is true from the moment insert(x) returned until erase(x)
//       begins, under new hash functions and failing stores.
//   I2  A call that reports `full` or an error of R has no visible effect; but keys may have got
//       new hash functions on the way, if those were overdue. After want of memory the filter has
//       to be built again.
//   I3  No fingerprint is a prefix of another [Inv. 7], so that at most one matches a query.
//   I4  x, once a false positive through y, does not match y again until one of them gets another
//       hash function, even if y leaves and comes back [Prop. 10]: y leaves a *ghost*, its quotient
//       and adaptivity bits, and a new key that matches a ghost takes over its bits.
//
// Every call of ADAPT rehashes c = 3 keys, in their order, from the older hash function h_a to the
// newer one h_b; behind the last one h_b becomes the older [§4.2]. Keys of eight bytes are numbers,
// others follow the order of their digests. A query by digest alone has no place in that order:
// both functions are tried, at up to twice the rate. Small remainders, r ≤ 2 log log n: two levels
// [§5.3]. Large ones: signatures, and a backyard of whole hashes [§5.4].
// docs/filters/broom_paper.md draws them.
//
// **Take broom.hpp for work.** This one keeps ε against the adversaries that its paper considers,
// and loses to three that it does not (`genista lab run broom-gap`): keys that collided with the
// same stored key are likely to collide with each other, and the literal ghost rule forgets that.
// The two options at the end of broom_paper_options stop those; the page gives their cost.
//
// The order of steps is that of the broom filter. R needs an index (remote/indexed.hpp) for
// REVLOOKUP and for the owners of ghosts: an insert writes two records of it, an erase reads two
// ranges and writes three, a false positive reads 2 + c ranges and writes 2 c records; one more if
// a fingerprint has to be extended first. An answer "absent" reads nothing, and an insert reads
// only if it collides. What R returns is checked: no fingerprint is removed unless R names it twice
// as this key's.
//
// One thread at a time, but queries may run beside each other: there are no locks. It has no
// snapshots; build() makes the filter again from R.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "genista/detail/base/random_source.hpp"
#include "genista/detail/filters/index_surface.hpp"
#include "genista/detail/filters/plain_surface.hpp"
#include "genista/filters/filter.hpp"

namespace genista {

// Which adaptivity bits a new key takes over from ghosts of its quotient.
enum class ghost_rule : unsigned char {
    whole_match,       // the bits of a ghost that it matches as a whole: the paper [broom18 §4.3]
    first_difference,  // bits up to the first that differs from every string: the variation in the proof of Lemma 16
    forgotten,         // nothing: a control, which the attack of §4.3 beats
};

// How all keys get a new hash function after Θ(n) calls of ADAPT.
enum class rehash_rule : unsigned char {
    frontier,  // a few keys with every call [broom18 §4.2]
    at_once,   // all keys, every n/c calls: "an amortized way"
    never,     // none, until a group is full: a control, whose adaptivity bits grow with the attack
};

struct broom_paper_options {
    std::uint64_t capacity = 1'000'000;
    double false_positive_rate = 1.0 / 256;
    std::optional<hasher> hash = std::nullopt;  // none: keyed, with a random key of the filter's own
    random_source random{};                     // the operating system's
    unsigned rehashed_by_adapt = 3;             // the paper's c, more than 2
    ghost_rule ghosts = ghost_rule::whole_match;
    rehash_rule rehashing = rehash_rule::frontier;
};

// The present parts of the filter; visits every group of quotients.
struct broom_paper_details {
    bool is_large = false;
    std::uint64_t bins = 0;  // quotients of the primary level
    unsigned remainder_bits = 0, signature_bits = 0, window = 0;
    std::uint64_t primary_keys = 0;
    std::uint64_t overflow_keys = 0, overflow_slots = 0;  // in the second level or the backyard
    std::uint64_t extended = 0, extension_bits = 0;       // fingerprints with adaptivity bits, and those bits
    std::uint64_t ghosts = 0, ghost_bits = 0;
    std::uint64_t phases = 0;    // hash functions that have timed out
    std::uint64_t rehashed = 0;  // keys, by frontier
    std::uint64_t rebuilds = 0;  // of all keys at once
    // Adaptivity bits, ghosts included, of every group of 64 quotients (16 for rates of 1/8 and
    // more).
    std::vector<std::uint32_t> group_bits{};
    std::uint64_t table_bytes = 0, string_bytes = 0, overflow_bytes = 0;
};

namespace broom_paper {
class core;
struct inspection;  // of the tests, which compare filters exactly
}  // namespace broom_paper

class broom_paper_filter
    : public indexed_filter<broom_paper_filter,
                            erasing_surface<broom_paper_filter, broom_paper_options, any_indexed_map>,
                            erasing_indexed_body<broom_paper::core>> {
  public:
    static constexpr std::string_view name = "broom_paper";

    [[nodiscard]] static result<broom_paper_filter> make(const broom_paper_options& options = {}) noexcept;

    // insert, adapt, erase, forget, rebuild, build, audit: remote_surface.hpp. rate, stats and
    // hash: index_surface.hpp. An audit also checks that no fingerprint is a prefix of another, and
    // that the ghosts are those of the index.

    [[nodiscard]] broom_paper_details details() const;

    // Bits of the tables, before any adapt.
    [[nodiscard]] static result<std::uint64_t> bits_for(std::uint64_t capacity, double rate) noexcept;

  private:
    friend plain_surface;
    friend struct broom_paper::inspection;
    explicit broom_paper_filter(std::unique_ptr<broom_paper::core> core) noexcept;

    using indexed_filter::contains;
    [[nodiscard]] bool contains(const hashed_key& key) const noexcept;
};

}  // namespace genista
