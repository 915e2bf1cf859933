// Replacements in the churned filters. See churn.hpp.
#include "bench/churn.hpp"

#include <algorithm>
#include <cstddef>

#include "bench/clock.hpp"

namespace genista::tool::bench {
namespace {

constexpr std::uint64_t victim_stream = 3, sample_stream = 4;

// erases[0], inserts[0], erases[1], inserts[1] …: never more keys than the filter was made for.
void replace(subject& filter, std::span<const std::uint64_t> erases, std::span<const std::uint64_t> inserts,
             figures& into) {
    into.lost_keys += 1 - filter.erase(erases.first(1));
    const update_counts counts = filter.mixed({.operations = 2 * inserts.size() - 1,
                                               .update_percent = 100,
                                               .lookups = {},
                                               .inserts = inserts,
                                               .erases = erases.subspan(1)});
    into.lost_keys += counts.lost;
    into.refused_keys += counts.refused;
}

// Calls part(keys, first) for stretches of `all`.
template <class Part>
void in_chunks(std::span<const std::uint64_t> all, const Part& part) {
    for (std::size_t first = 0; first < all.size(); first += key_chunk) {
        part(all.subspan(first, std::min(key_chunk, all.size() - first)), first);
    }
}

}  // namespace

result<std::vector<std::uint64_t>> replace_keys(const plan& what, const key_source& keys,
                                                std::span<const std::unique_ptr<subject>> churned, std::size_t sample,
                                                std::span<figures> into, const std::function<void(double)>& tick) {
    const auto steps = static_cast<double>(what.keys + what.replacements());
    std::vector<std::uint64_t> present(static_cast<std::size_t>(what.keys));
    keys.fill(key_use::stored, 0, present);
    for (const auto& each : churned) {
        if (result<void> emptied = each->empty(); !emptied) return emptied.error();
    }
    in_chunks(present, [&](std::span<const std::uint64_t> part, std::size_t first) {
        for (std::size_t t = 0; t < churned.size(); ++t) {
            churned[t]->before_insert(part);
            into[t].refused_keys += churned[t]->insert(part);
        }
        tick(static_cast<double>(first) / steps);
    });

    std::vector<std::uint64_t> range_reads(churned.size()), slot_reads(churned.size());
    std::vector<std::uint64_t> erases, inserts;
    for (std::uint64_t done = 0; done < what.replacements(); done += inserts.size()) {
        erases.resize(static_cast<std::size_t>(std::min<std::uint64_t>(key_chunk, what.replacements() - done)));
        inserts.resize(erases.size());
        keys.fill(key_use::churned, done, inserts);
        for (std::size_t i = 0; i < erases.size(); ++i) {
            std::uint64_t& victim = present[static_cast<std::size_t>(keys.chance(victim_stream, done + i, what.keys))];
            erases[i] = std::exchange(victim, inserts[i]);
        }
        for (std::size_t t = 0; t < churned.size(); ++t) {
            const std::uint64_t ranges = churned[t]->remote_range_reads(), slots = churned[t]->remote_slot_reads();
            replace(*churned[t], erases, inserts, into[t]);
            range_reads[t] += churned[t]->remote_range_reads() - ranges;
            slot_reads[t] += churned[t]->remote_slot_reads() - slots;
        }
        tick(static_cast<double>(what.keys + done) / steps);
    }

    for (std::size_t t = 0; t < churned.size(); ++t) {
        in_chunks(present, [&](std::span<const std::uint64_t> part, std::size_t) {
            into[t].lost_keys += part.size() - churned[t]->count_batch(part);
        });
        if (!churned[t]->asks_remote() || what.replacements() == 0) continue;
        const auto updates = static_cast<double>(2 * what.replacements());
        into[t].range_reads_per_update = static_cast<double>(range_reads[t]) / updates;
        if (churned[t]->slot_bytes() > 0) into[t].slot_reads_per_update = static_cast<double>(slot_reads[t]) / updates;
    }
    std::vector<std::uint64_t> drawn(sample);
    for (std::size_t i = 0; i < sample; ++i) {
        drawn[i] = present[static_cast<std::size_t>(keys.chance(sample_stream, i, what.keys))];
    }
    return drawn;
}

}  // namespace genista::tool::bench
