// trace_replay: a trace against a filter, as in [acf §4]. The first n different keys are stored,
// every access to another one is a query, and each false positive is repaired.
//
// Keys are their numbers in the trace: a filter hashes them, so that their text does not matter.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "genista/detail/filters/cuckoo/family.hpp"
#include "genista/remote/memory_map.hpp"
#include "lab/experiment.hpp"
#include "lab/workloads/flat_index.hpp"
#include "lab/workloads/trace.hpp"
#include "support/remote/counting_map.hpp"

namespace genista::lab {

struct replayed {
    std::uint64_t queries = 0;
    std::uint64_t false_positives = 0;
    std::uint64_t remote_reads = 0;  // of the repairs
    double seconds = 0;              // of queries and repairs
    double bits_per_key = 0;
    [[nodiscard]] double rate() const noexcept {
        return static_cast<double>(false_positives) / static_cast<double>(queries);
    }
};

// Shared by all filters of one replay: the digests, and the keys of R.
class replay_world {
  public:
    replay_world(const trace& of, std::uint64_t stored, const hasher& hash)
        : trace_{of}, stored_{stored}, hash_{hash}, digests_(of.keys.size()) {
        for (std::uint64_t key = 0; key < digests_.size(); ++key) digests_[key] = hash(key);
        for (std::uint64_t key = 0; key < stored; ++key)
            (void)must(members_.put(digests_[key], integer_key{key}.view()));
    }

    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }
    [[nodiscard]] std::uint64_t stored() const noexcept { return stored_; }
    [[nodiscard]] memory_map& members() noexcept { return members_; }

    // reads() returns the number of remote reads so far.
    template <class Filter, class Remote, class Reads>
    [[nodiscard]] replayed ask(Filter& filter, Remote& remote, Reads reads) const {
        replayed seen;
        const std::uint64_t reads_before = reads();
        const auto begin = std::chrono::steady_clock::now();
        for (const std::uint32_t key : trace_.accesses) {
            if (key < stored_) continue;
            ++seen.queries;
            if (!filter.may_contain(digests_[key])) continue;
            ++seen.false_positives;
            (void)must(filter.adapt(std::uint64_t{key}, remote));
        }
        seen.seconds = std::chrono::duration<double>{std::chrono::steady_clock::now() - begin}.count();
        seen.remote_reads = reads() - reads_before;
        seen.bits_per_key = 8.0 * static_cast<double>(filter.stats().local_bytes) / static_cast<double>(stored_);
        return seen;
    }

  private:
    const trace& trace_;
    std::uint64_t stored_;
    hasher hash_;
    std::vector<digest> digests_;
    memory_map members_;
};

template <class Filter>
[[nodiscard]] replayed replay_cuckoo(replay_world& in, unsigned fingerprint_bits, std::uint64_t seed) {
    cuckoo_options options;
    options.capacity = in.stored();
    options.fingerprint_bits = fingerprint_bits;
    options.hash = in.hash();
    options.random = repeatable(seed);
    flat_index index;
    with_index remote{in.members(), index};
    Filter filter = must(Filter::build(options, remote));
    return in.ask(filter, remote, [&] { return index.reads(); });
}

}  // namespace genista::lab
