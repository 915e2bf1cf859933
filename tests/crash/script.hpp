// script: a random history of one store by one thread, written down step by step, so that afterwards it is known what each key
// may be: after a loss of power, after a call that failed. For both layouts.
//
// A version names a value (ledger.hpp); 0 is "absent".
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
#include "tests/support/splitmix.hpp"

namespace genista::test {

enum class step_fate { begun, acknowledged, failed };

struct script_step {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> outcome;  // key, version
    bool makes_durable = false;  // everything before it, and itself: a synced write, a synced log, a snapshot
    bool is_durable = false;     // itself: a table taken in
    step_fate fate = step_fate::begun;
};

class script {
  public:
    static constexpr std::uint32_t keys = 400;

    // `tables` is a path for tables to be ingested, outside the database.
    script(std::uint64_t seed, std::string tables, bool with_ranges_and_tables = true)
        : chance_{seed}, tables_{std::move(tables)}, with_ranges_and_tables_{with_ranges_and_tables} {}

    // Does one more thing. `begun` and `ended` are called with the number of the step, around it.
    template <class Begun, class Ended>
    result<void> step(either_store& store, Begun&& begun, Ended&& ended) {
        const std::size_t number = steps_.size();
        steps_.emplace_back();
        const auto doing = plan(store.is_indexed());
        begun(number);
        result<void> done = doing(store);
        steps_[number].fate = done ? step_fate::acknowledged : step_fate::failed;
        if (done) ended(number);
        return done;
    }
    result<void> step(either_store& store) {
        return step(
            store, [](std::size_t) {}, [](std::size_t) {});
    }

    // Flush() of RocksDB 7.8 after an error of its log runs into an assertion.
    void stop_flushing() noexcept { flushes_ = false; }

    [[nodiscard]] const std::vector<script_step>& steps() const noexcept { return steps_; }

    // The versions that keys may have if all steps below `end` were begun, those of `acknowledged` had been acknowledged, and
    // those below `durable` could not be undone any more.
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
    // The same without a loss of power: what was acknowledged stays.
    [[nodiscard]] std::vector<std::set<std::uint32_t>> possible() const {
        return possible(steps_.size(), steps_.size(),
                        [this](std::size_t i) { return steps_[i].fate == step_fate::acknowledged; });
    }

  private:
    using action = std::function<result<void>(either_store&)>;

    // Decides what comes next, and writes its outcome into the last step.
    action plan(bool indexed) {
        script_step& now = steps_.back();
        const auto key = static_cast<std::uint32_t>(chance_.below(keys));
        const auto room = static_cast<std::uint32_t>(1 + chance_.below(std::min(20u, keys - key)));
        const std::string name = ledger::name_of(key);
        const auto dice = chance_.below(100);
        if (dice < 48) {
            const std::uint32_t version = ++versions_;
            now.outcome = {{key, version}};
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
            return [](either_store& store) { return store.save(); };
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
        if (!indexed || dice < 94 || !with_ranges_and_tables_) return plan_batch(indexed, key, room, now);
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

    splitmix chance_;
    std::string tables_;
    bool with_ranges_and_tables_;
    bool flushes_ = true;
    std::uint32_t versions_ = 0;
    std::vector<script_step> steps_;
};

[[nodiscard]] inline std::uint32_t version_in(const std::optional<std::string>& value) {
    return value ? static_cast<std::uint32_t>(std::stoul(*value)) : ledger::absent;
}

// Every key has a version that it may have, through the guard and behind it; no key of the store is denied; the audit.
inline void expect_possible(either_store& store, const std::vector<std::set<std::uint32_t>>& possible,
                            const std::string& story) {
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
    std::uint64_t denied = 0;
    const auto read = store.for_each_key([&](const std::string& key) { denied += store.may_contain(key) ? 0u : 1u; });
    ASSERT_TRUE(read) << read.error().message() << "\n" << story;
    ASSERT_EQ(denied, 0u) << story;
    const auto sound = store.audit();
    ASSERT_TRUE(sound) << sound.error().message() << "\n" << story;
}

}  // namespace genista::test
