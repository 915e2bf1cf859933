// The one registry of filters: what `bench --filters` can name and what `inspect` can load.
//
// A new filter is one line in filters.cpp. What differs between filters (has it erase?) is
// determined at compile time by bench/filter_subject.hpp and bench/adaptive_subject.hpp.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/subject.hpp"
#include "genista/base/result.hpp"
#include "genista/detail/format/snapshot.hpp"
#include "genista/filters/filter.hpp"

namespace genista::tool {

// What a snapshot holds.
struct saved_filter {
    std::string_view name;
    filter_stats stats;
};

struct filter_entry {
    std::string_view name;
    std::optional<snapshot_kind> kind;                                               // none: it has no snapshots
    result<std::unique_ptr<bench::subject>> (*make_subject)(const filter_options&);  // null: known to `inspect` only
    result<saved_filter> (*load)(std::span<const std::byte> snapshot);               // null: no snapshots
};

// Without those that have to be named: settings of one of these (cleary80 and so on).
[[nodiscard]] std::span<const filter_entry> all_filters() noexcept;

// nullptr if there is none.
[[nodiscard]] const filter_entry* find_filter(std::string_view name) noexcept;
[[nodiscard]] const filter_entry* find_filter(snapshot_kind kind) noexcept;

// bloom, blocked_bloom, …: for help and error messages.
[[nodiscard]] std::vector<std::string> filter_names();

}  // namespace genista::tool
