// broom-words: does papers/bit_strings/bit_strings.hpp keep [broom18 App. A, Lemma 29]?
//
// Two measurements. (1) Agreement: the word kernels against the reference model, on every sequence
// of small strings with every argument, and on random strings that fill one to four words. (2)
// Steps: for each operation the largest number of word steps, over shapes from few strings to many
// and from few bits to 256 slots; it must be the same for every shape and within step_bounds. The
// controls get the same two measurements and must fail them: three kernels with a small fault each
// for (1), a scan from string to string for (2). The model and its driver are shared with the tests
// of bit strings.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lab/experiment.hpp"
#include "lab/scalar/bit_strings_workloads.hpp"

namespace genista::lab {
namespace {

// ---- controls ----------------------------------------------------------------------------------

// A mask that is one bit short at its low end.
struct forgets_the_first_bit : bits::portable_words {
    [[nodiscard]] static std::uint64_t extract(std::uint64_t word, std::uint64_t mask) noexcept {
        return bits::extract_portable(word, mask & ~std::uint64_t{1});
    }
};
// The same at the high end: only full words show the fault, small strings do not.
struct forgets_the_last_bit : bits::portable_words {
    [[nodiscard]] static std::uint64_t extract(std::uint64_t word, std::uint64_t mask) noexcept {
        return bits::extract_portable(word, mask & ~(std::uint64_t{1} << 63));
    }
};
// Treats a query as if zeros followed it: "10" would match the query "1".
template <std::size_t Words>
struct ignores_the_query_length : bits::bit_strings<Words> {
    [[nodiscard]] bits::wide_word<Words> prefix_match(bits::bit_string<Words> query,
                                                      bits::rank_range range = {}) const noexcept {
        query.length = bits::bit_strings<Words>::slots;
        return bits::bit_strings<Words>::prefix_match(query, range);
    }
};
// The cost that Lemma 29 avoids: one string after the other.
template <class Strings>
[[nodiscard]] typename Strings::wide scan_for_prefixes(const Strings& strings, const typename Strings::string& query) {
    typename Strings::wide found;
    for (std::size_t rank = 0, count = strings.count(); rank < count; ++rank) {
        const auto s = strings.at(rank);
        if (s.length <= query.length && (query.bits & Strings::wide::low(s.length)) == s.bits)
            found = found | Strings::wide::bit(rank);
    }
    return found;
}

// ---- measurement (1): agreement ----------------------------------------------------------------

struct exhaustive_sizes {
    std::size_t query_slots, query_bits, edit_slots, merge_slots, pair_slots;
};

template <class Strings, class Progress>
[[nodiscard]] bit_strings_counts compare_everything_small(const exhaustive_sizes& sizes, Progress progress) {
    bit_strings_driver<Strings> driver;
    const std::size_t most = std::max({sizes.query_slots, sizes.edit_slots, sizes.merge_slots});
    for (std::size_t slots = 0; slots <= most; ++slots) {
        const auto sequences = all_sequences(slots);
        for (std::size_t i = 0; i < sequences.size(); ++i) {
            if (slots <= sizes.query_slots) exhaust_queries(driver, sequences[i], sizes.query_bits);
            if (slots <= sizes.edit_slots) exhaust_edits(driver, sequences[i]);
            if (slots <= sizes.merge_slots) exhaust_parallel_edits(driver, sequences[i], 3);
            // The last size is two thirds of all sequences, because each slot makes three times as
            // many.
            if (slots == most && i % 64 == 0) progress(static_cast<double>(i) / static_cast<double>(sequences.size()));
        }
    }
    exhaust_parallel_queries(driver, sizes.pair_slots);
    return driver.counts;
}

template <class Strings>
[[nodiscard]] bit_strings_counts compare_by_chance(std::uint64_t seed, std::size_t rounds) {
    random_bit_strings_workload<Strings> workload{seed};
    for (std::size_t i = 0; i < rounds; ++i) workload.step();
    return workload.driver.counts;
}

// ---- measurement (2): steps --------------------------------------------------------------------

struct steps_seen {
    nlohmann::json series = nlohmann::json::array();
    bool constant = true;  // the largest number of steps is the same for every shape
    bool bounded = true;   // and within step_bounds
    std::uint64_t match_steps = 0;
    std::uint64_t mismatches = 0;
    std::uint64_t scan_fewest = ~std::uint64_t{0}, scan_most = 0;
};

using counted_strings = bits::bit_strings<4, bits::counted<bits::portable_words>>;

[[nodiscard]] std::uint64_t steps_of_a_scan(const std::vector<std::string>& texts) {
    const auto strings = to_bit_strings<counted_strings>(texts);
    const auto query = to_string_of<counted_strings>(std::string(counted_strings::slots, '1'));
    counted_strings::kernel::steps = 0;
    (void)scan_for_prefixes(strings, query).any();
    return counted_strings::kernel::steps;
}

// One shape: `count` strings in slots - 3 slots (three stay free for the edits that add).
void measure_shape(steps_seen& seen, bit_strings_counts& first_shape, std::uint64_t seed, std::size_t slots,
                   std::size_t count) {
    random_bit_strings_workload<counted_strings> workload{seed};
    std::uint64_t scan = 0;
    for (int i = 0; i < 8; ++i) {
        workload.fill_exactly(slots - 3, count);
        scan = std::max(scan, steps_of_a_scan(workload.driver.plain.strings));
        workload.each_operation_once();
    }
    const bit_strings_counts& counts = workload.driver.counts;
    if (first_shape.cases() == 0) first_shape = counts;
    nlohmann::json row{{"slots", slots - 3}, {"strings", count}, {"string_bits", slots - 3 - count}};
    for (std::size_t i = 0; i < counts.of.size(); ++i) {
        row[std::string{bit_strings_operation_names[i]}] = counts.of[i].steps_max;
        seen.constant = seen.constant && counts.of[i].steps_max == first_shape.of[i].steps_max;
        seen.bounded =
            seen.bounded && counts.of[i].steps_max <= step_bound_of<counted_strings>(bit_strings_operation{i});
    }
    row["control_scan"] = scan;
    seen.scan_fewest = std::min(seen.scan_fewest, scan);
    seen.scan_most = std::max(seen.scan_most, scan);
    seen.match_steps = std::max(seen.match_steps, counts.of[0].steps_max);
    seen.mismatches += counts.mismatches();
    seen.series.push_back(std::move(row));
}

[[nodiscard]] steps_seen measure_steps(std::uint64_t seed) {
    steps_seen seen;
    bit_strings_counts first_shape;
    for (std::size_t slots = 16; slots <= counted_strings::slots; slots *= 2)
        for (std::size_t count = 2; count <= slots - 3; count *= 2)
            measure_shape(seen, first_shape, ++seed, slots, count);
    return seen;
}

nlohmann::json counts_json(const bit_strings_counts& counts) {
    return {{"cases", counts.cases()}, {"mismatches", counts.mismatches()}};
}

outcome measure_broom_words(const run_options& options) {
    const exhaustive_sizes sizes = options.quick ? exhaustive_sizes{7, 6, 7, 6, 6} : exhaustive_sizes{8, 8, 9, 7, 7};
    const std::size_t rounds = options.quick ? 8'000 : 100'000;

    const bit_strings_counts small =
        compare_everything_small<bits::bit_strings<1>>(sizes, [&](double share) { options.progress(0.5 * share); });
    options.progress(0.5);
    bit_strings_counts random = compare_by_chance<bits::bit_strings<1>>(options.seed, rounds);
    random.add(compare_by_chance<bits::bit_strings<2>>(options.seed + 1, rounds));
    options.progress(0.6);
    random.add(compare_by_chance<bits::bit_strings<3>>(options.seed + 2, rounds));
    random.add(compare_by_chance<bits::bit_strings<4>>(options.seed + 3, rounds));
    options.progress(0.75);
    const bool has_bmi2 = best_isa() >= isa::avx2;
    if (has_bmi2) random.add(compare_by_chance<bits::bit_strings<2, bits::bmi2_words>>(options.seed + 4, rounds));
    options.progress(0.8);
    const steps_seen steps = measure_steps(options.seed);
    options.progress(0.9);

    const exhaustive_sizes few{5, 4, 5, 4, 4};
    const std::size_t few_rounds = 2'000;
    const auto silently = [](double) {};
    const bit_strings_counts first_bit =
        compare_everything_small<bits::bit_strings<1, forgets_the_first_bit>>(few, silently);
    const bit_strings_counts last_bit =
        compare_by_chance<bits::bit_strings<2, forgets_the_last_bit>>(options.seed, few_rounds);
    const bit_strings_counts query_length = compare_everything_small<ignores_the_query_length<1>>(few, silently);
    const bool controls_failed = first_bit.mismatches() > 0 && last_bit.mismatches() > 0 &&
                                 query_length.mismatches() > 0 && steps.scan_most > steps.scan_fewest;

    const std::uint64_t mismatches = small.mismatches() + random.mismatches() + steps.mismatches;
    outcome out;
    out.promised =
        "prefix match, insert, delete and splice agree with a reference model, in a number of word steps that does not "
        "depend on the number or the length of the strings";
    out.measured = std::to_string(mismatches) + " mismatches in " + std::to_string(small.cases()) + " exhaustive and " +
                   std::to_string(random.cases()) + " random cases; prefix match in 256 slots takes " + "at most " +
                   std::to_string(steps.match_steps) + " word steps, " +
                   (steps.constant ? "the same" : "not the same") + " for " + std::to_string(steps.series.size()) +
                   " shapes from 2 to 128 strings (a scan: " + std::to_string(steps.scan_fewest) + " to " +
                   std::to_string(steps.scan_most) + ")";
    out.kept = mismatches == 0 && steps.constant && steps.bounded && controls_failed;
    out.control = {{"what",
                    "three kernels with a small fault must disagree with the model; the steps of a scan from string to "
                    "string must grow"},
                   {"extract_forgets_the_first_bit", counts_json(first_bit)},
                   {"extract_forgets_the_last_bit", counts_json(last_bit)},
                   {"match_ignores_the_query_length", counts_json(query_length)},
                   {"scan_steps", {{"fewest", steps.scan_fewest}, {"most", steps.scan_most}}},
                   {"failed_as_they_must", controls_failed}};
    out.parameters = {{"exhaustive_slots",
                       {{"queries", sizes.query_slots},
                        {"query_bits", sizes.query_bits},
                        {"edits", sizes.edit_slots},
                        {"parallel_edits", sizes.merge_slots},
                        {"parallel_queries", sizes.pair_slots}}},
                      {"random_rounds_for_each_kernel", rounds},
                      {"words", {1, 2, 3, 4}},
                      {"kernels", has_bmi2 ? nlohmann::json{"portable", "bmi2"} : nlohmann::json{"portable"}},
                      {"steps_bounded", steps.bounded}};
    out.series = steps.series;
    return out;
}

const registration broom_words_experiment("broom-words", 112,
                                          "Prefix match, insert, erase and splice of short bit strings packed into "
                                          "words take a constant number of word operations.",
                                          "broom18 App. A, Lemma 29; broom17 Lemma 12", measure_broom_words,
                                          {.quick_seconds = 0.6, .full_minutes = 0.7});

}  // namespace
}  // namespace genista::lab
