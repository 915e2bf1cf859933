// history_check: any number of threads on one broom filter, and one check: a query that starts
// after insert(x) returned and ends before erase(x) began must be true.
//
// Every key has one owner among the writers, and a stamp that counts the owner's steps: odd from
// the moment insert returned, even from the moment before erase begins. A reader loads the stamp
// before and after its query. The same odd number both times means that the key was stored
// throughout, so that "no" is a false negative. Stamps are stored and loaded sequentially
// consistent, so that "before" and "after" hold between threads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/broom_world.hpp"

namespace genista::test {

struct history_setup {
    std::uint64_t capacity = 100;  // small, with growth on: the table doubles several times during the run
    double rate = 0x1p-8;
    unsigned history = 0;
    bool grows = true;
    std::uint64_t seed = 1;
    std::uint64_t keys_per_writer = 1500;
    std::uint64_t steps_per_writer = 6000;
    unsigned writers = 2;
    unsigned readers = 1;
    unsigned batch_readers = 1;
    unsigned adapters = 1;
    bool maintenance = true;     // one thread rebuilds, saves and loads
    bool through_trace = false;  // readers call the scalar look-up, not the kernel of this processor
};

struct history_events {
    std::uint64_t writes = 0, queries = 0, adapts = 0, sweeps = 0;
    std::uint64_t judged = 0;  // queries of keys that were stored throughout
    std::uint64_t growths = 0;

    [[nodiscard]] std::uint64_t all() const noexcept { return writes + queries + adapts + sweeps; }
    void add(const history_events& other) noexcept {
        writes += other.writes, queries += other.queries, adapts += other.adapts, sweeps += other.sweeps;
        judged += other.judged, growths += other.growths;
    }
};

template <class Filter>
class history_check {
  public:
    explicit history_check(const history_setup& setup)
        : setup_{setup},
          filter_{*Filter::make(broom_options{.capacity = setup.capacity,
                                              .false_positive_rate = setup.rate,
                                              .hash = hasher{hash_key::from_seed(setup.seed)},
                                              .history = static_cast<broom_history>(setup.history),
                                              .grows = setup.grows,
                                              .random = repeatable(setup.seed)})},
          stamps_(setup.writers * setup.keys_per_writer) {}

    history_events run(findings& wrong) {
        writing_ = setup_.writers;
        {
            std::vector<std::jthread> team;
            for (unsigned i = 0; i < setup_.writers; ++i) team.emplace_back([this, i] { write(i); });
            for (unsigned i = 0; i < setup_.readers; ++i) team.emplace_back([this, i] { read(i); });
            for (unsigned i = 0; i < setup_.batch_readers; ++i) team.emplace_back([this, i] { read_batches(i); });
            for (unsigned i = 0; i < setup_.adapters; ++i) team.emplace_back([this, i] { adapt(i); });
            if (setup_.maintenance) team.emplace_back([this] { maintain(); });
        }
        if (denied_ != 0) wrong.note(std::to_string(denied_) + " false negatives");
        if (denied_by_copy_ != 0)
            wrong.note(std::to_string(denied_by_copy_) + " false negatives of a copy saved during the run");
        if (failed_ != 0) wrong.note(std::to_string(failed_) + " operations failed, first " + first_failure_);
        if (const auto sound = filter_.audit(remote_); !sound) wrong.note(std::string{sound.error().message()});
        std::uint64_t members = 0;
        for (std::uint64_t key = 0; key < stamps_.size(); ++key) {
            if (stamps_[key] % 2 == 0) continue;
            ++members;
            wrong.expect(filter_.may_contain(key), "a false negative after all threads ended");
        }
        wrong.expect(filter_.stats().keys == members, "the count of keys differs from the truth");
        history_events seen;
        seen.writes = writes_, seen.queries = queries_, seen.adapts = adapts_, seen.sweeps = sweeps_;
        seen.judged = judged_, seen.growths = filter_.details().growths;
        return seen;
    }

  private:
    using stamp = std::atomic<std::uint64_t>;

    // Keys of writer w are w, w + writers, w + 2·writers, ...
    void write(unsigned number) {
        splitmix chance{setup_.seed * 31 + number};
        std::uint64_t done = 0;
        for (std::uint64_t step = 0; step < setup_.steps_per_writer; ++step) {
            const std::uint64_t key = chance.below(setup_.keys_per_writer) * setup_.writers + number;
            stamp& mine = stamps_[key];
            if (mine.load() % 2 == 0) {
                const integer_key bytes{key};
                const auto put = remote_.put(filter_.hash()(key), bytes.view());
                const auto outcome = filter_.insert(key, remote_);
                if (!put || !outcome || *outcome == insert_outcome::full) {
                    fail("insert: ", outcome);
                    (void)remote_.erase(filter_.hash()(key), bytes.view());
                    continue;
                }
                ++mine;
            } else {
                ++mine;
                const auto outcome = erase(key, step % 2 == 0);
                if (!outcome || *outcome != erase_outcome::erased) fail("erase: ", outcome);
            }
            ++done;
        }
        writes_ += done;
        --writing_;
    }

    // In one call, or as a store does it that commits a batch of its own before it calls forget().
    result<erase_outcome> erase(std::uint64_t key, bool in_one_call) {
        if (in_one_call) return filter_.erase(key, remote_);
        const integer_key bytes{key};
        if (const auto gone = remote_.erase(filter_.hash()(key), bytes.view()); !gone) return gone.error();
        const auto forgotten = filter_.forget(key, remote_);
        if (!forgotten) return forgotten.error();
        return erase_outcome::erased;  // `absent`: another thread renewed the bin in between
    }

    template <class Outcome>
    void fail(const char* what, const Outcome& outcome) {
        if (failed_++ != 0) return;
        first_failure_ = std::string{what} + (outcome ? "wrong outcome" : std::string{outcome.error().message()});
    }

    [[nodiscard]] bool asks(std::uint64_t key) const noexcept {
        return setup_.through_trace ? filter_.trace(filter_.hash()(key)).maybe : filter_.may_contain(key);
    }

    void read(unsigned number) {
        splitmix chance{setup_.seed * 37 + number};
        std::uint64_t asked = 0, judged = 0, denied = 0;
        while (writing_.load() > 0) {
            for (int i = 0; i < 64; ++i) {
                const std::uint64_t key = chance.below(stamps_.size());
                const std::uint64_t before = stamps_[key].load();
                const bool maybe = asks(key);
                ++asked;
                if (before % 2 == 0 || stamps_[key].load() != before) continue;
                ++judged;
                denied += maybe ? 0u : 1u;
            }
        }
        queries_ += asked, judged_ += judged, denied_ += denied;
    }

    void read_batches(unsigned number) {
        splitmix chance{setup_.seed * 41 + number};
        constexpr std::size_t batch = 128;
        std::array<std::uint64_t, batch> keys{}, before{};
        std::array<std::uint64_t, batch / 64> answers{};
        std::uint64_t asked = 0, judged = 0, denied = 0;
        while (writing_.load() > 0) {
            for (std::size_t i = 0; i < batch; ++i) {
                keys[i] = chance.below(stamps_.size());
                before[i] = stamps_[keys[i]].load();
            }
            filter_.may_contain(std::span<const std::uint64_t>{keys}, answers);
            asked += batch;
            for (std::size_t i = 0; i < batch; ++i) {
                if (before[i] % 2 == 0 || stamps_[keys[i]].load() != before[i]) continue;
                ++judged;
                denied += (answers[i / 64] >> (i % 64) & 1) != 0 ? 0u : 1u;
            }
        }
        queries_ += asked, judged_ += judged, denied_ += denied;
    }

    void adapt(unsigned number) {
        std::uint64_t absent_key = (std::uint64_t{number} + 1) << 40;
        std::uint64_t done = 0;
        while (writing_.load() > 0) {
            ++absent_key;
            if (!filter_.may_contain(absent_key)) continue;
            const auto outcome = filter_.adapt(absent_key, remote_);
            if (!outcome || *outcome == adapt_outcome::true_positive) fail("adapt: ", outcome);
            ++done;
        }
        adapts_ += done;
    }

    // Rebuilds and snapshots while the other threads work. The loaded copy must hold every key that
    // was stored throughout the save.
    void maintain() {
        std::vector<std::uint64_t> before(stamps_.size());
        while (writing_.load() > 0) {
            if (const auto done = filter_.rebuild(remote_); !done) fail("rebuild: ", done);
            (void)filter_.details();
            ++sweeps_;
            for (std::size_t key = 0; key < before.size(); ++key) before[key] = stamps_[key].load();
            vector_sink out;
            const auto saved = filter_.save(out);
            if (!saved) {
                // Refused if the filter grew twice meanwhile, which takes a thread that sleeps.
                if (saved.error().code() != error_code::unsupported) fail("save: ", saved);
                continue;
            }
            std::vector<bool> stayed(before.size());
            for (std::size_t key = 0; key < before.size(); ++key)
                stayed[key] = before[key] % 2 == 1 && stamps_[key].load() == before[key];
            const auto copy = Filter::load(out.bytes());
            if (!copy) {
                fail("load: ", copy);
                continue;
            }
            ++sweeps_;
            for (std::size_t key = 0; key < before.size(); ++key) {
                if (stayed[key] && !copy->may_contain(std::uint64_t{key})) ++denied_by_copy_;
            }
        }
    }

    history_setup setup_;
    memory_map remote_;
    Filter filter_;
    std::vector<stamp> stamps_;
    std::atomic<unsigned> writing_ = 0;
    std::atomic<std::uint64_t> denied_ = 0, denied_by_copy_ = 0, failed_ = 0;
    std::string first_failure_;  // of the first operation that failed; read when all threads have ended
    std::atomic<std::uint64_t> writes_ = 0, queries_ = 0, adapts_ = 0, sweeps_ = 0, judged_ = 0;
};

}  // namespace genista::test
