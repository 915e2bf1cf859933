// driven_world: the common part of paper_world, cascade_world, cuckoo_world and
// adaptive_bloom_world: a filter that learns, the records of its R, and the truth. It runs one
// operation at a time and compares the outcome with the truth.
//
// It uses no test framework: failures are collected in `wrong`. The truth is the set of the stored
// keys among 0 .. universe-1; larger keys are absent keys. R may fail; the operation is then tried
// again or given up. An erase that R committed and that the filter did not complete leaves an
// orphan: a key that is not stored and is still answered maybe. An insert that R failed may leave a
// stray: a key of which it is open whether the filter has it.
//
// World is the class derived from this one. It has `remote`, which the filter is given, adapt(),
// audit() and set_faults(). If it has contents(), an operation that fails must not change them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "genista/filters/filter.hpp"
#include "genista/format/sink.hpp"
#include "genista/hash/hasher.hpp"
#include "genista/hash/key.hpp"
#include "genista/remote/indexed.hpp"
#include "genista/remote/memory_map.hpp"
#include "support/remote/faulty_map.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test {

template <class World, class Filter>
class driven_world {
  public:
    using bytes = std::vector<std::byte>;
    using faulty_records = faulty_map<memory_map>;

    driven_world(const driven_world&) = delete;
    driven_world& operator=(const driven_world&) = delete;

    [[nodiscard]] const std::set<std::uint64_t>& members() const noexcept { return members_; }
    [[nodiscard]] const std::set<std::uint64_t>& orphans() const noexcept { return orphans_; }
    [[nodiscard]] std::uint64_t any_key() noexcept { return chance.below(universe_); }
    [[nodiscard]] digest where(std::uint64_t key) const noexcept { return filter.hash()(key); }
    [[nodiscard]] bool maybe(std::uint64_t key) const noexcept { return filter.may_contain(key); }

    // The next absent key, among at most `most`, that the filter answers maybe.
    std::optional<std::uint64_t> find_false_positive(std::uint64_t most = 1'000'000) {
        for (std::uint64_t asked = 0; asked < most; ++asked) {
            if (self().maybe(next_absent_key_++)) return next_absent_key_ - 1;
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

    // ---- the store only -------------------------------------------------------------------------

    void put(std::uint64_t key) {
        expect(plain.put(where(key), integer_key{key}.view()).has_value(), "the store failed to put");
    }
    void take_out(std::uint64_t key) {
        expect(plain.erase(where(key), integer_key{key}.view()).has_value(), "the store failed to erase");
    }
    [[nodiscard]] bool is_stored(std::uint64_t key) const {
        return *plain.contains(where(key), integer_key{key}.view());
    }

    // ---- operations -----------------------------------------------------------------------------

    // False: the filter has no room, or R failed and the caller gave up.
    bool insert(std::uint64_t key) {
        const bool was_member = members_.contains(key);
        put(key);
        bool rehashed = false;  // with R, which holds the key: it may now be in the filter
        for (;;) {
            const bool known = was_member || orphans_.contains(key), unsure = strays_.contains(key);
            const std::uint64_t held = filter.stats().keys;
            const auto outcome = watched([&] { return filter.insert(key, self().remote); }, "an insert");
            rehashed = rehashed_ || (rehashed && !World::failed_inserts_stray);
            if (!outcome || *outcome == insert_outcome::full) {
                if (outcome) {
                    expect(held + strays_.size() >= filter.stats().capacity, "full although below the capacity");
                    expect(!known, "full for a key that the filter has");
                } else if (World::failed_inserts_stray && !was_member && !orphans_.contains(key)) {
                    strays_.insert(key);
                }
                if (!outcome && chance.below(2) == 0) continue;
                if (was_member) return true;
                take_out(key);
                if (rehashed && !World::failed_inserts_stray) orphans_.insert(key);
                return false;
            }
            if (!rehashed && !unsure) expect((*outcome == insert_outcome::inserted) == !known, "insert: wrong outcome");
            orphans_.erase(key);
            strays_.erase(key);
            members_.insert(key);
            expect(filter.may_contain(key), "a false negative right after an insert");
            return true;
        }
    }

    void erase(std::uint64_t key) {
        for (;;) {
            const bool was_member = members_.contains(key);
            const auto outcome = watched([&] { return filter.erase(key, self().remote); }, "an erase");
            if (outcome) {
                expect((*outcome == erase_outcome::erased) == was_member, "erase: wrong outcome");
                if (was_member) strays_.erase(key);
                if (World::erase_takes_orphans) orphans_.erase(key);
                members_.erase(key);
                return;
            }
            if (was_member && !is_stored(key)) orphan(key);
            if (chance.below(2) == 0) return;
        }
    }

    // The store commits by itself, then forget() is called. An absent key must be forgotten without
    // harm.
    void forget(std::uint64_t key) {
        if (members_.contains(key)) {
            take_out(key);
            orphan(key);
        }
        for (;;) {
            const bool known = orphans_.contains(key), unsure = strays_.contains(key);
            const auto outcome =
                watched([&] { return filter.forget(integer_key{key}.view(), self().remote); }, "a forget");
            if (outcome) {
                if (!rehashed_ && !unsure)
                    expect((*outcome == erase_outcome::erased) == known, "forget: wrong outcome");
                orphans_.erase(key);
                strays_.erase(key);
                return;
            }
            if (chance.below(2) == 0) return;
        }
    }

    bool rebuild() {
        const auto outcome = watched([&] { return filter.rebuild(self().remote); }, "a rebuild");
        if (outcome) {
            orphans_.clear();
            expect(filter.stats().keys == members_.size(), "the rebuilt filter has another number of keys");
        }
        return outcome.has_value();
    }

    // ---- checks ---------------------------------------------------------------------------------

    // Every stored key and every orphan is answered maybe, and no keys are counted but these and
    // those in doubt.
    void scan() {
        for (const std::uint64_t key : members_) expect(self().maybe(key), "a false negative");
        for (const std::uint64_t key : orphans_) expect(self().maybe(key), "an orphan is answered no");
        std::uint64_t open = 0;
        if constexpr (requires { filter.details().in_doubt; }) open = filter.details().in_doubt;
        const std::uint64_t keys = filter.stats().keys, known = members_.size() + orphans_.size();
        expect(known <= keys + open && keys <= known + strays_.size(), "the count of keys differs from the truth");
    }

    // Rounds of so many steps with faults in this share of R's calls, all of them checked. After
    // each round the store works again, and repair(), one change or several, must write what the
    // filter still owes R. False: something was wrong.
    template <class Step, class Repair>
    bool survives_faults(double share, int rounds, std::uint64_t steps, const Step& step, const Repair& repair) {
        const auto check = [&](const std::string& when) {
            self().scan();
            self().audit();
            if (!wrong.empty()) wrong.push_back(when + ", faults " + std::to_string(share));
            return wrong.empty();
        };
        for (int round = 0; round < rounds; ++round) {
            self().set_faults(share);
            for (std::uint64_t i = 0; i < steps; ++i) {
                step(i);
                if (!check("round " + std::to_string(round) + ", step " + std::to_string(i))) return false;
            }
            self().set_faults(0);
            repair();
            expect(!in_doubt_, "a change without faults has failed");
            if (!check("after round " + std::to_string(round))) return false;
        }
        return true;
    }

    memory_map plain;  // the truth as R has it
    faulty_records faulty{plain, {.sleep = [](std::chrono::nanoseconds) {}}};
    Filter filter;
    splitmix chance;
    std::vector<std::string> wrong;
    std::uint64_t failures = 0, fixed = 0, audits = 0, struck = 0, rebuilds = 0;

  protected:
    // What World may declare otherwise.
    static constexpr bool failed_inserts_stray = false;
    static constexpr bool erase_takes_orphans = false;

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

    // A change of the filter. Only a fault may cause an error, and an error must leave the filter
    // as it was, unless it took new hash functions. These are given to stored keys only: orphans
    // vanish.
    template <class Call>
    auto watched(Call&& call, const char* what) -> decltype(call()) {
        std::vector<std::uint64_t> before;
        if constexpr (has_contents<World>) {
            if (faulty_) before = self().contents();
        }
        const std::uint64_t earlier = rebuilds_of_filter();
        auto outcome = call();
        const std::uint64_t now = rebuilds_of_filter();
        rehashed_ = now != earlier;
        rebuilds += now - earlier;
        if (rehashed_) {
            orphans_.clear();
            strays_.clear();
        }
        in_doubt_ = !outcome;
        if (outcome) return outcome;
        note_failure(what, outcome.error());
        if constexpr (has_contents<World>) {
            if (faulty_ && !rehashed_ && self().contents() != before)
                wrong.push_back(std::string{what} + " failed, and the filter has changed");
        }
        return outcome;
    }

    // Continues with the loaded filter: false if there is none.
    bool load(const bytes& file) {
        auto loaded = Filter::load(file);
        if (!loaded) wrong.push_back("the snapshot does not load: " + std::string{loaded.error().message()});
        if (!loaded) return false;
        filter = *std::move(loaded);
        expect(saved() == file, "the loaded filter saves other bytes");
        return true;
    }
    // A loaded filter refuses changes until it is rebuilt.
    void expect_refusals(const bytes& file, error_code code) {
        const std::uint64_t key = any_key();
        const auto refused = filter.insert(key, self().remote);
        expect(!refused && refused.error().code() == code, "a loaded filter takes a key before a rebuild");
        const auto kept = filter.erase(key, self().remote);
        expect(!kept && kept.error().code() == code, "a loaded filter erases before a rebuild");
        expect(!filter.adapt(key, self().remote), "a loaded filter adapts before a rebuild");
        expect(saved() == file, "a refused change has changed the filter");
    }
    void rebuild_loaded(int most_tries) {
        for (int tries = 0; !rebuild(); ++tries) {
            if (!faulty_ || tries == most_tries) return wrong.push_back("the loaded filter cannot be rebuilt");
        }
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

    bool faulty_ = false;
    bool rehashed_ = false;  // the last change brought new hash functions
    bool in_doubt_ = false;  // the last change failed: the filter may still owe R a write
    std::set<std::uint64_t> members_, orphans_, strays_;

  private:
    template <class W>
    static constexpr bool has_contents = requires(const W& w) {
        w.contents();
    };

    [[nodiscard]] World& self() noexcept { return static_cast<World&>(*this); }
    [[nodiscard]] std::uint64_t rebuilds_of_filter() const {
        if constexpr (requires { filter.details().rebuilds; })
            return filter.details().rebuilds;
        else
            return 0;  // orphans stay in their slots, whatever the hash functions
    }

    std::uint64_t universe_;
    std::uint64_t next_absent_key_ = std::uint64_t{1} << 40;
};

// A driven_world whose R has an index beside the records. Both halves may fail.
template <class World, class Filter>
class indexed_world : public driven_world<World, Filter> {
    using base = driven_world<World, Filter>;

  public:
    using typename base::faulty_records;

    // Sets the share for both halves.
    void set_faults(double share) {
        this->struck += this->faulty.counts().injected() + faulty_index.counts().injected();
        for (faulty_records* half : {&this->faulty, &faulty_index})
            this->set_faults_of(*half, share, World::random_record_below);
        this->faulty_ = share > 0;
    }
    void audit() {
        if (const auto sound = this->filter.audit(truth); !sound) this->wrong.emplace_back(sound.error().message());
    }

    memory_map plain_index;
    faulty_records faulty_index{plain_index, {.sleep = [](std::chrono::nanoseconds) {}}};
    with_index<memory_map, memory_map> truth{this->plain, plain_index};
    with_index<faulty_records, faulty_records> remote{this->faulty, faulty_index};  // what the filter is given

  protected:
    using base::base;
    ~indexed_world() = default;
};

}  // namespace genista::test
