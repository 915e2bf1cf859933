// The registry: one line a filter. See filters.hpp.
#include "filters.hpp"

#include <fmt/format.h>

#include <algorithm>
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
#include "genista/filters/broom_paper.hpp"
#include "genista/filters/cascade.hpp"
#include "genista/filters/cleary.hpp"
#include "genista/filters/cuckoo.hpp"
#include "genista/filters/cuckoo_partial.hpp"
#include "genista/filters/cuckooing.hpp"
#include "genista/filters/cyclic.hpp"
#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_broom/core.hpp"
#include "genista/filters/daisy_fingerprint.hpp"
#include "genista/filters/lossy.hpp"
#include "genista/filters/multiset.hpp"
#include "genista/filters/optimal_filter.hpp"
#include "genista/filters/spectral.hpp"
#include "genista/filters/succinct_set.hpp"
#include "genista/filters/swapping.hpp"
#include "genista/filters/weighted_bloom.hpp"
#include "genista/filters/whitelist.hpp"

namespace genista::tool {
namespace {

template <local_filter Filter>
result<std::unique_ptr<bench::subject>> make_subject(const filter_options& options) {
    auto made = std::make_unique<bench::filter_subject<Filter>>(options);
    if (const result<void> emptied = made->empty(); !emptied) return emptied.error();
    return std::unique_ptr<bench::subject>{std::move(made)};
}

result<std::unique_ptr<bench::subject>> make_broom_subject(const filter_options& options) {
    auto made = std::make_unique<bench::adaptive_subject<broom_filter, broom_options>>(
        broom_options{.capacity = options.capacity,
                      .false_positive_rate = options.false_positive_rate,
                      .hash = options.hash,
                      .key_is_new = true,
                      .grows = false});
    if (const result<void> emptied = made->empty(); !emptied) return emptied.error();
    return std::unique_ptr<bench::subject>{std::move(made)};
}

// The filters of the papers, over records and an index.
template <class Filter, class Options>
result<std::unique_ptr<bench::subject>> make_indexed_subject(const filter_options& options) {
    Options with;
    with.capacity = options.capacity;
    with.false_positive_rate = options.false_positive_rate;
    with.hash = options.hash;
    if (options.hash) with.repeatable = options.hash->key().id();
    auto made = std::make_unique<bench::adaptive_subject<Filter, Options>>(with);
    if (const result<void> emptied = made->empty(); !emptied) return emptied.error();
    return std::unique_ptr<bench::subject>{std::move(made)};
}

// Without values: as a set, beside the others.
result<std::unique_ptr<bench::subject>> make_bloomier_subject(const filter_options& options) {
    auto made = std::make_unique<bench::built_subject<bloomier_filter, bloomier_options>>(
        bloomier_options{.false_positive_rate = options.false_positive_rate, .value_bits = 0, .hash = options.hash},
        options.capacity);
    if (const result<void> emptied = made->empty(); !emptied) return emptied.error();
    return std::unique_ptr<bench::subject>{std::move(made)};
}

// In a world of its own: bench/daisy_subject.hpp.
template <bool Blocked>
result<std::unique_ptr<bench::subject>> make_daisy_subject(const filter_options& options) {
    auto made = std::make_unique<bench::daisy_subject<Blocked>>(options);
    if (const result<void> emptied = made->empty(); !emptied) return emptied.error();
    return std::unique_ptr<bench::subject>{std::move(made)};
}

// Chance comes from the run's seed, by way of its hash key.
template <class Filter>
result<std::unique_ptr<bench::subject>> make_cuckoo_subject(const filter_options& options) {
    cuckoo_options with;
    with.capacity = options.capacity;
    with.false_positive_rate = options.false_positive_rate;
    with.hash = options.hash;
    if (options.hash) with.repeatable = options.hash->key().id();
    constexpr bool learns = !std::is_same_v<Filter, cuckoo_filter>;
    auto made = std::make_unique<bench::adaptive_subject<Filter, cuckoo_options, learns>>(with);
    if (const result<void> emptied = made->empty(); !emptied) return emptied.error();
    return std::unique_ptr<bench::subject>{std::move(made)};
}

template <class Filter>
result<saved_filter> load_filter(std::span<const std::byte> snapshot) {
    const result<Filter> loaded = Filter::load(snapshot);
    if (!loaded) return loaded.error();
    return saved_filter{Filter::name, loaded->stats(), {}};
}

// Without its oracle nobody can ask it, and what it holds can be told all the same.
result<saved_filter> load_daisy_broom(std::span<const std::byte> snapshot) {
    const auto loaded = daisy_broom_core::load(snapshot);
    if (!loaded) return loaded.error();
    saved_filter found{"daisy_broom", loaded->core->stats(0), {}};
    for (const daisy_band& each : loaded->core->bands().all()) {
        found.details += fmt::format("{}classes {} to {} at 2^-{}", found.details.empty() ? "" : ", ", each.first_class,
                                     each.last_class, each.rate_bits);
    }
    if (const late_band* const late = loaded->core->late(); late != nullptr)
        found.details += fmt::format(", class 0 at 2^-8 in {} of {} ranges", late->laid(), late->ranges());
    else
        found.details += ", class 0 not kept";
    found.details += fmt::format(", {} exceptions", loaded->core->cells().size());
    return found;
}

result<saved_filter> load_cyclic(std::span<const std::byte> snapshot) {
    const auto bits = saved_selector_bits(snapshot);
    if (!bits) return bits.error();
    if (*bits == 1) return load_filter<cyclic_filter<1>>(snapshot);
    if (*bits == 2) return load_filter<cyclic_filter<2>>(snapshot);
    return load_filter<cyclic_filter<3>>(snapshot);
}

template <local_filter Filter>
constexpr filter_entry entry(snapshot_kind kind) {
    return {Filter::name, kind, &make_subject<Filter>, &load_filter<Filter>};
}
template <class Filter>
constexpr filter_entry cuckoo_entry(snapshot_kind kind) {
    return {Filter::name, kind, &make_cuckoo_subject<Filter>,
            kind == snapshot_kind::cyclic ? &load_cyclic : &load_filter<Filter>};
}

constexpr filter_entry entries[] = {
    entry<bloom_filter>(snapshot_kind::bloom),
    entry<blocked_bloom_filter>(snapshot_kind::blocked_bloom),
    entry<cuckoo_partial_filter>(snapshot_kind::cuckoo_partial),
    entry<cleary_filter>(snapshot_kind::cleary),
    cuckoo_entry<cuckoo_filter>(snapshot_kind::cuckoo),
    cuckoo_entry<cuckooing_filter>(snapshot_kind::cuckooing),
    cuckoo_entry<cyclic_filter<1>>(snapshot_kind::cyclic),
    cuckoo_entry<cyclic_filter<2>>(snapshot_kind::cyclic),
    cuckoo_entry<cyclic_filter<3>>(snapshot_kind::cyclic),
    cuckoo_entry<swapping_filter>(snapshot_kind::swapping),
    {broom_filter::name, snapshot_kind::broom, &make_broom_subject, &load_filter<broom_filter>},
    {broom_paper_filter::name, snapshot_kind::broom_paper,
     &make_indexed_subject<broom_paper_filter, broom_paper_options>, &load_filter<broom_paper_filter>},
    {cascade_filter::name, snapshot_kind::cascade, &make_indexed_subject<cascade_filter, cascade_options>,
     &load_filter<cascade_filter>},
    entry<optimal_filter>(snapshot_kind::optimal),
    entry<spectral_filter>(snapshot_kind::spectral),
    {bloomier_filter::name, snapshot_kind::bloomier, &make_bloomier_subject, &load_filter<bloomier_filter>},
};

// Measured when they are named: one filter at other settings, or one that asks for more than keys.
constexpr filter_entry variants[] = {
    entry<bench::cleary_at<50>>(snapshot_kind::cleary),
    entry<bench::cleary_at<80>>(snapshot_kind::cleary),
    entry<bench::cleary_at<90>>(snapshot_kind::cleary),
    entry<bench::cleary_at<97>>(snapshot_kind::cleary),
    {"daisy_bloom", snapshot_kind::daisy_bloom, &make_daisy_subject<false>, &load_filter<daisy_bloom_filter>},
    {"daisy_bloom_blocked", snapshot_kind::daisy_bloom, &make_daisy_subject<true>, &load_filter<daisy_bloom_filter>},
};

// There to be understood, or no filters of keys: `inspect` knows their snapshots, `bench` does not measure them.
constexpr filter_entry not_measured[] = {
    {whitelist_filter::name, snapshot_kind::whitelist, nullptr, &load_filter<whitelist_filter>},
    {adaptive_bloom_filter::name, snapshot_kind::adaptive_bloom, nullptr, &load_filter<adaptive_bloom_filter>},
    {succinct_set::name, snapshot_kind::succinct, nullptr, &load_filter<succinct_set>},
    {succinct_multiset::name, snapshot_kind::multiset, nullptr, &load_filter<succinct_multiset>},
    {lossy_filter::name, snapshot_kind::lossy, nullptr, &load_filter<lossy_filter>},
    {daisy_fingerprint_filter::name, snapshot_kind::daisy_fingerprint, nullptr, &load_filter<daisy_fingerprint_filter>},
    {daisy_bloom_filter::name, snapshot_kind::daisy_bloom, nullptr, &load_filter<daisy_bloom_filter>},
    {"daisy_broom", snapshot_kind::daisy_broom, nullptr, &load_daisy_broom},
    {weighted_bloom_filter::name, snapshot_kind::weighted_bloom, nullptr, &load_filter<weighted_bloom_filter>},
};

template <class Member, class Value>
const filter_entry* find_by(Member member, const Value& value) noexcept {
    const auto found = std::ranges::find(entries, value, member);
    return found == std::end(entries) ? nullptr : found;
}

}  // namespace

std::span<const filter_entry> all_filters() noexcept {
    return entries;
}

const filter_entry* find_filter(std::string_view name) noexcept {
    if (const filter_entry* const found = find_by(&filter_entry::name, name); found != nullptr) return found;
    const auto* const variant = std::ranges::find(variants, name, &filter_entry::name);
    return variant == std::end(variants) ? nullptr : variant;
}

const filter_entry* find_filter(snapshot_kind kind) noexcept {
    if (const filter_entry* const found = find_by(&filter_entry::kind, kind); found != nullptr) return found;
    const auto other = std::ranges::find(not_measured, kind, &filter_entry::kind);
    return other == std::end(not_measured) ? nullptr : other;
}

std::vector<std::string> filter_names() {
    std::vector<std::string> names;
    for (const filter_entry& each : entries) names.emplace_back(each.name);
    for (const filter_entry& each : variants) names.emplace_back(each.name);
    return names;
}

}  // namespace genista::tool
