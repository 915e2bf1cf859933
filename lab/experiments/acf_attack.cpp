// Games of one attack against one filter. See acf_attack.hpp.
#include "lab/experiments/acf_attack.hpp"

#include <mutex>

#include "lab/experiment.hpp"
#include "lab/statistics/binomial.hpp"
#include "lab/workloads/parallel.hpp"

namespace genista::lab {

bool attack_games::stays_at_rate() const noexcept {
    return seen.false_positives <= most_plausible_hits(seen.negatives, rate) &&
           seen.right_guesses <= most_plausible_hits(seen.guesses, rate) && seen.false_negatives == 0;
}

nlohmann::json attack_games::row() const {
    return {{"filter", filter},
            {"keys", made.keys},
            {"load", made.load},
            {"fingerprint_bits", made.fingerprint_bits},
            {"games", games},
            {"named", named},
            {"wins", wins},
            {"win_share", win_share()},
            {"queries", seen.negatives},
            {"false_positives", seen.false_positives},
            {"rate_promised", rate},
            {"most_plausible", most_plausible_hits(seen.negatives, rate)},
            {"stays_at_rate", stays_at_rate()},
            {"false_negatives", seen.false_negatives},
            {"remote_reads", seen.reads}};
}

attack_games play_games(const std::string& filter, contender_plan plan, unsigned games, const attack& by,
                        const std::function<void(double)>& progress) {
    attack_games out{.filter = filter, .made = plan, .games = games};
    std::mutex adding;
    const std::uint64_t seed = plan.seed;
    parallel(
        games,
        [&](std::size_t game) {
            contender_plan own = plan;
            own.seed = seed * 100'003 + game;
            const std::unique_ptr<arena> at = make_contender(filter, own);
            const auto named = by(*at, own.seed);
            const bool won = named && at->guess(*named).false_positive();
            const std::lock_guard held{adding};
            out.named += named ? 1u : 0u;
            out.wins += won ? 1u : 0u;
            out.seen += at->counted();
            out.rate = at->rate();
        },
        progress);
    return out;
}

}  // namespace genista::lab
