// Absent keys that are false positives under every choice (Theorems 9 and 10 of [acf]), and
// mutually unfixable sets, by preliminary, testing and permutation rounds (Theorem 12). See
// acf_attacks.hpp.
#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "lab/adversaries/acf_attacks.hpp"
#include "lab/adversaries/attacks.hpp"

namespace genista::lab {

// Theorems 9 and 10.
//
// "The adversary queries q_1 2^s times. If q_1 is a false positive every time it is queried, the
// adversary sets q̂ ← q_1; otherwise it chooses a new query element" [acf Thm 9]. The first query
// of each is a run of fresh absent keys.
std::optional<std::uint64_t> find_repeater(arena& at, const repeater_plan& plan) {
    std::uint64_t asked = 0;
    while (asked < plan.candidates) {
        const arena::hunt first = at.query_run(plan.first_absent_key + asked, plan.candidates - asked);
        asked += first.asked;
        if (!first.caught) break;
        const std::uint64_t candidate = plan.first_absent_key + asked - 1;
        unsigned through = 1;
        while (through < plan.repeats && at.query(candidate).false_positive()) ++through;
        if (through == plan.repeats) return candidate;
    }
    return std::nullopt;
}

// Against any filter, while the budget lasts. Three selector bits give eight choices.
void exhaust_choices(arena& at, const budget& may_spend) {
    constexpr unsigned repeats = 8;
    hunter me{at, may_spend};
    while (const auto x = me.catch_one()) {
        unsigned through = 1;
        while (through < repeats && at.query(*x).false_positive()) ++through;
        if (through == repeats) at.guess(*x);
    }
}

namespace {

// The c of the paper's footnote 11: with more suspects than this times k it gives up. Ours then
// looks for a key that is a false positive every time (a filter that learns nothing has many), and
// otherwise continues while it may ask.
constexpr std::uint64_t most_suspects_per_table = 8;
constexpr unsigned most_narrowings = 50;
constexpr unsigned tries_of_one = 8;

class rounds {
  public:
    rounds(arena& at, const unfixable_plan& plan) : at_{at}, plan_{plan}, chance_{plan.seed} {}

    [[nodiscard]] unfixable_found play() {
        unfixable_found found;
        const double size = (1 + 1.0 / plan_.tables) * static_cast<double>(plan_.bins) /
                            (plan_.rate * std::pow(static_cast<double>(plan_.keys), 1.0 / plan_.tables));
        std::vector<std::uint64_t> asked(static_cast<std::size_t>(std::max(size, 1.0)));
        for (std::size_t i = 0; i < asked.size(); ++i) asked[i] = plan_.first_absent_key + i;
        found.asked_for = asked.size();

        for (unsigned round = 0; round < plan_.tables && !spent(); ++round) (void)ask_all(asked);
        std::vector<std::uint64_t> suspects = test(asked);
        found.suspects = suspects.size();
        narrow(suspects);
        found.suspects_left = suspects.size();
        if (suspects.size() > most_suspects_per_table * plan_.tables) {
            found.named = always_through(suspects);
        }
        for (unsigned few = 2; few <= plan_.tables && !found.named; ++few) permute(suspects, few, found);
        return found;
    }

  private:
    [[nodiscard]] bool spent() const { return asked_ >= plan_.most_queries; }
    [[nodiscard]] bool ask(std::uint64_t x) {
        ++asked_;
        return at_.query(x).false_positive();
    }
    // In random order. Returns the false positives.
    std::vector<std::uint64_t> ask_all(std::vector<std::uint64_t>& all) {
        shuffle(all);
        std::vector<std::uint64_t> through;
        for (const std::uint64_t x : all) {
            if (spent()) break;
            if (ask(x)) through.push_back(x);
        }
        return through;
    }
    // k testing rounds, each in an order of its own. Returns the keys that were false positives in
    // any of them.
    std::vector<std::uint64_t> test(std::vector<std::uint64_t>& all) {
        std::vector<std::uint64_t> through;
        for (unsigned round = 0; round < plan_.tables && !spent(); ++round) {
            const auto these = ask_all(all);
            through.insert(through.end(), these.begin(), these.end());
        }
        std::sort(through.begin(), through.end());
        through.erase(std::unique(through.begin(), through.end()), through.end());
        return through;
    }
    // Ours. In the proof only unfixable sets are left after k preliminary rounds, because it moves
    // one key at a time; a repair displaces other keys, whose false positives return for a while.
    // Testing the suspects alone costs next to nothing and leaves those that never end.
    void narrow(std::vector<std::uint64_t>& suspects) {
        unsigned unchanged = 0;
        for (unsigned i = 0; i < most_narrowings && unchanged < 3 && suspects.size() > plan_.tables && !spent(); ++i) {
            std::vector<std::uint64_t> left = test(suspects);
            unchanged = left.size() == suspects.size() ? unchanged + 1 : 0;
            suspects = std::move(left);
        }
    }
    std::optional<std::uint64_t> always_through(const std::vector<std::uint64_t>& suspects) {
        for (const std::uint64_t x : suspects) {
            unsigned through = 0;
            while (through < tries_of_one && ask(x)) ++through;
            if (through == tries_of_one) return x;
        }
        return std::nullopt;
    }
    // The same on every machine, unlike std::shuffle.
    void shuffle(std::vector<std::uint64_t>& all) {
        for (std::size_t left = all.size(); left > 1; --left) std::swap(all[left - 1], all[chance_() % left]);
    }

    // "In each permutation round, the adversary picks a random subset of Q_d of size k, [...]
    // queries all elements in Q_r in the order given by P, then repeats. If every query in these
    // repeated queries is a false positive, the adversary stops, and sets q̂ to be the first
    // element in P" [acf §5.3]. Ours tries smaller subsets first: where a key displaces another,
    // two absent keys can exclude each other's repair, one for each key, whatever k is.
    void permute(std::vector<std::uint64_t>& suspects, unsigned size, unfixable_found& found) {
        if (suspects.size() < size) return;
        double most = 1;  // binomial(|Q_d|, size) size!
        for (unsigned i = 0; i < size; ++i) most *= static_cast<double>(suspects.size() - i);
        for (double round = 0; round < most && !spent(); ++round) {
            ++found.permutations;
            shuffle(suspects);
            for (unsigned i = 0; i < size; ++i) (void)ask(suspects[i]);
            bool all = true;
            for (unsigned i = 0; i < size; ++i) all = ask(suspects[i]) && all;
            if (!all) continue;
            found.named = suspects.front();
            return;
        }
    }

    arena& at_;
    unfixable_plan plan_;
    std::mt19937_64 chance_;
    std::uint64_t asked_ = 0;
};

}  // namespace

unfixable_found find_unfixable(arena& at, const unfixable_plan& plan) {
    return rounds{at, plan}.play();
}

// Against any filter: as if it had two tables, with new absent keys in every game.
void find_unfixable_sets(arena& at, const budget& may_spend) {
    hunter me{at, may_spend};
    for (std::uint64_t game = 0; !me.spent(); ++game) {
        const unfixable_plan plan{.tables = 2,
                                  .bins = at.size() + 1,
                                  .rate = at.rate(),
                                  .keys = at.size() + 1,
                                  .most_queries = may_spend.queries / 4 + 1,
                                  .seed = may_spend.seed + game,
                                  .first_absent_key = (std::uint64_t{1} << 41) + (game << 32)};
        if (const auto found = find_unfixable(at, plan); found.named) at.guess(*found.named);
    }
}

}  // namespace genista::lab
