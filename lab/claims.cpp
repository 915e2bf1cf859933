// The promises of docs/papers.md as data, in its order. A test holds the two against each other.
#include "lab/claims.hpp"

#include <algorithm>
#include <array>

namespace genista::lab {
namespace {

constexpr std::array claims{
    claim{"broom-game",
          "Whoever plays the adaptivity game, each of their guesses is a false positive with probability at most ε, "
          "for the whole life of the filter.",
          "broom18 Def. 3, Lemmas 4, 13"},
    claim{"broom-gap",
          "Ours: a filter that follows the text word for word can be beaten through keys which history has made alike "
          "though nobody compared them; our layout cannot.",
          "broom18 §4.4"},
    claim{"broom-invariant", "At no time is one stored fingerprint a prefix of another.", "broom18 Inv. 7"},
    claim{"broom-property10",
          "A repaired collision between two keys stays repaired until one of them gets a new hash function, even if "
          "the member leaves and comes back.",
          "broom18 Prop. 10"},
    claim{"broom-remote",
          "The remote is not touched for an answer \"absent\"; it is touched a constant number of times for a false "
          "positive or a deletion, and rarely for an insertion.",
          "broom18 Thm 6"},
    claim{"broom-space",
          "All local bits together stay within lower-order terms of n log(1/ε) plus a constant a key, however long the "
          "attack.",
          "broom18 Thm 6, Lemmas 9, 14–16"},
    claim{"broom-time", "Look-up, insertion and deletion do a constant amount of local work, whatever n and ε are.",
          "broom18 Thm 6"},
    claim{"broom-rotation",
          "After a number of repairs proportional to n every key has moved to a new hash function, and a group of "
          "quotients never carries more than O(log n) extension bits.",
          "broom18 §4.2, Lemmas 9, 15, 16"},
    claim{"broom-overflow", "The first level rarely runs over and the second never fills up.", "broom18 Lemmas 17–19"},
    claim{"broom-small", "Large ε: the design for short remainders.", "broom18 §5.3"},
    claim{"broom-large", "Small ε: the design that splits a remainder into signature and tail.", "broom18 §5.4"},
    claim{"broom-words",
          "Prefix match, insertion, deletion and splicing of short bit strings packed into words take a constant "
          "number of word operations.",
          "broom18 App. A, Lemma 29; broom17 Lemma 12"},
    claim{"local-lower-bound",
          "Without a remote to ask, an adaptive filter has to grow almost to the size of an exact set: an attack in "
          "rounds breaks smaller ones.",
          "broom18 Thm 5, §6.1"},
    claim{"whitelist",
          "A filter with a small enough ε and a list of the mistakes found so far matches that bound for O(n) queries.",
          "broom18 Lemma 28"},
    claim{"adaptive-bloom",
          "A cascade of Bloom filters, each holding what the one before got wrong, is adaptive for n queries at a "
          "constant factor in space.",
          "broom17 §5, Thm 19"},
    claim{"adaptive-cascade",
          "The same over single-hash filters whose rates fall like a tower needs only about log* n levels and optimal "
          "space.",
          "broom17 §5, Thm 20"},
    claim{"ppr-reduction",
          "Storing the hashed set exactly, under a universal function into n/ε values, is a filter of rate ε; "
          "four-wise independence allows a smaller range.",
          "ppr05 §2"},
    claim{"ppr-counter",
          "A counter with redundant digits counts up and down in O(1) amortised bit probes and little more than twice "
          "the bits of a plain one.",
          "ppr05 Lemma 3.1"},
    claim{"ppr-multiset",
          "A dynamic multiset fits into the information bound, plus lower-order terms and O(n) bits, with look-up in "
          "constant time.",
          "ppr05 Thm 1.1"},
    claim{"ppr-filter", "From these: a filter with deletions in (1 + o(1)) n log(1/ε) + O(n + w) bits.",
          "ppr05 Thm 1.2"},
    claim{"ppr-cleary",
          "A practical variant, linear probing over quotients; it keeps a set and no multiset, so nothing can be "
          "deleted.",
          "ppr05 §5"},
    claim{"ppr-spectral", "Reported multiplicities are never too small, and too large with probability at most ε.",
          "ppr05 §6.1"},
    claim{"ppr-bloomier", "Values for keys: a minimal perfect hash function and a short check for absent keys.",
          "ppr05 §6.2"},
    claim{"ppr-lossy",
          "Whoever tolerates a share γ of false negatives saves the share γ of the space, and may still delete.",
          "ppr05 §6.3"},
    claim{"daisy-k", "The number of probes a key deserves follows from p_x, q_x, n and ε by four cases.", "daisy §1.1"},
    claim{"daisy-lb",
          "No filter for these distributions can do with fewer than n Σ p_x k_x bits, less a constant number a key.",
          "daisy Thm 6"},
    claim{"daisy-bloom",
          "A Bloom filter with k_x probes a key reaches that bound times log e, with a rate of at most 6 ε over the "
          "queries.",
          "daisy Thm 12, Lemma 15"},
    claim{"daisy-fingerprint",
          "Fingerprints of k_x bits, sorted into classes by length, reach the bound itself up to lower-order terms, at "
          "3 ε and in constant time.",
          "daisy Thm 7, Lemma 11"},
    claim{"daisy-sampling", "The parameters can be estimated from samples instead of being computed over the universe.",
          "daisy §4.3"},
    claim{"daisy-robust", "Probabilities that are wrong by a constant factor cost O(n) bits and constant time.",
          "daisy §1"},
    claim{"daisy-weighted",
          "An earlier weighted Bloom filter fails on keys that are hardly ever asked for; daisy does not.",
          "daisy §1.2"},
    claim{"acf-support",
          "Over any n queries that were fixed beforehand, the cuckooing filter pays about once for each of ε|Q| keys, "
          "repetitions are nearly free.",
          "acf Thm 1"},
    claim{"acf-not-support",
          "The cyclic and the swapping filter may pay in proportion to n though only few different keys are asked.",
          "acf §3"},
    claim{"acf-figures",
          "On network traces, with equal bits, the cuckooing filter has the fewest false positives of the three.",
          "acf §4, Figs 1–4"},
    claim{"acf-attack-cyclic",
          "With enough candidates an adversary finds keys that a cyclic filter can never repair all at once.",
          "acf Thm 9"},
    claim{"acf-attack-swapping", "The same for the swapping filter.", "acf Thm 10"},
    claim{"acf-attack-birthday",
          "Sets of keys that exclude each other's repair beat every deterministic filter with few choices a key.",
          "acf Thm 12"},
    claim{"one-line", "A negative look-up in the broom filter reads hardly more than one cache line, whatever ε is.",
          "ours"},
    claim{"broom-replay",
          "Replaying hundreds of thousands of known false positives wastes next to no reads from the second round on.",
          "ours"},
    claim{"sustained-guard",
          "A store behind a broom filter keeps its throughput under attack; without repairs it collapses.", "ours"},
    claim{
        "daisy-broom",
        "Knowing the distributions and learning from mistakes add up: several times fewer wasted reads at equal bits.",
        "ours"},
    claim{"growth",
          "A broom filter grows beyond its capacity one bin at a time, without a false negative or a long pause.",
          "ours"},
};

}  // namespace

std::span<const claim> all_claims() noexcept {
    return claims;
}

const claim* find_claim(std::string_view id) noexcept {
    const auto* const found = std::ranges::find(claims, id, &claim::id);
    return found == claims.end() ? nullptr : found;
}

}  // namespace genista::lab
