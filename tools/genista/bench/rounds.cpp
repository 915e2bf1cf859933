// Interleaved timing. See rounds.hpp for the order and why.
#include "bench/rounds.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "bench/clock.hpp"

namespace genista::tool::bench {
namespace {

// visit(0) … visit(count - 1), beginning with another one each round.
template <class Visit>
void in_turn(std::uint64_t round, std::size_t count, const Visit& visit) {
    for (std::size_t i = 0; i < count; ++i) visit(static_cast<std::size_t>((round + i) % count));
}

}  // namespace

rounds::rounds(const plan& what, const key_source& keys, const subjects& under_test, const subjects& churned,
               std::function<void(std::string_view)> tick)
    : plan_{what},
      keys_{keys},
      subjects_{under_test},
      churned_{churned},
      tick_{std::move(tick)},
      absent_(static_cast<std::size_t>(what.most_lookups())),
      present_{keys.draw_stored(what.keys, absent_.size())},
      erased_{keys.spread_stored(what.keys, what.erase_sample())},
      mix_{what, keys} {
    keys_.fill(key_use::absent, 0, absent_);
}

std::uint64_t rounds::ticks(const plan& what, std::size_t under_test, std::size_t churned) {
    const std::uint64_t teams = what.threads.size();
    const std::uint64_t alone_and_mix = 1 + (what.mix_update_percent > 0 ? teams : 0);
    return under_test * (what.build_rounds() + what.rounds * alone_and_mix) +
           (under_test + churned) * what.rounds * teams * lookups.size();
}

const subject& rounds::entrant(std::size_t index) const {
    return index < subjects_.size() ? *subjects_[index] : *churned_[index - subjects_.size()];
}

std::span<const std::uint64_t> rounds::queries(operation what, std::size_t team, bool of_churned) const {
    const std::uint64_t threads = plan_.threads[team];
    const std::span<const std::uint64_t> present = of_churned ? present_in_churned_ : std::span{present_};
    return (of_stored_keys(what) ? present : std::span{absent_})
        .first(static_cast<std::size_t>(plan_.lookups(threads) * threads));
}

result<void> rounds::time_builds(subject& each, figures& into) {
    if (each.inserts_in_batches()) {
        if (result<void> built = time_build(each, &subject::insert_batch, operation::insert_batch, into); !built)
            return built;
    }
    return time_build(each, &subject::insert, operation::insert, into);
}

result<void> rounds::time_build(subject& each, update_loop insert, operation what, figures& into) {
    std::vector<std::uint64_t> chunk(static_cast<std::size_t>(std::min<std::uint64_t>(plan_.keys, key_chunk)));
    const std::uint64_t repeats = plan_.repeats(plan_.keys);
    clock::duration spent{};
    for (std::uint64_t repeat = 0; repeat < repeats; ++repeat) {
        if (result<void> emptied = each.empty(); !emptied) return emptied;
        for (std::uint64_t first = 0; first < plan_.keys; first += key_chunk) {
            const std::uint64_t left = std::min<std::uint64_t>(plan_.keys - first, key_chunk);
            const std::span part = std::span{chunk}.first(static_cast<std::size_t>(left));
            keys_.fill(key_use::stored, first, part);
            each.before_insert(part);
            spent += time_of(each, [&] { into.refused_keys += (each.*insert)(part); });
        }
        spent += time_of(each, [&] { into.refused_keys += each.finish_inserts(); });
    }
    into.of(what).add(nanoseconds(spent) / static_cast<double>(plan_.keys * repeats));
    return {};
}

result<void> rounds::build_all(std::uint64_t round, std::vector<figures>& into) {
    result<void> outcome;
    in_turn(round, subjects_.size(), [&](std::size_t s) {
        if (!outcome) return;
        outcome = time_builds(*subjects_[s], into[s]);
        tick_("insert");
    });
    return outcome;
}

void rounds::time_lookups_of_all(std::uint64_t round, std::size_t team, operation what, const reader& floor,
                                 std::vector<figures>& into, floor_figures& floor_into) {
    // The floor has no stored keys: it takes a turn with the absent ones, as one more entrant.
    const std::size_t entrants = subjects_.size() + churned_.size();
    in_turn(round, entrants + (of_stored_keys(what) ? 0 : 1), [&](std::size_t e) {
        if (e < entrants) return time_lookups_of(e, team, what, into[e]);
        const lookup_loop loop = in_batches(what) ? &reader::count_batch : &reader::count_each;
        floor_samples& times = floor_into.times[team];
        const auto threads = static_cast<std::size_t>(plan_.threads[team]);
        (in_batches(what) ? times.batch : times.each)
            .add(time_lookups(floor, loop, queries(what, team, false), threads).ns);
    });
}

void rounds::time_lookups_of(std::size_t e, std::size_t team, operation what, figures& into) {
    const lookup_loop loop = in_batches(what) ? &reader::count_batch : &reader::count_each;
    const auto asked = queries(what, team, e >= subjects_.size());
    entrant(e).before_lookups(asked, of_stored_keys(what));
    const timed_lookups timed = time_lookups(entrant(e), loop, asked, static_cast<std::size_t>(plan_.threads[team]));
    into.of(what, team).add(timed.ns);
    std::uint64_t& single = single_positives_[team * (subjects_.size() + churned_.size()) + e];
    if (of_stored_keys(what)) into.lost_keys += asked.size() - timed.positives;
    if (what == operation::negative) single = timed.positives;
    if (what == operation::negative_batch && single != timed.positives) ++into.disagreements;
    tick_(name_of(what));
}

void rounds::time_erases(subject& each, figures& into) {
    if (each.can_erase()) time_erase(each, &subject::erase, operation::erase, into);
    if (each.erases_in_batches()) time_erase(each, &subject::erase_batch, operation::erase_batch, into);
    tick_("erase");
}

void rounds::time_erase(subject& each, update_loop erase, operation what, figures& into) {
    const std::uint64_t repeats = plan_.repeats(erased_.size());
    clock::duration spent{};
    for (std::uint64_t repeat = 0; repeat < repeats; ++repeat) {
        std::uint64_t erased = 0;
        spent += time_of(each, [&] { erased = (each.*erase)(erased_); });
        into.lost_keys += erased_.size() - erased;
        each.before_insert(erased_);
        into.refused_keys += each.insert(erased_);
    }
    into.of(what).add(nanoseconds(spent) / static_cast<double>(erased_.size() * repeats));
}

void rounds::time_adapt(subject& each, figures& into, std::uint64_t round) {
    if (!each.can_adapt()) return;
    // Fresh absent keys every round: those of the look-ups stay as they were.
    std::vector<std::uint64_t> fresh(absent_.size());
    keys_.fill(key_use::absent, (round + 1) * absent_.size(), fresh);
    const std::vector<std::uint64_t> found = each.false_positives(fresh);
    if (found.empty()) return;
    std::uint64_t fixed = 0;
    const clock::duration spent = time_of(each, [&] { fixed = each.adapt(found); });
    into.lost_keys += found.size() - fixed;
    into.of(operation::adapt).add(nanoseconds(spent) / static_cast<double>(found.size()));
}

result<void> rounds::run(const reader& floor, std::span<const std::uint64_t> present_in_churned,
                         std::vector<figures>& into, floor_figures& floor_into) {
    const std::size_t teams = plan_.threads.size();
    present_in_churned_ = present_in_churned;
    single_positives_.assign(teams * (subjects_.size() + churned_.size()), 0);
    floor_into.times.resize(teams);
    const std::uint64_t builds = std::min(plan_.build_rounds(), plan_.rounds);
    for (std::uint64_t round = 0; round < plan_.rounds; ++round) {
        if (round > 0 && round < plan_.build_rounds()) {
            if (result<void> built = build_all(round, into); !built) return built;
        }
        for (const operation what : lookups) {
            in_turn(round, teams, [&](std::size_t t) { time_lookups_of_all(round, t, what, floor, into, floor_into); });
        }
        if (round + 1 < builds) time_updates(round, into);
    }
    // Updates change what was built: with few builds the look-ups come first.
    for (std::uint64_t round = builds - 1; round < plan_.rounds; ++round) time_updates(round, into);
    return {};
}

void rounds::time_updates(std::uint64_t round, std::vector<figures>& into) {
    const auto each_in_turn = [&](const auto& visit) { in_turn(round, subjects_.size(), visit); };
    each_in_turn([&](std::size_t s) { time_erases(*subjects_[s], into[s]); });
    each_in_turn([&](std::size_t s) { time_adapt(*subjects_[s], into[s], round); });
    if (plan_.mix_update_percent == 0) return;
    in_turn(round, plan_.threads.size(), [&](std::size_t t) {
        each_in_turn([&](std::size_t s) {
            if (mix_.suits(*subjects_[s], t)) mix_.time(*subjects_[s], round, t, into[s]);
            tick_("mix");
        });
    });
}

}  // namespace genista::tool::bench
