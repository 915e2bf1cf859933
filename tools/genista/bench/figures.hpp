// The figures of one filter: samples of every operation, the measured rate, and the faults.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "genista/filters/filter.hpp"
#include "lab/statistics/binomial.hpp"

namespace genista::tool::bench {

enum class operation : std::size_t {
    insert,
    insert_batch,
    negative,
    positive,
    negative_batch,
    positive_batch,
    erase,
    erase_batch,
    adapt,
    mix
};
inline constexpr std::array<std::string_view, 10> operation_names = {
    "insert",         "insert_batch", "negative",    "positive", "negative_batch",
    "positive_batch", "erase",        "erase_batch", "adapt",    "mix"};

[[nodiscard]] constexpr std::string_view name_of(operation what) {
    return operation_names[static_cast<std::size_t>(what)];
}
[[nodiscard]] constexpr bool in_batches(operation what) {
    return what == operation::negative_batch || what == operation::positive_batch || what == operation::insert_batch ||
           what == operation::erase_batch;
}
[[nodiscard]] constexpr bool of_stored_keys(operation what) {
    return what == operation::positive || what == operation::positive_batch;
}

// What one thread does by itself, and what is timed with every number of threads.
inline constexpr std::array alone = {operation::insert, operation::insert_batch, operation::erase,
                                     operation::erase_batch, operation::adapt};
inline constexpr std::array lookups = {operation::negative, operation::positive, operation::negative_batch,
                                       operation::positive_batch};
inline constexpr std::array in_teams = {operation::negative, operation::positive, operation::negative_batch,
                                        operation::positive_batch, operation::mix};

// ns per key, one value a round; none where the filter lacks the operation.
class samples {
  public:
    void add(double ns) { ns_.push_back(ns); }
    [[nodiscard]] std::optional<double> minimum() const {
        if (ns_.empty()) return std::nullopt;
        return *std::min_element(ns_.begin(), ns_.end());
    }
    [[nodiscard]] std::optional<double> median() const {
        if (ns_.empty()) return std::nullopt;
        std::vector<double> sorted = ns_;
        std::sort(sorted.begin(), sorted.end());
        const std::size_t middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

  private:
    std::vector<double> ns_;
};

using samples_of_operations = std::array<samples, operation_names.size()>;

// Ends the name of a churned filter (measure.hpp).
inline constexpr std::string_view churned_suffix = "+churn";

struct figures {
    figures(std::string_view filter, std::size_t teams) : name{filter}, times(teams) {}

    std::string name;
    filter_stats stats{};                      // of the full filter
    std::vector<samples_of_operations> times;  // for each entry of plan::threads; what is done alone is in the first

    std::uint64_t rate_queries = 0;
    std::uint64_t false_positives = 0;
    lab::interval fpr_interval{};

    // Of a churned filter beside a remote map: range reads there, an insert or erase; and reads of
    // single slots, where the filter has slots.
    std::optional<double> range_reads_per_update;
    std::optional<double> slot_reads_per_update;

    // What an oracle takes a key, where the filter has one; no look-up's time has it in it.
    std::optional<double> oracle_ns;

    // I1: all three stay 0, or the run fails.
    std::uint64_t refused_keys = 0;   // inserts answered "full" at or below capacity
    std::uint64_t lost_keys = 0;      // stored keys answered "absent", or not found by erase
    std::uint64_t disagreements = 0;  // rounds in which batch and single look-ups counted differently

    [[nodiscard]] samples& of(operation what, std::size_t team = 0) {
        return times[team][static_cast<std::size_t>(what)];
    }
    [[nodiscard]] const samples& of(operation what, std::size_t team = 0) const {
        return times[team][static_cast<std::size_t>(what)];
    }

    [[nodiscard]] double fpr() const {
        return rate_queries == 0 ? 0 : static_cast<double>(false_positives) / static_cast<double>(rate_queries);
    }
    // A sentence if I1 does not hold.
    [[nodiscard]] std::optional<std::string> fault() const {
        if (refused_keys != 0) return fmt::format("{}: {} inserts were refused below capacity", name, refused_keys);
        if (lost_keys != 0) return fmt::format("{}: {} times a stored key was answered absent", name, lost_keys);
        if (disagreements == 0) return std::nullopt;
        return fmt::format("{}: in {} rounds batch and single look-ups of the same keys differ", name, disagreements);
    }
};

// The floor's samples for one number of threads.
struct floor_samples {
    samples each;
    samples batch;

    // What a figure is divided by. An update has no floor of its own; it too fetches one line at
    // least.
    [[nodiscard]] const samples& under(operation what) const { return in_batches(what) ? batch : each; }
};

struct floor_figures {
    std::uint64_t size_bytes = 0;
    std::vector<floor_samples> times;  // for each entry of plan::threads
};

}  // namespace genista::tool::bench
