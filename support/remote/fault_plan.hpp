// fault_plan: which fault strikes which call of R, decided beforehand; the script of
// faulty_map.hpp.
//
// Stores fail in more ways than "error": a write happens and its reply is lost, a range breaks off
// in the middle, a replica lags behind, an index points at the wrong key, a call gets no answer.
// Each is a kind of its own here, because each breaks a different kind of careless code. Which
// kinds fit which call:
//
//                    put, erase, apply        contains                 for_each
//   error_before     nothing done, io         nothing asked, io        nothing visited, io
//   error_after      done, then io            asked, answer lost, io   all visited, then io
//   error_midway     -                        -                        `record` visited, then io
//   stale            -                        as of earlier writes     as of earlier writes
//   wrong_key        -                        -                        one record has another key
//   wrong_seed       -                        -                        one record has another seed
//   out_of_range     -                        -                        one more record, out of range
//   duplicate        -                        -                        one record twice
//   hang_before      nothing done, timeout    timeout                  nothing visited, timeout
//   hang_after       done, then timeout       asked, then timeout      all visited, then timeout
//   missing          -                        -                        one record is left out
//   throws           as error_after, but an exception is thrown instead of returning an error
//
// erase_range is a write like the others, and error_midway fits it: half of the range is erased.
// A kind that does not fit a call has no effect on it. At most one fault strikes a call: that of
// the first rule that names the call, otherwise a random one. Random faults are a function of
// (seed, number of the call) and nothing else, so that a run can be repeated.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "genista/base/result.hpp"

namespace genista {

enum class fault_kind : unsigned char {
    error_before,
    error_after,
    error_midway,
    stale,
    wrong_key,
    wrong_seed,
    out_of_range,
    duplicate,
    hang_before,
    hang_after,
    missing,
    throws,
};

// Without `missing` and `throws`, which are for an index and for named calls: a filter cannot know
// that R left one of its stored keys out, and a test that calls R itself would have to catch.
inline constexpr std::array all_fault_kinds = {
    fault_kind::error_before, fault_kind::error_after, fault_kind::error_midway, fault_kind::stale,
    fault_kind::wrong_key,    fault_kind::wrong_seed,  fault_kind::out_of_range, fault_kind::duplicate,
    fault_kind::hang_before,  fault_kind::hang_after};

inline constexpr std::size_t fault_kind_count = all_fault_kinds.size() + 2;

[[nodiscard]] std::string_view to_string(fault_kind kind) noexcept;

enum class remote_call : unsigned char { put, erase, contains, for_each, apply, erase_range };

[[nodiscard]] std::string_view to_string(remote_call call) noexcept;

// Whether the table above has an entry.
[[nodiscard]] bool fits(fault_kind kind, remote_call call) noexcept;

// Which calls a rule counts: its call numbers count only these, from 0.
enum class fault_scope : unsigned char { every_call, reads, writes, ranges };

[[nodiscard]] bool in_scope(fault_scope scope, remote_call call) noexcept;

// One fault for the calls first_call..last_call (inclusive) of its scope. Several ranges of calls
// need several rules.
struct fault_rule {
    fault_kind kind = fault_kind::error_before;
    std::uint64_t first_call = 0;
    std::uint64_t last_call = 0;
    fault_scope scope = fault_scope::every_call;
    // error_midway: records visited before the error. wrong_*, duplicate, missing: which record, or
    // the last one if there are fewer.
    std::uint64_t record = 0;

    [[nodiscard]] static constexpr fault_rule once(fault_kind kind, std::uint64_t call,
                                                   fault_scope scope = fault_scope::every_call,
                                                   std::uint64_t record = 0) noexcept {
        return {.kind = kind, .first_call = call, .last_call = call, .scope = scope, .record = record};
    }
    [[nodiscard]] static constexpr fault_rule from(fault_kind kind, std::uint64_t call,
                                                   fault_scope scope = fault_scope::every_call,
                                                   std::uint64_t record = 0) noexcept {
        return {.kind = kind,
                .first_call = call,
                .last_call = std::numeric_limits<std::uint64_t>::max(),
                .scope = scope,
                .record = record};
    }
};

// The share of fitting calls that a kind strikes at random.
struct fault_rate {
    fault_kind kind = fault_kind::error_before;
    double rate = 0;
};

struct fault_plan {
    std::vector<fault_rule> rules{};
    std::vector<fault_rate> rates{};         // each in [0, 1], together at most 1
    std::uint64_t seed = 1;                  // of the random faults
    std::uint64_t random_record_below = 64;  // the `record` of a random fault is uniform in [0, this)
    std::uint64_t stale_writes = 16;         // a stale answer lacks the last so many writes that changed R
    std::chrono::nanoseconds hang{std::chrono::seconds{1}};  // how long a hang lasts, then error timeout
};

// An error names the value that is out of range.
[[nodiscard]] result<void> validate(const fault_plan& plan) noexcept;

// The numbers of one call, counted from 0 within each scope that the call belongs to.
struct call_numbers {
    std::array<std::uint64_t, 4> in{};  // by fault_scope

    [[nodiscard]] std::uint64_t overall() const noexcept { return in[0]; }
};

struct chosen_fault {
    fault_kind kind = fault_kind::error_before;
    std::uint64_t record = 0;
};

// The fault of this call under this plan, if any; `plan` is valid.
[[nodiscard]] std::optional<chosen_fault> choose_fault(const fault_plan& plan, remote_call call,
                                                       const call_numbers& numbers) noexcept;

// The faults that happened. `chosen` counts the calls for which a kind was chosen, `effective`
// those where it made a difference: a stale answer that equals the true one, or a duplicate in an
// empty range, is chosen but not effective.
struct fault_counts {
    std::uint64_t calls = 0;
    std::array<std::uint64_t, fault_kind_count> chosen{};
    std::array<std::uint64_t, fault_kind_count> effective{};

    [[nodiscard]] std::uint64_t injected(fault_kind kind) const noexcept {
        return effective[static_cast<std::size_t>(kind)];
    }
    [[nodiscard]] std::uint64_t injected() const noexcept {
        std::uint64_t sum = 0;
        for (const std::uint64_t each : effective) sum += each;
        return sum;
    }
};

// A line of the log.
struct fault_event {
    std::uint64_t call_number = 0;  // over all calls
    remote_call call = remote_call::put;
    fault_kind kind = fault_kind::error_before;
    bool effective = false;

    friend constexpr bool operator==(const fault_event&, const fault_event&) noexcept = default;
};

}  // namespace genista
