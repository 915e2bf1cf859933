// The registry: one line a filter. See filters.hpp.
#include "filters.hpp"

#include <algorithm>
#include <utility>

#include "bench/adaptive_subject.hpp"
#include "bench/filter_subject.hpp"
#include "genista/filters/blocked_bloom.hpp"
#include "genista/filters/bloom.hpp"
#include "genista/filters/broom.hpp"
#include "genista/filters/cuckoo_partial.hpp"

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

template <membership_filter Filter>
result<filter_stats> load_stats(std::span<const std::byte> snapshot) {
    const result<Filter> loaded = Filter::load(snapshot);
    if (!loaded) return loaded.error();
    return loaded->stats();
}

template <local_filter Filter>
constexpr filter_entry entry(snapshot_kind kind) {
    return {Filter::name, kind, &make_subject<Filter>, &load_stats<Filter>};
}

constexpr filter_entry entries[] = {
    entry<bloom_filter>(snapshot_kind::bloom),
    entry<blocked_bloom_filter>(snapshot_kind::blocked_bloom),
    entry<cuckoo_partial_filter>(snapshot_kind::cuckoo_partial),
    {broom_filter::name, snapshot_kind::broom, &make_broom_subject, &load_stats<broom_filter>},
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
    return find_by(&filter_entry::name, name);
}

const filter_entry* find_filter(snapshot_kind kind) noexcept {
    return find_by(&filter_entry::kind, kind);
}

std::string filter_names() {
    std::string names;
    for (const filter_entry& each : entries) names.append(names.empty() ? "" : ", ").append(each.name);
    return names;
}

}  // namespace genista::tool
