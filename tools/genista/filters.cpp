// The registry: one line a filter. See filters.hpp.
#include "filters.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "bench/adaptive_subject.hpp"
#include "bench/built_subject.hpp"
#include "bench/cleary_at.hpp"
#include "bench/daisy_subject.hpp"
#include "bench/filter_subject.hpp"
#include "genista/filters/adaptive_bloom.hpp"
#include "genista/filters/blocked_bloom.hpp"
#include "genista/filters/bloom.hpp"
#include "genista/filters/bloomier.hpp"
#include "genista/filters/broom.hpp"
#include "genista/filters/cascade.hpp"
#include "genista/filters/cleary.hpp"
#include "genista/filters/cuckoo_partial.hpp"
#include "genista/filters/cuckooing.hpp"
#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_fingerprint.hpp"
#include "genista/filters/lossy.hpp"
#include "genista/filters/optimal_filter.hpp"
#include "genista/filters/succinct_set.hpp"
#include "papers/broom_paper.hpp"
#include "papers/cuckoo_family.hpp"
#include "papers/whitelist.hpp"

namespace genista::tool {
namespace {

using made_subject = result<std::unique_ptr<bench::subject>>;

// A subject with its first, empty filter.
template <class Subject, class... From>
made_subject make_ready(const From&... from) {
    auto made = std::make_unique<Subject>(from...);
    if (const result<void> emptied = made->empty(); !emptied) return emptied.error();
    return std::unique_ptr<bench::subject>{std::move(made)};
}

template <local_filter Filter>
made_subject make_subject(const filter_options& options) {
    return make_ready<bench::filter_subject<Filter>>(options);
}

made_subject make_broom_subject(const filter_options& options) {
    return make_ready<bench::adaptive_subject<broom_filter, broom_options>>(
        broom_options{.capacity = options.capacity,
                      .false_positive_rate = options.false_positive_rate,
                      .hash = options.hash,
                      .key_is_new = true,
                      .grows = false});
}

// Filters that learn. Their random numbers, if any, come from the run's seed by way of its hash
// key.
template <class Filter, class Options>
made_subject make_learning_subject(const filter_options& options) {
    Options with;
    with.capacity = options.capacity;
    with.false_positive_rate = options.false_positive_rate;
    with.hash = options.hash;
    if constexpr (requires { with.random; }) {
        if (options.hash) with.random = repeatable(options.hash->key().id());
    }
    constexpr bool learns = !std::is_same_v<Filter, cuckoo_filter>;
    constexpr bool locks = !std::is_same_v<Filter, broom_paper_filter> && !std::is_same_v<Filter, whitelist_filter>;
    return make_ready<bench::adaptive_subject<Filter, Options, learns, locks>>(with);
}

// Without values: as a set, beside the others.
made_subject make_bloomier_subject(const filter_options& options) {
    return make_ready<bench::built_subject<bloomier_filter, bloomier_options>>(
        bloomier_options{.false_positive_rate = options.false_positive_rate, .value_bits = 0, .hash = options.hash},
        options.capacity);
}

template <class Filter>
result<saved_filter> load_filter(std::span<const std::byte> snapshot) {
    const result<Filter> loaded = Filter::load(snapshot);
    if (!loaded) return loaded.error();
    return saved_filter{Filter::name, loaded->stats()};
}

template <local_filter Filter>
constexpr filter_entry entry(snapshot_kind kind) {
    return {Filter::name, kind, &make_subject<Filter>, &load_filter<Filter>};
}
template <class Filter, class Options>
constexpr filter_entry learning_entry(snapshot_kind kind) {
    return {Filter::name, kind, &make_learning_subject<Filter, Options>, &load_filter<Filter>};
}
// A structure of papers/: without snapshots.
template <class Filter, class Options = cuckoo_options>
constexpr filter_entry paper_entry() {
    return {Filter::name, std::nullopt, &make_learning_subject<Filter, Options>, nullptr};
}
// With probabilities of its own: bench/daisy_subject.hpp.
template <class Which>
constexpr filter_entry daisy_entry(snapshot_kind kind) {
    constexpr auto make = [](const filter_options& options) {
        return make_ready<bench::daisy_subject<Which>>(options);
    };
    return {Which::name, kind, make, &load_filter<typename Which::filter>};
}

constexpr filter_entry entries[] = {
    entry<bloom_filter>(snapshot_kind::bloom),
    entry<blocked_bloom_filter>(snapshot_kind::blocked_bloom),
    entry<cuckoo_partial_filter>(snapshot_kind::cuckoo_partial),
    entry<cleary_filter>(snapshot_kind::cleary),
    paper_entry<cuckoo_filter>(),
    learning_entry<cuckooing_filter, cuckoo_options>(snapshot_kind::cuckooing),
    paper_entry<cyclic_filter<1>>(),
    paper_entry<cyclic_filter<2>>(),
    paper_entry<cyclic_filter<3>>(),
    paper_entry<swapping_filter>(),
    {broom_filter::name, snapshot_kind::broom, &make_broom_subject, &load_filter<broom_filter>},
    paper_entry<broom_paper_filter, broom_paper_options>(),
    learning_entry<cascade_filter, cascade_options>(snapshot_kind::cascade),
    entry<optimal_filter>(snapshot_kind::optimal),
    entry<spectral_filter>(snapshot_kind::spectral),
    {bloomier_filter::name, snapshot_kind::bloomier, &make_bloomier_subject, &load_filter<bloomier_filter>},
};

// Measured only when named: a filter at other settings, one that needs more than keys, or one that
// is only for study.
constexpr filter_entry variants[] = {
    entry<bench::cleary_at<50>>(snapshot_kind::cleary),
    entry<bench::cleary_at<80>>(snapshot_kind::cleary),
    entry<bench::cleary_at<90>>(snapshot_kind::cleary),
    entry<bench::cleary_at<97>>(snapshot_kind::cleary),
    daisy_entry<bench::daisy_bloom_at<false>>(snapshot_kind::daisy_bloom),
    daisy_entry<bench::daisy_bloom_at<true>>(snapshot_kind::daisy_bloom),
    daisy_entry<bench::daisy_fingerprint_at>(snapshot_kind::daisy_fingerprint),
    learning_entry<adaptive_bloom_filter, adaptive_bloom_options>(snapshot_kind::adaptive_bloom),
    paper_entry<whitelist_filter, whitelist_options>(),
};

// Not filters of keys: `inspect` reads their snapshots, `bench` does not measure them.
constexpr filter_entry not_measured[] = {
    {succinct_set::name, snapshot_kind::succinct, nullptr, &load_filter<succinct_set>},
    {succinct_multiset::name, snapshot_kind::multiset, nullptr, &load_filter<succinct_multiset>},
    {lossy_filter::name, snapshot_kind::lossy, nullptr, &load_filter<lossy_filter>},
};

template <class Member, class Value>
const filter_entry* find_in(std::span<const filter_entry> some, Member member, const Value& value) noexcept {
    const auto found = std::ranges::find(some, value, member);
    return found == some.end() ? nullptr : &*found;
}

}  // namespace

std::span<const filter_entry> all_filters() noexcept {
    return entries;
}

const filter_entry* find_filter(std::string_view name) noexcept {
    const filter_entry* const found = find_in(entries, &filter_entry::name, name);
    return found != nullptr ? found : find_in(variants, &filter_entry::name, name);
}

const filter_entry* find_filter(snapshot_kind kind) noexcept {
    using some = std::span<const filter_entry>;
    for (const some& each : {some{entries}, some{variants}, some{not_measured}}) {
        if (const filter_entry* const found = find_in(each, &filter_entry::kind, kind); found != nullptr) return found;
    }
    return nullptr;
}

std::vector<std::string> filter_names() {
    std::vector<std::string> names;
    for (const filter_entry& each : entries) names.emplace_back(each.name);
    for (const filter_entry& each : variants) names.emplace_back(each.name);
    return names;
}

}  // namespace genista::tool
