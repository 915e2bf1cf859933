// What `genista inspect` prints beyond the statistics that all filters share: oracles and models,
// which are not filters, and the plan of a daisy filter.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "genista/base/result.hpp"
#include "genista/detail/format/snapshot.hpp"
#include "genista/filters/filter.hpp"

namespace genista::tool {

// Objects by name ("oracle", "model", "plan", …) for the kinds that have any, "stats" among them
// where only this file can load the kind; an empty object for all others. An error: the bytes are
// no sound snapshot of their kind.
[[nodiscard]] result<nlohmann::ordered_json> inspect_details(snapshot_kind kind, std::span<const std::byte> bytes);

// The statistics of any filter.
[[nodiscard]] nlohmann::ordered_json stats_json(const filter_stats& stats);

// Two digits a byte, in their order.
[[nodiscard]] std::string hex_digits(std::span<const std::byte> bytes);

}  // namespace genista::tool
