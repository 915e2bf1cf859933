// broom_world: a broom filter, its remote map and the truth. It runs one operation at a time and
// compares each outcome with the truth.
//
// A template over the filter, so that tests/filters runs the product filter and tests/planted the
// same filter with one planted bug through the same code. It uses no test framework: failures are
// collected in `wrong`.
//
//   The truth is a bitmap over the keys 0 .. universe-1; larger keys are absent keys. The store may
//   fail (set_faults): the filter must then be as it was, and the operation is tried again or given
//   up. If the store commits an erase and the reply is lost, the filter still answers maybe for the
//   key, which is allowed (broom.hpp, I3); from then on counts are not compared until a rebuild.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "genista/filters/broom.hpp"
#include "genista/format/sink.hpp"
#include "genista/remote/memory_map.hpp"
#include "support/remote/faulty_map.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test {

// The failures found; only the first few are kept.
class findings {
  public:
    void note(std::string what) {
        ++count_;
        if (texts_.size() < 4) texts_.push_back(std::move(what));
    }
    void expect(bool holds, const char* what) {
        if (!holds) note(what);
    }
    [[nodiscard]] bool none() const noexcept { return count_ == 0; }
    [[nodiscard]] std::string text() const {
        std::string all;
        for (const std::string& each : texts_) all += (all.empty() ? "" : "; ") + each;
        return all;
    }

  private:
    std::uint64_t count_ = 0;
    std::vector<std::string> texts_;
};

struct world_setup {
    std::uint64_t capacity = 400;
    double rate = 0x1p-8;
    unsigned history = 0;  // as broom_history
    bool grows = false;
    std::uint64_t seed = 1;
    std::uint64_t universe = 500;
    std::optional<hasher> hash = std::nullopt;
};

// The name of a test with this rate, in bits, and this history.
inline std::string name_of_setting(unsigned rate_bits, unsigned history) {
    constexpr const char* histories[] = {"tombstone", "renew", "soft"};
    return "rate_2_to_the_minus_" + std::to_string(rate_bits) + "_" + histories[history];
}

// An operation is an insert, an erase, an adapt, or one key of a query that is compared with the
// truth.
struct world_counts {
    std::uint64_t inserts = 0, erases = 0, adapts = 0, queries = 0;
    std::uint64_t audits = 0, sweeps = 0, saves = 0, store_failures = 0, fixed = 0, full = 0;

    [[nodiscard]] std::uint64_t operations() const noexcept { return inserts + erases + adapts + queries; }
    void add(const world_counts& other) noexcept {
        inserts += other.inserts, erases += other.erases, adapts += other.adapts, queries += other.queries;
        audits += other.audits, sweeps += other.sweeps, saves += other.saves;
        store_failures += other.store_failures, fixed += other.fixed, full += other.full;
    }
};

template <class Filter>
class broom_world {
  public:
    explicit broom_world(const world_setup& setup)
        : setup_{setup},
          remote{plain, {.sleep = [](std::chrono::nanoseconds) {}}},
          filter{*Filter::make(broom_options{.capacity = setup.capacity,
                                             .false_positive_rate = setup.rate,
                                             .hash = setup.hash ? *setup.hash : hasher{hash_key::from_seed(setup.seed)},
                                             .history = static_cast<broom_history>(setup.history),
                                             .grows = setup.grows,
                                             .random = repeatable(setup.seed)})},
          bitmap_(words_for(setup.universe)),
          chance{setup.seed ^ 0x6e6f6e65},
          next_absent_key_{setup.universe + 64} {}
    broom_world(const broom_world&) = delete;
    broom_world& operator=(const broom_world&) = delete;
    ~broom_world() = default;

    // Every kind of failure but a lagging replica, which is not a valid R (remote.hpp, "Order").
    void set_faults(double share) {
        fault_plan plan;
        plan.seed = setup_.seed;
        for (const fault_kind kind : all_fault_kinds) {
            if (kind != fault_kind::stale) plan.rates.push_back({kind, share / 9});
        }
        if (share == 0) plan = {};
        wrong.expect(remote.set_plan(plan).has_value(), "the plan of faults is invalid");
        faulty_ = share > 0;
    }

    [[nodiscard]] bool is_member(std::uint64_t key) const noexcept {
        return key < setup_.universe && (bitmap_[key / 64] >> (key % 64) & 1) != 0;
    }
    [[nodiscard]] std::uint64_t members() const noexcept { return members_; }
    [[nodiscard]] std::uint64_t universe() const noexcept { return setup_.universe; }

    // ---- operations -----------------------------------------------------------------------------

    // False: the filter has no room, or the store failed and the caller gave up; R then does not
    // hold the key.
    bool insert(std::uint64_t key) {
        ++counts.inserts;
        const bool was_member = is_member(key);
        const integer_key bytes{key};
        const digest where = filter.hash()(key);
        while (!remote.put(where, bytes.view())) ++counts.store_failures;
        for (bool first = true;; first = false) {
            const auto before = portrait();
            const std::uint64_t failures = faulty_ ? remote.counts().injected() : 0;
            const auto outcome = filter.insert(key, remote);
            if (!outcome) {
                failed_operation(before, "an insert");
                if (chance.below(2) == 0) continue;
                if (!was_member) take_back(where, bytes);
                return was_member;
            }
            if (*outcome == insert_outcome::full) {
                ++counts.full;
                wrong.expect(!was_member, "a stored key is refused as if the filter were full");
                if (!was_member) take_back(where, bytes);
                return false;
            }
            set_member(key, true);
            // The insert could not read R: the key may have two slots now, or share one, until its
            // bin is renewed.
            if (faulty_ && remote.counts().injected() != failures) orphans_ = true;
            if (first && !setup_.grows && !orphans_)
                wrong.expect((*outcome == insert_outcome::inserted) != was_member, "insert: wrong outcome");
            wrong.expect(filter.may_contain(key), "a false negative right after an insert");
            return true;
        }
    }

    // The same on another thread, for a hook that runs inside a call of the filter: the thread that
    // runs the hook may hold a lock.
    void insert_beside(std::uint64_t key) {
        std::jthread{[&] { (void)insert(key); }}.join();
    }

    void erase(std::uint64_t key) {
        if (chance.below(4) == 0) return erase_by_halves(key);
        ++counts.erases;
        const bool was_member = is_member(key);
        while (true) {
            const auto before = portrait();
            const auto outcome = filter.erase(key, remote);
            if (outcome) {
                wrong.expect((*outcome == erase_outcome::erased) == was_member, "erase: wrong outcome");
                set_member(key, false);
                erased_ += was_member ? 1u : 0u;
                answered_after_erase_ += was_member && filter.may_contain(key) ? 1u : 0u;
                return;
            }
            failed_operation(before, "an erase");
            if (was_member && !*plain.contains(filter.hash()(key), integer_key{key}.view())) {
                set_member(key, false);  // committed, and the reply lost
                orphans_ = true;
                return;
            }
            if (chance.below(2) == 0) return;
        }
    }

    // For a caller that guarantees that the key is stored.
    void erase_assuming_present(std::uint64_t key) {
        if (!is_member(key)) return;
        ++counts.erases;
        const auto outcome = filter.erase(key, remote, assume_present);
        wrong.expect(outcome && *outcome == erase_outcome::erased, "`assume_present` erase: wrong outcome");
        set_member(key, false);
    }

    // The store commits by itself, then forget() is called. An absent key must be forgotten without
    // harm.
    void erase_by_halves(std::uint64_t key) {
        ++counts.erases;
        const bool was_member = is_member(key);
        if (was_member) {
            const auto gone = plain.erase(filter.hash()(key), integer_key{key}.view());
            wrong.expect(gone.has_value(), "the store failed to erase");
        }
        set_member(key, false);
        while (true) {
            const auto before = portrait();
            const auto outcome = filter.forget(key, remote);
            if (outcome) {
                const bool missed = was_member && *outcome == erase_outcome::absent;
                wrong.expect(!missed || faulty_,
                             "forget of a stored key reports absent although the store did not fail");
                orphans_ = orphans_ || missed;
                erased_ += was_member ? 1u : 0u;
                answered_after_erase_ += was_member && filter.may_contain(key) ? 1u : 0u;
                return;
            }
            failed_operation(before, "a forget");
            orphans_ = orphans_ || was_member;
            if (chance.below(2) == 0) return;
        }
    }

    // Queries, and adapts after a false positive, as a guard would. True if it was one.
    bool query(std::uint64_t key) {
        ++counts.queries;
        const bool maybe = filter.may_contain(key);
        if (is_member(key)) {
            wrong.expect(maybe, "a false negative");
            return false;
        }
        if (maybe) adapt(key);
        return maybe;
    }

    void adapt(std::uint64_t key) {
        ++counts.adapts;
        const bool maybe = filter.may_contain(key);
        while (true) {
            const auto before = portrait();
            const auto outcome = filter.adapt(key, remote);
            if (!outcome) {
                failed_operation(before, "an adapt");
                if (chance.below(2) == 0) return;
                continue;
            }
            if (is_member(key)) {
                wrong.expect(*outcome == adapt_outcome::true_positive, "adapt of a stored key: wrong outcome");
                wrong.expect(filter.may_contain(key), "a false negative after an adapt");
            } else if (maybe) {
                ++counts.fixed;
                wrong.expect(*outcome == adapt_outcome::fixed, "adapt did not fix a false positive");
                wrong.expect(!filter.may_contain(key), "adapted, and still a false positive");
            } else {
                wrong.expect(*outcome == adapt_outcome::was_negative, "adapt of a negative: wrong outcome");
            }
            return;
        }
    }

    // Queries all keys of the universe in one batch: every stored key is answered maybe.
    void scan() {
        std::vector<std::uint64_t> keys(std::min<std::uint64_t>(setup_.universe, 4096));
        std::vector<std::uint64_t> answers(words_for(keys.size()));
        for (std::uint64_t from = 0; from < setup_.universe; from += keys.size()) {
            const std::uint64_t count = std::min<std::uint64_t>(keys.size(), setup_.universe - from);
            for (std::uint64_t i = 0; i < count; ++i) keys[i] = from + i;
            filter.may_contain(std::span<const std::uint64_t>{keys.data(), count}, answers);
            for (std::uint64_t w = 0; w < words_for(count); ++w) {
                if ((bitmap_[from / 64 + w] & ~answers[w]) != 0) wrong.note("a false negative in a batch");
            }
            counts.queries += count;
        }
    }

    // The next absent key, among at most `most`, that the filter answers maybe.
    std::optional<std::uint64_t> find_false_positive(std::uint64_t most) {
        std::vector<std::uint64_t> keys(1024);
        std::vector<std::uint64_t> answers(words_for(keys.size()));
        for (std::uint64_t asked = 0; asked < most; asked += keys.size()) {
            for (std::uint64_t i = 0; i < keys.size(); ++i) keys[i] = next_absent_key_ + i;
            filter.may_contain(std::span<const std::uint64_t>{keys}, answers);
            for (std::uint64_t i = 0; i < keys.size(); ++i) {
                if ((answers[i / 64] >> (i % 64) & 1) == 0) continue;
                next_absent_key_ += i + 1;
                return keys[i];
            }
            next_absent_key_ += keys.size();
        }
        return std::nullopt;
    }

    // Queries 1024 absent keys at once and adapts each false positive.
    void attack() {
        std::array<std::uint64_t, 1024> keys{};
        std::array<std::uint64_t, words_for(keys.size())> answers{};
        for (std::uint64_t& key : keys) key = next_absent_key_++;
        filter.may_contain(std::span<const std::uint64_t>{keys}, answers);
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if ((answers[i / 64] >> (i % 64) & 1) != 0) adapt(keys[i]);
        }
    }

    // R holds a key that collides, and it is never inserted into the filter; the caller takes it
    // back through erase().
    void commit_and_roll_back(std::uint64_t absent_key) {
        if (faulty_) return;
        ++counts.erases;
        const integer_key bytes{absent_key};
        wrong.expect(remote.put(filter.hash()(absent_key), bytes.view()).has_value(), "a put failed");
        const auto outcome = filter.erase(absent_key, remote);
        wrong.expect(outcome && *outcome == erase_outcome::erased, "an erase of what only R holds failed");
    }

    void grow() {
        ++counts.sweeps;
        if (retry([&] { return filter.grow(remote).has_value(); }, "a growth")) scan();
    }

    void rebuild() {
        ++counts.sweeps;
        if (!retry([&] { return filter.rebuild(remote).has_value(); }, "a rebuild")) return;
        orphans_ = false;
        wrong.expect(filter.stats().keys == members_, "the rebuilt filter has another number of keys");
        scan();
    }

    // False: the filter cannot be saved now. Otherwise the filter is the loaded one afterwards.
    bool save_and_load() {
        vector_sink out;
        if (const auto saved = filter.save(out); !saved) {
            if (saved.error().code() != error_code::unsupported) wrong.note(std::string{saved.error().message()});
            return false;
        }
        ++counts.saves;
        auto loaded = Filter::load(out.bytes());
        if (!loaded) {
            wrong.note("the snapshot does not load: " + std::string{loaded.error().message()});
            return true;
        }
        wrong.expect(loaded->stats().keys == filter.stats().keys, "the loaded filter has another number of keys");
        wrong.expect(loaded->hash() == filter.hash(), "the loaded filter has another hash");
        filter = *std::move(loaded);
        scan();
        return true;
    }

    void audit() {
        ++counts.audits;
        if (const auto sound = filter.audit(plain); !sound) wrong.note(std::string{sound.error().message()});
        if (!orphans_) wrong.expect(filter.stats().keys == members_, "the count of keys differs from the truth");
    }

    // A tombstone matches nothing. Only a key whose bin was renewed by its erase may match again,
    // with probability ε.
    void judge_erases() {
        if (!orphans_ && answered_after_erase_ > 8 + erased_ / 40) wrong.note("erased keys are still answered maybe");
    }

    // What a failed operation must not change: the counts of every kind of slot, the answers, and
    // the bytes of a snapshot. (A call that ran out of memory may have used up salts [law L1],
    // which the snapshot contains: then without bytes.)
    [[nodiscard]] std::vector<std::uint64_t> draw_portrait(bool with_bytes = true) const {
        const auto d = filter.details();
        const auto stats = filter.stats();
        std::vector<std::uint64_t> drawn = {
            d.bins,       d.growths,       static_cast<std::uint64_t>(d.growth_done * 1e6),
            stats.keys,   stats.renewals,  stats.adapts,
            d.slots_used, d.tombstones,    d.backyard_keys,
            d.long_salts, d.extended_slots};
        std::uint64_t sum = 0;
        const auto add = [&sum](std::uint64_t word) {
            sum = (sum ^ word) * 0x9e3779b97f4a7c15;
            sum ^= sum >> 29;
        };
        for (std::uint64_t key = 0; key < 256; ++key)
            add(filter.may_contain(setup_.universe / 256 * key + key) ? 1 : 0);
        if (vector_sink out; with_bytes && filter.save(out)) {
            for (const std::byte each : out.bytes()) add(std::to_integer<std::uint64_t>(each));
        }
        drawn.push_back(sum);
        return drawn;
    }

  private:
    world_setup setup_;

  public:
    memory_map plain;               // the truth as R has it
    faulty_map<memory_map> remote;  // what the filter is given
    Filter filter;
    findings wrong;
    world_counts counts;

  private:
    [[nodiscard]] std::vector<std::uint64_t> portrait() const {
        return faulty_ ? draw_portrait() : std::vector<std::uint64_t>{};
    }
    void set_member(std::uint64_t key, bool now) noexcept {
        const bool before = is_member(key);
        if (before == now) return;
        bitmap_[key / 64] ^= std::uint64_t{1} << (key % 64);
        members_ += now ? 1u : ~std::uint64_t{0};
    }
    void take_back(const digest& where, const integer_key& bytes) {
        wrong.expect(plain.erase(where, bytes.view()).has_value(), "the store failed to take a key back");
        orphans_ = true;  // a renewal in between may have given it a slot
    }
    // The operation returned an error. Growth may have moved bins meanwhile, each of them as a
    // whole: in that case only answers and counts must be as before.
    void failed_operation(const std::vector<std::uint64_t>& before, const char* what) {
        ++counts.store_failures;
        if (!faulty_) return wrong.note(std::string{what} + " failed although the store did not");
        const auto after = draw_portrait();
        const bool grew = !std::equal(before.begin(), before.begin() + 3, after.begin());
        const bool same = grew ? before[3] == after[3] : before == after;
        if (!same) wrong.note(std::string{what} + " failed, and the filter has changed");
    }
    template <class Call>
    bool retry(Call&& call, const char* what) {
        for (int attempt = 0; attempt < 1000; ++attempt) {
            if (call()) return true;
            ++counts.store_failures;
            if (!faulty_) break;
        }
        wrong.note(std::string{what} + " never succeeded");
        return false;
    }

    std::vector<std::uint64_t> bitmap_;
    std::uint64_t members_ = 0;
    bool faulty_ = false;
    bool orphans_ = false;
    std::uint64_t erased_ = 0;
    std::uint64_t answered_after_erase_ = 0;

  public:
    splitmix chance;

  private:
    std::uint64_t next_absent_key_;
};

}  // namespace genista::test
