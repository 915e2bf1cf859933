// databases: the databases behind the rows of the table. One database holds the keys, opened once
// for each row with a cache of its own; RocksDB's own filters are part of its files, so their rows
// have copies of it, the same records in the same blocks.
//
// The steps, in this order:
//     open    opens the store and adds its keys to the workload. A bad store is not changed
//     fill    inserts the keys of the workload that are missing
//     field   one contender a filter, all of the same size
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/report.hpp"
#include "compare/rocksdb_files.hpp"
#include "compare/rows.hpp"
#include "compare/run_phase.hpp"
#include "compare/workload.hpp"
#include "genista/filters/bloom.hpp"
#include "genista/oracles/oracle_model.hpp"
#include "scratch.hpp"

namespace genista::tool::compare {

// What all databases of a run have in common.
struct setting {
    const request& asked;
    const scratch& room;
    workload& work;
    tick tell;
    bool direct_reads = false;            // decided when the store has been opened
    const oracle_model* model = nullptr;  // not null if a filter of the run needs it

    // From the seed for a temporary database, so that a run can be repeated. Secret for --store.
    [[nodiscard]] std::optional<hash_key> key() const {
        if (!asked.store_path.empty()) return std::nullopt;
        return hash_key::from_seed(asked.seed);
    }
    [[nodiscard]] std::string path() const { return asked.store_path.empty() ? room / "store" : asked.store_path; }
    // The store exists, and no keys are inserted.
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

// Builds a guard with a broom filter of this rate and returns its bytes.
using measure_guard = std::function<result<std::uint64_t>(double rate)>;

// What every filter gets: the memory of a broom filter of --error-rate, or --bits-per-key.
// `guard_bytes` is the size of a guard without its filter. Learning needs memory too, so an attack
// adds to it: no filter has less than broom has at the end.
[[nodiscard]] result<budget> choose_budget(const setting& of, std::uint64_t guard_bytes, const measure_guard& measure);

// The part of it for what a filter learns under attack.
[[nodiscard]] double bits_for_lessons(const setting& of);

// A Bloom filter that has its budget together with its guard.
[[nodiscard]] result<bloom_filter> make_bloom(const setting& of, const budget& sizes, std::uint64_t guard_bytes,
                                              const hasher& hash);

// `bytes` that look random and depend on the key's number alone.
[[nodiscard]] std::string value_of(key_number number, std::uint64_t bytes);

// The stored keys in the order of their digests, which is that of the records in every R.
using digest_order = std::vector<std::pair<digest, key_number>>;
[[nodiscard]] digest_order in_digest_order(const key_table& keys, std::size_t stored, const hasher& hash);

// Every record of a family into table files, in their order. `stage` is what `of.tell` says.
[[nodiscard]] result<void> copy_records(const setting& of, rocksdb::DB& from, rocksdb::ColumnFamilyHandle& family,
                                        sorted_files& into, std::string_view stage);

// An error if there are no keys to store.
[[nodiscard]] result<void> check_not_empty(const setting& of);

// One contender for each filter of the run, in the order of --filters.
[[nodiscard]] result<contenders> make_field(const setting& of,
                                            const std::function<result<std::unique_ptr<contender>>(filter_kind)>& make);

// Has the disk room for `copies` of the store? An error names both sizes.
[[nodiscard]] result<void> check_room(const setting& of, std::size_t copies);

}  // namespace genista::tool::compare
