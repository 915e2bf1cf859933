// The figures of [acf §4]: where a number belongs, what the trials say together, who is better, and how it is drawn.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/report/page.hpp"
#include "lab/workloads/trace_replay.hpp"

namespace genista::lab {

struct figure_place {
    std::string trace;
    unsigned slot_bits = 0;
    std::string filter;
    double ratio = 0;  // |A|/|S|
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

struct figure_verdict {
    bool kept = true;
    bool control_failed = true;
    double least_control_ratio = 0;
    std::string text;
};
// On these traces, for 8 and 12 bits.
[[nodiscard]] figure_verdict judge_figures(const figure_data& data, const std::vector<std::string>& traces);

[[nodiscard]] std::vector<report::section> draw_figures(const figure_data& data);

}  // namespace genista::lab
