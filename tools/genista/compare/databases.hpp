// databases: what the rows of the table stand on. One database holds the keys, opened once for each
// row with a cache of its own; RocksDB's own filters are part of its files, so their rows have
// copies of it, the same records in the same blocks.
//
// The steps, in this order:
//     open    looks at the store and takes the keys it holds into the workload. A bad store is left
//             as it was
//     fill    brings in the keys of the workload that are not there
//     field   one contender a filter, all of the same size
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "compare/contender.hpp"
#include "compare/run_phase.hpp"
#include "compare/workload.hpp"
#include "genista/filters/bloom.hpp"
#include "genista/oracles/oracle_model.hpp"
#include "scratch.hpp"

namespace genista::tool::compare {

struct budget {
    double bits_per_key = 0;  // of every filter
    double broom_rate = 0;    // what the broom filter makes of it
};

// What all databases of a run have in common.
struct setting {
    const request& asked;
    const scratch& room;
    workload& work;
    tick tell;
    bool direct_reads = false;            // decided when the store has been opened
    const oracle_model* model = nullptr;  // there, if a filter of the run needs one

    // Of a database of our own: it repeats with the seed. A store that stays gets a secret one.
    [[nodiscard]] std::optional<hash_key> key() const {
        if (!asked.store_path.empty()) return std::nullopt;
        return hash_key::from_seed(asked.seed);
    }
    [[nodiscard]] std::string path() const { return asked.store_path.empty() ? room / "store" : asked.store_path; }
    // The store is there already, and nothing is to be put into it.
    [[nodiscard]] bool only_reads() const noexcept { return !asked.store_path.empty() && asked.keys_path.empty(); }
};

class databases {
  public:
    databases() = default;
    databases(const databases&) = delete;
    databases& operator=(const databases&) = delete;
    virtual ~databases() = default;

    [[nodiscard]] virtual result<void> open() = 0;
    [[nodiscard]] virtual result<void> fill() = 0;
    [[nodiscard]] virtual result<contenders> field() = 0;
    // After field().
    [[nodiscard]] virtual budget sizes() const = 0;
};

// `of` outlives them.
[[nodiscard]] std::unique_ptr<databases> make_clustered_databases(const setting& of);
[[nodiscard]] std::unique_ptr<databases> make_indexed_databases(const setting& of);

// Builds a guard with a broom filter of this rate and says how many bytes it takes.
using measure_guard = std::function<result<std::uint64_t>(double rate)>;

// What every filter gets: the memory of a broom filter of --error-rate, or --bits-per-key.
// `guard_bytes` is what a guard takes beside its filter. Learning needs memory too, so an attack
// adds to it: no rival has less than broom ends with.
[[nodiscard]] result<budget> choose_budget(const setting& of, std::uint64_t guard_bytes, const measure_guard& measure);

// The part of it that is not for keys but for what an attack will teach a filter that learns.
[[nodiscard]] double bits_for_lessons(const setting& of);

// A Bloom filter that takes its budget together with its guard.
[[nodiscard]] result<bloom_filter> make_bloom(const setting& of, const budget& sizes, std::uint64_t guard_bytes,
                                              const hasher& hash);

// `bytes` that look random and depend on the key's number alone.
[[nodiscard]] std::string value_of(key_number number, std::uint64_t bytes);

// Is there room for `copies` of what is to be stored? An error names both figures.
[[nodiscard]] result<void> check_room(const setting& of, std::size_t copies);

}  // namespace genista::tool::compare
