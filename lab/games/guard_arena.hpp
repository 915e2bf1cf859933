// guard_arena: a guarded RocksDB in the ADAPTIVITY-GAME. The adversary sees what a client of the
// store sees: answers, and how many reads they cost (a client would measure their time).
//
// Guard is guarded<Filter, clustered_store> or clustered_db: both have get, put, erase and
// counters. The database lies in a folder of its own while the arena lives.
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "genista/filters/broom.hpp"
#include "genista/guard/guarded.hpp"
#include "genista/stores/rocksdb/clustered_db.hpp"
#include "lab/games/arena.hpp"
#include "lab/workloads/scratch_folder.hpp"

namespace genista::lab {

// Small blocks from the disk, and a cache for one in a hundred of them: a wasted read then costs
// what it costs in a large store.
[[nodiscard]] rocks::clustered_options slow_store_options(bool direct_reads);

// What a store is made of for one game: a clustered_db with a broom filter, or any filter before a
// clustered_store.
class attacked_store {
  public:
    attacked_store() = default;
    attacked_store(const attacked_store&) = delete;
    attacked_store& operator=(const attacked_store&) = delete;
    virtual ~attacked_store() = default;

    virtual bool holds(key_view key) = 0;  // through the guard
    virtual void put(key_view key) = 0;
    virtual void erase(key_view key) = 0;
    virtual void flush() = 0;
    [[nodiscard]] virtual std::uint64_t point_reads() const = 0;  // of the store, by queries
    [[nodiscard]] virtual std::uint64_t range_reads() const = 0;  // of R, by the filter
    [[nodiscard]] virtual std::uint64_t bins() const = 0;
    virtual void grow() = 0;
    virtual void save() = 0;
    virtual void restart() = 0;
};

struct attacked_store_options {
    std::uint64_t capacity = 100'000;
    double rate = 1.0 / 256;
    adapting adapt = adapting::on_read;
    bool grows = true;
    std::uint64_t seed = 1;
};
[[nodiscard]] std::unique_ptr<attacked_store> broom_store(const attacked_store_options& options);
[[nodiscard]] std::unique_ptr<attacked_store> bloom_store(const attacked_store_options& options);

class guard_arena final : public counting_arena {
  public:
    guard_arena(std::string_view name, double rate, std::unique_ptr<attacked_store> store)
        : name_{name}, rate_{rate}, store_{std::move(store)} {}

    [[nodiscard]] std::string_view filter_name() const noexcept override { return name_; }
    [[nodiscard]] double rate() const noexcept override { return rate_; }
    [[nodiscard]] std::uint64_t bins() const noexcept override { return store_->bins(); }

    reply query(std::uint64_t key) override {
        const text name{key};
        const bool member = members_.contains(key);
        const std::uint64_t before = store_->point_reads();
        const auto begin = clock::now();
        const bool found = store_->holds(name.view());
        const auto took = clock::now() - begin;
        const bool maybe = store_->point_reads() > before;
        // Only a wasted read makes the filter ask R.
        const reply seen{.maybe = maybe, .member = member, .reads = maybe ? new_range_reads() : 0};
        count({.maybe = member ? found : maybe, .member = member, .reads = 0});
        if (!member) seconds_ += std::chrono::duration<double>(took).count();
        return seen;
    }
    reply guess(std::uint64_t key) override {
        const double before = seconds_;
        const reply seen = counting_arena::guess(key);
        if (!seen.member) claim_seconds_ += seconds_ - before;
        return seen;
    }
    unsigned insert(std::uint64_t key) override {
        return counting([&](const text& name) { store_->put(name.view()), members_.insert(key); }, key);
    }
    unsigned erase(std::uint64_t key) override {
        return counting([&](const text& name) { store_->erase(name.view()), members_.erase(key); }, key);
    }

    void grow() override { store_->grow(); }
    void save() override { store_->save(); }
    void restart() override {
        store_->restart();
        range_reads_ = store_->range_reads();
    }

    // Flushes to the disk and resets the counters: the game begins.
    void begin() {
        store_->flush();
        score_ = {};
        seconds_ = 0;
        claim_seconds_ = 0;
    }
    // Of absent keys, by the clock, without the arena's own work.
    [[nodiscard]] double queries_per_second() const noexcept {
        return seconds_ > 0 ? static_cast<double>(score_.negatives) / seconds_ : 0;
    }
    [[nodiscard]] double claims_per_second() const noexcept {
        return claim_seconds_ > 0 ? static_cast<double>(score_.guesses) / claim_seconds_ : 0;
    }

  private:
    using clock = std::chrono::steady_clock;
    struct text {
        std::uint64_t little;
        explicit text(std::uint64_t key) noexcept
            : little{std::endian::native == std::endian::big ? __builtin_bswap64(key) : key} {}
        [[nodiscard]] key_view view() const noexcept {
            return key_view{reinterpret_cast<const std::byte*>(&little), sizeof little};
        }
    };
    template <class Change>
    unsigned counting(const Change& change, std::uint64_t key) {
        change(text{key});
        ++score_.operations;
        return new_range_reads();
    }
    unsigned new_range_reads() {
        const std::uint64_t now = store_->range_reads();
        const std::uint64_t reads = now - std::min(now, range_reads_);  // a restart counts from 0
        range_reads_ = now;
        return count_reads(reads);
    }

    std::string_view name_;
    double rate_;
    std::unique_ptr<attacked_store> store_;
    std::uint64_t range_reads_ = 0;  // counted so far
    double seconds_ = 0;
    double claim_seconds_ = 0;
};

}  // namespace genista::lab
