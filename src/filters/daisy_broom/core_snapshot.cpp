// Snapshots of daisy_broom_filter: the snapshots of its bands' broom filters in one envelope.
// docs/format.md draws it.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <new>

#include "filters/common.hpp"
#include "filters/daisy_plan_fields.hpp"
#include "filters/snapshot_fields.hpp"
#include "genista/detail/filters/daisy_broom/core.hpp"

namespace genista {
namespace {

constexpr std::uint16_t daisy_broom_version = 5;
constexpr std::size_t daisy_broom_sections = 5;  // plan, bands, exceptions, filled ranges, deferred band
constexpr std::size_t plan_numbers = 2 * (max_daisy_class + 1) + 2;
constexpr unsigned most_bands = daisy_bands::most_rate_bits - daisy_bands::least_rate_bits + 1;

error corrupt(const char* what) noexcept {
    return error::make(error_code::corrupt, "daisy_broom snapshot: %s", what);
}

std::array<std::byte, 8 * plan_numbers> plan_bytes(const daisy_plan& plan) noexcept {
    std::array<std::byte, 8 * plan_numbers> bytes{};
    std::byte* at = bytes.data();
    const auto put = [&at](double value) {
        store_little_endian(at, std::bit_cast<std::uint64_t>(value));
        at += 8;
    };
    std::for_each(plan.stored_share.begin(), plan.stored_share.end(), put);
    std::for_each(plan.asked_share.begin(), plan.asked_share.end(), put);
    put(plan.mean_bits);
    put(plan.overlap);
    return bytes;
}

result<daisy_plan> read_plan(const daisy_terms& terms, std::span<const std::byte> bytes) noexcept {
    daisy_plan plan;
    plan.terms = terms;
    if (bytes.size() != 8 * plan_numbers) return corrupt("a plan of another length");
    field_reader fields{bytes};
    for (double& each : plan.stored_share) each = fields.f64();
    for (double& each : plan.asked_share) each = fields.f64();
    plan.mean_bits = fields.f64();
    plan.overlap = fields.f64();
    if (const auto sane = check_plan("its plan", plan); !sane) return corrupt(sane.error().message().data());
    return plan;
}

// The broom filter of each band, one after the other; their sizes are multiples of 64, like those
// of every snapshot.
result<std::vector<broom_filter>> read_brooms(std::span<const std::byte> bytes, std::span<const std::uint64_t> sizes,
                                              std::span<const daisy_band> bands, const hasher& hash) {
    std::vector<broom_filter> made;
    made.reserve(sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] > bytes.size()) return corrupt("bands longer than their section");
        auto broom = broom_filter::load(bytes.first(sizes[i]));
        if (!broom) return broom.error();
        if (!(broom->hash() == hash) || broom->rate() != bands[i].rate()) return corrupt("a band that is another's");
        made.push_back(*std::move(broom));
        bytes = bytes.subspan(sizes[i]);
    }
    if (!bytes.empty()) return corrupt("bytes behind the last band");
    return made;
}

void write_band(field_writer& fields, const daisy_band& band, std::uint64_t bytes) noexcept {
    fields.u32(band.first_class).u32(band.last_class).u32(band.rate_bits).u32(0);
    fields.f64(band.stored_share).f64(band.asked_share).u64(band.capacity).u64(bytes);
}

result<std::vector<std::uint32_t>> read_words(std::span<const std::byte> bytes) {
    if (bytes.size() % 4 != 0) return corrupt("exceptions of an odd length");
    std::vector<std::uint32_t> words(bytes.size() / 4);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = load_little_endian<std::uint32_t>(bytes.data() + 4 * i);
    return words;
}

std::vector<std::byte> bytes_of(std::span<const std::uint64_t> words) {
    std::vector<std::byte> bytes(8 * words.size());
    for (std::size_t i = 0; i < words.size(); ++i) store_little_endian(bytes.data() + 8 * i, words[i]);
    return bytes;
}

// REQUIRES: `ranges` and the capacity were checked.
result<std::unique_ptr<deferred_band>> read_deferred(std::uint64_t ranges, std::span<const std::byte> filled,
                                                     std::span<const std::byte> band, const hasher& hash, double rate) {
    if (ranges == 0) {
        if (!filled.empty() || !band.empty()) return corrupt("ranges of a band that is not open");
        return std::unique_ptr<deferred_band>{};
    }
    if (ranges > max_capacity || filled.size() != (ranges + 63) / 64 * 8)
        return corrupt("an impossible number of ranges");
    auto broom = broom_filter::load(band);
    if (!broom) return broom.error();
    if (!(broom->hash() == hash) || broom->rate() != rate) return corrupt("a deferred band that is another's");
    std::vector<std::uint64_t> words(filled.size() / 8);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = load_little_endian<std::uint64_t>(filled.data() + 8 * i);
    auto made = std::make_unique<deferred_band>(*std::move(broom), ranges);
    if (!made->restore(words)) return corrupt("filled ranges behind the last one");
    return made;
}

}  // namespace

result<void> daisy_broom_core::save(sink& out, const oracle_marks& oracle, const store_mark& store) const noexcept {
    return without_throwing("daisy_broom", [&]() -> result<void> {
        auto info = describe(snapshot_kind::daisy_broom, daisy_broom_version, hash_);
        if (!info) return info.error();
        info->store = store;
        vector_sink brooms;
        std::array<std::uint64_t, most_bands> sizes{};
        for (unsigned i = 0; i < size(); ++i) {
            const std::size_t before = brooms.bytes().size();
            if (const auto written = brooms_[i].save(brooms, store); !written) return written.error();
            sizes[i] = brooms.bytes().size() - before;
        }
        // The list first, then the bits, then the band (deferred_band.hpp): a range whose bit is
        // copied was filled from R before.
        std::vector<std::uint32_t> words(cells_.saved_words());
        cells_.save(words);
        const deferred_band* const band = deferred();
        std::vector<std::uint64_t> filled(band == nullptr ? 0 : band->words());
        vector_sink deferred_bytes;
        if (band != nullptr) {
            band->save(filled);
            if (const auto written = band->broom().save(deferred_bytes, store); !written) return written.error();
        }
        std::vector<std::byte> cells(4 * words.size());
        for (std::size_t i = 0; i < words.size(); ++i) store_little_endian(cells.data() + 4 * i, words[i]);
        field_writer fields;
        filter_stats common;
        common.capacity = static_cast<std::uint64_t>(plan_.terms.draws);
        common.false_positive_rate = plan_.terms.rate;
        common.keys = unkept_.load(std::memory_order_relaxed);
        write_common(fields, common, hash_);
        fields.f64(plan_.terms.draws);
        fields.bytes(oracle.identity.bytes).bytes(oracle.probe.bytes);
        fields.u64(cells_.buckets()).u64(size());
        for (unsigned i = 0; i < size(); ++i) write_band(fields, bands_.all()[i], sizes[i]);
        fields.u32(static_cast<std::uint32_t>(how_.history)).u32(how_.grows ? 1 : 0).u32(opens_ ? 1 : 0).u32(0);
        fields.u64(bands_.deferred().capacity).u64(band == nullptr ? 0 : band->ranges());
        const auto plan = plan_bytes(plan_);
        const std::vector<std::byte> bits = bytes_of(filled);
        const std::array<std::span<const std::byte>, daisy_broom_sections> all = {plan, brooms.bytes(), cells, bits,
                                                                                  deferred_bytes.bytes()};
        return write_snapshot(out, *info, fields.view(), all);
    });
}

result<daisy_broom_core::saved> daisy_broom_core::load(std::span<const std::byte> bytes) noexcept {
    return without_throwing("daisy_broom", [&]() -> result<saved> {
        // Version 1 had no deferred band, and the mark of version 2 depended on a logarithm;
        // neither was ever released.
        if (const auto any = open_snapshot(bytes);
            any && any->info.kind == snapshot_kind::daisy_broom && any->info.kind_version < daisy_broom_version)
            return error::make(
                error_code::unsupported,
                "daisy_broom snapshot of kind version %u; this library reads version %u: build() it from R",
                unsigned{any->info.kind_version}, unsigned{daisy_broom_version});
        auto opened = open_filter(snapshot_kind::daisy_broom, daisy_broom_version, daisy_broom_sections, bytes,
                                  "daisy_broom", min_daisy_rate);
        if (!opened) return opened.error();
        auto& [view, fields, common] = *opened;
        const hasher& hash = *common.options.hash;
        const double draws = fields.f64();
        oracle_marks oracle;
        fields.copy(oracle.identity.bytes);
        fields.copy(oracle.probe.bytes);
        const std::uint64_t buckets = fields.u64(), number = fields.u64();
        if (fields.failed() || number == 0 || number > most_bands || buckets > absent_cells::most_buckets)
            return corrupt("an impossible number of bands or exceptions");
        std::vector<daisy_band> bands(number);
        std::vector<std::uint64_t> sizes(number);
        for (std::size_t i = 0; i < number; ++i) {
            bands[i].first_class = fields.u32();
            bands[i].last_class = fields.u32();
            bands[i].rate_bits = fields.u32();
            if (fields.u32() != 0) return corrupt("a reserved field that is not zero");
            bands[i].stored_share = fields.f64();
            bands[i].asked_share = fields.f64();
            bands[i].capacity = fields.u64();
            sizes[i] = fields.u64();
            // A sum of the plan's shares, which is checked with twice the slack.
            constexpr double most = 1 + 2 * plan_sum_slack;
            if (!(bands[i].stored_share >= 0 && bands[i].stored_share <= most && bands[i].asked_share >= 0 &&
                  bands[i].asked_share <= most && bands[i].last_class <= max_daisy_class))
                return corrupt("a band with shares that are no probabilities");
        }
        const std::uint32_t history = fields.u32(), grows = fields.u32(), opens = fields.u32(), zero = fields.u32();
        const std::uint64_t deferred_capacity = fields.u64(), ranges = fields.u64();
        if (!fields.finished()) return corrupt("parameters of another length");
        if (history > 2 || grows > 1 || opens > 1 || zero != 0) return corrupt("a parameter is out of range");
        const auto plan = read_plan({draws, common.options.false_positive_rate}, view.sections[0]);
        if (!plan) return plan.error();
        auto checked = daisy_bands::restore(*plan, std::move(bands), deferred_capacity);
        if (!checked) return checked.error();
        auto brooms = read_brooms(view.sections[1], sizes, checked->all(), hash);
        if (!brooms) return brooms.error();
        const auto words = read_words(view.sections[2]);
        if (!words) return words.error();
        auto deferred = read_deferred(ranges, view.sections[3], view.sections[4], hash, checked->deferred().rate());
        if (!deferred) return deferred.error();
        saved made{.core = nullptr, .oracle = oracle};
        const manner how{static_cast<broom_history>(history), grows != 0, random_source{}};
        made.core.reset(new (std::nothrow) daisy_broom_core{hash, *plan, *std::move(checked),
                                                            buckets * absent_cells::bucket_bytes, how, opens != 0});
        if (made.core == nullptr) throw std::bad_alloc{};
        made.core->brooms_ = *std::move(brooms);
        made.core->deferred_owner_ = *std::move(deferred);
        made.core->deferred_.store(made.core->deferred_owner_.get(), std::memory_order_seq_cst);
        made.core->set_unkept(common.keys);
        if (const auto restored = made.core->cells_.restore(*words); !restored) return restored.error();
        return made;
    });
}

}  // namespace genista
