// driven_world: the common part of paper_world, cascade_world and cuckoo_world: a filter, the
// records of its R, and the truth.
//
// It uses no test framework: failures are collected in `wrong`. The truth is the set of the stored
// keys among 0 .. universe-1; larger keys are absent keys. R may fail; the operation is then tried
// again or given up. An erase that R committed and that the filter did not complete leaves an
// orphan: a key that is not stored and is still answered maybe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "genista/format/sink.hpp"
#include "genista/hash/key.hpp"
#include "genista/remote/memory_map.hpp"
#include "support/remote/faulty_map.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test {

template <class Filter>
class driven_world {
  public:
    using bytes = std::vector<std::byte>;
    using faulty_records = faulty_map<memory_map>;

    driven_world(const driven_world&) = delete;
    driven_world& operator=(const driven_world&) = delete;

    [[nodiscard]] const std::set<std::uint64_t>& members() const noexcept { return members_; }
    [[nodiscard]] const std::set<std::uint64_t>& orphans() const noexcept { return orphans_; }
    [[nodiscard]] std::uint64_t any_key() noexcept { return chance.below(universe_); }

    // The next absent key, among at most `most`, that the filter answers maybe.
    std::optional<std::uint64_t> find_false_positive(std::uint64_t most = 1'000'000) {
        for (std::uint64_t asked = 0; asked < most; ++asked) {
            if (filter.may_contain(next_absent_key_++)) return next_absent_key_ - 1;
        }
        return std::nullopt;
    }

    [[nodiscard]] bytes saved() const {
        vector_sink out;
        return filter.save(out) ? std::move(out).take() : bytes{};
    }
    void expect(bool holds, const char* what) {
        if (!holds && wrong.size() < 4) wrong.emplace_back(what);
    }
    [[nodiscard]] std::string text() const {
        std::string all;
        for (const std::string& each : wrong) all += each + "; ";
        return all;
    }

    // Changes the store only.
    void put(std::uint64_t key) {
        expect(plain.put(filter.hash()(key), integer_key{key}.view()).has_value(), "the store failed to put");
    }
    void take_out(std::uint64_t key) {
        expect(plain.erase(filter.hash()(key), integer_key{key}.view()).has_value(), "the store failed to erase");
    }
    [[nodiscard]] bool is_stored(std::uint64_t key) const {
        return *plain.contains(filter.hash()(key), integer_key{key}.view());
    }

    memory_map plain;  // the truth as R has it
    faulty_records faulty{plain, {.sleep = [](std::chrono::nanoseconds) {}}};
    Filter filter;
    splitmix chance;
    std::vector<std::string> wrong;
    std::uint64_t failures = 0, fixed = 0;

  protected:
    // universe 0: a quarter more than the capacity.
    driven_world(Filter made, std::uint64_t seed, std::uint64_t universe, std::uint64_t capacity)
        : filter{std::move(made)}, chance{seed}, universe_{universe != 0 ? universe : capacity + capacity / 4 + 2} {}
    ~driven_world() = default;

    template <class Options>
    static Options with_hash(Options options) {
        if (!options.hash) options.hash = hasher{hash_key::from_seed(options.random.seed().value_or(1))};
        return options;
    }

    // Faults in this share of the calls: every kind of failure but a lagging replica, which is not
    // a valid R (remote.hpp).
    void set_faults_of(faulty_records& records, double share, std::uint64_t random_record_below) {
        fault_plan plan;
        plan.seed = chance();
        plan.random_record_below = random_record_below;
        for (const fault_kind kind : all_fault_kinds) {
            if (kind != fault_kind::stale && share > 0) plan.rates.push_back({kind, share / 9});
        }
        expect(records.set_plan(plan).has_value(), "the plan of faults is invalid");
    }

    void orphan(std::uint64_t key) {
        members_.erase(key);
        orphans_.insert(key);
    }
    // Only a fault may cause an error.
    void note_failure(const char* what, const error& why) {
        ++failures;
        if (!faulty_) wrong.push_back(std::string{what} + " failed although R did not: " + std::string{why.message()});
    }

    std::uint64_t universe_;
    std::uint64_t next_absent_key_ = std::uint64_t{1} << 40;
    bool faulty_ = false;
    std::set<std::uint64_t> members_, orphans_;
};

}  // namespace genista::test
