// The figures of one filter: samples of every operation, the measured rate, and what went wrong, if anything did.
#pragma once

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

enum class operation : std::size_t { insert, negative, positive, negative_batch, positive_batch, erase, adapt };
inline constexpr std::array<std::string_view, 7> operation_names = {
    "insert", "negative", "positive", "negative_batch", "positive_batch", "erase", "adapt"};

// ns per key, one value a round; none where the filter lacks the operation.
class samples {
  public:
    void add(double ns) { ns_.push_back(ns); }
    [[nodiscard]] std::optional<double> minimum() const;
    [[nodiscard]] std::optional<double> median() const;

  private:
    std::vector<double> ns_;
};

struct figures {
    std::string_view name;
    filter_stats stats{};  // of the full filter
    std::array<samples, operation_names.size()> times;

    std::uint64_t rate_queries = 0;
    std::uint64_t false_positives = 0;
    lab::interval fpr_interval{};

    // I1: all three stay 0, or the run fails.
    std::uint64_t refused_keys = 0;   // inserts answered "full" at or below capacity
    std::uint64_t lost_keys = 0;      // stored keys answered "absent", or not found by erase
    std::uint64_t disagreements = 0;  // rounds in which batch and single look-ups counted differently

    [[nodiscard]] samples& of(operation what) { return times[static_cast<std::size_t>(what)]; }
    [[nodiscard]] const samples& of(operation what) const { return times[static_cast<std::size_t>(what)]; }

    [[nodiscard]] double fpr() const {
        return rate_queries == 0 ? 0 : static_cast<double>(false_positives) / static_cast<double>(rate_queries);
    }
    // A sentence if I1 does not hold.
    [[nodiscard]] std::optional<std::string> fault() const;
};

}  // namespace genista::tool::bench
