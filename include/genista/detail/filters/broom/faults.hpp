// broom_faults: the rules of the epoch law and a list of bugs, each of which can be switched on, in
// laboratories only.
//
// The library proper has none of them: there `faults` is a constant and the compiler drops every
// branch on it. A build with GENISTA_BROOM_FAULTS has the same filter in an inline namespace, which
// the product does not have: diagnostics and symbols of the product say genista::broom_filter. Both
// can live in one program, never in one file. The lab plays its attacks against each missing rule
// (they must win), tests/planted plants each bug (the suite must catch it).
#pragma once

#if defined(GENISTA_BROOM_FAULTS)
#define GENISTA_BROOM_NAMESPACE genista::inline faulty_broom
#else
#define GENISTA_BROOM_NAMESPACE genista
#endif

namespace GENISTA_BROOM_NAMESPACE {

struct broom_faults {
    // Rules of the law dropped (docs/filters/broom.md says which attack then wins).
    bool salts_wrap = false;                // L1: a counter of 8 bits
    bool salts_of_16_bits = false;          // L1: random salts from a small range
    bool growth_keeps_salts = false;        // L1: a grown table starts with the salts of its predecessor
    bool load_keeps_salts = false;          // L1: a loaded snapshot draws the salts that its twin has drawn
    bool load_keeps_empty_epochs = false;   // L1: bins without slots are filled under the salt of a former life
    bool erase_forgets = false;             // L2: an erased slot is gone at once, and so is a backyard entry
    bool insert_extends = false;            // L3: a colliding insert extends both keys and renews nothing
    bool overflow_hides_collision = false;  // L3: a colliding key may go to the backyard; erasing it just removes it
    bool refusal_leaves_bin = false;        // L3: an insert that reads R and is refused has collided
    bool failed_read_shows = false;         // L3: an insert fails if it collides and R cannot be read
    bool adapt_does_nothing = false;        // L4
    bool renewal_keeps_refused = false;     // L4: keys that were refused and stay in R make every renewal fail
    bool backyard_unsalted = false;         // L6: tags that no renewal changes

    // What the lab measures space against.
    bool side_blocks_leak = false;  // memory of side blocks is never used again

    // Bugs to be planted.
    bool insert_trusts_remote = false;     // "R holds x" taken for presence
    bool insert_takes_dead_slot = false;   // its own dead slot taken for presence
    bool insert_keeps_quiet = false;       // already_present without raising the version
    bool insert_guesses_by_count = false;  // a renewal that leaves the count as it was: "the key was there before"
    bool refusal_throws_out = false;       // a refused key that matches is taken for absent: its bin is laid without it
    bool full_with_dead_slots = false;     // a bin is full although a renewal would make room
    bool bury_ignores_claims =
        false;                   // an `assume_present` erase buries a slot that another key has been found to own since
    bool erase_guesses = false;  // backyard and slot both match: takes the slot
    bool erase_buries_twin = false;        // another key with the same digest loses its slot
    bool adapt_extends_wrong_key = false;  // the first candidate is the owner
    bool growth_skips_a_bin = false;
    bool reader_without_recheck = false;  // a look-up torn by a writer stands
    bool writer_without_recheck = false;  // what R held before somebody changed the bin decides
    bool salt_repeats = false;            // a renewal draws the salt that the bin has
    bool dead_slot_matches = false;
    bool extension_ignored = false;      // an extended slot matches everything with its base
    bool slot_names_stay = false;        // side entries do not follow slots that move
    bool error_is_absent = false;        // a failed range read taken for an empty range
    bool load_forgets_backyard = false;  // a snapshot without side entries

    // What both rules of L3 about inserts into full bins need: such an insert reads R only if it
    // collides.
    [[nodiscard]] constexpr bool full_bins_read_on_collision() const noexcept {
        return refusal_leaves_bin || failed_read_shows;
    }
};

#if defined(GENISTA_BROOM_FAULTS)
inline broom_faults faults{};  // set before the filter is shared between threads
#else
inline constexpr broom_faults faults{};
#endif

}  // namespace GENISTA_BROOM_NAMESPACE
