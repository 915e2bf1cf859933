// count_min_oracle, count_sketch_oracle: odds from two sketches, one of a log of inserts, one of a
// log of queries.
//
//     odds = estimate / total      where the estimate stands out of the sketch's noise
//     odds = unseen                where it does not: this key came seldom or never
//
// The noise is count_min's e N / width or count_sketch's 3 √(F / width). A key that makes up at
// least e / width of its log is known to count_min within a factor of two but for one time in
// e^depth, and a factor of two costs a daisy filter hardly anything (docs/oracles.md). Below the
// noise the sketch says nothing of the key, and would say "likely stored", which is "always maybe",
// of every absent key if it were believed. So all such keys share what the log had of them:
//
//   I1  unseen.stored and unseen.asked are positive: no key becomes "always maybe" because no
//       sample has it.
//
// train() reads both logs twice, the second time to see how much of each drowns in the noise: that
// share, at least half an observation, is spread over the universe (oracle.hpp). make() takes
// sketches that were filled elsewhere, streams or merged parts, and the unseen odds from the
// caller. Both sketches use one hash function: a look-up takes one digest.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "genista/detail/format/snapshot.hpp"
#include "genista/detail/oracles/sketches.hpp"
#include "genista/format/sink.hpp"
#include "genista/oracles/oracle.hpp"

namespace genista {

struct sketch_oracle_options {
    sketch_shape stored{.width = 4096, .depth = 5};  // of the log of inserts
    sketch_shape asked{.width = 4096, .depth = 5};   // of the log of queries
    bool conservative = true;                        // Count-Min only
    std::optional<hasher> hash = std::nullopt;       // none: keyed, with a random key of its own
    std::optional<key_odds> unseen = std::nullopt;   // none: by the second pass over the logs
    double universe = unknown_universe;              // keys that there might be, for that pass
};

template <class Sketch>
class sketch_oracle {
  public:
    static constexpr bool is_count_min = requires { &Sketch::conservative; };
    static constexpr std::string_view name = is_count_min ? "count_min_oracle" : "count_sketch_oracle";

    // Neither log may be empty.
    [[nodiscard]] static result<sketch_oracle> train(const sketch_oracle_options& options,
                                                     std::span<const counted_key> inserts,
                                                     std::span<const counted_key> queries) noexcept;
    // Both sketches must have something in them, one hash function and one way of updating; both
    // odds must be in (0, 1].
    [[nodiscard]] static result<sketch_oracle> make(Sketch stored, Sketch asked, const key_odds& unseen) noexcept;

    [[nodiscard]] key_odds odds(key_view key) const noexcept { return odds(stored_.hash()(key)); }
    [[nodiscard]] key_odds odds(integer_key key) const noexcept { return odds(stored_.hash()(key)); }
    [[nodiscard]] key_odds odds(const digest& d) const noexcept {
        return {one(stored_, stored_noise_, unseen_.stored, d), one(asked_, asked_noise_, unseen_.asked, d)};
    }

    // The logs of both. The unseen odds become the mean, weighted by the logs' lengths. Not while a
    // filter uses this oracle (oracle.hpp, I1): merge first, make filters then.
    [[nodiscard]] result<void> merge(const sketch_oracle& other) noexcept;

    [[nodiscard]] result<void> save(sink& out) const noexcept;
    [[nodiscard]] static result<sketch_oracle> load(std::span<const std::byte> bytes) noexcept;

    [[nodiscard]] const key_odds& unseen() const noexcept { return unseen_; }
    [[nodiscard]] const Sketch& stored() const noexcept { return stored_; }
    [[nodiscard]] const Sketch& asked() const noexcept { return asked_; }
    [[nodiscard]] const hasher& hash() const noexcept { return stored_.hash(); }
    [[nodiscard]] std::uint64_t memory_bytes() const noexcept {
        return stored_.memory_bytes() + asked_.memory_bytes() + sizeof *this - sizeof stored_ - sizeof asked_;
    }

  private:
    sketch_oracle(Sketch stored, Sketch asked, const key_odds& unseen) noexcept;

    [[nodiscard]] static double one(const Sketch& sketch, double noise, double unseen, const digest& d) noexcept {
        const auto estimate = static_cast<double>(sketch.estimate(d));
        if (!(estimate > noise)) return unseen;
        const double share = estimate / static_cast<double>(sketch.total());
        return share > 1 ? 1 : share;
    }

    Sketch stored_, asked_;
    key_odds unseen_;
    double stored_noise_, asked_noise_;
};

extern template class sketch_oracle<count_min>;
extern template class sketch_oracle<count_sketch>;

using count_min_oracle = sketch_oracle<count_min>;
using count_sketch_oracle = sketch_oracle<count_sketch>;

static_assert(key_oracle<count_min_oracle> && key_oracle<count_sketch_oracle>);

}  // namespace genista
