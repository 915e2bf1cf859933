// Filters that never learn, under the attacks that only repeat queries. See local_arena.hpp.
#include <string_view>

#include "genista/filters/blocked_bloom.hpp"
#include "genista/filters/bloom.hpp"
#include "lab/adversaries/adversary.hpp"
#include "lab/controls/controls.hpp"
#include "lab/games/local_arena.hpp"

namespace genista::lab {
namespace {

template <class Filter>
void play_local(std::string_view attack, const control_plan& plan, std::vector<control_outcome>& played) {
    constexpr std::uint64_t keys = 1000;
    constexpr double effort = 50'000;
    if (!plan.only.empty() && plan.only != Filter::name) return;
    control_outcome out{.name = std::string{Filter::name}, .attack = std::string{attack}};
    local_arena<Filter> at{
        {.capacity = keys, .false_positive_rate = 1.0 / 256, .hash = hasher{hash_key::from_seed(plan.seed)}}};
    fill(at, keys);
    find_adversary(attack)->play(
        at,
        {.queries = static_cast<std::uint64_t>(effort * plan.effort), .seed = plan.seed, .progress = [](double) {}});
    out.rate = at.rate();
    out.played = at.counted();
    judge(out);
    played.push_back(std::move(out));
}

}  // namespace

std::vector<control_outcome> play_local_filters(const control_plan& plan) {
    std::vector<control_outcome> played;
    for (const std::string_view attack : {"repeat-one", "pool-replay", "rounds"})
        play_local<bloom_filter>(attack, plan, played);
    play_local<blocked_bloom_filter>("pool-replay", plan, played);
    plan.progress(1);
    return played;
}

}  // namespace genista::lab
