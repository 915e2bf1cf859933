// lossy_filter: the implementation behind its header.
#include "genista/filters/lossy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "filters/common.hpp"
#include "filters/snapshot_fields.hpp"
#include "filters/succinct/hashed.hpp"
#include "filters/succinct/snapshot.hpp"
#include "hash/reduction.hpp"

namespace genista {
namespace {

constexpr std::uint16_t lossy_version = 2;

result<void> check_lossy(const filter_options& common, double share) noexcept {
    const auto checked = check_options(lossy_filter::name, common, lossy_filter::min_false_positive_rate);
    if (!checked) return checked.error();
    if (!(share >= 0 && share <= lossy_filter::max_false_negative_share))
        return error::make(error_code::invalid_argument, "lossy: false-negative share %g, allowed are 0 to %g", share,
                           lossy_filter::max_false_negative_share);
    return {};
}

// The most keys that are stored. Of `capacity` keys a share 1 - γ is stored on average; more than
// six standard deviations above that happens once in 10^9 filters. The rate holds for this many.
// Without a bound, a caller that inserts, erases the omitted keys and inserts again would fill the
// filter with stored keys only.
std::uint64_t most_stored(const filter_options& common, double share) noexcept {
    const auto all = static_cast<double>(common.capacity);
    return static_cast<std::uint64_t>(
        std::min(all, std::ceil(all * (1 - share) + 6 * std::sqrt(all * share * (1 - share)))));
}
result<std::uint64_t> universe_for(const filter_options& common, double share) noexcept {
    return range_for_universal(most_stored(common, share), common.false_positive_rate);
}

}  // namespace

struct lossy_filter::core {
    core(succinct::hashed values, const filter_options& common, double gamma, const pairwise_hash_64& drawn) noexcept
        : all{std::move(values)},
          capacity{common.capacity},
          rate{common.false_positive_rate},
          share{gamma},
          most{most_stored(common, gamma)},
          rho{drawn},
          below{static_cast<std::uint64_t>(std::ldexp(gamma, 64))} {}

    [[nodiscard]] static result<std::unique_ptr<core>> make(succinct::hashed values, const filter_options& common,
                                                            double share) {
        key_stream stream{values.hash(), key_purpose::ppr_omission};
        const auto rho = pairwise_hash_64::draw(64, stream);
        if (!rho) return rho.error();
        return std::make_unique<core>(std::move(values), common, share, *rho);
    }

    succinct::hashed all;
    std::uint64_t capacity;
    double rate, share;
    std::uint64_t most;  // limit for the keys that are stored
    pairwise_hash_64 rho;
    std::uint64_t below;        // keys with ρ(x) below it are omitted
    std::uint64_t omitted = 0;  // inserted and not erased since
};

lossy_filter::lossy_filter(std::unique_ptr<core> made) noexcept : core_{std::move(made)} {}
lossy_filter::lossy_filter(lossy_filter&&) noexcept = default;
lossy_filter& lossy_filter::operator=(lossy_filter&&) noexcept = default;
lossy_filter::~lossy_filter() = default;

result<lossy_filter> lossy_filter::make(const lossy_options& options) noexcept {
    return without_throwing(name, [&]() -> result<lossy_filter> {
        const filter_options common{options.capacity, options.false_positive_rate, options.hash};
        if (const auto checked = check_lossy(common, options.false_negative_share); !checked) return checked.error();
        const auto hash = hasher_from(common);
        if (!hash) return hash.error();
        const auto universe = universe_for(common, options.false_negative_share);
        if (!universe) return universe.error();
        auto values = succinct::hashed::make(*universe, *hash);
        if (!values) return values.error();
        auto made = core::make(*std::move(values), common, options.false_negative_share);
        if (!made) return made.error();
        return lossy_filter{*std::move(made)};
    });
}

bool lossy_filter::omits(const digest& d) const noexcept {
    return core_->rho(d.position) < core_->below;
}

lossy_insert lossy_filter::insert(const digest& d) noexcept {
    if (core_->all.values().size() + core_->omitted >= core_->capacity) return lossy_insert::full;
    if (omits(d)) {
        ++core_->omitted;
        return lossy_insert::omitted;
    }
    if (core_->all.values().size() >= core_->most) return lossy_insert::full;
    return core_->all.insert(d) ? lossy_insert::stored : lossy_insert::full;
}

lossy_erase lossy_filter::erase(const digest& d) noexcept {
    if (omits(d)) {
        if (core_->omitted > 0) --core_->omitted;
        return lossy_erase::omitted;
    }
    return core_->all.erase(d) ? lossy_erase::erased : lossy_erase::absent;
}

void lossy_filter::clear() noexcept {
    core_->all.clear();
    core_->omitted = 0;
}

bool lossy_filter::may_contain(const digest& d) const noexcept {
    return core_->all.may_contain(d);
}

filter_stats lossy_filter::stats() const noexcept {
    const succinct::counted& values = core_->all.values();
    return plain_stats(values.size(), core_->capacity, core_->rate,
                       values.allocated_bytes() + sizeof(core) + sizeof *this);
}

double lossy_filter::false_negative_share() const noexcept {
    return core_->share;
}
const hasher& lossy_filter::hash() const noexcept {
    return core_->all.hash();
}

result<void> lossy_filter::save(sink& out) const noexcept {
    return without_throwing(name, [&]() -> result<void> {
        const auto info = describe(snapshot_kind::lossy, lossy_version, hash());
        if (!info) return info.error();
        field_writer fields;
        write_common(fields, stats(), hash());
        fields.f64(core_->share).u64(core_->omitted);
        std::vector<std::uint64_t> words;
        const std::array sections = {succinct::write_sets(fields, core_->all.values().digits(), words)};
        return write_snapshot(out, *info, fields.view(), sections);
    });
}

result<lossy_filter> lossy_filter::load(std::span<const std::byte> bytes) noexcept {
    return without_throwing(name, [&]() -> result<lossy_filter> {
        const auto view = open_snapshot_as(snapshot_kind::lossy, lossy_version, 1, bytes);
        if (!view) return view.error();
        if (view->info.kind_version != lossy_version)
            return error::make(
                error_code::unsupported,
                "lossy snapshot of kind version %u, whose rate had no bound; this library reads version %u",
                unsigned{view->info.kind_version}, unsigned{lossy_version});
        field_reader fields{view->parameters};
        const auto common = read_common(fields, view->info, name, min_false_positive_rate);
        if (!common) return common.error();
        const double share = fields.f64();
        const std::uint64_t omitted = fields.u64();
        if (const auto checked = check_lossy(common->options, share); !checked)
            return error::make(error_code::corrupt, "lossy snapshot: %s", checked.error().message().data());
        auto values = succinct::read_counted(fields, view->sections[0]);
        if (!values) return values.error();
        const auto universe = universe_for(common->options, share);
        if (!universe) return universe.error();
        if (!fields.finished() || values->size() != common->keys || values->universe() != *universe ||
            values->size() > most_stored(common->options, share) ||  // the rate holds for this many
            omitted > common->options.capacity - common->keys)
            return error::make(error_code::corrupt, "lossy snapshot: %llu values below %llu for %llu keys",
                               static_cast<unsigned long long>(values->size()),
                               static_cast<unsigned long long>(values->universe()),
                               static_cast<unsigned long long>(common->keys));
        auto all = succinct::hashed::with(*std::move(values), *common->options.hash);
        if (!all) return all.error();
        auto made = core::make(*std::move(all), common->options, share);
        if (!made) return made.error();
        (*made)->omitted = omitted;
        return lossy_filter{*std::move(made)};
    });
}

}  // namespace genista
