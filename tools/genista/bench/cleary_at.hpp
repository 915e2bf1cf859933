// cleary_filter at another load than its default, as a filter with a name of its own: for curves
// over the load within one run.
#pragma once

#include <string_view>
#include <utility>

#include "genista/filters/cleary.hpp"

namespace genista::tool::bench {

template <unsigned Percent>
class cleary_at : public cleary_filter {
    static constexpr char letters[] = {'c', 'l', 'e', 'a', 'r', 'y', '0' + Percent / 10, '0' + Percent % 10};

  public:
    static constexpr std::string_view name{letters, sizeof letters};

    [[nodiscard]] static result<cleary_at> make(const filter_options& options) noexcept {
        return named(cleary_filter::make(
            {options.capacity, options.false_positive_rate, options.hash, static_cast<double>(Percent) / 100}));
    }
    [[nodiscard]] static result<cleary_at> load(std::span<const std::byte> bytes) noexcept {
        return named(cleary_filter::load(bytes));
    }

  private:
    explicit cleary_at(cleary_filter&& made) noexcept : cleary_filter{std::move(made)} {}
    [[nodiscard]] static result<cleary_at> named(result<cleary_filter> made) noexcept {
        if (!made) return made.error();
        return cleary_at{*std::move(made)};
    }
};

}  // namespace genista::tool::bench
