// The rows of the table: a contender is a filter before a database, or the database alone. All have
// the same query.
#pragma once

#include <rocksdb/perf_context.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "compare/request.hpp"
#include "genista/guard/guarded.hpp"
#include "genista/guard/metrics.hpp"
#include "genista/hash/key.hpp"

namespace genista::tool::compare {

struct answer {
    bool found = false;        // the store has it
    bool let_through = false;  // the filter answered "maybe": the store was read
};

class contender {
  public:
    explicit contender(filter_kind kind) noexcept : kind_{kind} {}
    contender(const contender&) = delete;
    contender& operator=(const contender&) = delete;
    virtual ~contender() = default;

    // From any number of threads; each has RocksDB's counters switched on
    // (rocksdb::PerfLevel::kEnableCount).
    [[nodiscard]] virtual result<answer> ask(key_view key) = 0;

    // Everything in RAM that the filter needs, now.
    [[nodiscard]] virtual std::uint64_t local_bytes() const = 0;
    // The counters of a guard; RocksDB's filters have none.
    [[nodiscard]] virtual std::optional<guard_counters> counters() const { return std::nullopt; }

    [[nodiscard]] filter_kind kind() const noexcept { return kind_; }
    [[nodiscard]] std::string_view name() const noexcept { return to_string(kind_); }
    [[nodiscard]] bool learns() const noexcept { return compare::learns(kind_); }

  private:
    filter_kind kind_;
};

// No filter of genista: the store's answer, with or without RocksDB's own filter in it.
// Store: read(key, value) -> result<bool>.
template <class Store>
class plain_row final : public contender {
  public:
    plain_row(filter_kind kind, Store store, std::uint64_t filter_bytes) noexcept
        : contender{kind}, store_{std::move(store)}, filter_bytes_{filter_bytes} {}

    [[nodiscard]] result<answer> ask(key_view key) override {
        thread_local std::string value;
        const std::uint64_t before = rocksdb::get_perf_context()->bloom_sst_hit_count;
        const auto found = store_.read(key, value);
        if (!found) return found.error();
        const bool passed = kind() == filter_kind::none || rocksdb::get_perf_context()->bloom_sst_hit_count != before;
        return answer{.found = *found, .let_through = passed};
    }
    [[nodiscard]] std::uint64_t local_bytes() const override { return filter_bytes_; }

  private:
    Store store_;
    std::uint64_t filter_bytes_;
};

// A filter of genista before a store: guarded<Filter, Store> with a second count of the reads.

// How often this thread has read a store. The tool counts wasted reads by it, independently of the
// guard's counters.
inline thread_local std::uint64_t store_reads = 0;

template <guarded_store Store>
class observed {
  public:
    explicit observed(std::unique_ptr<Store> store) noexcept : store_{std::move(store)} {}

    [[nodiscard]] result<bool> read(const digest& where, key_view key, std::string& value) {
        ++store_reads;
        return store_->read(where, key, value);
    }
    [[nodiscard]] result<void> write(const digest& where, key_view key, std::string_view value) {
        return store_->write(where, key, value);
    }
    [[nodiscard]] result<void> remove(const digest& where, key_view key) { return store_->remove(where, key); }
    [[nodiscard]] const hasher& hash() const noexcept { return store_->hash(); }
    [[nodiscard]] auto& remote() noexcept { return store_->remote(); }

  private:
    std::unique_ptr<Store> store_;
};

template <class Filter, guarded_store Store>
class guarded_row final : public contender {
  public:
    guarded_row(filter_kind kind, Filter filter, std::unique_ptr<Store> store, const guard_options& options)
        : contender{kind}, store_{std::move(store)}, guard_{std::move(filter), store_, options} {}

    [[nodiscard]] result<answer> ask(key_view key) override {
        const std::uint64_t before = store_reads;
        const auto got = guard_.get(key);
        if (!got) return got.error();
        return answer{.found = got->has_value(), .let_through = store_reads != before};
    }
    [[nodiscard]] std::uint64_t local_bytes() const override { return guard_.counters().local_bytes; }
    [[nodiscard]] std::optional<guard_counters> counters() const override { return guard_.counters(); }

    // What a guard takes in RAM beside the bytes that its filter names.
    [[nodiscard]] static constexpr std::uint64_t overhead_bytes() noexcept {
        using core_type = typename guarded<Filter, observed<Store>>::core_type;
        return sizeof(core_type) - sizeof(Filter) + core_type::side_bytes();
    }

  private:
    observed<Store> store_;
    guarded<Filter, observed<Store>> guard_;
};

}  // namespace genista::tool::compare
