// The host list: a block list is stored, popular hosts are asked for, and a trained score model
// separates them. Is the filter smaller if the model's bytes are counted?
//
//     data      folder/sets/hosts-block-vs-popular.tsv.gz (the folder of data.hpp), else
//               synthetic names (synthetic_hosts.hpp)
//     training  the lines of odd number: inserts are those labelled block, queries those labelled
//               popular
//     test      the others. All of their blocked hosts are stored and queried; the false
//               positives are counted over all of their popular hosts, each asked once, with
//               several hash keys
//     tuning    the parameter ε′ is chosen on the training half alone (the model's profile), so
//               that the target is expected there; the result on the test half is reported
//     models    of 4, 16, 64 and 256 KB of weights, and of the size that training chooses
//     rivals    bloom, cuckoo_partial and broom, made for as many keys, filled and asked in the
//               same way, with their bytes and rates counted: once at the target, and once for each
//               daisy filter at its *measured* rate
//
// bench/daisy_hosts_bench.cpp prints it, docs/benchmarks.md has the table.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "genista/detail/oracles/score_training.hpp"
#include "lab/experiment.hpp"

namespace genista::lab {

// The counts of one filter over the test half, with several hash keys.
struct hosts_count {
    std::string_view filter;
    std::uint64_t filter_bytes = 0;  // all of the filter, the most with any hash key
    std::uint64_t queries = 0, false_positives = 0, false_negatives = 0;

    [[nodiscard]] double rate() const noexcept {
        return static_cast<double>(false_positives) / static_cast<double>(queries);
    }
};

using hosts_rivals = std::array<hosts_count, 3>;
[[nodiscard]] const hosts_count& smallest(const hosts_rivals& of) noexcept;

struct hosts_row : hosts_count {
    double target = 0;              // the rate that was asked for
    double parameter = 0;           // ε′
    std::uint64_t weights = 0;      // of the model
    std::uint64_t model_bytes = 0;  // all of the oracle
    bool is_chosen_size = false;
    hosts_rivals at_its_rate{};  // made for the rate() of this row

    [[nodiscard]] std::uint64_t total_bytes() const noexcept { return model_bytes + filter_bytes; }
};

struct hosts_target {
    double rate = 0;
    hosts_rivals rivals{};  // made for this rate
};

struct hosts_outcome {
    bool is_real = false;  // the real lists, not synthetic names
    std::uint64_t trained_stored = 0, trained_asked = 0, stored = 0, asked = 0;
    std::vector<score_choice> choices;  // of the models, in their order: how each was trained
    std::vector<hosts_target> targets;
    std::vector<hosts_row> rows;  // by model, target and filter

    [[nodiscard]] std::uint64_t false_negatives() const noexcept;
    [[nodiscard]] const hosts_target* target(double rate) const noexcept;  // or nullptr
    // The row of the fewest bytes in all for this target, or nullptr.
    [[nodiscard]] const hosts_row* smallest(double target) const noexcept;
    [[nodiscard]] nlohmann::json json() const;
};

// `quick`: the smallest model alone, and fewer names if they are synthetic. An error if the data
// exist and are not whole.
[[nodiscard]] result<hosts_outcome> measure_hosts(const run_options& options);

}  // namespace genista::lab
