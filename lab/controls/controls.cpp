// All controls, one after the other, and the judgement. See controls.hpp.
#include "lab/controls/controls.hpp"

#include <iterator>

#include "lab/statistics/binomial.hpp"

namespace genista::lab {

void judge(control_outcome& played) noexcept {
    played.won = played.played.right_guesses > most_plausible_hits(played.played.guesses, played.rate);
}

std::vector<control_outcome> play_controls(const control_plan& plan) {
    std::vector<control_outcome> all;
    double done = 0;
    const auto add = [&](auto play, double share) {
        control_plan part = plan;
        part.progress = [&plan, done, share](double inner) { plan.progress(done + share * inner); };
        auto more = play(part);
        done += share;
        all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    };
    add(play_local_filters, 0.05);
    add(play_unkeyed_hash, 0.05);
    add(play_dropped_rules, 0.9);
    return all;
}

}  // namespace genista::lab
