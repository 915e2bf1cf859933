// Calls in the middle of calls. Before and after each call to R, by the filter or by its caller,
// other operations run on the same filter and the same R, with further ones in the middle of those,
// up to three deep: what other threads could do at that moment, in a fixed order. In some histories
// a second thread runs them while the first one waits.
//
// The promise: a key is answered maybe from the moment its insert has returned until an erase of it
// has reached R, at every depth, whatever other operation is running, fails, is refused or runs
// into a limit. After an erase and an insert of one key at the same time R decides whether the key
// is stored. While a caller erases a key with `assume_present`, no other operation may touch that
// key.
//
// Not every operation may run in the middle of every other one. Growth and rebuilds read R while
// they hold a lock of the filter; an operation that needs this lock would wait for ever in the
// middle of one. `may_wait` and `has_room` keep such calls out. `may_wait` and `has_room` keep such
// calls out.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "genista/filters/broom.hpp"
#include "genista/format/sink.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::broom_nested_sweep_test {
namespace {

constexpr unsigned deepest = 3;

// R with other operations around each call, and with range reads that can be made to fail.
class interrupted_map {
  public:
    explicit interrupted_map(memory_map& wrapped) noexcept : inner_{wrapped} {}

    std::function<void()> meanwhile;
    std::function<void(const digest&, key_view, int)> changed;  // R has one record more or one less
    unsigned failing = 0;                                       // how many of the next range reads fail
    unsigned reading = 0;                                       // range reads that are running

    result<bool> put(const digest& where, key_view key) {
        return around([&] { return noticed(inner_.put(where, key), where, key, 1); });
    }
    result<bool> erase(const digest& where, key_view key) {
        return around([&] { return noticed(inner_.erase(where, key), where, key, -1); });
    }
    result<bool> contains(const digest& where, key_view key) { return inner_.contains(where, key); }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        ++reading;
        const result<void> outcome = around([&]() -> result<void> {
            if (failing == 0) return inner_.for_each(first, last, visit);
            --failing;
            // Half of them stop after some records, which the filter must then ignore.
            unsigned left = failing % 2 == 0 ? 0 : 20;
            const auto some = [&](const digest& at, key_view key) { return left-- > 0 && visit(at, key); };
            if (left > 0) (void)inner_.for_each(first, last, some);
            return error::make(error_code::io, "the range cannot be read");
        });
        --reading;
        return outcome;
    }

  private:
    template <class Call>
    auto around(const Call& call) -> decltype(call()) {
        if (meanwhile) meanwhile();
        auto outcome = call();
        if (meanwhile) meanwhile();
        return outcome;
    }
    result<bool> noticed(result<bool> outcome, const digest& where, key_view key, int by) const {
        if (outcome && *outcome) changed(where, key, by);
        return outcome;
    }

    memory_map& inner_;
};

struct history_setup {
    std::uint64_t capacity = 40;
    double rate = 0x1p-8;
    broom_history history = broom_history::tombstone;
    bool grows = false;
    bool limited = false;        // a memory limit is set and lifted
    bool second_thread = false;  // runs some of the nested operations
    std::uint64_t universe = 1024;
    std::uint64_t wanted = 40;   // keys, about
    std::uint64_t search = 256;  // keys looked at for one that collides
    std::uint64_t seed = 1;
};

struct done_counts {
    std::uint64_t operations = 0, queries = 0, nested = 0, on_thread = 0, refused = 0, failed = 0, copies = 0,
                  collisions = 0, growths = 0, audits = 0;
    void add(const done_counts& other) noexcept {
        operations += other.operations, queries += other.queries, nested += other.nested, on_thread += other.on_thread;
        refused += other.refused, failed += other.failed, copies += other.copies, collisions += other.collisions;
        growths += other.growths, audits += other.audits;
    }
};

class history_run {
  public:
    explicit history_run(const history_setup& setup)
        : setup_{setup},
          filter_{*broom_filter::make({.capacity = setup.capacity,
                                       .false_positive_rate = setup.rate,
                                       .hash = hasher{hash_key::from_seed(setup.seed)},
                                       .key_is_new = setup.seed % 7 < 3,
                                       .history = setup.history,
                                       .grows = setup.grows,
                                       .random = repeatable(setup.seed)})},
          first_bins_{filter_.details().bins},
          crowd_(first_bins_),
          keys_(setup.universe),
          chance_{setup.seed ^ 0x6e657374} {
        remote_.meanwhile = [this] { meanwhile(); };
        remote_.changed = [this](const digest& where, key_view key, int by) { changed(where, key, by); };
    }
    history_run(const history_run&) = delete;
    history_run& operator=(const history_run&) = delete;
    ~history_run() = default;

    // Runs so many operations, nested ones included; then ends all open changes and audits.
    void run(std::uint64_t operations) {
        fill();
        while (done.operations < operations && wrong.empty()) {
            interruptible_step();
            check_stored("between two calls");
        }
        if (wrong.empty()) come_to_rest();
        done.growths += filter_.details().growths;
    }

    done_counts done;
    std::string wrong;  // the first failure

  private:
    struct key_state {
        bool stored = false;      // its insert has returned, and R has held it since
        bool sure = false;        // and no erase of it has begun: `assume_present` is allowed
        bool promised = false;    // an erase with `assume_present` is running: no other operation may touch it
        std::uint32_t busy = 0;   // inserts and erases of it that are running
        std::uint32_t lost = 0;   // how often R has erased it
        std::uint32_t place = 0;  // in live_, if stored
    };

    [[nodiscard]] digest where(std::uint64_t key) const noexcept { return filter_.hash()(integer_key{key}.view()); }
    [[nodiscard]] bool r_holds(std::uint64_t key) const {
        return *plain_.contains(where(key), integer_key{key}.view());
    }
    [[nodiscard]] bool one_in(std::uint64_t times) noexcept { return chance_.below(times) == 0; }

    // ---- the truth ----

    void changed(const digest& at, key_view bytes, int by) {
        crowd_[scale(at.position, first_bins_)] += by;
        if (by > 0) return;
        std::uint64_t key = 0;
        std::copy_n(bytes.data, sizeof key, reinterpret_cast<std::byte*>(&key));
        ++keys_[key].lost;
        set_stored(key, false);
        departed_[chance_.below(departed_.size())] = key;
    }
    void set_stored(std::uint64_t key, bool stored) {
        key_state& k = keys_[key];
        k.sure = stored;
        if (k.stored == stored) return;
        k.stored = stored;
        if (stored) {
            k.place = static_cast<std::uint32_t>(live_.size());
            live_.push_back(key);
        } else {
            live_[k.place] = live_.back();
            keys_[live_.back()].place = k.place;
            live_.pop_back();
        }
    }
    void note(const std::string& what) {
        if (wrong.empty()) wrong = what + ", depth " + std::to_string(depth_) + ", seed " + std::to_string(setup_.seed);
    }
    void expect_answered(const broom_filter& by, std::uint64_t key, const char* when) {
        ++done.queries;
        if (!by.may_contain(key)) note("key " + std::to_string(key) + " is answered no " + when);
    }
    // If there are few keys all of them; if many a sample, and now and then all.
    void check_stored(const char* when) {
        constexpr std::size_t few = 48;
        if (live_.size() <= few || one_in(32)) {
            for (const std::uint64_t key : live_) expect_answered(filter_, key, when);
        } else {
            for (std::size_t i = 0; i < few; ++i) expect_answered(filter_, live_key(), when);
        }
    }
    // Errors of R are returned as they are; a bin may hold too many keys if refused ones stay in R,
    // and a rebuild may find more in R than a memory limit allows. No other error may occur.
    void judge(const error& e) {
        ++done.failed;
        const bool over_limit = setup_.limited && e.code() == error_code::out_of_memory;
        if (e.code() != error_code::io && e.code() != error_code::unsupported && !over_limit)
            note("an error without a cause: " + std::string{e.message()});
    }

    // Inserts most of the keys, before anything else happens.
    void fill() {
        const auto meanwhile = std::exchange(remote_.meanwhile, nullptr);
        if (setup_.limited) filter_.limit_memory(1);
        for (std::uint64_t key = 0; key < setup_.wanted / 4 * 3; ++key) insert(key);
        done.operations = 0;
        remote_.meanwhile = meanwhile;
    }

    // ---- what may happen now ----

    // False while an enclosing call reads R under the lock of growth and rebuilds. If the filter
    // grows, inserts and erases may do so in any of their reads.
    [[nodiscard]] bool may_wait() const noexcept { return sweeping_ == 0 && (!setup_.grows || remote_.reading == 0); }
    // With fewer keys in R than a bin holds, no operation on this key has to make room. (Growth
    // only splits the first bins.)
    [[nodiscard]] bool has_room(std::uint64_t key) const noexcept {
        return !(setup_.limited && setup_.grows) && crowd_[scale(where(key).position, first_bins_)] <= 100;
    }
    [[nodiscard]] bool may_touch(std::uint64_t key) const noexcept {
        return !keys_[key].promised && (may_wait() || has_room(key));
    }

    // ---- which key ----

    [[nodiscard]] std::uint64_t any_key() noexcept { return chance_.below(setup_.universe); }
    [[nodiscard]] std::uint64_t live_key() noexcept {
        return live_.empty() ? any_key() : live_[chance_.below(live_.size())];
    }
    [[nodiscard]] std::uint64_t colliding_key() {
        const std::uint64_t tries = setup_.rate == 0x1p-8 || one_in(8) ? setup_.search : 0;
        for (std::uint64_t i = 0; i < tries; ++i) {
            const std::uint64_t key = any_key();
            if (keys_[key].stored || !filter_.may_contain(key)) continue;
            ++done.collisions;
            return key;
        }
        return any_key();
    }
    // A key whose tombstone may still exist; a false positive, which collides; or any key.
    [[nodiscard]] std::uint64_t absent_key() {
        const std::uint64_t kind = chance_.below(4);
        if (kind == 0) return departed_[chance_.below(departed_.size())];
        return kind == 1 ? colliding_key() : any_key();
    }

    // ---- operations ----

    void meanwhile() {
        if (!wrong.empty()) return;
        check_stored("inside a call to R");
        if (depth_ == deepest || interruptions_ == 0 || !one_in(3)) return;
        --interruptions_;
        ++depth_;
        const std::uint64_t steps = 1 + chance_.below(3);
        const auto work = [&] {
            for (std::uint64_t i = 0; i < steps && wrong.empty(); ++i) interruptible_step();
        };
        done.nested += steps;
        if (setup_.second_thread && one_in(8)) {
            done.on_thread += steps;
            std::jthread{work}.join();
        } else {
            work();
        }
        --depth_;
        check_stored("after what happened inside a call to R");
    }

    // An operation that finds its bin changed at every attempt makes others back off for
    // milliseconds: so few operations are interrupted that often.
    void interruptible_step() {
        const unsigned left = std::exchange(interruptions_, one_in(1024) ? 8 : 3);
        step();
        interruptions_ = left;
    }
    void step() {
        const bool crowded = live_.size() > setup_.wanted;
        switch (chance_.below(64)) {
            case 0:
                remote_.failing = static_cast<unsigned>(chance_.below(12));
                return;
            case 1:
                return rebuild();
            case 2:
                return grow();
            case 3:
                return copy();
            case 4:
                if (setup_.limited) filter_.limit_memory(one_in(2) ? std::optional<std::uint64_t>{1} : std::nullopt);
                return;
            case 5:
            case 6:
                return insert_many();
            case 7:
                return erase_many(false);
            case 8:
                return erase_many(true);
            case 9:
            case 10:
                return forget();
            case 11:
            case 12:
            case 13:
            case 14:
            case 15:
                return adapt();
            case 16:
            case 17:
                return insert(live_key());
            case 18:
                if (one_in(2)) insert_late();
                return;
            default:
                break;
        }
        if (chance_.below(20) < (crowded ? 4u : 14u)) return insert(absent_key());
        return one_in(2) ? erase(one_in(8) ? absent_key() : live_key()) : erase_assuming_present(live_key());
    }

    // The store commits first. Afterwards the key is stored unless another operation has erased it
    // in R since.
    void insert(std::uint64_t key) {
        if (!may_touch(key)) return;
        ++done.operations;
        ++keys_[key].busy;
        (void)remote_.put(where(key), integer_key{key}.view());
        const std::uint32_t lost = keys_[key].lost;
        const auto outcome = may_touch(key) ? filter_.insert(key, remote_) : insert_outcome::full;
        record_inserted(key, lost, outcome && *outcome != insert_outcome::full);
        if (!outcome) judge(outcome.error());
        if (outcome && *outcome == insert_outcome::full) ++done.refused;
        --keys_[key].busy;
        // Most callers take back a refused key; some leave it in R.
        if ((!outcome || *outcome == insert_outcome::full) && !keys_[key].stored && !leaves_in_r()) take_back(key);
    }
    void record_inserted(std::uint64_t key, std::uint32_t lost_before, bool came) {
        if (!came || keys_[key].lost != lost_before || !r_holds(key)) return;
        set_stored(key, true);
        expect_answered(filter_, key, "although its insert has returned");
    }
    [[nodiscard]] bool leaves_in_r() noexcept { return one_in(setup_.seed % 2 == 0 ? 2 : 16); }
    void take_back(std::uint64_t key) {
        if (keys_[key].promised) return;
        (void)remote_.erase(where(key), integer_key{key}.view());
    }

    void insert_many() {
        std::vector<std::uint64_t> keys;
        for (std::uint64_t i = 1 + chance_.below(std::min<std::uint64_t>(setup_.wanted, 24)); i > 0; --i) {
            keys.push_back(one_in(8) ? live_key() : absent_key());
        }
        insert_all(std::move(keys));
    }
    // R holds a key whose insert has not begun, while all stored keys are inserted again. The
    // stored key with which it collides must keep its place.
    void insert_late() {
        const std::uint64_t key = colliding_key();
        if (!may_touch(key)) return;
        ++keys_[key].busy;
        (void)remote_.put(where(key), integer_key{key}.view());
        insert_all(live_);
        --keys_[key].busy;
        insert(key);
    }
    void insert_all(std::vector<std::uint64_t> keys) {
        std::vector<std::uint32_t> lost;
        std::erase_if(keys, [&](std::uint64_t key) { return !may_touch(key); });
        for (const std::uint64_t key : keys) {
            ++keys_[key].busy;
            (void)remote_.put(where(key), integer_key{key}.view());
        }
        for (const std::uint64_t key : keys) lost.push_back(keys_[key].lost);
        done.operations += keys.size();
        const bool may = std::all_of(keys.begin(), keys.end(), [&](std::uint64_t key) { return may_touch(key); });
        result<std::size_t> joined = std::size_t{0};
        if (may) joined = filter_.insert(keys, remote_);
        if (!joined) judge(joined.error());
        if (joined && *joined < keys.size()) ++done.refused;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            record_inserted(keys[i], lost[i], joined && i < *joined);
            --keys_[keys[i]].busy;
        }
        for (const std::uint64_t key : keys) {
            if (!keys_[key].stored && !leaves_in_r()) take_back(key);
        }
    }

    void erase(std::uint64_t key) {
        if (!may_touch(key)) return;
        ++done.operations;
        ++keys_[key].busy;
        keys_[key].sure = false;
        if (const auto outcome = filter_.erase(key, remote_); !outcome) judge(outcome.error());
        --keys_[key].busy;
    }
    [[nodiscard]] bool promise(std::uint64_t key) {
        key_state& k = keys_[key];
        if (!k.sure || k.busy != 0 || !may_touch(key)) return false;
        k.promised = true;
        return true;
    }
    void erase_assuming_present(std::uint64_t key) {
        if (!promise(key)) return erase(key);
        ++done.operations;
        if (const auto outcome = filter_.erase(key, remote_, assume_present); !outcome) judge(outcome.error());
        release(key);
    }
    void release(std::uint64_t key) {
        keys_[key].promised = false;
        keys_[key].sure = false;
    }
    void erase_many(bool promised) {
        std::vector<std::uint64_t> keys;
        for (std::uint64_t i = 1 + chance_.below(6); i > 0; --i) {
            const std::uint64_t key = live_key();
            if (promised ? !promise(key) : !may_touch(key)) continue;
            keys.push_back(key);
            if (promised) continue;
            ++keys_[key].busy;
            keys_[key].sure = false;
        }
        done.operations += keys.size();
        const auto gone = promised ? filter_.erase(keys, remote_, assume_present) : filter_.erase(keys, remote_);
        if (!gone) judge(gone.error());
        for (const std::uint64_t key : keys) {
            if (promised) {
                release(key);
            } else {
                --keys_[key].busy;
            }
        }
    }
    // Calls forget() after the store erased the key, or although it did not: the filter must then
    // keep the key.
    void forget() {
        const std::uint64_t key = one_in(4) ? absent_key() : live_key();
        if (!may_touch(key)) return;
        ++done.operations;
        ++keys_[key].busy;
        keys_[key].sure = false;
        if (!one_in(4)) (void)remote_.erase(where(key), integer_key{key}.view());
        if (may_touch(key)) {
            if (const auto outcome = filter_.forget(key, remote_); !outcome) judge(outcome.error());
        }
        --keys_[key].busy;
    }
    void adapt() {
        const std::uint64_t key = one_in(8) ? live_key() : absent_key();
        if (!may_wait() && !has_room(key)) return;
        ++done.operations;
        const auto outcome = filter_.adapt(key, remote_);
        if (!outcome) judge(outcome.error());
        if (outcome && *outcome == adapt_outcome::true_positive && keys_[key].lost == 0 && keys_[key].busy == 0 &&
            !r_holds(key))
            note("a key that R never held is a true positive");
    }

    void rebuild() {
        if (!may_wait() || !one_in(4)) return;
        ++done.operations;
        ++sweeping_;
        if (const auto outcome = filter_.rebuild(remote_); !outcome) judge(outcome.error());
        --sweeping_;
    }
    void grow() {
        if (!setup_.grows || !may_wait() || !one_in(8) || filter_.details().bins > 64 * first_bins_) return;
        ++done.operations;
        ++sweeping_;
        if (const auto outcome = filter_.grow(remote_); !outcome && outcome.error().code() != error_code::out_of_memory)
            judge(outcome.error());
        --sweeping_;
    }
    // A snapshot taken at this moment holds every stored key. Sometimes the run continues with it,
    // as after a restart.
    void copy() {
        if (!may_wait() || !one_in(4)) return;
        ++done.operations;
        ++done.copies;
        vector_sink out;
        if (const auto saved = filter_.save(out); !saved) return note(std::string{saved.error().message()});
        auto loaded = broom_filter::load(out.bytes());
        if (!loaded) return note(std::string{loaded.error().message()});
        for (const std::uint64_t key : live_) expect_answered(*loaded, key, "by a copy");
        if (depth_ > 0 || one_in(2)) return;
        done.growths += filter_.details().growths;
        filter_ = *std::move(loaded);
        if (setup_.limited) filter_.limit_memory(1);
    }

    // Every key in R is inserted or erased; then the law must hold in every bin, and the counts
    // must agree.
    void come_to_rest() {
        remote_.meanwhile = nullptr;
        remote_.failing = 0;
        filter_.limit_memory(std::nullopt);
        for (std::uint64_t key = 0; key < setup_.universe; ++key) {
            if (!keys_[key].stored && r_holds(key)) insert(key);
            if (!keys_[key].stored && r_holds(key)) take_back(key);
        }
        check_stored("at rest");
        ++done.audits;
        if (const auto sound = filter_.audit(plain_); !sound) note(std::string{sound.error().message()});
    }

    history_setup setup_;
    memory_map plain_;
    interrupted_map remote_{plain_};
    broom_filter filter_;
    std::uint64_t first_bins_;
    std::vector<std::int64_t> crowd_;  // keys in R, for each first bin
    std::vector<key_state> keys_;
    std::vector<std::uint64_t> live_;           // stored keys, in no order
    std::array<std::uint64_t, 16> departed_{};  // some that R has erased
    test::splitmix chance_;
    unsigned depth_ = 0;
    unsigned interruptions_ = 0;  // how many are left for the current operation
    unsigned sweeping_ = 0;       // growths and rebuilds that are running
};

constexpr std::uint64_t histories = 5;
constexpr std::uint64_t seeds = 30;  // at least, so that every combination occurs
constexpr std::uint64_t operations_a_history = 2000;

// All rates and all kinds of history, with many seeds.
void sweep(const char* name, const history_setup& like) {
    const std::uint64_t operations = test::effort(300'000, 20'000, 12'000'000) / histories;
    done_counts all;
    for (std::uint64_t seed = 1; all.operations < operations; ++seed) {
        history_setup setup = like;
        constexpr std::array rates = {0x1p-8, 0x1p-12, 0x1p-24};
        setup.rate = rates[seed % 3];
        setup.history = static_cast<broom_history>(seed / 3 % 3);
        setup.second_thread = seed % 5 == 3;
        setup.seed = seed;
        if (seed % 4 == 0) setup.capacity *= 3, setup.wanted *= 3;  // several bins
        history_run run{setup};
        run.run(std::min({operations_a_history, operations / seeds, operations - all.operations}));
        all.add(run.done);
        ASSERT_EQ(run.wrong, "") << name;
    }
    const std::string prefix = std::string{"nested_"} + name;
    test::record_figure(prefix + "_operations", all.operations);
    test::record_figure(prefix + "_nested", all.nested);
    test::record_figure(prefix + "_on_a_second_thread", all.on_thread);
    test::record_figure(prefix + "_queries", all.queries);
    test::record_figure(prefix + "_collisions_sought", all.collisions);
    test::record_figure(prefix + "_refused", all.refused);
    test::record_figure(prefix + "_failed", all.failed);
    test::record_figure(prefix + "_copies", all.copies);
    test::record_figure(prefix + "_growths", all.growths);
    test::record_figure(prefix + "_audits", all.audits);
}

// Few keys, so that a key that collides does so with a key that is just being moved.
TEST(broom_nested, a_few_keys_are_never_lost) {
    sweep("sparse", {.capacity = 40, .universe = 8192, .wanted = 4, .search = 4096});
}

TEST(broom_nested, no_key_of_one_bin_at_ordinary_load_is_lost) {
    sweep("ordinary", {.capacity = 40, .universe = 1024, .wanted = 44});
}

// A bin holds 112 keys: further ones are refused, and either taken back or left in R.
TEST(broom_nested, no_key_of_a_full_bin_is_lost) {
    sweep("brim", {.capacity = 40, .universe = 1024, .wanted = 116});
}

TEST(broom_nested, no_key_is_lost_while_the_filter_grows_from_one_bin) {
    sweep("growing", {.capacity = 40, .grows = true, .universe = 4096, .wanted = 150});
}

TEST(broom_nested, no_key_is_lost_at_a_memory_limit) {
    sweep("limited", {.capacity = 400, .limited = true, .universe = 4096, .wanted = 500, .search = 64});
}

}  // namespace
}  // namespace genista::broom_nested_sweep_test
