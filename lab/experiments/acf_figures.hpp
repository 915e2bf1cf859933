// The figures of [acf §4]: the place of a number, the trials together, the comparison, and the
// drawing.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/report/page.hpp"
#include "lab/workloads/trace.hpp"
#include "lab/workloads/trace_replay.hpp"

namespace genista::lab {

struct figure_place {
    std::string trace;
    unsigned slot_bits = 0;
    std::string filter;
    double ratio = 0;  // |A|/|S|
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the zero inside a defaulted comparison for a pointer
    friend auto operator<=>(const figure_place&, const figure_place&) = default;
};

// The trials of one place.
struct figure_point {
    std::vector<replayed> trials{};
    [[nodiscard]] double mean_rate() const noexcept;
    [[nodiscard]] double standard_error() const noexcept;  // of the mean
    [[nodiscard]] double reads_per_repair() const noexcept;
    [[nodiscard]] double nanoseconds_per_query() const noexcept;
};

class figure_data {
  public:
    void add(const figure_place& at, const replayed& seen) { points_[at].trials.push_back(seen); }
    [[nodiscard]] const std::map<figure_place, figure_point>& points() const noexcept { return points_; }
    [[nodiscard]] const figure_point* find(const figure_place& at) const noexcept;
    [[nodiscard]] nlohmann::json series() const;

  private:
    std::map<figure_place, figure_point> points_;
};

// Filters that are no rivals: the scalar version (lab/scalar/plain_cuckooing.hpp), and the same
// with 15 % more false positives.
inline constexpr const char* scalar_name = "scalar";
inline constexpr const char* defective_name = "scalar+15%";
inline constexpr double defect_excess = 1.15;

struct figure_verdict {
    bool kept = true;
    bool control_failed = true;
    double least_control_ratio = 0;
    std::string text;
};
// Cuckooing against its rivals on these traces, for 8 and 12 bits.
[[nodiscard]] figure_verdict judge_figures(const figure_data& data, const std::vector<std::string>& traces);

// The traces that are judged by the promise about networks: those of networks, without the
// synthetic ones, whose names look alike. If there are none, the user's own trace is taken for one.
// There is none if all are synthetic: the run then shows nothing about networks.
[[nodiscard]] std::vector<std::string> traces_of_networks(const std::vector<const trace*>& all);

// A filter of the rule against the scalar version of the same rule, on one trace with slots of one
// size, over all |A|/|S|.
//
// *Limit*, before any run: the scalar version's false positives, one part in 2^f - 1 more because
// the library's fingerprints are never 0, and four standard errors of the difference. It holds on
// any trace, because both follow one rule; it does not compare with rivals.
struct scalar_comparison {
    std::string trace;
    unsigned slot_bits = 0;
    double factor = 0;           // of the scalar version's false positives
    double most = 0;             // factor allowed
    double smallest_defect = 0;  // that would be seen in all but one run of 10^4
    [[nodiscard]] bool kept() const noexcept { return factor <= most; }
};
[[nodiscard]] std::vector<scalar_comparison> judge_by_scalar(const figure_data& data, const std::string& filter);

[[nodiscard]] std::vector<report::section> draw_figures(const figure_data& data);

}  // namespace genista::lab
