// faulty_map: wraps any R, an index too, and makes it fail, lag, return wrong records, throw and
// hang by a plan, to test that filters survive the faults of their store.
//
// The kinds of faults, which calls each one fits and how to script them are in fault_plan.hpp.
// Without a plan the wrapper changes no answer; set_plan() starts the faults and counts calls from
// 0. counts() and log() show what happened, so that a test can assert that the fault really
// happened and was not only planned.
//
// Stale answers need the past: the wrapper keeps a journal of the last writes that changed R
// *through it*, and undoes the newest `stale_writes` of them in a copy of the answer. A write whose
// reply this wrapper lost is in the journal; a write that the wrapped map itself failed is not.
//
//     journal:  [oldest ... | put a | erase b | put c ]
//     stale_writes = 3: the answer has b, but neither a nor c
//
// apply and erase_range empty the journal, because what they changed is not known: a stale answer
// reaches back to the last of them.
//
// A hang blocks for plan.hang and then returns error timeout. By default it really sleeps, until
// cancel_hangs(); tests pass their own `sleep` and take no time.
//
// Threads: as the wrapped map, except that writes wait for each other (the journal must agree with
// R). With one thread a run is a function of plan and calls; with several, the order of their calls
// decides which call gets which number. The wrapped map must outlive the wrapper.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "genista/base/result.hpp"
#include "genista/detail/remote/record_leaf.hpp"
#include "genista/hash/key.hpp"
#include "genista/remote/remote.hpp"
#include "support/remote/fault_plan.hpp"

namespace genista {

struct faulty_map_options {
    std::function<void(std::chrono::nanoseconds)> sleep{};  // none: a real sleep that cancel_hangs() ends
    std::size_t journal_writes = 64;                        // how far back a stale answer can reach
    std::size_t log_events = 4096;                          // later ones are counted, not logged
};

template <remote_map R>
class faulty_map {
  public:
    explicit faulty_map(R& wrapped, faulty_map_options options = {}) : inner_{wrapped}, options_{std::move(options)} {}
    faulty_map(const faulty_map&) = delete;
    faulty_map& operator=(const faulty_map&) = delete;
    ~faulty_map() = default;

    // Takes effect for calls that begin afterwards. Resets call numbers, counts and log, and ends
    // the effect of cancel_hangs(). The journal stays. An invalid plan is an error and changes
    // nothing. (A call under way keeps its old fault, and may still add it to the new counts.)
    result<void> set_plan(fault_plan plan) {
        if (const auto valid = validate(plan); !valid) return valid.error();
        const std::lock_guard held{state_mutex_};
        plan_ = std::move(plan);
        next_ = {};
        counts_ = {};
        log_.clear();
        cancelled_ = false;
        return {};
    }

    result<bool> put(const digest& where, key_view key) { return write(remote_call::put, where, key); }
    result<bool> erase(const digest& where, key_view key) { return write(remote_call::erase, where, key); }

    result<bool> contains(const digest& where, key_view key) {
        const auto fault = begin(remote_call::contains);
        if (!fault) return inner_.contains(where, key);
        if (comes_before(fault->kind)) return fail(*fault);
        if (fault->kind == fault_kind::stale) return stale_contains(*fault, where, key);
        const result<bool> answer = inner_.contains(where, key);
        if (!answer) return answer.error();
        return fail(*fault);
    }

    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first_position, std::uint64_t last_position, Visit&& visit) {
        const auto fault = begin(remote_call::for_each);
        if (!fault) return inner_.for_each(first_position, last_position, visit);
        if (comes_before(fault->kind)) return fail(*fault);
        if (fault->kind == fault_kind::error_midway) return break_off(*fault, first_position, last_position, visit);
        if (comes_after(fault->kind)) {
            const result<void> visited = inner_.for_each(first_position, last_position, visit);
            if (!visited) return visited.error();
            return fail(*fault);
        }
        const auto seen = altered(*fault, {first_position, last_position});
        if (!seen) return seen.error();
        for (const held_record& each : *seen) {
            if (!visit(each.where, each.view())) break;
        }
        return {};
    }

    result<void> apply(std::span<const record_change> changes) requires batched_map<R> {
        const auto fault = begin(remote_call::apply);
        return write_many(fault, [&] { return inner_.apply(changes); });
    }

    result<void> erase_range(std::uint64_t first_position, std::uint64_t last_position) requires batched_map<R> {
        const auto fault = begin(remote_call::erase_range);
        const bool half = fault && fault->kind == fault_kind::error_midway && first_position <= last_position;
        const std::uint64_t last = half ? first_position + (last_position - first_position) / 2 : last_position;
        return write_many(fault, [&] { return inner_.erase_range(first_position, last); });
    }

    // Every call that hangs now returns at once (with error timeout). So do later hangs until the
    // next set_plan().
    void cancel_hangs() noexcept {
        const std::lock_guard held{state_mutex_};
        cancelled_ = true;
        wake_.notify_all();
    }

    [[nodiscard]] fault_counts counts() const noexcept {
        const std::lock_guard held{state_mutex_};
        return counts_;
    }

    [[nodiscard]] std::vector<fault_event> log() const {
        const std::lock_guard held{state_mutex_};
        return log_;
    }

  private:
    struct held_record {
        digest where;
        std::vector<std::byte> key;

        held_record(const digest& d, key_view k) : where{d}, key(k.data, k.data + k.size) {}
        [[nodiscard]] key_view view() const noexcept { return key_view{key.data(), key.size()}; }
        [[nodiscard]] std::strong_ordering compare(const digest& d, key_view k) const noexcept {
            if (const auto order = where <=> d; order != 0) return order;
            return compare_keys(view(), k);
        }
    };
    using records = std::vector<held_record>;

    struct journal_entry {
        remote_call call;
        held_record record;
    };

    struct struck_fault : chosen_fault {
        remote_call call;
        std::uint64_t number;        // of the call, over all calls
        std::uint64_t stale_writes;  // copied: the plan may be replaced while the call runs
        std::chrono::nanoseconds hang;
    };

    [[nodiscard]] static bool comes_before(fault_kind kind) noexcept {
        return kind == fault_kind::error_before || kind == fault_kind::hang_before;
    }

    [[nodiscard]] static bool comes_after(fault_kind kind) noexcept {
        return kind == fault_kind::error_after || kind == fault_kind::hang_after || kind == fault_kind::throws;
    }

    // Numbers the call and chooses its fault.
    [[nodiscard]] std::optional<struck_fault> begin(remote_call call) noexcept {
        const std::lock_guard held{state_mutex_};
        const call_numbers numbers = next_;
        for (std::size_t scope = 0; scope < next_.in.size(); ++scope) {
            if (in_scope(static_cast<fault_scope>(scope), call)) ++next_.in[scope];
        }
        ++counts_.calls;
        const auto chosen = choose_fault(plan_, call, numbers);
        if (!chosen) return std::nullopt;
        ++counts_.chosen[static_cast<std::size_t>(chosen->kind)];
        return struck_fault{*chosen, call, numbers.overall(), plan_.stale_writes, plan_.hang};
    }

    void log_event(const struck_fault& struck, bool effective) noexcept {
        const std::lock_guard held{state_mutex_};
        if (effective) ++counts_.effective[static_cast<std::size_t>(struck.kind)];
        if (log_.size() >= options_.log_events) return;
        try {
            log_.push_back({struck.number, struck.call, struck.kind, effective});
        } catch (const std::bad_alloc&) {  // the event is counted but not logged
        }
    }

    [[nodiscard]] error fail(const struck_fault& struck) {
        const auto number = static_cast<unsigned long long>(struck.number);
        const char* const kind = to_string(struck.kind).data();
        const char* const call = to_string(struck.call).data();
        log_event(struck, true);
        if (struck.kind == fault_kind::throws) throw std::runtime_error{"faulty_map: thrown by the map"};
        if (struck.kind != fault_kind::hang_before && struck.kind != fault_kind::hang_after) {
            return error::make(error_code::io, "faulty_map: injected %s in call %llu (%s)", kind, number, call);
        }
        hang(struck.hang);
        return error::make(error_code::timeout, "faulty_map: injected %s in call %llu (%s), no answer within %lld ns",
                           kind, number, call, static_cast<long long>(struck.hang.count()));
    }

    void hang(std::chrono::nanoseconds duration) {
        if (options_.sleep) return options_.sleep(duration);
        std::unique_lock held{state_mutex_};
        wake_.wait_for(held, duration, [this] { return cancelled_; });
    }

    [[nodiscard]] static error no_memory(const char* what) noexcept {
        return error::make(error_code::out_of_memory, "faulty_map: no memory for %s", what);
    }

    // ---- writes: done under the journal's lock, so that journal and R agree

    result<bool> write(remote_call call, const digest& where, key_view key) {
        const auto fault = begin(call);
        if (fault && comes_before(fault->kind)) return fail(*fault);
        const result<bool> outcome = write_through(call, where, key);
        if (!fault || !outcome) return outcome;
        return fail(*fault);
    }

    result<bool> write_through(remote_call call, const digest& where, key_view key) {
        const std::lock_guard held{journal_mutex_};
        if (options_.journal_writes == 0) return forward(call, where, key);
        try {
            journal_.push_back({call, held_record{where, key}});
        } catch (const std::bad_alloc&) {
            return no_memory("the journal");
        }
        const result<bool> outcome = forward(call, where, key);
        if (!outcome || !*outcome) {
            journal_.pop_back();
        } else if (journal_.size() > options_.journal_writes) {
            journal_.pop_front();
        }
        return outcome;
    }

    template <class Write>
    result<void> write_many(const std::optional<struck_fault>& fault, const Write& forwarded) {
        if (fault && comes_before(fault->kind)) return fail(*fault);
        result<void> outcome{};
        {
            const std::lock_guard held{journal_mutex_};
            journal_.clear();
            outcome = forwarded();
        }
        if (!fault || !outcome) return outcome;
        return fail(*fault);
    }

    result<bool> forward(remote_call call, const digest& where, key_view key) {
        return call == remote_call::put ? inner_.put(where, key) : inner_.erase(where, key);
    }

    // ---- reads

    // How many of the newest journal entries a stale answer lacks.
    [[nodiscard]] std::size_t forgotten(const struck_fault& struck) const noexcept {
        return static_cast<std::size_t>(std::min<std::uint64_t>(struck.stale_writes, journal_.size()));
    }

    // The oldest of the undone writes of this record shows whether R held it before.
    result<bool> stale_contains(const struck_fault& struck, const digest& where, key_view key) {
        const std::lock_guard held{journal_mutex_};
        const result<bool> truth = inner_.contains(where, key);
        if (!truth) return truth.error();
        bool answer = *truth;
        for (auto entry = journal_.end() - static_cast<std::ptrdiff_t>(forgotten(struck)); entry != journal_.end();
             ++entry) {
            if (entry->record.compare(where, key) != 0) continue;
            answer = entry->call == remote_call::erase;
            break;
        }
        log_event(struck, answer != *truth);
        return answer;
    }

    // A visitor that stops before the break gets no error. A range that ends before it does: a
    // range read that broke off must not look complete.
    template <class Visit>
    result<void> break_off(const struck_fault& struck, std::uint64_t first, std::uint64_t last, Visit& visit) {
        std::uint64_t visited = 0;
        bool stopped = false;
        const result<void> outcome = inner_.for_each(first, last, [&](const digest& where, key_view key) -> bool {
            if (visited == struck.record) return false;
            ++visited;
            stopped = !visit(where, key);
            return !stopped;
        });
        if (!outcome) return outcome.error();
        if (!stopped) return fail(struck);
        log_event(struck, false);
        return {};
    }

    // The records of the range, changed by this fault.
    result<records> altered(const struck_fault& struck, position_range range) {
        try {
            std::unique_lock held{journal_mutex_, std::defer_lock};
            if (struck.kind == fault_kind::stale) held.lock();
            records seen;
            bool out_of_memory = false;
            const result<void> read =
                inner_.for_each(range.first, range.last, [&](const digest& where, key_view key) -> bool {
                    try {
                        seen.emplace_back(where, key);
                    } catch (const std::bad_alloc&) {  // must not pass through the wrapped map, which may not expect it
                        out_of_memory = true;
                    }
                    return !out_of_memory;
                });
            if (!read) return read.error();
            if (out_of_memory) return no_memory("a copy of the range");
            log_event(struck, struck.kind == fault_kind::stale ? undo_writes(seen, range, forgotten(struck))
                                                               : falsify(seen, range, struck));
            return seen;
        } catch (const std::bad_alloc&) {
            return no_memory("a copy of the range");
        }
    }

    // Undoes the newest `writes` writes, newest first. True if that made a difference.
    [[nodiscard]] bool undo_writes(records& seen, position_range range, std::size_t writes) const {
        const auto matches = [](const held_record& a, const held_record& b) {
            return a.compare(b.where, b.view()) == 0;
        };
        const records truth = seen;
        for (auto entry = journal_.rbegin(); writes > 0; ++entry, --writes) {
            const held_record& undone = entry->record;
            if (!range.contains(undone.where.position)) continue;
            const auto at = std::lower_bound(seen.begin(), seen.end(), undone, [](const auto& a, const auto& b) {
                return a.compare(b.where, b.view()) < 0;
            });
            const bool there = at != seen.end() && matches(*at, undone);
            if (entry->call == remote_call::put && there) seen.erase(at);
            if (entry->call == remote_call::erase && !there) seen.insert(at, undone);
        }
        return !std::equal(seen.begin(), seen.end(), truth.begin(), truth.end(), matches);
    }

    // True if a record was changed.
    [[nodiscard]] static bool falsify(records& seen, position_range range, const struck_fault& struck) {
        if (struck.kind == fault_kind::out_of_range) return add_stray(seen, range);
        if (seen.empty()) return false;
        const auto at = static_cast<std::size_t>(std::min<std::uint64_t>(struck.record, seen.size() - 1));
        held_record& victim = seen[at];
        switch (struck.kind) {
            case fault_kind::wrong_key:  // one bit of the last byte, or a byte where there was none
                if (victim.key.empty()) {
                    victim.key.push_back(std::byte{1});
                } else {
                    victim.key.back() ^= std::byte{1};
                }
                return true;
            case fault_kind::wrong_seed:
                victim.where.seed ^= 1;
                return true;
            case fault_kind::duplicate: {
                held_record copy = victim;
                seen.insert(seen.begin() + static_cast<std::ptrdiff_t>(at), std::move(copy));
                return true;
            }
            case fault_kind::missing:
                seen.erase(seen.begin() + static_cast<std::ptrdiff_t>(at));
                return true;
            default:
                return false;
        }
    }

    // Adds a record one position after the range, or before it if nothing is after it. The range of
    // all positions has no outside.
    [[nodiscard]] static bool add_stray(records& seen, position_range range) {
        const key_view key{"stray"};
        if (range.first > range.last) return false;
        if (range.last != position_range{}.last) {
            seen.emplace_back(digest{range.last + 1, 0}, key);
        } else if (range.first != 0) {
            seen.emplace(seen.begin(), digest{range.first - 1, 0}, key);
        } else {
            return false;
        }
        return true;
    }

    R& inner_;
    const faulty_map_options options_;

    mutable std::mutex state_mutex_;  // guards the next six members; never held while R is called
    std::condition_variable wake_;
    fault_plan plan_;
    call_numbers next_;
    fault_counts counts_;
    std::vector<fault_event> log_;
    bool cancelled_ = false;

    std::mutex journal_mutex_;  // held while R is written to, or read for a stale answer
    std::deque<journal_entry> journal_;
};

}  // namespace genista
