// Interleaved timing, and mixed loops. See measure.hpp for the order and why, and for which thread
// of a mix has which keys.
#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "bench/clock.hpp"
#include "bench/measure.hpp"

namespace genista::tool::bench {
namespace {

constexpr std::uint64_t coin_stream = 1, present_stream = 2;

std::uint64_t reserve_of(const plan& what, std::uint64_t team) {
    return team * (what.mix_backlog(team) + 1);
}

// visit(0) … visit(count - 1), beginning with another one each round.
template <class Visit>
void in_turn(std::uint64_t round, std::size_t count, const Visit& visit) {
    for (std::size_t i = 0; i < count; ++i) visit(static_cast<std::size_t>((round + i) % count));
}

}  // namespace

// The input and the result of one thread.
struct mix::share {
    std::vector<std::uint64_t> own;  // backlog and inserts, in the order of inserts and erases
    mixed_work work;
    std::uint64_t stored_asked = 0;
    update_counts counts;
    double ns = 0;

    [[nodiscard]] std::span<const std::uint64_t> backlog() const {
        return std::span{own}.first(own.size() - work.inserts.size());
    }
    // What is still in the filter when the work is done.
    [[nodiscard]] std::span<const std::uint64_t> left() const { return std::span{own}.subspan(work.erases.size()); }
};

mix::mix(const plan& what, const key_source& keys) : plan_{what}, keys_{keys} {
    if (what.mix_update_percent == 0) return;
    std::uint64_t largest = 0;
    for (const std::uint64_t team : what.threads) {
        if (what.mix_backlog(team) > 0) largest = std::max(largest, reserve_of(what, team));
    }
    if (largest == 0) return;
    const std::uint64_t asked_for = what.keys - largest;
    reserve_.resize(static_cast<std::size_t>(largest));
    keys.fill(key_use::stored, asked_for, reserve_);
    queries_.resize(static_cast<std::size_t>(what.most_lookups()));
    stored_.resize(queries_.size());
    for (std::size_t i = 0; i < queries_.size(); ++i) {
        stored_[i] = keys.chance(coin_stream, i, 2) == 0;
        queries_[i] =
            stored_[i] ? keys(key_use::stored, keys.chance(present_stream, i, asked_for)) : keys(key_use::absent, i);
    }
}

bool mix::suits(const subject& each, std::size_t team) const {
    const std::uint64_t threads = plan_.threads[team];
    return plan_.mix_update_percent > 0 && plan_.mix_backlog(threads) > 0 && each.can_erase() &&
           (threads == 1 || each.many_writers());
}

std::uint64_t mix::first_key(std::uint64_t round, std::size_t team) const {
    std::uint64_t before = round * (plan_.mix_keys() / plan_.rounds);
    for (std::size_t t = 0; t < team; ++t) before += plan_.threads[t] * plan_.mix_inserts(plan_.threads[t]);
    return before;
}

std::vector<mix::share> mix::hand_out(std::uint64_t round, std::size_t team) const {
    const std::uint64_t threads = plan_.threads[team], operations = plan_.lookups(threads);
    std::vector<share> shares(static_cast<std::size_t>(threads));
    const auto backlog = static_cast<std::size_t>(plan_.mix_backlog(threads));
    for (std::size_t t = 0; t < shares.size(); ++t) {
        share& mine = shares[t];
        mine.own.resize(static_cast<std::size_t>(plan_.mix_inserts(threads)));
        keys_.fill(key_use::mixed, first_key(round, team) + t * mine.own.size(), mine.own);
        mine.work = {.operations = operations, .update_percent = plan_.mix_update_percent};
        const std::size_t updates = static_cast<std::size_t>(mine.work.updates());
        const std::size_t first = t * static_cast<std::size_t>(operations);
        mine.work.lookups = std::span{queries_}.subspan(first, static_cast<std::size_t>(operations) - updates);
        mine.work.inserts = std::span{mine.own}.subspan(backlog);
        mine.work.erases = std::span{mine.own}.first(updates / 2);
        for (std::size_t i = 0; i < mine.work.lookups.size(); ++i) mine.stored_asked += stored_[first + i] ? 1u : 0u;
    }
    return shares;
}

void mix::time(subject& each, std::uint64_t round, std::size_t team, figures& into) const {
    const std::uint64_t threads = plan_.threads[team];
    std::vector<share> shares = hand_out(round, team);
    const auto reserve = std::span{reserve_}.last(static_cast<std::size_t>(reserve_of(plan_, threads)));
    into.lost_keys += reserve.size() - each.erase(reserve);
    for (const share& mine : shares) {
        each.before_insert(mine.backlog());
        into.refused_keys += each.insert(mine.backlog());
    }
    run_team(shares.size(), [&](std::size_t t) {
        share& mine = shares[t];
        const clock::duration spent = time_of(each, [&] { mine.counts = each.mixed(mine.work); });
        mine.ns = nanoseconds(spent) / static_cast<double>(mine.work.operations);
    });
    for (const share& mine : shares) into.lost_keys += mine.left().size() - each.erase(mine.left());
    each.before_insert(reserve);
    into.refused_keys += each.insert(reserve);

    double slowest = 0;
    for (const share& mine : shares) {
        into.refused_keys += mine.counts.refused;
        into.lost_keys += mine.counts.lost;
        // False positives may hide a few lost keys here; the other operations count exactly.
        into.lost_keys += mine.stored_asked - std::min(mine.stored_asked, mine.counts.positives);
        slowest = std::max(slowest, mine.ns);
    }
    into.of(operation::mix, team).add(slowest);
}

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
