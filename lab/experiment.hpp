// An experiment measures one promise of docs/papers.md and reports whether the library keeps it.
//
// Each is one row, in the file of its measurement:
//
//     outcome measure_growth(const run_options& options) { ... }
//
//     const registration growth_experiment(
//         "growth", 505, "A broom filter grows ...", "ours", measure_growth,
//         {.quick_seconds = 0.7, .full_minutes = 2}, {.filters = {"broom"}});
//
// `genista lab list` prints the rows, `genista lab run ID` runs one. A promise whose structure is
// not built yet is a row without `measure`. Every experiment has a control: something that must
// fail the same measurement, else the measurement proves nothing.
//
// Workloads throw where R, memory or a filter refuse what they must not refuse, so that a
// measurement reads as a measurement (`must`). experiment::run makes an error of it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "genista/base/result.hpp"
#include "lab/report/page.hpp"

namespace genista::lab {

struct run_options {
    std::string filter{};    // empty: the filter the claim is about
    bool quick = false;      // smaller sizes, the same judgement
    std::uint64_t seed = 1;  // all randomness comes from it
    // Which traces to replay: lab/workloads/data.hpp. Only experiments that replay some may be
    // given them.
    std::string data_directory{};  // with traces/*.keys.gz; empty: where they usually are, else synthetic ones
    std::string trace_path{};      // the user's own, instead of all others
    std::string columns{};         // of trace_path, which is CSV then: lab/workloads/csv.hpp
    std::string separator{};       // of trace_path; empty: by its first row
    // Called now and then with the share done, 0..1; drawing it is the caller's business.
    std::function<void(double)> progress = [](double) {};
};

struct outcome {
    std::string promised;
    std::string measured;
    bool kept = false;          // the promise holds AND the control failed as it must
    nlohmann::json control;     // what had to fail, and how it did
    nlohmann::json parameters;  // everything needed to run it again; run() adds `seed` and `quick`
    nlohmann::json series = nlohmann::json::array();
    std::vector<report::section> figures{};  // what a report draws of it (genista lab run --report)
};

// How long an experiment takes. `genista lab report` prints the sum before it begins and plans by
// it.
//
// Measured on 2 cores of a virtual Xeon, with other work beside some of them. Quick: seconds of one
// processor, the system's included, one experiment after the other (`time genista lab run ID
// --quick`). broom-time, ppr-multiset and daisy-sampling are mostly the kernel's, which delivers a
// signal for every instruction counted. Of sustained-guard, which runs alone, the seconds that it
// lasts. Full: of one run where there was one, else a guess.
struct estimate {
    double quick_seconds = 0;
    double full_minutes = 0;
    bool alone = false;  // it judges times, and work beside it would spoil them
};

// What the options of a run may name, beside nothing.
struct accepted {
    std::array<std::string_view, 2> filters{};          // one of these can be measured
    std::vector<std::string> (*opponents)() = nullptr;  // or: any of these can be played against
    bool replays_traces = false;                        // those of traces_for() in lab/workloads/data.hpp
};

struct experiment {
    std::string_view id;
    int order = 0;  // hundreds: the table of docs/papers.md; the rest: the row of that table
    std::string_view promise;
    std::string_view where;  // tag and place in docs/papers.md, or "ours"
    outcome (*measure)(const run_options&) = nullptr;
    estimate takes{};
    accepted accepts{};

    [[nodiscard]] bool is_built() const noexcept { return measure != nullptr; }

    // Measures. An error if the filter that is named is not one of those above, or where the
    // measurement threw. REQUIRES: is_built().
    [[nodiscard]] result<outcome> run(const run_options& options) const;
};

// Adds a row to all_experiments(). Define it as an object at namespace scope; the order of such
// objects does not matter.
class registration {
  public:
    registration(std::string_view id, int order, std::string_view promise, std::string_view where,
                 outcome (*measure)(const run_options&), const estimate& takes, const accepted& accepts = {}) noexcept;
    registration(const registration&) = delete;
    registration& operator=(const registration&) = delete;

  private:
    friend std::span<const experiment> all_experiments();

    experiment row_;
    const registration* next_;
};

// For those that replay no traces: an error if some were named.
[[nodiscard]] result<void> refuse_traces(const experiment& asked, const run_options& options) noexcept;

// Every row, in the order of docs/papers.md. REQUIRES: main() has begun (the first call sorts
// them).
[[nodiscard]] std::span<const experiment> all_experiments();

// nullptr if none has that id, or if it is not built yet.
[[nodiscard]] const experiment* find_experiment(std::string_view id);

// An error after which no experiment can continue: a store error, a full filter.
class workload_error : public std::runtime_error {
  public:
    explicit workload_error(const std::string& what, error_code code = error_code::io)
        : std::runtime_error{what}, code_{code} {}
    [[nodiscard]] error_code code() const noexcept { return code_; }

  private:
    error_code code_;
};

template <class T>
T must(result<T> got) {
    if (!got) throw workload_error{std::string{got.error().message()}};
    return *std::move(got);
}

inline void must(const result<void>& got) {
    if (!got) throw workload_error{std::string{got.error().message()}};
}

// A number as text: %g with this many digits.
[[nodiscard]] std::string shown(double value, int digits = 4);

// ε as text: 2^-8, or 2 %.
[[nodiscard]] std::string shown_rate(double rate);

}  // namespace genista::lab
