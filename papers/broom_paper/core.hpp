// core: the broom filter of the paper, as a whole. One file for each thing it does:
//
//     core.cpp       begin, insert, erase; the place of a resident; all keys at once
//     index.cpp      the records of the index, and REVLOOKUP
//     join.cpp       planning an insert: EXTEND, the level, the bits [broom18 §4.1, §4.3]
//     adapt.cpp      false positives, and the frontier [§4.2]
//     audit.cpp      do the invariants hold, and does R agree?
//
// A change reads R first, then writes the index, then its own memory. So a change that fails leaves
// the filter as it was.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "filters/common.hpp"
#include "filters/index_book.hpp"
#include "papers/broom_paper.hpp"
#include "papers/broom_paper/state.hpp"

namespace genista::broom_paper {

class core {
  public:
    static constexpr std::string_view name = broom_paper_filter::name;

    struct beginnings {
        design sizes{};
        double rate = 0;
        hasher hash;
        std::uint64_t seed = 0;  // of salts
        unsigned rehashed_by_adapt = 3;
        ghost_rule ghosts = ghost_rule::whole_match;
        rehash_rule rehashing = rehash_rule::frontier;
    };
    [[nodiscard]] static result<std::unique_ptr<core>> make(const beginnings& from);
    core(const beginnings& from, std::unique_ptr<state> empty) noexcept;
    core(const core&) = delete;
    core& operator=(const core&) = delete;
    ~core() = default;

    [[nodiscard]] bool contains(const digest& d) const noexcept;
    [[nodiscard]] bool contains(const element& e) const noexcept;
    [[nodiscard]] result<insert_outcome> insert(const hashed_key& key, index_source& remote);
    [[nodiscard]] result<erase_outcome> erase(const hashed_key& key, index_source& remote);
    [[nodiscard]] result<erase_outcome> forget(const hashed_key& key, index_source& remote);
    [[nodiscard]] result<adapt_outcome> adapt(const hashed_key& key, index_source& remote);
    [[nodiscard]] result<void> rebuild(index_source& remote);
    [[nodiscard]] result<void> audit(index_source& remote) const;

    [[nodiscard]] double rate() const noexcept { return rate_; }
    [[nodiscard]] filter_stats stats() const noexcept;
    [[nodiscard]] broom_paper_details details() const;
    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }
    [[nodiscard]] const state& current() const noexcept { return *state_; }

  private:
    //  ---- the index: index.cpp
    //
    // Two kinds of records. *Reverse*: the hash value of each resident, a key that is present.
    // *Order*: the residents and the former keys with ghosts, in the order of the frontier.
    enum class where : unsigned char { primary, second, behind };
    struct ghost_mark {
        bool in_second = false;
        unsigned length = 0;  // 0: no ghost, a resident
    };
    [[nodiscard]] static digest reverse_place(const whole_hash& h) noexcept { return digest{h.first >> 1, h.second}; }
    [[nodiscard]] static std::uint64_t order_position(const element& e) noexcept {
        return std::uint64_t{1} << 63 | e.rank >> 1;
    }
    // The mark in the low byte, and check bits: if a resident were taken for a ghost, the frontier
    // would leave it behind.
    [[nodiscard]] static digest order_place(const element& e, const ghost_mark& ghost) noexcept;
    // None: the place does not belong to this element.
    [[nodiscard]] static std::optional<ghost_mark> mark_in(const digest& place, const element& e) noexcept;

    // Keys with one digest and one hash function share a fingerprint; those of one element move
    // together. The answer of R about sharing counts only if there are fewer fingerprints than
    // keys.
    struct sharing {
        bool several_keys = false, several_elements = false;
    };
    struct resident {
        std::string key{};
        element e{};
        whole_hash h{};  // in the level of the query
        sharing with{};
    };
    static void add_resident(std::optional<resident>& found, key_view key, const element& e, const whole_hash& h);
    // REVLOOKUP: the owner of a fingerprint. An error unless R names exactly one hash with this
    // prefix.
    [[nodiscard]] result<resident> owner_of(const state& in, where which, const level::place& at, index_source& remote);
    // The keys that have this hash in the backyard.
    [[nodiscard]] result<std::optional<sharing>> sharing_of(const state& in, const whole_hash& h, index_source& remote);
    struct order_record {
        std::string key{};
        element e{};
        ghost_mark ghost{};
        [[nodiscard]] bool is_resident() const noexcept { return ghost.length == 0; }
    };
    [[nodiscard]] result<std::vector<order_record>> order_records(std::uint64_t first_position, std::size_t enough,
                                                                  const element* beyond, index_source& remote);
    [[nodiscard]] result<std::vector<order_record>> records_of(const element& e, index_source& remote);
    [[nodiscard]] result<bool> is_resident(const element& e, key_view key, index_source& remote);

    [[nodiscard]] element element_of(key_view key) const noexcept { return element::of(hashed_key{hash_, key}); }
    [[nodiscard]] whole_hash hash_in(const state& in, where which, const element& e) const noexcept;
    [[nodiscard]] static const level& level_of(const state& in, where which) noexcept {
        return which == where::second ? *in.second : in.primary;
    }
    [[nodiscard]] static level& level_of(state& in, where which) noexcept {
        return which == where::second ? *in.second : in.primary;
    }

    //  ---- planning an insert: join.cpp
    enum class verdict : unsigned char { ready, already_present, shares, no_room };
    struct joining {
        verdict says = verdict::no_room;
        where goes_to = where::primary;
        whole_hash h{};       // in the level it goes to
        unsigned length = 0;  // of its adaptivity bits
        // The fingerprint that is a prefix of `h` has to be extended first, to `extended_length`
        // bits of `stream`.
        bool extends = false;
        std::uint64_t stream = 0;
        unsigned extended_length = 0;
    };
    // A key to be inserted under the hash functions `under`. `moving`: it comes from the older
    // functions; `leaves`: its old fingerprint is removed.
    struct newcomer {
        element e{};
        key_view key{};
        bool moving = false, leaves = false;
    };
    [[nodiscard]] result<joining> plan_to_join(const state& in, const newcomer& who, const generation& under,
                                               index_source& remote);
    [[nodiscard]] bool strings_fit(const state& in, const joining& plan) const noexcept;
    void join(state& in, const joining& plan);

    //  ---- presence and deletion: core.cpp
    [[nodiscard]] result<void> begin(index_source& remote);
    [[nodiscard]] result<insert_outcome> insert_into(state& in, const element& e, key_view key, index_source& remote);
    struct location {
        where lies = where::primary;
        sharing with{};
    };
    // The place of the fingerprint whose owner has this hash: this key, or one that is
    // indistinguishable from it.
    [[nodiscard]] result<std::optional<location>> find_own(const state& in, const element& e, index_source& remote);
    [[nodiscard]] result<location> locate(const state& in, const element& e, index_source& remote);
    [[nodiscard]] result<erase_outcome> leave(const element& e, key_view key, index_source& remote);
    [[nodiscard]] result<erase_outcome> let_go(const element& e, key_view key, index_source& remote);
    void take_away(state& in, where from, const element& e);

    //  ---- adapting: adapt.cpp
    struct extension {
        where which = where::primary;
        level::place at{};
        std::uint64_t stream = 0;
        unsigned length = 0;
    };
    // None: no fingerprint of this level matches, or that of a key with the same digest.
    [[nodiscard]] result<std::optional<extension>> extension_against(const element& e, where which,
                                                                     index_source& remote);
    [[nodiscard]] result<bool> extend_against(const element& e, index_source& remote);
    [[nodiscard]] result<adapt_outcome> adapt_to_own_digest(const element& e, key_view key, index_source& remote);
    // Moves the frontier for all calls of ADAPT that have not done so yet. An error of R leaves the
    // rest to the next call: the effect of this call has happened already.
    void move_frontier(index_source& remote);
    [[nodiscard]] result<void> rehash_next(index_source& remote);
    [[nodiscard]] result<void> rehash(std::span<const order_record> of_one_element, index_source& remote);
    [[nodiscard]] result<void> begin_phase();

    //  ---- all at once: core.cpp
    [[nodiscard]] result<void> start_afresh(index_source& remote);
    [[nodiscard]] result<bool> fill(state& fresh, index_source& remote);
    [[nodiscard]] generation fresh_generation() noexcept { return {next_salt(salts_), next_salt(salts_)}; }

    //  ---- audit.cpp
    using ghost =
        std::tuple<bool, std::uint64_t, std::uint64_t, unsigned>;  // in the second level? quotient, bits, length
    [[nodiscard]] result<void> audit_index(const std::set<std::string>& members, const std::multiset<ghost>& ghosts,
                                           index_source& remote) const;

    const design sizes_;
    const double rate_;
    const hasher hash_;
    const hash_functions functions_;
    const unsigned rehashed_by_adapt_;
    const ghost_rule ghosts_;
    const rehash_rule rehashing_;

    std::unique_ptr<state> state_;
    index_book book_;
    // Unknown: new filter, R may hold the index of a former one. In pieces: cleared, and not filled
    // again.
    enum class index_is : unsigned char { unknown, ours, in_pieces } index_ = index_is::unknown;
    // A group of strings was full: what it could not remember is only safe after the next hash
    // functions.
    bool afresh_due_ = false;
    std::uint64_t salts_;  // drawn so far, from the seed
    std::uint64_t frontier_due_ = 0, adapts_since_rebuild_ = 0;
    std::uint64_t adapts_ = 0, phases_ = 0, rehashed_ = 0, rebuilds_ = 0, remote_reads_ = 0;
};

}  // namespace genista::broom_paper
