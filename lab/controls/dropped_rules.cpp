// The broom filter with one rule of the epoch law switched off, under the attack that the rule
// prevents (docs/filters/broom.md, "Why each rule is there"), and under the measurement of an
// experiment.
#include <array>
#include <stdexcept>
#include <string_view>

#include "genista/filters/broom.hpp"
#include "lab/adversaries/adversary.hpp"
#include "lab/controls/controls.hpp"
#include "lab/games/learning_arena.hpp"

namespace genista::lab {
namespace {

struct dropped_rule {
    std::string_view name;
    bool broom_faults::*rule;  // nullptr: all rules hold
    std::string_view attack;
    std::uint64_t effort;  // for each game
    int games;
    broom_history history = broom_history::tombstone;
    bool must_win = true;
};

constexpr std::array rules{
    dropped_rule{"salts_wrap", &broom_faults::salts_wrap, "salt-cycling", 1'300'000, 1},
    dropped_rule{"salts_of_16_bits", &broom_faults::salts_of_16_bits, "salt-cycling", 6'000'000, 1},
    dropped_rule{"growth_keeps_salts", &broom_faults::growth_keeps_salts, "growth-replay", 200'000, 4},
    dropped_rule{"load_keeps_salts", &broom_faults::load_keeps_salts, "restart-replay", 60'000, 2},
    dropped_rule{"erase_forgets", &broom_faults::erase_forgets, "delete-and-reinsert", 100'000, 1},
    dropped_rule{"erase_forgets", &broom_faults::erase_forgets, "pool-cross", 1'500'000, 1},
    dropped_rule{"erase_forgets", &broom_faults::erase_forgets, "swap", 400'000, 1},
    dropped_rule{"erase_forgets", &broom_faults::erase_forgets, "toggle-two", 400'000, 1},
    dropped_rule{"insert_extends", &broom_faults::insert_extends, "insert-probing", 2'500, 80'000},
    dropped_rule{"overflow_hides_collision", &broom_faults::overflow_hides_collision, "backyard-probing", 600'000, 1},
    dropped_rule{"refusal_leaves_bin", &broom_faults::refusal_leaves_bin, "refusal-probing", 600'000, 1},
    dropped_rule{"failed_read_shows", &broom_faults::failed_read_shows, "outage-probing", 200'000, 1},
    dropped_rule{"failed_read_shows", &broom_faults::failed_read_shows, "outage-probing-full", 200'000, 1},
    dropped_rule{"renewal_keeps_refused", &broom_faults::renewal_keeps_refused, "refused-in-store", 20'000, 1},
    dropped_rule{"load_keeps_empty_epochs", &broom_faults::load_keeps_empty_epochs, "empty-restart", 100'000, 1},
    dropped_rule{"a copy that continues with the snapshot's epochs", nullptr, "copy", 100'000, 1},
    dropped_rule{"adapt_does_nothing", &broom_faults::adapt_does_nothing, "repeat-one", 20'000, 1},
    dropped_rule{"adapt_does_nothing", &broom_faults::adapt_does_nothing, "adapt-exhaustion", 20'000, 1},
    dropped_rule{"backyard_unsalted", &broom_faults::backyard_unsalted, "lasting-tags", 200'000, 1},
    dropped_rule{"soft history", nullptr, "exclusion", 20'000'000, 1, broom_history::soft, false},
};

// Switches one rule off while it lives. Only filters of this variant are affected.
class switched_off {
  public:
    explicit switched_off(bool broom_faults::*rule) noexcept : before_{faults} {
        if (rule != nullptr) faults.*rule = true;
    }
    switched_off(const switched_off&) = delete;
    switched_off& operator=(const switched_off&) = delete;
    ~switched_off() { faults = before_; }

  private:
    broom_faults before_;
};

// A control of many games is judged after each tenth of them, and has lost once it is beyond what ε
// explains: ten judgements, so an honest filter would fail once in 10^8 times instead of 10^9.
constexpr int looks = 10;

control_outcome play_dropped_rule(const dropped_rule& what, const control_plan& plan) {
    control_outcome out{.name = std::string{what.name}, .attack = std::string{what.attack}, .must_win = what.must_win};
    const adversary& attacker = *find_adversary(what.attack);
    const switched_off dropped{what.rule};
    for (int game = 0; game < what.games; ++game) {
        if (what.games >= looks && game > 0 && game % (what.games / looks) == 0) {
            judge(out);
            if (out.won) return out;
        }
        const std::uint64_t seed = plan.seed * 1000 + static_cast<std::uint64_t>(game);
        broom_options options;
        options.capacity = attacker.plays_on.capacity;
        options.hash = hasher{hash_key::from_seed(seed)};
        options.history = what.history;
        options.grows = false;
        options.random = repeatable(seed);
        broom_arena<broom_filter> at{options, {.failures_are_counted = true}};
        try {
            fill(at, attacker.plays_on.keys);
            attacker.play(at, {.queries = static_cast<std::uint64_t>(static_cast<double>(what.effort) * plan.effort),
                               .seed = seed,
                               .progress = [](double) {}});
        } catch (const std::runtime_error& failed) {
            out.note = failed.what();
        }
        out.rate = at.rate();
        out.played += at.counted();
    }
    if (out.note.empty() && out.played.guesses == 0) out.note = "the attack found nothing to play";
    judge(out);
    return out;
}

}  // namespace

std::vector<control_outcome> play_dropped_rules(const control_plan& plan) {
    double all = 0;
    for (const dropped_rule& each : rules) all += static_cast<double>(each.effort) * each.games;
    double done = 0;
    std::vector<control_outcome> played;
    for (const dropped_rule& each : rules) {
        if (plan.only.empty() || plan.only == each.name) played.push_back(play_dropped_rule(each, plan));
        done += static_cast<double>(each.effort) * each.games;
        plan.progress(done / all);
    }
    return played;
}

invariant_seen drive_and_audit_extending_inserts(double rate, std::uint64_t steps, std::uint64_t seed) {
    const switched_off dropped{&broom_faults::insert_extends};
    return drive_and_audit<broom_filter>(seeded<broom_options>(180, rate, seed), steps, seed);
}

property_seen try_to_collide_again_without_history(std::uint64_t steps, std::uint64_t seed) {
    const switched_off dropped{&broom_faults::erase_forgets};
    return try_to_collide_again<broom_filter>(seeded<broom_options>(40, 0x1p-8, seed), steps, seed);
}

reinsertion_seen delete_and_reinsert_without_history(std::uint64_t capacity, const reinsertion_plan& plan,
                                                     std::uint64_t seed) {
    const switched_off dropped{&broom_faults::erase_forgets};
    return delete_and_reinsert<broom_filter>(seeded<broom_options>(capacity, 0x1p-8, seed), plan, [](double) {});
}

replay_seen find_and_replay_without_adapting(std::uint64_t capacity, double load, std::uint64_t wanted,
                                             std::size_t rounds, std::uint64_t seed) {
    const switched_off dropped{&broom_faults::adapt_does_nothing};
    return find_and_replay<broom_filter>(seeded<broom_options>(capacity, 0x1p-8, seed), load, wanted, rounds,
                                         [](double) {});
}

attack_added attack_leaking_broom(std::uint64_t keys, double adapts_per_key, std::uint64_t seed) {
    const switched_off dropped{&broom_faults::side_blocks_leak};
    return attack_broom<broom_filter, broom_options>(keys, adapts_per_key, seed,
                                                     [](std::uint64_t, const attack_added&, auto&) {});
}

growth_seen grow_and_watch_skipping_a_bin(std::uint64_t capacity, std::uint64_t keys, std::uint64_t seed) {
    const switched_off dropped{&broom_faults::growth_skips_a_bin};
    return grow_and_watch<broom_filter>(seeded<broom_options>(capacity, 0x1p-8, seed, true), keys, seed, [](double) {});
}

}  // namespace genista::lab
