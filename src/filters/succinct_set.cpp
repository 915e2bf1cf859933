// succinct_set and succinct_multiset: the implementation behind their header.
#include "genista/filters/succinct_set.hpp"

#include <utility>

#include "filters/common.hpp"
#include "filters/succinct/counted.hpp"
#include "filters/succinct/dictionary.hpp"
#include "filters/succinct/snapshot.hpp"

namespace genista {

struct succinct_set::core {
    permutation spread;
    hasher hash;
    succinct::sets all;
};

succinct_set::succinct_set(std::unique_ptr<core> made) noexcept : core_{std::move(made)} {}
succinct_set::succinct_set(succinct_set&&) noexcept = default;
succinct_set& succinct_set::operator=(succinct_set&&) noexcept = default;
succinct_set::~succinct_set() = default;

result<succinct_set> succinct_set::make(const succinct_options& options) noexcept {
    return without_throwing(name, [&]() -> result<succinct_set> {
        const auto hash = succinct::checked_hash(name, options);
        if (!hash) return hash.error();
        auto all = succinct::sets::make({.universe = options.universe, .symbols = 1});
        if (!all) return all.error();
        return succinct_set{std::unique_ptr<core>{new core{{options.universe, *hash}, *hash, *std::move(all)}}};
    });
}

bool succinct_set::contains(std::uint64_t x) const noexcept {
    return x < universe() && core_->all.contains(0, core_->spread.forth(x));
}

result<insert_outcome> succinct_set::insert(std::uint64_t x) noexcept {
    if (const auto checked = succinct::check_number(name, x, universe()); !checked) return checked.error();
    return core_->all.insert(0, core_->spread.forth(x), 0);
}

result<erase_outcome> succinct_set::erase(std::uint64_t x) noexcept {
    if (const auto checked = succinct::check_number(name, x, universe()); !checked) return checked.error();
    const auto here = core_->all.locate(0, core_->spread.forth(x));
    if (!here.where.is_there) return erase_outcome::absent;
    core_->all.erase(0, here);
    return erase_outcome::erased;
}

void succinct_set::clear() noexcept {
    core_->all.clear();
}

void succinct_set::visit_all(const succinct_detail::visitor& visit) const {
    core_->all.each(0, [&](std::uint64_t x, unsigned) { visit.call(visit.callable, core_->spread.back(x), 1); });
}

std::uint64_t succinct_set::size() const noexcept {
    return core_->all.size();
}
std::uint64_t succinct_set::universe() const noexcept {
    return core_->all.shape().universe;
}
filter_stats succinct_set::stats() const noexcept {
    return plain_stats(size(), universe(), 0, core_->all.allocated_bytes() + sizeof(core) + sizeof *this);
}

double succinct_set::bound_bits(std::uint64_t universe, std::uint64_t size) noexcept {
    return succinct::log2_choose(static_cast<double>(universe), static_cast<double>(size));
}

result<void> succinct_set::save(sink& out) const noexcept {
    return without_throwing(
        name, [&] { return succinct::save_dictionary(out, snapshot_kind::succinct, core_->hash, core_->all); });
}

result<succinct_set> succinct_set::load(std::span<const std::byte> bytes) noexcept {
    return without_throwing(name, [&]() -> result<succinct_set> {
        const auto read = [](field_reader& fields, std::span<const std::byte> section) -> result<succinct::sets> {
            auto all = succinct::read_sets(fields, 1, section);
            if (all && all->count() > 1)
                return error::make(error_code::corrupt, "succinct_set snapshot: %u sets instead of one", all->count());
            return all;
        };
        auto in = succinct::load_dictionary<succinct::sets>(bytes, snapshot_kind::succinct, read);
        if (!in) return in.error();
        const std::uint64_t universe = in->all.shape().universe;
        return succinct_set{std::unique_ptr<core>{new core{{universe, in->hash}, in->hash, std::move(in->all)}}};
    });
}

struct succinct_multiset::core {
    permutation spread;
    hasher hash;
    succinct::counted all;
};

succinct_multiset::succinct_multiset(std::unique_ptr<core> made) noexcept : core_{std::move(made)} {}
succinct_multiset::succinct_multiset(succinct_multiset&&) noexcept = default;
succinct_multiset& succinct_multiset::operator=(succinct_multiset&&) noexcept = default;
succinct_multiset::~succinct_multiset() = default;

result<succinct_multiset> succinct_multiset::make(const succinct_options& options) noexcept {
    return without_throwing(name, [&]() -> result<succinct_multiset> {
        const auto hash = succinct::checked_hash(name, options);
        if (!hash) return hash.error();
        auto all = succinct::counted::make(options.universe);
        if (!all) return all.error();
        return succinct_multiset{std::unique_ptr<core>{new core{{options.universe, *hash}, *hash, *std::move(all)}}};
    });
}

bool succinct_multiset::contains(std::uint64_t x) const noexcept {
    return x < universe() && core_->all.contains(core_->spread.forth(x));
}

std::uint64_t succinct_multiset::count(std::uint64_t x) const noexcept {
    return x < universe() ? core_->all.count(core_->spread.forth(x)) : 0;
}

result<insert_outcome> succinct_multiset::insert(std::uint64_t x) noexcept {
    if (const auto checked = succinct::check_number(name, x, universe()); !checked) return checked.error();
    return core_->all.insert(core_->spread.forth(x)) ? insert_outcome::inserted : insert_outcome::full;
}

result<insert_outcome> succinct_multiset::insert(std::uint64_t x, std::uint64_t times) noexcept {
    if (const auto checked = succinct::check_number(name, x, universe()); !checked) return checked.error();
    return core_->all.insert(core_->spread.forth(x), times) ? insert_outcome::inserted : insert_outcome::full;
}

result<erase_outcome> succinct_multiset::erase(std::uint64_t x) noexcept {
    if (const auto checked = succinct::check_number(name, x, universe()); !checked) return checked.error();
    return core_->all.erase(core_->spread.forth(x)) ? erase_outcome::erased : erase_outcome::absent;
}

void succinct_multiset::clear() noexcept {
    core_->all.clear();
}

void succinct_multiset::visit_all(const succinct_detail::visitor& visit) const {
    core_->all.each(
        [&](std::uint64_t x, std::uint64_t count) { visit.call(visit.callable, core_->spread.back(x), count); });
}

std::uint64_t succinct_multiset::size() const noexcept {
    return core_->all.size();
}
std::uint64_t succinct_multiset::distinct() const noexcept {
    return core_->all.distinct();
}
std::uint64_t succinct_multiset::digits_in_use(unsigned i) const noexcept {
    return core_->all.digits().size(i);
}
std::uint64_t succinct_multiset::universe() const noexcept {
    return core_->all.universe();
}
filter_stats succinct_multiset::stats() const noexcept {
    return plain_stats(size(), universe(), 0, core_->all.allocated_bytes() + sizeof(core) + sizeof *this);
}

double succinct_multiset::bound_bits(std::uint64_t universe, std::uint64_t size) noexcept {
    return succinct::log2_choose(static_cast<double>(universe) + static_cast<double>(size), static_cast<double>(size));
}

result<void> succinct_multiset::save(sink& out) const noexcept {
    return without_throwing(name, [&] {
        return succinct::save_dictionary(out, snapshot_kind::multiset, core_->hash, core_->all.digits());
    });
}

result<succinct_multiset> succinct_multiset::load(std::span<const std::byte> bytes) noexcept {
    return without_throwing(name, [&]() -> result<succinct_multiset> {
        auto in = succinct::load_dictionary<succinct::counted>(bytes, snapshot_kind::multiset, succinct::read_counted);
        if (!in) return in.error();
        const std::uint64_t universe = in->all.universe();
        return succinct_multiset{std::unique_ptr<core>{new core{{universe, in->hash}, in->hash, std::move(in->all)}}};
    });
}

}  // namespace genista
