// What all filters share: the checks of options, and reading the fields that begin every snapshot.
#include "genista/filters/filter.hpp"

#include "filters/snapshot_fields.hpp"

namespace genista {

result<void> check_options(std::string_view filter, const filter_options& options, double min_rate) noexcept {
    const int length = static_cast<int>(filter.size());
    if (options.capacity == 0 || options.capacity > max_capacity) {
        return error::make(error_code::invalid_argument, "%.*s: capacity %llu is not in 1..%llu", length, filter.data(),
                           static_cast<unsigned long long>(options.capacity),
                           static_cast<unsigned long long>(max_capacity));
    }
    const double rate = options.false_positive_rate;
    // In this form a NaN fails as well.
    if (!(rate > 0 && rate <= max_false_positive_rate)) {
        return error::make(error_code::invalid_argument, "%.*s: false-positive rate %g is not in (0, %g]", length,
                           filter.data(), rate, max_false_positive_rate);
    }
    if (rate < min_rate) {
        return error::make(error_code::invalid_argument,
                           "%.*s: false-positive rate %g is below %.3g, the smallest this filter reaches", length,
                           filter.data(), rate, min_rate);
    }
    return {};
}

// ---- snapshot_fields.hpp

result<common_fields> read_common(field_reader& fields, const snapshot_info& info, std::string_view filter,
                                  double min_rate) noexcept {
    common_fields read;
    read.options.capacity = fields.u64();
    read.options.false_positive_rate = fields.f64();
    read.keys = fields.u64();
    const auto hash = read_hash(fields, info);
    if (!hash) return hash.error();
    if (const auto checked = check_options(filter, read.options, min_rate); !checked) {
        return error::make(error_code::corrupt, "snapshot: %s", checked.error().message().data());
    }
    read.options.hash = *hash;
    return read;
}

result<opened_filter> open_filter(snapshot_kind kind, std::uint16_t newest_version, std::size_t sections,
                                  std::span<const std::byte> bytes, std::string_view filter, double min_rate) noexcept {
    const auto view = open_snapshot_as(kind, newest_version, sections, bytes);
    if (!view) return view.error();
    field_reader fields{view->parameters};
    const auto common = read_common(fields, view->info, filter, min_rate);
    if (!common) return common.error();
    return opened_filter{*view, fields, *common};
}

}  // namespace genista
