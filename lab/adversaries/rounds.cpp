// See rounds.hpp.
#include "lab/adversaries/rounds.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "lab/adversaries/attacks.hpp"
#include "lab/workloads/random.hpp"

namespace genista::lab {
namespace {

constexpr std::uint64_t queries_per_absent_key = 8;  // the constant in O(n)

// Distinct, sorted, and none of them stored.
std::vector<std::uint64_t> uniform_absent_keys(const arena& at, std::uint64_t count, std::uint64_t seed,
                                               unsigned universe_bits) {
    const unsigned unused_bits = 64 - std::min(universe_bits, 64u);
    random_stream chance{seed};
    std::vector<std::uint64_t> drawn;
    drawn.reserve(count);
    while (drawn.size() < count) {
        while (drawn.size() < count) {
            if (const std::uint64_t key = chance() >> unused_bits; !at.is_member(key)) drawn.push_back(key);
        }
        std::sort(drawn.begin(), drawn.end());
        drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
    }
    return drawn;
}

}  // namespace

std::uint64_t rounds_played::repeated() const noexcept {
    return through.empty() ? 0 : std::accumulate(through.begin(), through.end() - 1, std::uint64_t{0});
}
std::uint64_t rounds_played::repeated_through() const noexcept {
    return through.empty() ? 0 : std::accumulate(through.begin() + 1, through.end(), std::uint64_t{0});
}

void insert_uniformly(arena& at, std::uint64_t keys, std::uint64_t seed, unsigned universe_bits) {
    for (const std::uint64_t key : uniform_absent_keys(at, keys, seed, universe_bits)) at.insert(key);
}

rounds_played attack_in_rounds(arena& at, const rounds_plan& plan) {
    rounds_played played{.absent_keys = plan.absent_keys == 0 ? at.size() : plan.absent_keys};
    const std::uint64_t most = plan.most_queries == 0 ? queries_per_absent_key * played.absent_keys : plan.most_queries;
    std::vector<std::uint64_t> asked = uniform_absent_keys(at, played.absent_keys, plan.seed, plan.universe_bits);
    std::uint64_t queries = 0;
    while (!asked.empty() && asked.size() <= most - queries) {
        queries += asked.size();
        std::vector<std::uint64_t> through;
        for (const std::uint64_t x : asked) {
            const reply seen = played.through.empty() ? at.query(x) : at.guess(x);
            if (seen.false_positive()) through.push_back(x);
        }
        played.through.push_back(through.size());
        asked = std::move(through);
    }
    return played;
}

// One set Q after the other, while the budget lasts.
void play_rounds(arena& at, const budget& may_spend) {
    hunter me{at, may_spend};
    for (std::uint64_t attack = 0; !me.spent(); ++attack) {
        const std::uint64_t absent_keys =
            std::clamp<std::uint64_t>(at.size(), 1, std::max<std::uint64_t>(may_spend.queries, 1));
        (void)attack_in_rounds(at,
                               {.absent_keys = absent_keys,
                                .most_queries = std::min(queries_per_absent_key * absent_keys, 2 * may_spend.queries),
                                .seed = may_spend.seed + (attack << 32)});
    }
}

}  // namespace genista::lab
