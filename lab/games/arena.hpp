// arena: one filter under attack, as its attacker sees it. The ADAPTIVITY-GAME of [broom18, Fig. 1]
// is played here.
//
// The adversary chooses every operation, learns every answer, has the set of stored keys, and sees
// how many remote range reads each operation cost. It does not see the filter's memory or its hash
// key. After each false positive the guard's read finds it and adapts, as in a store.
//
// What is counted, by the rule for rates of docs/papers.md: every query of an absent key is a
// trial, because the guarantee holds given the past; `guess` marks the queries on which an
// adversary stakes its claim, which are judged by themselves as well.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "genista/format/sink.hpp"
#include "lab/workloads/number_set.hpp"

namespace genista::lab {

struct reply {
    bool maybe = false;   // the filter's answer
    bool member = false;  // R holds it
    unsigned reads = 0;   // remote range reads
    [[nodiscard]] bool false_positive() const noexcept { return maybe && !member; }
};

struct score {
    std::uint64_t negatives = 0;        // queries of absent keys, guesses included
    std::uint64_t false_positives = 0;  // of those
    std::uint64_t guesses = 0;
    std::uint64_t right_guesses = 0;
    std::uint64_t false_negatives = 0;  // must stay 0
    std::uint64_t operations = 0;
    std::uint64_t reads = 0;       // remote range reads
    std::uint64_t unrepaired = 0;  // mistakes whose repair failed

    score& operator+=(const score& more) noexcept {
        negatives += more.negatives;
        false_positives += more.false_positives;
        guesses += more.guesses;
        right_guesses += more.right_guesses;
        false_negatives += more.false_negatives;
        operations += more.operations;
        reads += more.reads;
        unrepaired += more.unrepaired;
        return *this;
    }
};

// The outcome of an insert that may be refused.
enum class insert_reply : unsigned char { joined, refused, failed };
struct tried_insert {
    insert_reply became = insert_reply::joined;
    unsigned reads = 0;  // remote range reads, those that failed included
};

class arena {
  public:
    arena() = default;
    arena(const arena&) = delete;
    arena& operator=(const arena&) = delete;
    virtual ~arena() = default;

    [[nodiscard]] virtual std::string_view filter_name() const noexcept = 0;
    [[nodiscard]] virtual double rate() const noexcept = 0;  // the ε promised
    // Public: sizes are no secret; 0 where there are none.
    [[nodiscard]] virtual std::uint64_t bins() const noexcept { return 0; }

    virtual reply query(std::uint64_t key) = 0;
    // Queries first, first + 1, … until one is a false positive, at most `most` of them. REQUIRES:
    // none of them was ever stored. The same as asking one by one; an arena may override it with a
    // faster way, because adversaries spend most of their time here.
    struct hunt {
        std::uint64_t asked = 0;
        bool caught = false;  // the last one asked
    };
    virtual hunt query_run(std::uint64_t first, std::uint64_t most) {
        hunt now;
        while (now.asked < most && !now.caught) now.caught = query(first + now.asked++).false_positive();
        return now;
    }
    // A query on which the adversary stakes its claim.
    virtual reply guess(std::uint64_t key) = 0;
    // They return the remote range reads. Inserting a stored key or erasing an absent key is
    // allowed and changes nothing.
    virtual unsigned insert(std::uint64_t key) = 0;
    virtual unsigned erase(std::uint64_t key) = 0;
    // An insert that need not succeed. A key that was not inserted is absent; `stays_in_store`: R
    // keeps it all the same, as a guard leaves it there.
    virtual tried_insert try_insert(std::uint64_t key, bool stays_in_store = false) {
        (void)stays_in_store;
        return {.reads = insert(key)};
    }
    // Inserts 0, 1, …, keys - 1. A game begins so.
    virtual void fill(std::uint64_t keys) {
        for (std::uint64_t key = 0; key < keys; ++key) insert(key);
    }
    [[nodiscard]] virtual bool is_member(std::uint64_t key) const = 0;
    [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;

    // Larger events in a filter's life. They throw std::runtime_error if the filter has no such
    // event.
    virtual void grow() { throw std::runtime_error{std::string{filter_name()} + " does not grow"}; }
    virtual void save() { throw_cannot("be saved"); }  // remembers a snapshot
    // Continues from the snapshot. REQUIRES: the stored keys are those it was saved with.
    virtual void restart() { throw_cannot("be saved"); }
    virtual void rebuild() { throw_cannot("be rebuilt"); }
    // R's range reads fail from now on, or no longer. REQUIRES: no queries meanwhile, because
    // mistakes cannot be repaired.
    virtual void break_ranges(bool broken) {
        (void)broken;
        throw_cannot("lose its range reads");
    }

    [[nodiscard]] virtual const score& counted() const noexcept = 0;

  protected:
    [[noreturn]] void throw_cannot(const char* what) const {
        throw std::runtime_error{std::string{filter_name()} + " cannot " + what};
    }
};

// arena::query_run in batches. A negative changes nothing, so that the answers up to the first
// positive are those of single queries; adversaries spend most of their time here.
//
// key_of(number): the key that the adversary's number stands for. count(first, many): this many
// numbers from `first` on were negatives. query(number) -> reply: the arena's single query, for the
// first positive.
template <class Filter, class KeyOf, class Count, class Query>
arena::hunt batched_hunt(const Filter& filter, std::uint64_t first, std::uint64_t most, const KeyOf& key_of,
                         const Count& count, const Query& query) {
    constexpr std::uint64_t batch = 64;
    std::array<std::uint64_t, batch> keys;
    arena::hunt now;
    while (now.asked < most && !now.caught) {
        const std::uint64_t many = std::min(batch, most - now.asked);
        for (std::uint64_t i = 0; i < many; ++i) keys[i] = key_of(first + now.asked + i);
        std::uint64_t maybe = 0;
        filter.may_contain(std::span<const std::uint64_t>{keys.data(), many}, std::span{&maybe, 1});
        const auto negative = std::min(many, static_cast<std::uint64_t>(std::countr_zero(maybe)));
        count(first + now.asked, negative);
        now.asked += negative;
        if (negative < many) now.caught = query(first + now.asked++).false_positive();
    }
    return now;
}

// What arenas share that know the stored keys and count for one filter.
class counting_arena : public arena {
  public:
    reply guess(std::uint64_t key) override {
        const reply seen = query(key);
        if (!seen.member) {
            ++score_.guesses;
            score_.right_guesses += seen.maybe ? 1u : 0u;
        }
        return seen;
    }
    [[nodiscard]] bool is_member(std::uint64_t key) const override { return members_.contains(key); }
    [[nodiscard]] std::uint64_t size() const noexcept override { return members_.size(); }
    [[nodiscard]] const score& counted() const noexcept override { return score_; }

  protected:
    // Counts the answer to a query. Returns true for a false positive.
    bool count(const reply& seen) noexcept {
        ++score_.operations;
        if (seen.member) {
            score_.false_negatives += seen.maybe ? 0u : 1u;
            return false;
        }
        ++score_.negatives;
        score_.false_positives += seen.maybe ? 1u : 0u;
        return seen.maybe;
    }
    void count_negatives(std::uint64_t negatives) noexcept {
        score_.negatives += negatives;
        score_.operations += negatives;
    }
    unsigned count_reads(std::uint64_t reads) noexcept {
        score_.reads += reads;
        return static_cast<unsigned>(reads);
    }
    template <class Filter>
    hunt hunt_in(const Filter& filter, std::uint64_t first, std::uint64_t most) {
        return batched_hunt(
            filter, first, most, [](std::uint64_t key) { return key; },
            [this](std::uint64_t, std::uint64_t negatives) { count_negatives(negatives); },
            [this](std::uint64_t key) { return query(key); });
    }

    number_set members_;
    score score_;
};

// The bytes that the filter saves.
template <class Filter>
[[nodiscard]] std::vector<std::byte> saved_bytes(const Filter& filter) {
    vector_sink out;
    if (const auto saved = filter.save(out); !saved) throw std::runtime_error{std::string{saved.error().message()}};
    return {out.bytes().begin(), out.bytes().end()};
}

}  // namespace genista::lab
