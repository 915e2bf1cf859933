// Drives a bit_strings and its reference model through the same operations and counts, for each
// operation, the cases compared, the mismatches and (for counted kernels) the word steps. The tests
// of bits/ demand zero mismatches; the experiment broom-words reports the counts and expects broken
// kernels to have mismatches.
//
// After a mismatch the packed side is rebuilt from the model, so that one fault is counted once and
// a broken kernel never gets arguments that the model would not allow.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "lab/scalar/plain_bit_strings.hpp"
#include "papers/bit_strings/bit_strings_parallel.hpp"

namespace genista::lab {

enum class bit_strings_operation : std::size_t {
    prefix_match,
    prefix_lengths,
    insert,
    erase,
    splice,
    append,
    drop_front,
    concatenate,
    drop_front_all,
    erase_all,
    concatenate_all,
    insert_all,
    prefix_match_each,
};
inline constexpr std::array<std::string_view, 13> bit_strings_operation_names{
    "prefix_match", "prefix_lengths", "insert",    "erase",           "splice",     "append",           "drop_front",
    "concatenate",  "drop_front_all", "erase_all", "concatenate_all", "insert_all", "prefix_match_each"};

// The bound on word steps that bit_strings.hpp states for an operation.
template <class Strings>
[[nodiscard]] constexpr std::uint64_t step_bound_of(bit_strings_operation what) {
    using op = bit_strings_operation;
    using bounds = typename Strings::bounds;
    switch (what) {
        case op::prefix_match:
        case op::prefix_lengths:
            return bounds::query;
        case op::drop_front_all:
        case op::erase_all:
        case op::concatenate_all:
            return bounds::parallel_edit;
        case op::insert_all:
            return bounds::merge;
        case op::prefix_match_each:
            return bounds::parallel_query;
        default:
            return bounds::edit;
    }
}

struct operation_counts {
    std::uint64_t cases = 0;
    std::uint64_t mismatches = 0;
    std::uint64_t steps_min = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t steps_max = 0;
};

struct bit_strings_counts {
    std::array<operation_counts, bit_strings_operation_names.size()> of{};

    [[nodiscard]] operation_counts& operator[](bit_strings_operation what) {
        return of[static_cast<std::size_t>(what)];
    }
    [[nodiscard]] std::uint64_t cases() const {
        std::uint64_t total = 0;
        for (const operation_counts& one : of) total += one.cases;
        return total;
    }
    [[nodiscard]] std::uint64_t mismatches() const {
        std::uint64_t total = 0;
        for (const operation_counts& one : of) total += one.mismatches;
        return total;
    }
    void add(const bit_strings_counts& other) {
        for (std::size_t i = 0; i < of.size(); ++i) {
            of[i].cases += other.of[i].cases;
            of[i].mismatches += other.of[i].mismatches;
            of[i].steps_min = std::min(of[i].steps_min, other.of[i].steps_min);
            of[i].steps_max = std::max(of[i].steps_max, other.of[i].steps_max);
        }
    }
};

template <class Strings>
class bit_strings_driver {
  public:
    using op = bit_strings_operation;
    using texts = std::vector<std::string>;
    using flags = std::vector<bool>;
    static constexpr bool counts_steps = requires { Strings::kernel::steps; };

    Strings packed;
    plain_bit_strings plain;
    bit_strings_counts counts;

    void reset(const texts& strings) {
        plain.strings = strings;
        packed = to_bit_strings<Strings>(strings);
    }
    [[nodiscard]] std::size_t count() const { return plain.strings.size(); }
    [[nodiscard]] std::size_t free_slots() const { return Strings::slots - plain.used_slots(); }

    void prefix_match(const std::string& query, std::size_t first, std::size_t last) {
        const auto q = to_string_of<Strings>(query);
        typename Strings::wide answer;
        measure(op::prefix_match, [&] { answer = packed.prefix_match(q, {first, last}); });
        judge(op::prefix_match, same_flags(answer, plain.prefix_match(query, first, last)));
    }
    void prefix_lengths(const std::string& query, std::size_t first, std::size_t last) {
        const auto q = to_string_of<Strings>(query);
        typename Strings::prefix_lengths_answer answer;
        measure(op::prefix_lengths, [&] { answer = packed.prefix_lengths(q, {first, last}); });
        bool agree = true;
        const std::size_t end = std::min(last, count());
        for (std::size_t i = first; i < end; ++i)
            agree = agree && answer[i] == plain_bit_strings::common_prefix(plain.strings[i], query);
        judge(op::prefix_lengths, agree && answer.stops.count() == (first < end ? end - first : 0));
    }
    void prefix_match_each(const texts& queries) {
        const auto q = to_bit_strings<Strings>(queries);
        typename Strings::wide answer;
        measure(op::prefix_match_each, [&] { answer = bits::prefix_match_each(packed, q); });
        judge(op::prefix_match_each, same_flags(answer, plain.prefix_match_each(queries)));
    }
    void insert(std::size_t rank, const std::string& s) {
        const bool fits = s.size() + 1 <= free_slots();
        edit_and_judge(
            op::insert, fits, [&] { plain.insert(rank, s); },
            [&, t = to_string_of<Strings>(s)] { return packed.insert(rank, t); });
    }
    void erase(std::size_t rank) {
        measure(op::erase, [&] { packed.erase(rank); });
        plain.erase(rank);
        judge_state(op::erase, true);
    }
    void splice(std::size_t rank, std::size_t offset, std::size_t remove, const std::string& s) {
        const std::size_t removed = std::min(remove, plain.strings[rank].size() - offset);
        const bool fits = s.size() <= free_slots() + removed;
        edit_and_judge(
            op::splice, fits, [&] { plain.splice(rank, offset, remove, s); },
            [&, t = to_string_of<Strings>(s)] {
                return packed.splice(rank, {offset, remove}, t);
            });
    }
    void append(std::size_t rank, const std::string& s) {
        edit_and_judge(
            op::append, s.size() <= free_slots(), [&] { plain.append(rank, s); },
            [&, t = to_string_of<Strings>(s)] { return packed.append(rank, t); });
    }
    void drop_front(std::size_t rank, std::size_t x) {
        std::size_t removed = 0;
        measure(op::drop_front, [&] { removed = packed.drop_front(rank, x); });
        judge_state(op::drop_front, removed == plain.drop_front(rank, x));
    }
    void concatenate(std::size_t rank) {
        measure(op::concatenate, [&] { packed.concatenate(rank); });
        plain.concatenate(rank);
        judge_state(op::concatenate, true);
    }
    void drop_front_all(std::size_t x) {
        typename Strings::wide left;
        measure(op::drop_front_all, [&] { left = bits::drop_front_all(packed, x); });
        judge_state(op::drop_front_all, same_flags(left, plain.drop_front_all(x)));
    }
    void erase_all(const flags& chosen) {
        const auto ranks = to_wide<Strings>(chosen);
        measure(op::erase_all, [&] { bits::erase_all(packed, ranks); });
        plain.erase_all(chosen);
        judge_state(op::erase_all, true);
    }
    void concatenate_all(const flags& chosen) {
        const auto ranks = to_wide<Strings>(chosen);
        measure(op::concatenate_all, [&] { bits::concatenate_all(packed, ranks); });
        plain.concatenate_all(chosen);
        judge_state(op::concatenate_all, true);
    }
    // REQUIRES: `others` fit into a bit_strings by themselves; together they may be too many.
    void insert_all(const flags& is_new, const texts& others) {
        const bool fits = plain_bit_strings{others}.used_slots() <= free_slots();
        edit_and_judge(
            op::insert_all, fits, [&] { plain.insert_all(is_new, others); },
            [&, ranks = to_wide<Strings>(is_new), t = to_bit_strings<Strings>(others)] {
                return bits::insert_all(packed, ranks, t);
            });
    }

  private:
    template <class Work>
    void measure(op what, Work work) {
        if constexpr (counts_steps) {
            Strings::kernel::steps = 0;
            work();
            operation_counts& one = counts[what];
            one.steps_min = std::min(one.steps_min, Strings::kernel::steps);
            one.steps_max = std::max(one.steps_max, Strings::kernel::steps);
        } else {
            work();
        }
    }
    void judge(op what, bool agree) {
        ++counts[what].cases;
        counts[what].mismatches += !agree;
    }
    void judge_state(op what, bool answer_agrees) {
        const bool state_agrees = same(packed, plain);
        judge(what, answer_agrees && state_agrees);
        if (!state_agrees) packed = to_bit_strings<Strings>(plain.strings);
    }
    template <class ChangePlain, class ChangePacked>
    void edit_and_judge(op what, bool fits, ChangePlain change_plain, ChangePacked change_packed) {
        bits::edit answer{};
        measure(what, [&] { answer = change_packed(); });
        if (fits) change_plain();
        judge_state(what, answer == (fits ? bits::edit::done : bits::edit::full));
    }
};

}  // namespace genista::lab
