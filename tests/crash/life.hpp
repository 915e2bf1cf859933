// life: what a child of the kill harness does before its SIGKILL. It opens the store, checks it
// against the ledger of the earlier lives, and writes: puts, erases and reads, in the indexed
// layout also batches, range deletes and ingests, by several threads, each with its own keys. Some
// lives write past the guard too, and some have a thread that repairs, completes R, looks and saves
// beside the writers.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "genista/detail/base/fail_point.hpp"
#include "tests/crash/either_store.hpp"
#include "tests/crash/ledger.hpp"
#include "tests/crash/repairs_beside.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test {

struct life_plan {
    std::string folder;  // db: the store; ledger: the ledger; table-*: to be ingested
    store_settings store{};
    std::uint64_t seed = 1;
    unsigned threads = 1;
    std::uint64_t operations = 1000;  // of each thread
    std::string point{};              // if named, the life is killed when it passes this point the `pass`-th time
    std::uint64_t pass = 1;
    bool closes = true;         // closes the store at the end; otherwise it exits as if killed
    bool filter_first = false;  // the control: erases update the filter before the store
    bool audits = true;         // checks at the beginning that the index is exact
    bool foreign = false;       // some puts and deletions go past the guard (indexed layout)
    bool repairs = false;       // a thread repairs, looks and saves beside the writers
};

[[noreturn]] inline void die() {
    ::kill(::getpid(), SIGKILL);
    while (true) ::pause();
}

// R without one key, as the filter must see it if an erase updates the filter before the store.
class hiding_records {
  public:
    hiding_records(rocks::ordered_records& inner, std::string hidden) : inner_{inner}, hidden_{std::move(hidden)} {}
    result<bool> put(const digest& where, key_view key) { return inner_.put(where, key); }
    result<bool> erase(const digest& where, key_view key) { return inner_.erase(where, key); }
    result<bool> contains(const digest& where, key_view key) {
        if (key.text() == hidden_) return false;
        return inner_.contains(where, key);
    }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        return inner_.for_each(first, last, [&](const digest& where, key_view key) -> bool {
            return key.text() == hidden_ || visit(where, key);
        });
    }

  private:
    rocks::ordered_records& inner_;
    std::string hidden_;
};

class life {
  public:
    explicit life(life_plan plan) : plan_{std::move(plan)}, ledger_{plan_.folder + "/ledger"} {}

    // 0: reached the end; 1: wrote a complaint into the ledger.
    int run() {
        now_ = this;
        at_fail_point.store(&life::pass_point);
        auto opened = either_store::open(plan_.folder + "/db", plan_.store);
        if (!opened) return complain("cannot open: " + std::string{opened.error().message()});
        store_ = *std::move(opened);
        check();
        if (!failed_) work();
        if (!failed_ && plan_.closes) {
            if (const auto closed = store_->close(); !closed)
                return complain("cannot close: " + std::string{closed.error().message()});
        }
        return failed_ ? 1 : 0;
    }

  private:
    int complain(const std::string& text) {
        if (!failed_.exchange(true)) ledger_.complain(text);
        return 1;
    }
    int complain(const char* doing, const error& failure) {
        return complain(std::string{doing} + ": " + std::string{failure.message()});
    }

    static void pass_point(const char* name) {
        if (std::string_view{name}.starts_with("read.")) return;  // a read leaves nothing half done
        for (std::size_t i = 0; i < fail_point_names.size(); ++i) {
            if (fail_point_names[i] != name) continue;
            now_->ledger_->passed[i].fetch_add(1);
            if (now_->plan_.point == name && now_->passes_.fetch_add(1) + 1 == now_->plan_.pass) die();
            return throw_after_commit(name);
        }
        now_->complain(std::string{"an unknown fail point: "} + name);
    }

    static std::uint32_t version_in(const std::optional<std::string>& value) {
        return value ? static_cast<std::uint32_t>(std::stoul(*value)) : ledger::absent;
    }

    // Asks the filter for every key of the store, checks every promise of the ledger through the
    // guard, and audits, in this order: a read after a false positive makes the filter adapt, and
    // that may repair a key that it lacked.
    void check() {
        std::uint64_t absent_keys = 0, denied = 0;
        const auto read = store_->for_each_key([&](const std::string& key) {
            denied += store_->may_contain(key) ? 0u : 1u;
            absent_keys += key.starts_with("key-") ? 0u : 1u;
        });
        if (!read) complain("cannot read all keys", read.error());
        if (denied > 0) complain("a false negative: " + std::to_string(denied) + " keys of the store are denied");
        if (absent_keys > 0) complain(std::to_string(absent_keys) + " keys that were never put");
        for (std::uint32_t key = 0; key < ledger::keys && !failed_; ++key) check_key(key);
        // Deletions past the guard leave records until a query meets them. By now every key was
        // queried.
        if (plan_.audits) {
            if (const auto sound = store_->audit(); !sound) complain("audit", sound.error());
        }
        if (failed_) return;
        ledger_->checked.fetch_add(1);
        ledger_->foreign.fetch_add(static_cast<std::uint32_t>(store_->counters().foreign_writes > 0 ? 1 : 0));
        (store_->origin() == rocks::filter_origin::snapshot ? ledger_->from_snapshot : ledger_->rebuilt).fetch_add(1);
    }

    void check_key(std::uint32_t key) {
        ledger::entry& entry = ledger_.of(key);
        const std::string name = ledger::name_of(key);
        const auto behind = store_->get_behind(name);
        const auto got = store_->get(name);
        if (!got || !behind) {
            complain("cannot read", got ? behind.error() : got.error());
            return;
        }
        const std::uint32_t there = version_in(*behind), begun = entry.begun.load();
        const std::string story = name + " has version " + std::to_string(there) + ", acknowledged was " +
                                  std::to_string(entry.acknowledged.load()) +
                                  (begun == ledger::nothing ? "" : ", begun was " + std::to_string(begun));
        if (*got != *behind) complain("a false negative: " + story + ", and the guard denies it");
        if (there != entry.acknowledged.load() && (begun == ledger::nothing || there != begun))
            complain("a broken promise: " + story);
        if (*behind && **behind != ledger::value_of(there)) complain("a damaged value: " + story);
        if (failed_) return;
        entry.acknowledged.store(there);
        entry.begun.store(ledger::nothing);
    }

    void work() {
        std::atomic<bool> written{false};
        std::thread beside;
        if (plan_.repairs) beside = std::thread{[&] { repair_until(written); }};
        std::vector<std::thread> others;
        for (unsigned i = 1; i < plan_.threads; ++i) others.emplace_back([this, i] { write_as(i); });
        write_as(0);
        for (std::thread& each : others) each.join();
        written.store(true);
        if (beside.joinable()) beside.join();
    }

    void repair_until(const std::atomic<bool>& written) {
        splitmix chance{plan_.seed * 64 + 63};
        while (!written.load() && !failed_) {
            const auto done = look_after(*store_, chance, ledger::keys);
            ledger_->tasks.fetch_add(1);
            if (!done && !is_only_early(done.error())) complain("beside the writers", done.error());
            std::this_thread::sleep_for(std::chrono::microseconds{chance.below(4000)});
        }
    }

    void write_as(unsigned me) {
        splitmix chance{plan_.seed * 64 + me};
        const std::uint32_t share = ledger::keys / plan_.threads, first = share * me;
        std::set<std::uint32_t> unseen;  // put past the guard, and no look since: may be denied
        for (std::uint64_t i = 0; i < plan_.operations && !failed_; ++i) {
            const auto key = first + static_cast<std::uint32_t>(chance.below(share));
            const std::uint32_t room = first + share - key;  // keys from here on that this thread owns
            const auto dice = chance.below(100);
            if (plan_.foreign && chance.below(20) == 0) {
                const auto what = chance.below(7);
                if (what < 2) {
                    erase_past_the_guard(key);
                } else if (what < 6) {
                    put_past_the_guard(key);
                    unseen.insert(key);
                } else {
                    (void)store_->look();
                    unseen.clear();
                }
                continue;
            }
            if (dice < 50) {
                put(key, plan_.repairs && chance.below(12) == 0);
                unseen.erase(key);
            } else if (dice < 70)
                erase(key);
            else if (dice < 80)
                read(key, unseen.contains(key));
            else if (dice < 91 || !store_->is_indexed())
                (void)store_->get("absent-" + std::to_string(chance.below(5000)));  // the filter adapts
            else if (dice < 97)
                write_batch(chance, key, room);
            else if (dice < 99)
                erase_range(key, std::min<std::uint32_t>(room, 1 + static_cast<std::uint32_t>(chance.below(30))));
            else
                ingest(key, std::min<std::uint32_t>(room, 1 + static_cast<std::uint32_t>(chance.below(40))), me);
        }
    }

    // Puts as a program without a guard. While the process lives, the key may be denied until the
    // snapshotter or this thread has looked. After a kill it may not.
    void put_past_the_guard(std::uint32_t key) {
        const std::uint32_t version = ledger_.new_version();
        ledger_.begin(key, version);
        const auto put = store_->base().Put({}, ledger::name_of(key), ledger::value_of(version));
        if (!put.ok()) {
            complain("put past the guard: " + put.ToString());
            return;
        }
        ledger_.acknowledge(key);
    }
    void erase_past_the_guard(std::uint32_t key) {
        ledger_.begin(key, ledger::absent);
        const auto gone = store_->base().Delete({}, ledger::name_of(key));
        if (!gone.ok()) {
            complain("erase past the guard: " + gone.ToString());
            return;
        }
        ledger_.acknowledge(key);
    }

    void put(std::uint32_t key, bool without_filter) {
        const std::uint32_t version = ledger_.new_version();
        const std::string name = ledger::name_of(key), value = ledger::value_of(version);
        ledger_.begin(key, version);
        if (const auto done = without_filter ? store_->put_without_filter(name, value) : store_->put(name, value);
            !done) {
            complain("put", done.error());
            return;
        }
        ledger_.acknowledge(key);
    }
    void erase(std::uint32_t key) {
        if (plan_.filter_first) return erase_filter_first(key);
        ledger_.begin(key, ledger::absent);
        if (const auto done = store_->erase(ledger::name_of(key)); !done) {
            complain("erase", done.error());
            return;
        }
        ledger_.acknowledge(key);
    }
    // The wrong order of steps. The process is killed between the two, right after a snapshot.
    void erase_filter_first(std::uint32_t key) {
        if (ledger_.of(key).acknowledged.load() == ledger::absent) return;
        ledger_.begin(key, ledger::absent);
        const std::string name = ledger::name_of(key);
        hiding_records hiding{store_->records(), name};
        if (const auto gone = store_->core().filter().forget(key_view{name}, hiding); !gone) {
            complain("forget", gone.error());
            return;
        }
        // One key in 1/ε is still "maybe" because of another key's fingerprint. It shows nothing,
        // and a later erase may.
        if (store_->may_contain(name)) return;
        if (const auto saved = store_->save(); !saved) complain("save", saved.error());
        die();
    }
    void read(std::uint32_t key, bool may_be_denied) {
        const auto got = store_->get(ledger::name_of(key));
        if (!got)
            complain("get", got.error());
        else if (!*got && may_be_denied)
            return;
        else if (version_in(*got) != ledger_.of(key).acknowledged.load())
            complain("a read while alive: " + ledger::name_of(key) + " has version " +
                     std::to_string(version_in(*got)) + ", acknowledged was " +
                     std::to_string(ledger_.of(key).acknowledged.load()));
    }
    void write_batch(splitmix& chance, std::uint32_t first, std::uint32_t room) {
        std::vector<change> changes;
        std::set<std::uint32_t> touched;
        for (unsigned i = 0; i < 2 + chance.below(12); ++i) {
            const std::uint32_t key = first + static_cast<std::uint32_t>(chance.below(std::min(room, 40u)));
            const std::uint32_t version = chance.below(3) == 0 ? ledger::absent : ledger_.new_version();
            if (!touched.insert(key).second) continue;
            ledger_.begin(key, version);
            changes.emplace_back(ledger::name_of(key),
                                 version == ledger::absent ? std::nullopt : std::optional{ledger::value_of(version)});
        }
        finish("write", store_->write(changes), touched);
    }
    void erase_range(std::uint32_t first, std::uint32_t count) {
        std::set<std::uint32_t> touched;
        for (std::uint32_t key = first; key < first + count; ++key) {
            ledger_.begin(key, ledger::absent);
            touched.insert(key);
        }
        finish("erase_range", store_->erase_range(ledger::name_of(first), ledger::name_of(first + count)), touched);
    }
    void ingest(std::uint32_t first, std::uint32_t count, unsigned me) {
        std::map<std::string, std::string> entries;
        std::set<std::uint32_t> touched;
        for (std::uint32_t key = first; key < first + count; ++key) {
            const std::uint32_t version = ledger_.new_version();
            ledger_.begin(key, version);
            entries[ledger::name_of(key)] = ledger::value_of(version);
            touched.insert(key);
        }
        finish("ingest", store_->ingest(plan_.folder + "/table-" + std::to_string(me), entries), touched);
    }
    void finish(const char* doing, const result<void>& done, const std::set<std::uint32_t>& touched) {
        if (!done) {
            complain(doing, done.error());
            return;
        }
        for (const std::uint32_t key : touched) ledger_.acknowledge(key);
    }

    static inline life* now_ = nullptr;
    life_plan plan_;
    ledger ledger_;
    std::unique_ptr<either_store> store_;
    std::atomic<std::uint64_t> passes_{0};
    std::atomic<bool> failed_{false};
};

}  // namespace genista::test
