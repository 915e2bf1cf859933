// faulty_slots: wraps any slot map and makes it fail and return wrong keys by a plan, to test that
// filters survive it; faulty_map.hpp does it for the other half of R.
//
//                 read_slot       write_slots    for_each_slot             clear_slots
//   error_before  nothing asked   nothing done   nothing visited           nothing done
//   error_after   shown, then io  done, then io  all visited, then io      done, then io
//   error_midway  -               -              some visited, then io     half cleared, then io
//   wrong_key     another key     -              one slot has another key  -
//   missing       "empty"         -              one slot is left out      -
//   throws        as error_after, but the map throws an exception instead of returning an error
//
// A kind that does not fit a call has no effect on it. At most one fault strikes a call: that of
// the first rule that names the call, otherwise a random one, which is a function of seed and call
// alone. Without a plan the wrapper changes no answer; set_plan() starts the faults and counts
// calls from 0 again. struck() counts the faults that happened: a fault that had nothing to change
// is not counted.
//
// Threads: as the wrapped map; the order of calls decides which call gets which number. The wrapped
// map must outlive the wrapper.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "genista/base/result.hpp"
#include "genista/hash/key.hpp"
#include "genista/remote/slots.hpp"

namespace genista {

enum class slot_fault : unsigned char { error_before, error_after, error_midway, wrong_key, missing, throws };
enum class slot_call : unsigned char { read_slot, write_slots, for_each_slot, clear_slots };

inline constexpr std::array all_slot_faults = {slot_fault::error_before, slot_fault::error_after,
                                               slot_fault::error_midway, slot_fault::wrong_key,
                                               slot_fault::missing,      slot_fault::throws};

// Whether the table above has an entry.
[[nodiscard]] constexpr bool fits(slot_fault fault, slot_call call) noexcept {
    const bool reads = call == slot_call::read_slot || call == slot_call::for_each_slot;
    if (fault == slot_fault::wrong_key || fault == slot_fault::missing) return reads;
    const bool ranges = call == slot_call::for_each_slot || call == slot_call::clear_slots;
    return fault != slot_fault::error_midway || ranges;
}

struct slot_fault_plan {
    // Strikes the calls first..last (inclusive), counted among the calls of its kind.
    struct rule {
        slot_fault fault = slot_fault::error_before;
        slot_call call = slot_call::read_slot;
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        std::uint64_t record = 0;  // for_each_slot: how many slots are visited unchanged before it
    };
    std::vector<rule> rules{};
    double rate = 0;                   // the share of calls struck at random, with one of `kinds`
    std::vector<slot_fault> kinds{};   // a drawn kind that does not fit has no effect
    std::uint64_t seed = 1;            // of the random faults
    std::uint64_t records_below = 16;  // the `record` of a random fault is below this
};

template <slot_map S>
class faulty_slots {
  public:
    explicit faulty_slots(S& wrapped) noexcept : inner_{wrapped} {}
    faulty_slots(const faulty_slots&) = delete;
    faulty_slots& operator=(const faulty_slots&) = delete;
    ~faulty_slots() = default;

    void set_plan(slot_fault_plan plan) {
        const std::lock_guard held{mutex_};
        plan_ = std::move(plan);
        calls_ = {};
        struck_ = {};
    }

    template <slot_reader Take>
    result<bool> read_slot(std::uint64_t slot, Take&& take) {
        const auto fault = begin(slot_call::read_slot);
        if (fault && fault->kind == slot_fault::error_before) return fail(*fault);
        bool falsified = false;
        const auto found = inner_.read_slot(slot, [&](key_view key) {
            if (fault && fault->kind == slot_fault::missing) {
                falsified = true;
            } else if (fault && fault->kind == slot_fault::wrong_key) {
                falsified = true;
                take(key_view{another(key)});
            } else {
                take(key);
            }
        });
        if (!fault || !found) return found;
        if (fault->kind != slot_fault::missing && fault->kind != slot_fault::wrong_key) return fail(*fault);
        if (falsified) count_fault(*fault);
        return *found && fault->kind == slot_fault::wrong_key;
    }

    result<void> write_slots(std::span<const slot_change> changes) {
        const auto fault = begin(slot_call::write_slots);
        if (fault && fault->kind == slot_fault::error_before) return fail(*fault);
        const auto done = inner_.write_slots(changes);
        if (!fault || !done) return done;
        return fail(*fault);
    }

    template <slot_visitor Visit>
    result<void> for_each_slot(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        const auto fault = begin(slot_call::for_each_slot);
        if (!fault) return inner_.for_each_slot(first, last, visit);
        if (fault->kind == slot_fault::error_before) return fail(*fault);
        std::uint64_t seen = 0;
        bool falsified = false, stopped = false;
        const auto tell = [&](std::uint64_t slot, key_view key) -> bool {
            const bool here = seen++ == fault->record;
            if (here && fault->kind == slot_fault::error_midway) return false;
            if (here && fault->kind == slot_fault::missing) return falsified = true;
            if (here && fault->kind == slot_fault::wrong_key) {
                falsified = true;
                stopped = !visit(slot, key_view{another(key)});
            } else {
                stopped = !visit(slot, key);
            }
            return !stopped;
        };
        const auto done = inner_.for_each_slot(first, last, tell);
        if (falsified) count_fault(*fault);
        const bool lies = fault->kind == slot_fault::missing || fault->kind == slot_fault::wrong_key;
        // A visitor that stops before the break gets no error; a range that ends before it does.
        const bool unnoticed = stopped && fault->kind == slot_fault::error_midway;
        if (!done || lies || unnoticed) return done;
        return fail(*fault);
    }

    result<void> clear_slots(std::uint64_t first, std::uint64_t last) {
        const auto fault = begin(slot_call::clear_slots);
        if (fault && fault->kind == slot_fault::error_before) return fail(*fault);
        const bool half = fault && fault->kind == slot_fault::error_midway && first <= last;
        const auto done = inner_.clear_slots(first, half ? first + (last - first) / 2 : last);
        if (!fault || !done) return done;
        return fail(*fault);
    }

    [[nodiscard]] std::uint64_t calls(slot_call of) const {
        const std::lock_guard held{mutex_};
        return calls_[static_cast<std::size_t>(of)];
    }
    [[nodiscard]] std::uint64_t struck(slot_fault by) const {
        const std::lock_guard held{mutex_};
        return struck_[static_cast<std::size_t>(by)];
    }
    [[nodiscard]] std::uint64_t struck() const {
        std::uint64_t sum = 0;
        for (const slot_fault each : all_slot_faults) sum += struck(each);
        return sum;
    }

  private:
    struct chosen {
        slot_fault kind;
        slot_call call;
        std::uint64_t number;
        std::uint64_t record;
    };

    [[nodiscard]] static std::uint64_t draw(std::uint64_t& state) noexcept {
        std::uint64_t x = state += 0x9e3779b97f4a7c15u;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        return x ^ (x >> 31);
    }

    [[nodiscard]] std::optional<chosen> begin(slot_call call) {
        const std::lock_guard held{mutex_};
        const std::uint64_t number = calls_[static_cast<std::size_t>(call)]++;
        for (const auto& rule : plan_.rules) {
            if (rule.call == call && fits(rule.fault, call) && rule.first <= number && number <= rule.last)
                return chosen{rule.fault, call, number, rule.record};
        }
        std::uint64_t state = plan_.seed * 4 + static_cast<std::uint64_t>(call) + (number << 32);
        const double luck = static_cast<double>(draw(state) >> 11) * 0x1p-53;
        if (luck >= plan_.rate || plan_.kinds.empty()) return std::nullopt;
        const slot_fault kind = plan_.kinds[draw(state) % plan_.kinds.size()];
        if (!fits(kind, call)) return std::nullopt;
        return chosen{kind, call, number, draw(state) % plan_.records_below};
    }

    void count_fault(const chosen& fault) {
        const std::lock_guard held{mutex_};
        ++struck_[static_cast<std::size_t>(fault.kind)];
    }

    [[nodiscard]] error fail(const chosen& fault) {
        count_fault(fault);
        if (fault.kind == slot_fault::throws) throw std::runtime_error{"faulty_slots: thrown by the map"};
        return error::make(error_code::io, "faulty_slots: injected fault %u in call %llu of kind %u",
                           static_cast<unsigned>(fault.kind), static_cast<unsigned long long>(fault.number),
                           static_cast<unsigned>(fault.call));
    }

    // One bit of the last byte, or a byte where there was none.
    [[nodiscard]] static std::string another(key_view key) {
        std::string changed{key.text()};
        if (changed.empty()) return "?";
        changed.back() = static_cast<char>(static_cast<unsigned char>(changed.back()) ^ 1u);
        return changed;
    }

    S& inner_;
    mutable std::mutex mutex_;  // guards what follows; never held while the map is called
    slot_fault_plan plan_;
    std::array<std::uint64_t, 4> calls_{};
    std::array<std::uint64_t, all_slot_faults.size()> struck_{};
};

}  // namespace genista
