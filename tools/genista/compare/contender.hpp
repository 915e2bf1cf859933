// contender: one row of the table, a filter before a database. All are asked through the same call.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "compare/request.hpp"
#include "genista/guard/counters.hpp"
#include "genista/hash/key.hpp"

namespace genista::tool::compare {

struct answer {
    bool found = false;        // the store has it
    bool let_through = false;  // the filter did not say no: the store had to look
};

class contender {
  public:
    explicit contender(filter_kind kind) noexcept : kind_{kind} {}
    contender(const contender&) = delete;
    contender& operator=(const contender&) = delete;
    virtual ~contender() = default;

    // Any number of threads; each has RocksDB's counts switched on
    // (rocksdb::PerfLevel::kEnableCount).
    [[nodiscard]] virtual result<answer> ask(key_view key) = 0;

    // Everything in RAM that the filter needs, now.
    [[nodiscard]] virtual std::uint64_t local_bytes() const = 0;
    // What a guard says about itself; RocksDB's filters do not.
    [[nodiscard]] virtual std::optional<guard_counters> counters() const { return std::nullopt; }

    [[nodiscard]] filter_kind kind() const noexcept { return kind_; }
    [[nodiscard]] std::string_view name() const noexcept { return to_string(kind_); }
    [[nodiscard]] bool learns() const noexcept { return compare::learns(kind_); }

  private:
    filter_kind kind_;
};

}  // namespace genista::tool::compare
