// Trains on one half of the host list and measures on the other. See daisy_hosts.hpp.
#include "lab/experiments/daisy_hosts.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "genista/filters/bloom.hpp"
#include "genista/filters/broom.hpp"
#include "genista/filters/cuckoo_partial.hpp"
#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_broom.hpp"
#include "genista/filters/daisy_fingerprint.hpp"
#include "genista/oracles/oracle_model.hpp"
#include "genista/remote/memory_map.hpp"
#include "lab/workloads/data.hpp"
#include "lab/workloads/key_list.hpp"
#include "lab/workloads/key_set.hpp"
#include "lab/workloads/synthetic_hosts.hpp"

namespace genista::lab {
namespace {

constexpr std::array host_targets = {0x1p-6, 0x1p-8, 0x1p-10};
constexpr const char* host_set_name = "sets/hosts-block-vs-popular.tsv.gz";
constexpr std::uint64_t hash_keys = 8;

struct hosts_half {
    key_list stored, asked;
};
struct host_lists {
    hosts_half training, test;
    bool is_real = false;
};

result<host_lists> read_lists(const std::string& path) {
    const auto set = read_key_set(path);
    if (!set) return set.error();
    host_lists lists;
    lists.is_real = true;
    for (std::size_t i = 0; i < set->keys.size(); ++i) {
        hosts_half& to = i % 2 == 0 ? lists.training : lists.test;  // the first line has the number 1
        const bool is_blocked = set->labels[set->label_of[i]] == "block";
        (is_blocked ? to.stored : to.asked).add(set->keys[static_cast<key_number>(i)]);
    }
    for (const hosts_half* each : {&lists.training, &lists.test}) {
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
        hosts_half& to = i % 2 == 0 ? lists.training : lists.test;
        to.stored.add(hosts.blocked(i));
        to.asked.add(hosts.popular(i));
    }
    return lists;
}

result<host_lists> lists_for(const run_options& options) {
    const auto folder = find_data_folder(options.data_directory);
    if (!folder) return folder.error();
    if (*folder) {
        const std::filesystem::path path = std::filesystem::path{**folder} / host_set_name;
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

// The stored keys, in R's order for one hash key.
struct hashed_half {
    hasher hash{hash_key::from_seed(0)};
    memory_map remote;
};
using hashed_halves = std::array<hashed_half, hash_keys>;

result<void> fill_halves(hashed_halves& to, const key_list& stored, std::uint64_t seed) {
    for (std::uint64_t each = 0; each < hash_keys; ++each) {
        to[each].hash = hasher{hash_key::from_seed(seed + each)};
        for (std::size_t i = 0; i < stored.size(); ++i) {
            if (const auto put = to[each].remote.put(to[each].hash(stored[i]), stored[i]); !put) return put.error();
        }
    }
    return {};
}

// `make(hashed_half&)` gives a filter with everything in it; `asks(filter, is_stored, i)` is its
// answer for the key of this number.
template <class Make, class Asks>
result<hosts_count> count_answers(std::string_view name, const hosts_half& test, hashed_halves& hashed, Make make,
                                  Asks asks) {
    hosts_count seen{.filter = name};
    for (hashed_half& each : hashed) {
        const auto made = make(each);
        if (!made) return made.error();
        for (std::size_t i = 0; i < test.stored.size(); ++i) seen.false_negatives += asks(*made, true, i) ? 0U : 1U;
        for (std::size_t i = 0; i < test.asked.size(); ++i) seen.false_positives += asks(*made, false, i) ? 1U : 0U;
        seen.queries += test.asked.size();
        seen.filter_bytes = std::max(seen.filter_bytes, made->stats().local_bytes);
    }
    return seen;
}

// A filter without oracle, with all of the keys.
template <class Filter>
result<Filter> filled_with_all(result<Filter> made, std::size_t keys, auto insert) {
    for (std::size_t i = 0; made && i < keys; ++i) {
        if (insert(*made, i) == insert_outcome::full)
            return error::make(error_code::out_of_memory, "daisy-hosts: a filter refused key %zu", i);
    }
    return made;
}

template <class Filter>
result<hosts_count> count_plain(const hosts_half& test, hashed_halves& hashed, double rate) {
    return count_answers(
        Filter::name, test, hashed,
        [&](hashed_half& each) {
            const filter_options options{
                .capacity = test.stored.size(), .false_positive_rate = rate, .hash = each.hash};
            return filled_with_all(Filter::make(options), test.stored.size(),
                                   [&](Filter& into, std::size_t i) { return into.insert(test.stored[i]); });
        },
        [&](const Filter& filter, bool is_stored, std::size_t i) {
            return filter.may_contain((is_stored ? test.stored : test.asked)[i]);
        });
}

result<hosts_count> count_broom(const hosts_half& test, hashed_halves& hashed, double rate) {
    return count_answers(
        broom_filter::name, test, hashed,
        [&](hashed_half& each) {
            broom_options options;
            options.capacity = test.stored.size();
            options.false_positive_rate = std::min(rate, 0.02);  // its largest rate
            options.hash = each.hash;
            options.random = repeatable(1);
            return broom_filter::build(options, each.remote);
        },
        [&](const broom_filter& filter, bool is_stored, std::size_t i) {
            return filter.may_contain(key_view{(is_stored ? test.stored : test.asked)[i]});
        });
}

result<hosts_rivals> count_rivals(const hosts_half& test, hashed_halves& hashed, double rate) {
    const auto bloom = count_plain<bloom_filter>(test, hashed, rate);
    if (!bloom) return bloom.error();
    const auto cuckoo = count_plain<cuckoo_partial_filter>(test, hashed, rate);
    if (!cuckoo) return cuckoo.error();
    const auto broom = count_broom(test, hashed, rate);
    if (!broom) return broom.error();
    return hosts_rivals{*bloom, *cuckoo, *broom};
}

struct classed_half {
    const hosts_half& keys;
    std::vector<std::uint8_t> stored, asked;
};

template <class Filter, class Options>
result<hosts_count> count_daisy(const daisy_plan& plan, const classed_half& test, hashed_halves& hashed) {
    return count_answers(
        Filter::name, test.keys, hashed,
        [&](hashed_half& each) {
            Options options;
            options.plan = plan;
            options.hash = each.hash;
            return filled_with_all(Filter::make(options), test.stored.size(), [&](Filter& into, std::size_t i) {
                return into.insert(test.keys.stored[i], test.stored[i]);
            });
        },
        [&](const Filter& filter, bool is_stored, std::size_t i) {
            return is_stored ? filter.may_contain(test.keys.stored[i], test.stored[i])
                             : filter.may_contain(test.keys.asked[i], test.asked[i]);
        });
}

// Its bytes without those of the oracle, which it includes.
result<hosts_count> count_daisy_broom(const oracle_model& model, const daisy_plan& plan, const hosts_half& test,
                                      hashed_halves& hashed) {
    using filter_type = daisy_broom_filter<any_oracle>;
    auto seen = count_answers(
        filter_type::name, test, hashed,
        [&](hashed_half& each) {
            daisy_broom_options options;
            options.hash = each.hash;
            options.random = repeatable(1);
            return filter_type::build(options, plan, model.oracle(), each.remote);
        },
        [&](const filter_type& filter, bool is_stored, std::size_t i) {
            return filter.may_contain(key_view{(is_stored ? test.stored : test.asked)[i]});
        });
    if (seen) seen->filter_bytes -= model.oracle()->memory_bytes();
    return seen;
}

// All daisy filters with one model at one target.
result<void> add_daisy_rows(hosts_outcome& to, const oracle_model& model, const hosts_half& keys, hashed_halves& hashed,
                            const hosts_row& like) {
    const auto plan = model.profile().plan_tuned({static_cast<double>(keys.stored.size()), like.target});
    if (!plan) return plan.error();
    const classed_half test{keys, classes_of(*model.oracle(), keys.stored, plan->terms),
                            classes_of(*model.oracle(), keys.asked, plan->terms)};
    for (const auto& seen : {count_daisy<daisy_bloom_filter, daisy_bloom_options>(*plan, test, hashed),
                             count_daisy<daisy_fingerprint_filter, daisy_fingerprint_options>(*plan, test, hashed),
                             count_daisy_broom(model, *plan, keys, hashed)}) {
        if (!seen) return seen.error();
        hosts_row row = like;
        static_cast<hosts_count&>(row) = *seen;
        row.parameter = plan->terms.rate;
        // Without false positives the rate is taken as if there had been one.
        const double rate = std::clamp(row.rate(), 1 / static_cast<double>(row.queries), 0.5);
        const auto rivals = count_rivals(keys, hashed, rate);
        if (!rivals) return rivals.error();
        row.at_its_rate = *rivals;
        to.rows.push_back(row);
    }
    return {};
}

nlohmann::json hosts_json(const hosts_count& of) {
    return {{"filter", of.filter},
            {"filter_bytes", of.filter_bytes},
            {"queries", of.queries},
            {"rate", of.rate()},
            {"false_negatives", of.false_negatives}};
}

nlohmann::json hosts_json(const hosts_rivals& of) {
    nlohmann::json list = nlohmann::json::array();
    for (const hosts_count& each : of) list.push_back(hosts_json(each));
    return list;
}

}  // namespace

const hosts_count& smallest(const hosts_rivals& of) noexcept {
    return *std::ranges::min_element(of, {}, &hosts_count::filter_bytes);
}

std::uint64_t hosts_outcome::false_negatives() const noexcept {
    std::uint64_t sum = 0;
    const auto add = [&sum](const hosts_rivals& of) {
        for (const hosts_count& each : of) sum += each.false_negatives;
    };
    for (const hosts_target& each : targets) add(each.rivals);
    for (const hosts_row& row : rows) {
        sum += row.false_negatives;
        add(row.at_its_rate);
    }
    return sum;
}

const hosts_target* hosts_outcome::target(double rate) const noexcept {
    const auto found = std::ranges::find(targets, rate, &hosts_target::rate);
    return found == targets.end() ? nullptr : &*found;
}

const hosts_row* hosts_outcome::smallest(double target) const noexcept {
    const hosts_row* best = nullptr;
    for (const hosts_row& row : rows) {
        if (row.target == target && (best == nullptr || row.total_bytes() < best->total_bytes())) best = &row;
    }
    return best;
}

nlohmann::json hosts_outcome::json() const {
    nlohmann::json plain = nlohmann::json::array(), list = nlohmann::json::array();
    for (const hosts_target& each : targets)
        plain.push_back({{"target", each.rate}, {"rivals", hosts_json(each.rivals)}});
    for (const hosts_row& row : rows) {
        nlohmann::json each = hosts_json(static_cast<const hosts_count&>(row));
        each.update({{"target", row.target},
                     {"parameter", row.parameter},
                     {"weights", row.weights},
                     {"chosen_size", row.is_chosen_size},
                     {"model_bytes", row.model_bytes},
                     {"total_bytes", row.total_bytes()},
                     {"rivals_at_its_rate", hosts_json(row.at_its_rate)}});
        list.push_back(each);
    }
    nlohmann::json models = nlohmann::json::array();
    for (const score_choice& each : choices) {
        models.push_back({{"weights", each.weights},
                          {"longest_ngram", each.settings.longest_ngram},
                          {"step", each.settings.step},
                          {"shrinkage", each.settings.shrinkage},
                          {"epochs", each.settings.epochs},
                          {"clipped_of_1024", each.settings.clipped},
                          {"judged_bits_a_key", each.bits_a_key}});
    }
    return {{"real", is_real},
            {"trained_stored", trained_stored},
            {"trained_asked", trained_asked},
            {"stored", stored},
            {"asked", asked},
            {"models", models},
            {"targets", plain},
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
    const auto hashed = std::make_unique<hashed_halves>();
    if (const auto put = fill_halves(*hashed, lists->test.stored, options.seed); !put) return put.error();
    for (const double target : host_targets) {
        const auto rivals = count_rivals(lists->test, *hashed, target);
        if (!rivals) return rivals.error();
        made.targets.push_back({target, *rivals});
    }
    const std::vector<std::uint64_t> sizes =
        options.quick ? std::vector<std::uint64_t>{4096}
                      : std::vector<std::uint64_t>{4096, 16'384, 65'536, 262'144, training_options::chosen_bytes};
    const std::vector<key_view> inserts = lists->training.stored.views(), queries = lists->training.asked.views();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const auto done = [&](double share) {
            options.progress((static_cast<double>(i) + share) / static_cast<double>(sizes.size()));
        };
        hosts_row like;
        like.is_chosen_size = sizes[i] == training_options::chosen_bytes;
        training_options training;
        training.bytes = sizes[i];
        training.seed = options.seed;
        training.progress = [&done](double share) { done(0.6 * share); };
        training.chose = [&made](const score_choice& chosen) { made.choices.push_back(chosen); };
        const auto model = train_model(training, inserts, queries);
        if (!model) return model.error();
        like.weights = made.choices.back().weights;
        like.model_bytes = model->oracle()->memory_bytes();
        for (const double target : host_targets) {
            like.target = target;
            if (const auto added = add_daisy_rows(made, *model, lists->test, *hashed, like); !added)
                return added.error();
        }
        done(1);
    }
    return made;
}

}  // namespace genista::lab
