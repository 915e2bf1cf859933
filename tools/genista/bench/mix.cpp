// Mixed loops. See mix.hpp for which thread has which keys, and when.
#include "bench/mix.hpp"

#include <algorithm>
#include <span>

#include "bench/clock.hpp"

namespace genista::tool::bench {
namespace {

constexpr std::uint64_t coin_stream = 1, present_stream = 2;

std::uint64_t reserve_of(const plan& what, std::uint64_t team) {
    return team * (what.mix_backlog(team) + 1);
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

}  // namespace genista::tool::bench
