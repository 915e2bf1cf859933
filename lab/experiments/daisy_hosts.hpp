// The host list: a block list is stored, popular hosts are asked for, and a trained score model tells them apart. Is the filter smaller if
// the model's bytes are counted?
//
//     data      folder/sets/hosts-block-vs-popular.tsv.gz (data.hpp says which folder), else made-up names (synthetic_hosts.hpp)
//     training  the lines of odd number: inserts are those labelled block, queries those labelled popular
//     test      the others. All of their blocked hosts are stored and looked for again; the false positives are counted over all of
//               their popular hosts, each asked once, with several hash keys
//     tuning    the parameter ε′ is chosen on the training half alone (the model's profile), so that the target is to be expected there;
//               what came of it on the test half is what is told
//     rivals    bloom, cuckoo_partial and broom for as many keys, by their formulas, at the rate that was *measured* for the daisy filter
//               beside which they stand, or at the target if that is larger: nobody gets a worse rate for free
//
// A part of daisy-bloom; bench/daisy_hosts_bench.cpp prints it alone, docs/benchmarks.md has the table.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "lab/experiment.hpp"

namespace genista::lab {

struct hosts_row {
    std::string_view filter;
    double target = 0;               // the rate that was asked for
    double parameter = 0;            // ε′
    std::uint64_t model_bytes = 0;   // all of the oracle
    std::uint64_t filter_bytes = 0;  // all of the filter
    std::uint64_t queries = 0, false_positives = 0, false_negatives = 0;
    // What rivals need at the same rate, in bytes: rivals() names them.
    std::array<std::uint64_t, 3> rival_bytes{};

    [[nodiscard]] double rate() const noexcept {
        return static_cast<double>(false_positives) / static_cast<double>(queries);
    }
    [[nodiscard]] std::uint64_t total_bytes() const noexcept { return model_bytes + filter_bytes; }
    [[nodiscard]] std::uint64_t smallest_rival() const noexcept;
};

[[nodiscard]] std::array<std::string_view, 3> rivals() noexcept;

struct hosts_outcome {
    bool is_real = false;  // the real lists, not made-up names
    std::uint64_t trained_stored = 0, trained_asked = 0, stored = 0, asked = 0;
    std::vector<hosts_row> rows;  // by model, target and filter

    [[nodiscard]] std::uint64_t false_negatives() const noexcept;
    // The row of the fewest bytes in all for this target, or nullptr.
    [[nodiscard]] const hosts_row* smallest(double target) const noexcept;
    [[nodiscard]] nlohmann::json json() const;
};

// `quick`: the smallest model alone, and fewer names if they are made up. An error if the data are there and not whole.
[[nodiscard]] result<hosts_outcome> measure_hosts(const run_options& options);

}  // namespace genista::lab
