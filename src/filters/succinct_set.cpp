// succinct_set: what there is behind its header.
#include "genista/filters/succinct_set.hpp"

#include <array>
#include <utility>
#include <vector>

#include "filters/common.hpp"
#include "filters/snapshot_fields.hpp"
#include "filters/succinct/dictionary.hpp"
#include "filters/succinct/snapshot.hpp"
#include "filters/walls.hpp"

namespace genista {
namespace {

constexpr std::uint16_t version = 1;

}  // namespace

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
        auto all = succinct::sets::make({.universe = options.universe, .symbols = 1, .expected = options.expected});
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
    return without_throwing(name, [&]() -> result<void> {
        const auto info = describe(snapshot_kind::succinct, version, core_->hash);
        if (!info) return info.error();
        field_writer fields;
        fields.bytes(std::as_bytes(std::span{core_->hash.key().bytes}));
        std::vector<std::uint64_t> words;
        const std::array sections = {succinct::write_sets(fields, core_->all, words)};
        return write_snapshot(out, *info, fields.view(), sections);
    });
}

result<succinct_set> succinct_set::load(std::span<const std::byte> bytes) noexcept {
    return without_throwing(name, [&]() -> result<succinct_set> {
        const auto view = open_snapshot_as(snapshot_kind::succinct, version, 1, bytes);
        if (!view) return view.error();
        field_reader fields{view->parameters};
        const auto hash = read_hash(fields, view->info);
        if (!hash) return hash.error();
        auto all = succinct::read_sets(fields, 1, view->sections[0]);
        if (!all) return all.error();
        if (!fields.finished() || all->count() > 1)
            return error::make(error_code::corrupt, "succinct_set snapshot: parameters of another length");
        const std::uint64_t universe = all->shape().universe;
        return succinct_set{std::unique_ptr<core>{new core{{universe, *hash}, *hash, *std::move(all)}}};
    });
}

}  // namespace genista
