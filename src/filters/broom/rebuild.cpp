// Rebuilds every bin from R, cluster after cluster, on any number of threads.
#include <algorithm>
#include <new>
#include <optional>

#include "base/team.hpp"
#include "filters/broom/core.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

result<void> core::rebuild(range_source& source, unsigned threads) noexcept try {
    // Each further round follows a growth that another call began: no table doubles so often.
    constexpr int most_rounds = 64;
    for (int round = 0; round < most_rounds; ++round) {
        const table* tried = nullptr;
        {
            const std::lock_guard only_one{growing_};
            tried = layout_.load(std::memory_order_relaxed)->now;
            if (layout_.load(std::memory_order_relaxed)->next == nullptr) {
                const auto fits = rebuild_all(*layout_.load(std::memory_order_relaxed)->now, source, threads);
                if (!fits) return fits.error();
                if (*fits) return {};
            }
        }
        // R has outgrown this table; a sweep also rebuilds every bin from R, so grow instead. If
        // another call began the sweep that is under way, some of its bins were rebuilt before this
        // call: rebuild again, in the table that the sweep leads to.
        if (!options_.grows)
            return error::make(error_code::unsupported, "broom: R holds more keys than the bins have room for");
        const auto all = grow(source, false);
        if (all && *all) return {};
        // Refused because no doubling would help, but for a table that another call has made
        // meanwhile: it may hold all keys.
        const bool is_same = layout_.load(std::memory_order_acquire)->now == tried;
        if (!all && (all.error().code() != error_code::unsupported || is_same)) return all.error();
    }
    return error::make(error_code::timeout, "broom: the filter grew during every one of %d rebuilds", most_rounds);
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "broom: no memory to rebuild");
}

// Each thread rebuilds its own range of whole stripes. False: some bin cannot hold its keys, or
// another call waits for the table to grow.
result<bool> core::rebuild_all(table& in, range_source& source, unsigned threads) {
    const std::uint64_t stripe = in.bins_per_stripe();
    const std::uint64_t stripes = (in.bins() + stripe - 1) / stripe;
    const auto team = static_cast<unsigned>(std::min<std::uint64_t>(std::max(threads, 1u), stripes));
    const auto begin_of = [&](unsigned t) { return std::min(stripes * t / team * stripe, in.bins()); };
    std::vector<std::optional<result<bool>>> done(team);
    const auto work = [&](unsigned t) noexcept {
        try {
            done[t].emplace(rebuild_bins(in, begin_of(t), begin_of(t + 1), source));
        } catch (const limit_reached&) {
            done[t].emplace(error::make(error_code::out_of_memory, "broom: R holds more than memory_limit %llu allows",
                                        static_cast<unsigned long long>(budget_.limit())));
        } catch (const std::bad_alloc&) {
            done[t].emplace(error::make(error_code::out_of_memory, "broom: no memory to rebuild"));
        }
    };
    in_team(team, work);
    bool all = true;
    for (const auto& each : done) {
        if (!*each) return each->error();
        all = all && **each;
    }
    return all;
}

// A cluster for each read, under one lock.
result<bool> core::rebuild_bins(table& in, std::uint64_t first, std::uint64_t stop, range_source& source) {
    population r;
    attempts left{writers_};
    while (first < stop) {
        if (options_.grows && wants_to_grow()) return false;
        const std::uint64_t end = std::min(first + bins_per_cluster, stop);
        if (!left.next()) return left.used_up();
        const std::uint32_t version = in.version(first);
        if (const auto got = fetch({in.range_of(first).first, in.range_of(end - 1).last}, source, r); !got)
            return got.error();
        table::lock held{in, first};
        if (held.version() != version) continue;
        if (!rebuild_cluster(in, held, first, r.members)) return false;
        first = end;
        left.succeeded();
    }
    return true;
}

// Rebuilds all bins of the cluster that begins with `first`, and writes their side block once.
// False: a bin cannot hold its keys, and nothing has changed. May throw std::bad_alloc, having
// changed nothing.
bool core::rebuild_cluster(table& in, table::lock& held, std::uint64_t first, std::span<const digest> members) {
    static thread_local cluster_image cluster;
    in.read_cluster(first, cluster);
    std::uint64_t keys_before = 0;
    std::uint64_t keys_after = 0;
    unsigned built = 0;
    const auto give_salts_back = [&] {
        for (unsigned i = 0; i < built; ++i) {
            if (cluster.renewed[i]) in.book().leave(cluster.lines[i].salt());
        }
    };
    try {
        bin_image& image = cluster.work;
        for (auto from = members.begin(); built < cluster.bins; ++built) {
            const std::uint64_t last = in.range_of(first + built).last;
            const auto to = std::find_if(from, members.end(), [&](const digest& d) { return d.position > last; });
            in.open_bin(cluster, built);
            keys_before += image.keys();
            const std::uint8_t code_before = image.slots.salt();
            if (!epoch{in, image}.renew({from, to}, {})) {
                give_salts_back();
                return false;
            }
            keys_after += image.keys();
            cluster.renewed[built] = image.slots.salt() != code_before || image.slots.salt() == long_salt;
            cluster.lines[built] = image.slots;
            cluster.tails[built] = image.tails;
            from = to;
        }
        in.commit_cluster(held, first, cluster,
                          keys_after > keys_before ? budget_class::inserts : budget_class::upkeep);
    } catch (const std::bad_alloc&) {
        give_salts_back();
        throw;
    }
    count(held, keys_after - keys_before);
    renewals_.fetch_add(cluster.bins, std::memory_order_relaxed);
    return true;
}

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
