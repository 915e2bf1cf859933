// contender: one row of the table, a filter before a database. All have the same query.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "compare/request.hpp"
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

}  // namespace genista::tool::compare
