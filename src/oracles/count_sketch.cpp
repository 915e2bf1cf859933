// count_sketch: adding, estimating and merging. See count_sketch.hpp.
#include "genista/detail/oracles/count_sketch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace genista {
namespace {

constexpr std::int64_t largest_counter = 0x7fff'ffff;

std::int32_t clamped_sum(std::int64_t counter, std::int64_t change) noexcept {
    return static_cast<std::int32_t>(std::clamp(counter + change, -largest_counter, largest_counter));
}

// For an even number of values the mean of the middle two.
template <class Number>
Number median(std::span<Number> values) noexcept {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 != 0) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

bool is_added(std::uint64_t word) noexcept {
    return (word & 1) == 0;
}

}  // namespace

result<count_sketch> count_sketch::make(const count_sketch_options& options) noexcept {
    auto table = sketch_table<std::int32_t>::make(name, options.shape, options.hash);
    if (!table) return table.error();
    return count_sketch{*std::move(table)};
}

void count_sketch::add(const digest& d, std::uint64_t count) noexcept {
    table_.add_to_total(count);
    // Counts above twice the largest counter all have the same effect.
    const auto change = static_cast<std::int64_t>(std::min<std::uint64_t>(count, 2 * std::uint64_t{largest_counter}));
    for (std::uint32_t row = 0; row < shape().depth; ++row) {
        const std::uint64_t word = sketch_word(d, row);
        std::int32_t& counter = table_.at(row, word);
        counter = clamped_sum(counter, is_added(word) ? change : -change);
    }
}

std::int64_t count_sketch::estimate(const digest& d) const noexcept {
    std::array<std::int64_t, max_sketch_depth> seen{};
    for (std::uint32_t row = 0; row < shape().depth; ++row) {
        const std::uint64_t word = sketch_word(d, row);
        const std::int64_t counter = table_.at(row, word);
        seen[row] = is_added(word) ? counter : -counter;
    }
    return median(std::span{seen}.first(shape().depth));
}

result<void> count_sketch::merge(const count_sketch& other) noexcept {
    if (const auto same = table_.check_mergeable(name, other.table_); !same) return same;
    const auto from = other.table_.counters();
    const auto into = table_.counters();
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = clamped_sum(into[i], from[i]);
    table_.add_to_total(other.total());
    return {};
}

double count_sketch::noise() const noexcept {
    std::array<double, max_sketch_depth> squares{};
    const auto counters = table_.counters();
    for (std::size_t i = 0; i < counters.size(); ++i) {
        const auto counter = static_cast<double>(counters[i]);
        squares[i / shape().width] += counter * counter;
    }
    return 3 * std::sqrt(median(std::span{squares}.first(shape().depth)) / static_cast<double>(shape().width));
}

result<count_sketch> count_sketch::from_bytes(const count_sketch_options& options, std::uint64_t total,
                                              std::span<const std::byte> bytes) noexcept {
    if (const auto fine = check_shape(name, options.shape); !fine) return fine.error();
    if (bytes.size() != options.shape.depth * options.shape.width * sizeof(std::int32_t)) {
        return error::make(error_code::corrupt, "count_sketch: %zu bytes are not %u rows of %llu counters",
                           bytes.size(), options.shape.depth, static_cast<unsigned long long>(options.shape.width));
    }
    auto made = make(options);
    if (!made) return made;
    std::memcpy(made->table_.bytes().data(), bytes.data(), bytes.size());
    made->table_.add_to_total(total);
    for (const std::int64_t counter : made->table_.counters()) {
        if (counter >= -largest_counter && static_cast<std::uint64_t>(counter < 0 ? -counter : counter) <= total)
            continue;
        return error::make(error_code::corrupt, "count_sketch: a counter of %lld exceeds the total of %llu",
                           static_cast<long long>(counter), static_cast<unsigned long long>(total));
    }
    return made;
}

}  // namespace genista
