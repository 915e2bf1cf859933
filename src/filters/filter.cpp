// The checks of options that all filters share.
#include "genista/filters/filter.hpp"

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

}  // namespace genista
