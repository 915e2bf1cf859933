// counting_filter: the implementation behind the header, for the optimal and the spectral filter.

#include <array>
#include <utility>
#include <vector>

#include "filters/common.hpp"
#include "filters/snapshot_fields.hpp"
#include "filters/succinct/hashed.hpp"
#include "filters/succinct/snapshot.hpp"
#include "genista/filters/optimal_filter.hpp"
#include "hash/reduction.hpp"

namespace genista {
namespace {

constexpr std::uint16_t counting_version = 1;

template <class Rules>
constexpr snapshot_kind kind_of = Rules::by_value ? snapshot_kind::spectral : snapshot_kind::optimal;

}  // namespace

template <class Rules>
struct counting_filter<Rules>::core {
    succinct::hashed all;
    std::uint64_t capacity = 0;
    double rate = 0;

    [[nodiscard]] bool has_room(const digest& d, std::uint64_t times) const noexcept {
        if constexpr (Rules::by_value) {
            return all.values().distinct() < capacity || all.may_contain(d);
        } else {
            return all.values().size() <= capacity && times <= capacity - all.values().size();
        }
    }
};

template <class Rules>
counting_filter<Rules>::counting_filter(std::unique_ptr<core> made) noexcept : core_{std::move(made)} {}
template <class Rules>
counting_filter<Rules>::counting_filter(counting_filter&&) noexcept = default;
template <class Rules>
counting_filter<Rules>& counting_filter<Rules>::operator=(counting_filter&&) noexcept = default;
template <class Rules>
counting_filter<Rules>::~counting_filter() = default;

template <class Rules>
result<counting_filter<Rules>> counting_filter<Rules>::make(const filter_options& options) noexcept {
    return without_throwing(name, [&]() -> result<counting_filter> {
        if (const auto checked = check_options(name, options, min_false_positive_rate); !checked)
            return checked.error();
        const auto hash = hasher_from(options);
        if (!hash) return hash.error();
        const auto universe = range_for_universal(options.capacity, options.false_positive_rate);
        if (!universe) return universe.error();
        auto all = succinct::hashed::make(*universe, *hash);
        if (!all) return all.error();
        return counting_filter{
            std::unique_ptr<core>{new core{*std::move(all), options.capacity, options.false_positive_rate}}};
    });
}

template <class Rules>
insert_outcome counting_filter<Rules>::insert(const digest& d) noexcept {
    return core_->has_room(d, 1) && core_->all.insert(d) ? insert_outcome::inserted : insert_outcome::full;
}
template <class Rules>
insert_outcome counting_filter<Rules>::insert(const digest& d, std::uint64_t times) noexcept {
    if (times == 0) return insert_outcome::inserted;
    return core_->has_room(d, times) && core_->all.insert(d, times) ? insert_outcome::inserted : insert_outcome::full;
}

template <class Rules>
erase_outcome counting_filter<Rules>::erase(const digest& d) noexcept {
    return core_->all.erase(d) ? erase_outcome::erased : erase_outcome::absent;
}

template <class Rules>
void counting_filter<Rules>::clear() noexcept {
    core_->all.clear();
}

template <class Rules>
std::uint64_t counting_filter<Rules>::count(const digest& d) const noexcept {
    return core_->all.count(d);
}

template <class Rules>
bool counting_filter<Rules>::may_contain(const digest& d) const noexcept {
    return core_->all.may_contain(d);
}
template <class Rules>
bool counting_filter<Rules>::may_contain(key_view key) const noexcept {
    return core_->all.may_contain(key);
}
template <class Rules>
bool counting_filter<Rules>::may_contain(integer_key key) const noexcept {
    return core_->all.may_contain(key);
}

template <class Rules>
void counting_filter<Rules>::may_contain(std::span<const digest> digests,
                                         std::span<std::uint64_t> out_bits) const noexcept {
    core_->all.may_contain(digests, out_bits);
}
template <class Rules>
void counting_filter<Rules>::may_contain(std::span<const std::uint64_t> keys,
                                         std::span<std::uint64_t> out_bits) const noexcept {
    core_->all.may_contain(keys, out_bits);
}
template <class Rules>
void counting_filter<Rules>::may_contain(std::span<const key_view> keys,
                                         std::span<std::uint64_t> out_bits) const noexcept {
    core_->all.may_contain(keys, out_bits);
}

template <class Rules>
filter_stats counting_filter<Rules>::stats() const noexcept {
    const succinct::counted& values = core_->all.values();
    return plain_stats(values.size(), core_->capacity, core_->rate,
                       values.allocated_bytes() + sizeof(core) + sizeof *this);
}

template <class Rules>
const hasher& counting_filter<Rules>::hash() const noexcept {
    return core_->all.hash();
}
template <class Rules>
std::uint64_t counting_filter<Rules>::distinct_values() const noexcept {
    return core_->all.values().distinct();
}
template <class Rules>
std::uint64_t counting_filter<Rules>::digits_in_use(unsigned i) const noexcept {
    return core_->all.values().digits().size(i);
}
template <class Rules>
std::uint64_t counting_filter<Rules>::universe() const noexcept {
    return core_->all.values().universe();
}

template <class Rules>
result<void> counting_filter<Rules>::save(sink& out) const noexcept {
    return without_throwing(name, [&]() -> result<void> {
        const auto info = describe(kind_of<Rules>, counting_version, hash());
        if (!info) return info.error();
        field_writer fields;
        write_common(fields, stats(), hash());
        std::vector<std::uint64_t> words;
        const std::array sections = {succinct::write_sets(fields, core_->all.values().digits(), words)};
        return write_snapshot(out, *info, fields.view(), sections);
    });
}

template <class Rules>
result<counting_filter<Rules>> counting_filter<Rules>::load(std::span<const std::byte> bytes) noexcept {
    return without_throwing(name, [&]() -> result<counting_filter> {
        auto opened = open_filter(kind_of<Rules>, counting_version, 1, bytes, name, min_false_positive_rate);
        if (!opened) return opened.error();
        auto& [view, fields, common] = *opened;
        auto values = succinct::read_counted(fields, view.sections[0]);
        if (!values) return values.error();
        const filter_options& options = common.options;
        const auto universe = range_for_universal(options.capacity, options.false_positive_rate);
        if (!universe) return universe.error();
        if (!fields.finished() || values->size() != common.keys || values->universe() != *universe)
            return error::make(
                error_code::corrupt, "%.*s snapshot: %llu values below %llu for %llu keys, of capacity %llu",
                static_cast<int>(name.size()), name.data(), static_cast<unsigned long long>(values->size()),
                static_cast<unsigned long long>(values->universe()), static_cast<unsigned long long>(common.keys),
                static_cast<unsigned long long>(options.capacity));
        auto all = succinct::hashed::with(*std::move(values), *options.hash);
        if (!all) return all.error();
        return counting_filter{
            std::unique_ptr<core>{new core{*std::move(all), options.capacity, options.false_positive_rate}}};
    });
}

template class counting_filter<optimal_rules>;
template class counting_filter<spectral_rules>;

}  // namespace genista
