// broom_faults: switches that turn off the rules of the epoch law and switches for a list of bugs,
// for experiments only.
//
// The library itself has none of them: there `faults` is a constant, and the compiler drops every
// branch on it. A build with GENISTA_BROOM_FAULTS has the same filter in an inline namespace, which
// the product does not have: diagnostics and symbols of the product say genista::broom_filter. Both
// can be linked into one program, but not be seen by one file. The lab runs its attacks against
// each missing rule (they must win), and tests/planted plants each bug (the suite must catch it).
#pragma once

#if defined(GENISTA_BROOM_FAULTS)
#define GENISTA_BROOM_NAMESPACE genista::inline faulty_broom
#else
#define GENISTA_BROOM_NAMESPACE genista
#endif

namespace GENISTA_BROOM_NAMESPACE {

struct broom_faults {
    // Missing rules of the law (docs/filters/broom.md says which attack then wins).
    bool salts_wrap = false;                // L1: a counter of 8 bits
    bool salts_of_16_bits = false;          // L1: random salts from a small range
    bool growth_keeps_salts = false;        // L1: a grown table starts with the salts of its predecessor
    bool load_keeps_salts = false;          // L1: a loaded snapshot draws the salts that the saved filter draws, too
    bool load_keeps_empty_epochs = false;   // L1: after a load, bins without slots keep their saved salt
    bool erase_forgets = false;             // L2: an erased slot is freed at once, and so is a backyard entry
    bool insert_extends = false;            // L3: a colliding insert extends both keys and renews nothing
    bool overflow_hides_collision = false;  // L3: a colliding key may go to the backyard; erasing it just removes it
    bool refusal_leaves_bin = false;        // L3: an insert that reads R and is refused has collided
    bool failed_read_shows = false;         // L3: an insert fails if it collides and R cannot be read
    bool adapt_does_nothing = false;        // L4
    bool renewal_keeps_refused = false;     // L4: keys that were refused and stay in R make every renewal fail
    bool backyard_unsalted = false;         // L6: tags that no renewal changes

    // A space leak to compare with, for the lab.
    bool side_blocks_leak = false;  // memory of side blocks is never reused

    // Bugs to be planted.
    bool insert_trusts_remote = false;     // treats "R holds x" as "the filter has x"
    bool insert_takes_dead_slot = false;   // treats a tombstone of x as "the filter has x"
    bool insert_keeps_quiet = false;       // already_present without raising the version
    bool insert_guesses_by_count = false;  // a renewal that leaves the count as it was: "the key was there before"
    bool refusal_throws_out = false;  // a refused key that matches is treated as absent: the bin is rebuilt without it
    bool full_with_dead_slots = false;  // a bin is full although a renewal would make room
    // An `assume_present` erase buries a slot that another key was found to own since.
    bool bury_ignores_claims = false;
    bool erase_guesses = false;            // if backyard and slot both match, takes the slot
    bool erase_buries_twin = false;        // another key with the same digest loses its slot
    bool adapt_extends_wrong_key = false;  // treats the first candidate as the owner
    bool growth_skips_a_bin = false;
    bool reader_without_recheck = false;  // a look-up that overlapped a writer's change is not repeated
    bool writer_without_recheck = false;  // decides by a read of R from before another thread changed the bin
    bool salt_repeats = false;            // a renewal draws the salt that the bin already has
    bool dead_slot_matches = false;
    bool extension_ignored = false;      // an extended slot matches every key with its base fingerprint
    bool slot_names_stay = false;        // side entries do not follow slots that move
    bool error_is_absent = false;        // treats a failed range read as an empty range
    bool load_forgets_backyard = false;  // a snapshot without side entries

    // Both L3 faults about inserts into full bins need this: such an insert reads R only if it
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
