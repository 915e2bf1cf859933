// any_oracle: one of the library's oracles, of the type that a file held. A filter over it needs no
// template argument that depends on a file.
//
// To add an oracle: put its type into `alternatives` below, its snapshot kind into
// src/oracles/oracle_model.cpp, and its training into oracle_model.hpp. It has a `name`, odds(),
// memory_bytes(), save() and load().
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "genista/base/result.hpp"
#include "genista/format/sink.hpp"
#include "genista/oracles/exact_oracle.hpp"
#include "genista/oracles/score_oracle.hpp"
#include "genista/oracles/sketch_oracle.hpp"

namespace genista {

class any_oracle {
  public:
    using alternatives = std::variant<score_oracle, exact_oracle, count_min_oracle, count_sketch_oracle>;

    template <class Oracle>
    requires std::constructible_from<alternatives, Oracle>
    explicit any_oracle(Oracle oracle) noexcept : held_{std::move(oracle)} {}

    [[nodiscard]] key_odds odds(key_view key) const noexcept {
        return std::visit([key](const auto& oracle) { return oracle.odds(key); }, held_);
    }
    [[nodiscard]] std::uint64_t memory_bytes() const noexcept {
        return std::visit([](const auto& oracle) { return oracle.memory_bytes(); }, held_);
    }
    // The name of the oracle inside.
    [[nodiscard]] std::string_view name() const noexcept {
        return std::visit([](const auto& oracle) { return std::string_view{oracle.name}; }, held_);
    }
    // nullptr if the oracle inside has another type.
    template <class Oracle>
    [[nodiscard]] const Oracle* as() const noexcept {
        return std::get_if<Oracle>(&held_);
    }

    // Saves the snapshot of the oracle inside; load() accepts that of any of them.
    [[nodiscard]] result<void> save(sink& out) const noexcept {
        return std::visit([&out](const auto& oracle) { return oracle.save(out); }, held_);
    }
    [[nodiscard]] static result<any_oracle> load(std::span<const std::byte> bytes) noexcept;

  private:
    alternatives held_;
};

static_assert(key_oracle<any_oracle>);

}  // namespace genista
