// script: a random history of one store by one thread, recorded step by step, so that the possible
// states of each key are known after a loss of power or a failed call. For both layouts. In the
// indexed layout some writes may go past the guard; docs/operations.md says which keys may then be
// denied, and for how long.
//
// A version names a value (ledger.hpp), and 0 is "absent".
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/crash/either_store.hpp"
#include "tests/crash/ledger.hpp"
#include "tests/crash/repairs_beside.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test {

enum class step_fate { begun, acknowledged, failed };

struct script_step {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> outcome;  // key, version
    bool makes_durable = false;  // everything before it, and itself: a synced write, a synced log, a snapshot
    bool is_durable = false;     // itself: an ingest
    bool is_foreign = false;     // went past the guard
    step_fate fate = step_fate::begun;
};

struct script_options {
    bool ranges_and_tables = true;  // range deletes and ingests
    std::uint64_t foreign = 0;      // one step in so many writes past the guard (indexed layout); 0: none
    // Another thread repairs, looks and saves, and some puts make ranges need repair. REQUIRES:
    // at_fail_point calls throw_after_commit.
    bool beside_repairs = false;
};

class script {
  public:
    static constexpr std::uint32_t keys = 400;

    // `tables` is a path for tables to be ingested, outside the database.
    script(std::uint64_t seed, std::string tables, const script_options& options = {})
        : chance_{seed}, tables_{std::move(tables)}, options_{options} {}

    // Takes one more step. Calls `begun` before it and `ended` after it, with its number.
    template <class Begun, class Ended>
    result<void> step(either_store& store, Begun&& begun, Ended&& ended) {
        const std::size_t number = steps_.size();
        steps_.emplace_back();
        const auto doing = plan(store.is_indexed());
        begun(number);
        result<void> done = doing(store);
        steps_[number].fate = done ? step_fate::acknowledged : step_fate::failed;
        // The filter has the keys of this step, since it went through the guard.
        if (done && !steps_[number].is_foreign) {
            for (const auto& [key, version] : steps_[number].outcome) unseen_.erase(key);
        }
        if (done) ended(number);
        return done;
    }
    result<void> step(either_store& store) {
        return step(
            store, [](std::size_t) {}, [](std::size_t) {});
    }

    // Looks for writes past the guard. Afterwards none of them may be denied, whatever the result.
    result<void> look(either_store& store) {
        const auto found = store.look();
        looked(bool{found}, "look()");
        return found;
    }
    // Call it after another opening, which has found all writes past the guard.
    void reopened() {
        must_be_found_ = false;
        unseen_.clear();
    }
    // Keys put past the guard without a look since then. Only these may be denied while the store
    // is open.
    [[nodiscard]] const std::set<std::uint32_t>& unseen() const noexcept { return unseen_; }
    [[nodiscard]] std::uint64_t past_the_guard() const noexcept { return past_the_guard_; }

    // Flush() of RocksDB 7.8 after an error of its log fails an assertion.
    void stop_flushing() noexcept { flushes_ = false; }

    [[nodiscard]] const std::vector<script_step>& steps() const noexcept { return steps_; }

    // The versions that keys may have if all steps below `end` were begun, those of `acknowledged`
    // were acknowledged, and those below `durable` cannot be undone any more.
    template <class Acknowledged>
    [[nodiscard]] std::vector<std::set<std::uint32_t>> possible(std::size_t end, std::size_t durable,
                                                                Acknowledged&& acknowledged) const {
        std::vector<std::set<std::uint32_t>> versions(keys, {ledger::absent});
        for (std::size_t i = 0; i < end; ++i) {
            const bool is_firm = acknowledged(i) && (i < durable || steps_[i].is_durable);
            for (const auto& [key, version] : steps_[i].outcome) {
                if (is_firm) versions[key].clear();
                versions[key].insert(version);
            }
        }
        return versions;
    }
    // The same without a loss of power: acknowledged writes stay.
    [[nodiscard]] std::vector<std::set<std::uint32_t>> possible() const {
        return possible(steps_.size(), steps_.size(),
                        [this](std::size_t i) { return steps_[i].fate == step_fate::acknowledged; });
    }

  private:
    using action = std::function<result<void>(either_store&)>;

    // Chooses the next step, and writes its outcome into the last entry of steps_.
    action plan(bool indexed) {
        if (options_.foreign > 0 && indexed && chance_.below(options_.foreign) == 0) return plan_foreign(steps_.back());
        script_step& now = steps_.back();
        const auto key = static_cast<std::uint32_t>(chance_.below(keys));
        const auto room = static_cast<std::uint32_t>(1 + chance_.below(std::min(20u, keys - key)));
        const std::string name = ledger::name_of(key);
        const auto dice = chance_.below(100);
        if (dice < 48) {
            const std::uint32_t version = ++versions_;
            now.outcome = {{key, version}};
            if (options_.beside_repairs && chance_.below(12) == 0)
                return [=](either_store& store) { return store.put_without_filter(name, ledger::value_of(version)); };
            now.makes_durable = indexed && chance_.below(8) == 0;
            return [=, synced = now.makes_durable](either_store& store) {
                return synced ? store.write({{name, ledger::value_of(version)}}, true)
                              : store.put(name, ledger::value_of(version));
            };
        }
        if (dice < 70) {
            now.outcome = {{key, ledger::absent}};
            return [=](either_store& store) { return store.erase(name); };
        }
        if (dice < 76) {
            return [=, asked = chance_.below(3000)](either_store& store) -> result<void> {
                const auto got = store.get("absent-" + std::to_string(asked));
                if (!got) return got.error();
                return {};
            };
        }
        if (dice < 80) {
            now.makes_durable = true;
            return [this, number = steps_.size() - 1](either_store& store) { return save(store, steps_[number]); };
        }
        if (dice < 83) {
            now.makes_durable = true;
            return [](either_store& store) { return store.sync(); };
        }
        if (dice < 85) {
            return [flushes = flushes_](either_store& store) -> result<void> {
                if (!flushes) return {};
                rocksdb::FlushOptions later;
                later.wait = false;
                if (const auto done = store.base().Flush(later); !done.ok()) return rocks::to_error(done, "flush");
                return {};
            };
        }
        if (!indexed || dice < 94 || !options_.ranges_and_tables) return plan_batch(indexed, key, room, now);
        if (dice < 98) {
            for (std::uint32_t each = key; each < key + room; ++each) now.outcome.emplace_back(each, ledger::absent);
            return [=](either_store& store) { return store.erase_range(name, ledger::name_of(key + room)); };
        }
        std::map<std::string, std::string> entries;
        for (std::uint32_t each = key; each < key + room; ++each) {
            now.outcome.emplace_back(each, ++versions_);
            entries[ledger::name_of(each)] = ledger::value_of(versions_);
        }
        now.is_durable = true;
        return [=, this](either_store& store) { return store.ingest(tables_, entries); };
    }

    action plan_batch(bool indexed, std::uint32_t first, std::uint32_t room, script_step& now) {
        std::vector<change> changes;
        for (std::uint32_t each = first; each < first + (indexed ? room : 1); ++each) {
            const bool erases = chance_.below(3) == 0;
            now.outcome.emplace_back(each, erases ? ledger::absent : ++versions_);
            changes.emplace_back(ledger::name_of(each),
                                 erases ? std::nullopt : std::optional{ledger::value_of(versions_)});
        }
        if (indexed) return [=](either_store& store) { return store.write(changes); };
        return [=](either_store& store) {
            const auto& [name, value] = changes[0];
            return value ? store.put(name, *value) : store.erase(name);
        };
    }

    action plan_foreign(script_step& now) {
        const auto key = static_cast<std::uint32_t>(chance_.below(keys));
        const std::uint32_t version = chance_.below(3) == 0 ? ledger::absent : ++versions_;
        now.outcome = {{key, version}};
        now.is_foreign = true;
        ++past_the_guard_;
        return [=, this](either_store& store) {
            const std::string name = ledger::name_of(key);
            if (version != ledger::absent) unseen_.insert(key);  // after an error too: it may have been written
            const auto done = version == ledger::absent ? store.erase_past_the_guard(name)
                                                        : store.put_past_the_guard(name, ledger::value_of(version));
            must_be_found_ = must_be_found_ || done;
            return done;
        };
    }
    // Takes a snapshot. Before it, writes past the guard are found, the index is completed and keys
    // that wait are inserted.
    result<void> save(either_store& store, script_step& now) {
        auto saved = store.save();
        looked(bool{saved}, "save()");
        if (!saved && is_only_early(saved.error())) {
            saved = store.repair();
            if (saved) saved = store.save();
        }
        if (saved || !options_.beside_repairs || !is_only_early(saved.error())) return saved;
        now.makes_durable = false;  // the other thread is in the middle of a task, and no snapshot was taken
        return {};
    }
    void looked(bool found_nothing, const char* how) {
        // Another thread may have found the write first.
        EXPECT_FALSE(found_nothing && must_be_found_ && !options_.beside_repairs)
            << how << " passes over a write past the guard";
        must_be_found_ = false;
        unseen_.clear();
    }

    splitmix chance_;
    std::string tables_;
    script_options options_;
    bool flushes_ = true;
    std::uint32_t versions_ = 0;
    std::vector<script_step> steps_;
    std::set<std::uint32_t> unseen_;
    bool must_be_found_ = false;  // a write past the guard was acknowledged, and there was no look since
    std::uint64_t past_the_guard_ = 0;
};

[[nodiscard]] inline std::uint32_t version_in(const std::optional<std::string>& value) {
    return value ? static_cast<std::uint32_t>(std::stoul(*value)) : ledger::absent;
}

// Counts the keys of the store that the filter denies.
[[nodiscard]] inline result<std::uint64_t> count_denied(either_store& store) {
    std::uint64_t denied = 0;
    const auto read = store.for_each_key([&](const std::string& key) { denied += store.may_contain(key) ? 0u : 1u; });
    if (!read) return read.error();
    return denied;
}

// No key of the store is denied, and every key has a possible version, through the guard and in the
// store itself, in this order: a read after a false positive makes the filter adapt, and that may
// repair a key that it lacked.
inline void expect_readable(either_store& store, const std::vector<std::set<std::uint32_t>>& possible,
                            const std::string& story) {
    const auto denied = count_denied(store);
    ASSERT_TRUE(denied) << denied.error().message() << "\n" << story;
    ASSERT_EQ(*denied, 0u) << story;
    for (std::uint32_t key = 0; key < script::keys; ++key) {
        const std::string name = ledger::name_of(key);
        const auto behind = store.get_behind(name), got = store.get(name);
        ASSERT_TRUE(behind) << behind.error().message() << "\n" << story;
        ASSERT_TRUE(got) << got.error().message() << "\n" << story;
        ASSERT_EQ(version_in(*got), version_in(*behind)) << "a false negative: " << name << "\n" << story;
        ASSERT_TRUE(possible[key].contains(version_in(*behind)))
            << name << " has version " << version_in(*behind) << ", possible are "
            << testing::PrintToString(possible[key]) << "\n"
            << story;
    }
}

// The same, and the audit. A key that was deleted past the guard leaves a record until the first
// query that meets it. By now every key was queried.
inline void expect_possible(either_store& store, const std::vector<std::set<std::uint32_t>>& possible,
                            const std::string& story) {
    expect_readable(store, possible, story);
    if (testing::Test::HasFatalFailure()) return;
    const auto sound = store.audit();
    ASSERT_TRUE(sound) << sound.error().message() << "\n" << story;
}

}  // namespace genista::test
