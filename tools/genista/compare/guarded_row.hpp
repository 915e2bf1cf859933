// A filter of genista before a store, as a contender: guarded<Filter, Store> with a second count of
// the reads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "compare/contender.hpp"
#include "genista/guard/guarded.hpp"

namespace genista::tool::compare {

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
