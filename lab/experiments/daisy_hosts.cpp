// Training on one half of the host list, measuring on the other. See daisy_hosts.hpp.
#include "lab/experiments/daisy_hosts.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include "genista/filters/bloom.hpp"
#include "genista/filters/broom.hpp"
#include "genista/filters/cuckoo_partial.hpp"
#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_fingerprint.hpp"
#include "genista/oracles/oracle_training.hpp"
#include "lab/workloads/daisy_sizes.hpp"
#include "lab/workloads/data.hpp"
#include "lab/workloads/key_list.hpp"
#include "lab/workloads/key_set.hpp"
#include "lab/workloads/synthetic_hosts.hpp"

namespace genista::lab {
namespace {

constexpr std::array targets = {0x1p-6, 0x1p-8, 0x1p-10};
constexpr const char* set_name = "sets/hosts-block-vs-popular.tsv.gz";
constexpr std::uint64_t hash_keys = 8;

struct half {
    key_list stored, asked;
};
struct host_lists {
    half training, test;
    bool is_real = false;
};

result<host_lists> read_lists(const std::string& path) {
    const auto set = read_key_set(path);
    if (!set) return set.error();
    host_lists lists;
    lists.is_real = true;
    for (std::size_t i = 0; i < set->keys.size(); ++i) {
        half& to = i % 2 == 0 ? lists.training : lists.test;  // the first line has the number 1
        const bool is_blocked = set->labels[set->label_of[i]] == "block";
        (is_blocked ? to.stored : to.asked).add(set->keys[static_cast<key_number>(i)]);
    }
    for (const half* each : {&lists.training, &lists.test}) {
        if (each->stored.size() == 0 || each->asked.size() == 0)
            return error::make(error_code::invalid_argument, "%.200s: both halves must have hosts of both labels",
                               path.c_str());
    }
    return lists;
}

host_lists made_up_lists(std::uint64_t seed, std::uint64_t count) {
    const synthetic_hosts hosts{seed};
    host_lists lists;
    for (std::uint64_t i = 0; i < count; ++i) {
        half& to = i % 2 == 0 ? lists.training : lists.test;
        to.stored.add(hosts.blocked(i));
        to.asked.add(hosts.popular(i));
    }
    return lists;
}

result<host_lists> lists_for(const run_options& options) {
    const auto folder = find_data_folder(options.data_directory);
    if (!folder) return folder.error();
    if (*folder) {
        const std::filesystem::path path = std::filesystem::path{**folder} / set_name;
        std::error_code ignored;
        if (std::filesystem::exists(path, ignored)) return read_lists(path.string());
    }
    return made_up_lists(options.seed, options.quick ? 20'000 : 200'000);
}

std::vector<std::uint8_t> classes_of(const any_oracle& oracle, const key_list& keys, const daisy_terms& terms) {
    std::vector<std::uint8_t> classes;
    classes.reserve(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i)
        classes.push_back(static_cast<std::uint8_t>(daisy_class(oracle.odds(keys[i]), terms)));
    return classes;
}

struct classed_half {
    const half& keys;
    std::vector<std::uint8_t> stored, asked;
};

// One filter with one hash key: filled, asked, counted into the row.
template <class Filter, class Options>
result<void> play(hosts_row& row, const classed_half& test, const Options& options) {
    auto made = Filter::make(options);
    if (!made) return made.error();
    for (std::size_t i = 0; i < test.stored.size(); ++i) {
        if (made->insert(test.keys.stored[i], test.stored[i]) == insert_outcome::full)
            return error::make(error_code::out_of_memory, "daisy-hosts: a filter refused key %zu", i);
    }
    for (std::size_t i = 0; i < test.stored.size(); ++i)
        row.false_negatives += made->may_contain(test.keys.stored[i], test.stored[i]) ? 0U : 1U;
    for (std::size_t i = 0; i < test.asked.size(); ++i)
        row.false_positives += made->may_contain(test.keys.asked[i], test.asked[i]) ? 1U : 0U;
    row.queries += test.asked.size();
    row.filter_bytes = std::max(row.filter_bytes, made->stats().local_bytes);
    return {};
}

result<void> add_rivals(hosts_row& row, double keys) {
    const auto plain = plain_sizes({keys, std::min(0.5, std::max(row.target, row.rate()))});
    if (!plain) return plain.error();
    for (std::size_t i = 0; i < row.rival_bytes.size(); ++i) row.rival_bytes[i] = ((*plain)[i].bits + 7) / 8;
    return {};
}

template <class Filter, class Options>
result<hosts_row> measure(const oracle_model& model, const daisy_plan& plan, double target, const classed_half& test,
                          std::uint64_t seed) {
    hosts_row row{.filter = Filter::name,
                  .target = target,
                  .parameter = plan.terms.rate,
                  .model_bytes = model.oracle()->memory_bytes()};
    for (std::uint64_t each = 0; each < hash_keys; ++each) {
        Options options;
        options.plan = plan;
        options.hash = hasher{hash_key::from_seed(seed + each)};
        if (const auto played = play<Filter>(row, test, options); !played) return played.error();
    }
    if (const auto added = add_rivals(row, static_cast<double>(test.stored.size())); !added) return added.error();
    return row;
}

// Both daisy filters with one model at one target.
result<void> add_rows(hosts_outcome& to, const oracle_model& model, const host_lists& lists, double target,
                      std::uint64_t seed) {
    const auto plan = model.profile().plan_tuned({static_cast<double>(lists.test.stored.size()), target});
    if (!plan) return plan.error();
    const classed_half test{lists.test, classes_of(*model.oracle(), lists.test.stored, plan->terms),
                            classes_of(*model.oracle(), lists.test.asked, plan->terms)};
    const auto bloom = measure<daisy_bloom_filter, daisy_bloom_options>(model, *plan, target, test, seed);
    if (!bloom) return bloom.error();
    to.rows.push_back(*bloom);
    const auto prints = measure<daisy_fingerprint_filter, daisy_fingerprint_options>(model, *plan, target, test, seed);
    if (!prints) return prints.error();
    to.rows.push_back(*prints);
    return {};
}

}  // namespace

std::array<std::string_view, 3> rivals() noexcept {
    return {bloom_filter::name, cuckoo_partial_filter::name, broom_filter::name};
}

std::uint64_t hosts_row::smallest_rival() const noexcept {
    return *std::ranges::min_element(rival_bytes);
}

std::uint64_t hosts_outcome::false_negatives() const noexcept {
    std::uint64_t sum = 0;
    for (const hosts_row& row : rows) sum += row.false_negatives;
    return sum;
}

const hosts_row* hosts_outcome::smallest(double target) const noexcept {
    const hosts_row* best = nullptr;
    for (const hosts_row& row : rows) {
        if (row.target == target && (best == nullptr || row.total_bytes() < best->total_bytes())) best = &row;
    }
    return best;
}

nlohmann::json hosts_outcome::json() const {
    nlohmann::json list = nlohmann::json::array();
    for (const hosts_row& row : rows) {
        nlohmann::json each = {{"filter", row.filter},
                               {"target", row.target},
                               {"parameter", row.parameter},
                               {"model_bytes", row.model_bytes},
                               {"filter_bytes", row.filter_bytes},
                               {"total_bytes", row.total_bytes()},
                               {"queries", row.queries},
                               {"rate", row.rate()},
                               {"false_negatives", row.false_negatives}};
        for (std::size_t i = 0; i < row.rival_bytes.size(); ++i)
            each[std::string{rivals()[i]} + "_bytes"] = row.rival_bytes[i];
        list.push_back(each);
    }
    return {{"real", is_real},
            {"trained_stored", trained_stored},
            {"trained_asked", trained_asked},
            {"stored", stored},
            {"asked", asked},
            {"rows", list}};
}

result<hosts_outcome> measure_hosts(const run_options& options) {
    const auto lists = lists_for(options);
    if (!lists) return lists.error();
    hosts_outcome made;
    made.is_real = lists->is_real;
    made.trained_stored = lists->training.stored.size();
    made.trained_asked = lists->training.asked.size();
    made.stored = lists->test.stored.size();
    made.asked = lists->test.asked.size();
    const std::vector<std::uint64_t> sizes =
        options.quick ? std::vector<std::uint64_t>{4096} : std::vector<std::uint64_t>{4096, 16'384, 65'536, 262'144};
    const std::vector<key_view> inserts = lists->training.stored.views(), queries = lists->training.asked.views();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const auto done = [&](double share) {
            options.progress((static_cast<double>(i) + share) / static_cast<double>(sizes.size()));
        };
        training_options training;
        training.bytes = sizes[i];
        training.seed = options.seed;
        training.progress = [&done](double share) { done(0.8 * share); };
        const auto model = train_model(training, inserts, queries);
        if (!model) return model.error();
        for (const double target : targets) {
            const auto added = add_rows(made, *model, *lists, target, options.seed);
            if (!added) return added.error();
        }
        done(1);
    }
    return made;
}

}  // namespace genista::lab
