// Interleaved timing. See rounds.hpp for the order and why.
#include "bench/rounds.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "bench/clock.hpp"

namespace genista::tool::bench {
namespace {

constexpr std::size_t insert_chunk = std::size_t{1} << 16;  // 512 KiB of keys, made outside the clock

constexpr operation lookups[] = {operation::negative, operation::positive, operation::negative_batch,
                                 operation::positive_batch};

bool in_batches(operation what) {
    return what == operation::negative_batch || what == operation::positive_batch;
}
bool of_stored_keys(operation what) {
    return what == operation::positive || what == operation::positive_batch;
}

// visit(0) … visit(count - 1), beginning with another one each round.
template <class Visit>
void in_turn(std::uint64_t round, std::size_t count, const Visit& visit) {
    for (std::size_t i = 0; i < count; ++i) visit(static_cast<std::size_t>((round + i) % count));
}

// Of a call, without what it spent in a remote map.
template <class Call>
clock::duration time_of(const subject& each, const Call& call) {
    const clock::duration remote_before = each.remote_time();
    const auto begin = clock::now();
    call();
    const clock::duration all = clock::now() - begin;
    return all - (each.remote_time() - remote_before);
}

}  // namespace

rounds::rounds(const plan& what, const key_source& keys, std::span<const std::unique_ptr<subject>> subjects,
               std::function<void(std::string_view)> tick)
    : plan_{what},
      keys_{keys},
      subjects_{subjects},
      tick_{std::move(tick)},
      absent_(static_cast<std::size_t>(what.lookups() * what.threads)),
      present_{keys.draw_stored(what.keys, absent_.size())},
      erased_{keys.spread_stored(what.keys, what.erase_sample())},
      single_positives_(subjects.size()) {
    keys_.fill(key_use::absent, 0, absent_);
}

std::uint64_t rounds::ticks_each(const plan& what) {
    return what.build_rounds() + what.rounds * (std::size(lookups) + 1);
}

result<void> rounds::time_build(subject& each, figures& into) {
    std::vector<std::uint64_t> chunk(static_cast<std::size_t>(std::min<std::uint64_t>(plan_.keys, insert_chunk)));
    const std::uint64_t repeats = plan_.repeats(plan_.keys);
    clock::duration spent{};
    for (std::uint64_t repeat = 0; repeat < repeats; ++repeat) {
        if (result<void> emptied = each.empty(); !emptied) return emptied;
        for (std::uint64_t first = 0; first < plan_.keys; first += insert_chunk) {
            const std::uint64_t left = std::min<std::uint64_t>(plan_.keys - first, insert_chunk);
            const std::span part = std::span{chunk}.first(static_cast<std::size_t>(left));
            keys_.fill(key_use::stored, first, part);
            each.before_insert(part);
            spent += time_of(each, [&] { into.refused_keys += each.insert(part); });
        }
    }
    into.of(operation::insert).add(nanoseconds(spent) / static_cast<double>(plan_.keys * repeats));
    return {};
}

result<void> rounds::build_all(std::uint64_t round, std::vector<figures>& into) {
    result<void> outcome;
    in_turn(round, subjects_.size(), [&](std::size_t s) {
        if (!outcome) return;
        outcome = time_build(*subjects_[s], into[s]);
        tick_("insert");
    });
    return outcome;
}

void rounds::time_lookups_of_all(std::uint64_t round, operation what, const reader& floor, std::vector<figures>& into,
                                 floor_figures& floor_into) {
    const std::vector<std::uint64_t>& queries = of_stored_keys(what) ? present_ : absent_;
    const lookup_loop loop = in_batches(what) ? &reader::count_batch : &reader::count_each;
    const auto threads = static_cast<std::size_t>(plan_.threads);
    // The floor knows no stored keys: it takes its turn with the absent ones, as one more subject.
    const std::size_t turns = subjects_.size() + (of_stored_keys(what) ? 0 : 1);
    in_turn(round, turns, [&](std::size_t s) {
        if (s == subjects_.size()) {
            (in_batches(what) ? floor_into.batch : floor_into.each).add(time_lookups(floor, loop, queries, threads).ns);
            return;
        }
        const timed_lookups timed = time_lookups(*subjects_[s], loop, queries, threads);
        into[s].of(what).add(timed.ns);
        if (of_stored_keys(what)) into[s].lost_keys += queries.size() - timed.positives;
        if (what == operation::negative) single_positives_[s] = timed.positives;
        if (what == operation::negative_batch && single_positives_[s] != timed.positives) ++into[s].disagreements;
        tick_(operation_names[static_cast<std::size_t>(what)]);
    });
}

void rounds::time_erase(subject& each, figures& into) {
    if (each.can_erase()) {
        const std::uint64_t repeats = plan_.repeats(erased_.size());
        clock::duration spent{};
        for (std::uint64_t repeat = 0; repeat < repeats; ++repeat) {
            std::uint64_t erased = 0;
            spent += time_of(each, [&] { erased = each.erase(erased_); });
            into.lost_keys += erased_.size() - erased;
            each.before_insert(erased_);
            into.refused_keys += each.insert(erased_);
        }
        into.of(operation::erase).add(nanoseconds(spent) / static_cast<double>(erased_.size() * repeats));
    }
    tick_("erase");
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

result<void> rounds::run(const reader& floor, std::vector<figures>& into, floor_figures& floor_into) {
    for (std::uint64_t round = 0; round < plan_.rounds; ++round) {
        if (round > 0 && round < plan_.build_rounds()) {
            if (result<void> built = build_all(round, into); !built) return built;
        }
        for (const operation what : lookups) time_lookups_of_all(round, what, floor, into, floor_into);
        in_turn(round, subjects_.size(), [&](std::size_t s) { time_erase(*subjects_[s], into[s]); });
        in_turn(round, subjects_.size(), [&](std::size_t s) { time_adapt(*subjects_[s], into[s], round); });
    }
    return {};
}

}  // namespace genista::tool::bench
