// adaptive_bloom_filter: a Bloom filter made adaptive by a cascade of further ones [broom17 §5,
// Fig. 1, Thm 19].
//
// Every cell is alive or dead. A false positive kills one of its cells, and the stored keys that
// use the cell move up:
//
//     level 0      all n keys, ε              0 1 1 † 0 1 ...    † a dead cell: the next level is asked
//     level 1      keys with a dead cell, ε²  1 0 † 1 ...
//     ...
//     level d      at most n/(3 log n) keys   whole hashes in a compact table: almost no false
//                                             positives
//
//   LOOKUP   some cell 0: absent. All 1, none dead: present. All 1 and some dead: ask the next
//            level.
//   FIX      kill one cell of the false positive, chosen by chance, and insert all stored keys that
//            use it into the next level.
//
//   I1  No false negative: may_contain(x) is true from the moment insert(x) returned for as long as
//       R holds x, under threads, new hash functions, failing stores and failing memory.
//   I2  A call that reports `full` or an error has changed nothing that a call could see.
//   I3  A stored key is in level i + 1 exactly if it is in level i and uses a dead cell there.
//   I4  After adapt(x) returned `fixed`, may_contain(x) is false until a key is inserted, another
//       key is repaired, or all keys get new hash functions.
//
// The rate is kept for up to n queries [Thm 19]: they are counted, and after the n-th the next call
// that has R rehashes all keys under new hash functions. The same happens when a level has taken
// all the keys it was made for.
//
// **There is no erase**: the paper gives none, a cell does not say how many keys use it. A key that
// has left R is a false positive like any other, and is repaired like one; adapt() then takes its
// records out of the index, and does not move it up. After the key was put back into R, insert()
// has to be called again.
//
// FIX finds "all y in S" through an index in R (remote/indexed.hpp) with a record for each cell a
// key uses. An insert writes k records and reads nothing; a positive costs one look-up of the
// record, a repair one range of the index more; an answer "absent" costs nothing. What R says is
// checked against the hash of the key. That it returns *all* records cannot be checked, because a
// cell has no count: an R that leaves out records of the index makes the filter lose stored keys.
//
// Most people want broom.hpp; take this one to see how far Bloom filters go, or where inserts must
// not read. docs/filters/ adaptive_bloom.md has formulas and figures.
//
// Any number of threads may call anything but moving, assigning and destroying. Changes wait for
// each other, remote reads included; look-ups wait for the local part of a change.
#pragma once

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

struct adaptive_bloom_options {
    std::uint64_t capacity = 1'000'000;
    double false_positive_rate = 1.0 / 256;
    std::optional<hasher> hash = std::nullopt;  // none: keyed, with a random key of the filter's own
    random_source random{};                     // the operating system's
};

// One level, as it is at the moment.
struct adaptive_bloom_level {
    unsigned functions = 0;   // the paper's k_i; 0 in the last level, which has no cells
    std::uint64_t cells = 0;  // or slots of the last level
    std::uint64_t keys = 0;   // the paper's n_i: keys inserted since the hash functions are new
    double expected = 0;      // its expectation after n queries, at most
    std::uint64_t most = 0;   // more than these, and all keys are rehashed
    std::uint64_t dead = 0;
    std::uint64_t cell_bytes = 0, dead_bytes = 0;
};

struct adaptive_bloom_details {
    std::vector<adaptive_bloom_level> levels{};  // 0, …, d
    std::uint64_t bins = 0;                      // cells of level 0
    std::uint64_t queries = 0;                   // since the hash functions are new
    std::uint64_t rebuilds = 0;
};

// How a look-up went.
struct adaptive_bloom_path {
    bool maybe = false;
    unsigned level = 0;         // which had the last word
    unsigned cells = 0;         // looked at, a hash of the last level counting as one
    unsigned dead_entries = 0;  // looked at in lists of dead cells
};

namespace adaptive_bloom {
class core;
}

class adaptive_bloom_filter
    : public indexed_filter<adaptive_bloom_filter,
                            sourced_surface<adaptive_bloom_filter, adaptive_bloom_options, any_indexed_map>,
                            indexed_body<adaptive_bloom::core>> {
  public:
    static constexpr std::string_view name = "adaptive_bloom";

    [[nodiscard]] static result<adaptive_bloom_filter> make(const adaptive_bloom_options& options = {}) noexcept;

    // insert, adapt, rebuild, build, audit: remote_surface.hpp. rate (the one asked for), stats and
    // hash: index_surface.hpp. Nothing is read at an insert, so that it is not known whether the
    // key was there before: it is `inserted`, and counts once more until the next rebuild. A
    // rebuild takes memory for both filters meanwhile, and room for both indexes in R.

    // A loaded filter answers at once. To change it needs an index that agrees with it, hence a
    // rebuild first; until then insert and adapt are errors.
    [[nodiscard]] result<void> save(sink& out) const noexcept;
    [[nodiscard]] static result<adaptive_bloom_filter> load(std::span<const std::byte> bytes) noexcept;

    [[nodiscard]] adaptive_bloom_details details() const;
    // A look-up that reports what it did, and counts as no query.
    [[nodiscard]] adaptive_bloom_path path_of(const digest& d) const noexcept;

    // Bits of all levels and of the lists of dead cells: it never takes more.
    [[nodiscard]] static result<std::uint64_t> bits_for(std::uint64_t capacity, double rate) noexcept;

  private:
    explicit adaptive_bloom_filter(std::unique_ptr<adaptive_bloom::core> core) noexcept;
};

}  // namespace genista
