// broom_arena: a broom filter with its R in memory. Includes the filter's header, so that a file compiled with
// GENISTA_BROOM_FAULTS gets an arena of the variant whose rules can be switched off.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <vector>

#include "genista/filters/broom.hpp"
#include "genista/format/sink.hpp"
#include "genista/remote/counting_map.hpp"
#include "genista/remote/memory_map.hpp"
#include "lab/games/arena.hpp"

namespace genista::lab {

// Filter is genista::broom_filter of the variant in force: a template parameter, so that arenas of two variants differ.
template <class Filter>
class broom_arena final : public arena {
  public:
    template <class Options>
    explicit broom_arena(const Options& options) : filter_{must(Filter::make(options))} {}

    [[nodiscard]] std::string_view filter_name() const noexcept override { return Filter::name; }
    [[nodiscard]] double rate() const noexcept override { return filter_.rate(); }
    [[nodiscard]] std::uint64_t bins() const noexcept override { return filter_.details().bins; }

    reply query(std::uint64_t key) override {
        reply seen;
        seen.maybe = filter_.may_contain(key);
        seen.member = members_.contains(key);
        ++score_.operations;
        if (seen.member) {
            score_.false_negatives += seen.maybe ? 0u : 1u;
            return seen;
        }
        ++score_.negatives;
        if (seen.maybe) {
            ++score_.false_positives;
            const std::uint64_t before = remote_.counts().range_reads;
            (void)must(filter_.adapt(key, remote_));
            seen.reads = reads_since(before);
        }
        return seen;
    }
    // In batches. Negatives change nothing, so that the answers up to the first positive are those of single queries.
    hunt query_run(std::uint64_t first, std::uint64_t most) override {
        constexpr std::uint64_t batch = 64;
        std::array<std::uint64_t, batch> keys;
        hunt now;
        while (now.asked < most && !now.caught) {
            const std::uint64_t count = std::min(batch, most - now.asked);
            std::iota(keys.begin(), keys.end(), first + now.asked);
            std::uint64_t maybe = 0;
            filter_.may_contain(std::span<const std::uint64_t>{keys.data(), count}, std::span{&maybe, 1});
            const auto negative = std::min(count, static_cast<std::uint64_t>(std::countr_zero(maybe)));
            now.asked += negative;
            score_.negatives += negative;
            score_.operations += negative;
            if (negative < count) now.caught = query(first + now.asked++).false_positive();
        }
        return now;
    }
    reply guess(std::uint64_t key) override {
        const reply seen = query(key);
        if (!seen.member) {
            ++score_.guesses;
            score_.right_guesses += seen.maybe ? 1u : 0u;
        }
        return seen;
    }
    unsigned insert(std::uint64_t key) override {
        ++score_.operations;
        const std::uint64_t before = remote_.counts().range_reads;
        (void)must(remote_.put(filter_.hash()(key), bytes(key)));
        if (must(filter_.insert(key, remote_)) == insert_outcome::full) throw std::runtime_error{"broom_arena: full"};
        members_.insert(key);
        return reads_since(before);
    }
    unsigned erase(std::uint64_t key) override {
        ++score_.operations;
        const std::uint64_t before = remote_.counts().range_reads;
        (void)must(filter_.erase(key, remote_));
        members_.erase(key);
        return reads_since(before);
    }
    [[nodiscard]] bool is_member(std::uint64_t key) const override { return members_.contains(key); }
    [[nodiscard]] std::uint64_t size() const noexcept override { return members_.size(); }

    void grow() override { must_void(filter_.grow(remote_)); }
    void save() override {
        vector_sink out;
        must_void(filter_.save(out));
        saved_.assign(out.bytes().begin(), out.bytes().end());
    }
    void restart() override { filter_ = must(Filter::load(saved_)); }

    [[nodiscard]] const score& counted() const noexcept override { return score_; }
    [[nodiscard]] Filter& filter() noexcept { return filter_; }
    [[nodiscard]] counting_map<memory_map>& remote() noexcept { return remote_; }

  private:
    static key_view bytes(const std::uint64_t& key) { return {reinterpret_cast<const std::byte*>(&key), sizeof key}; }
    template <class T>
    static T must(result<T> got) {
        if (!got) throw std::runtime_error{std::string{got.error().message()}};
        return *std::move(got);
    }
    static void must_void(const result<void>& got) {
        if (!got) throw std::runtime_error{std::string{got.error().message()}};
    }
    unsigned reads_since(std::uint64_t before) {
        const std::uint64_t reads = remote_.counts().range_reads - before;
        score_.reads += reads;
        return static_cast<unsigned>(reads);
    }

    memory_map store_;
    counting_map<memory_map> remote_{store_};
    Filter filter_;
    std::unordered_set<std::uint64_t> members_;
    std::vector<std::byte> saved_;
    score score_;
};

}  // namespace genista::lab
