// The sketches: their tables; adding, estimating and merging. See sketches.hpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include "genista/detail/oracles/sketches.hpp"

#include "hash/chance.hpp"

namespace genista {

result<void> check_shape(std::string_view sketch, const sketch_shape& shape) noexcept {
    const auto name_size = static_cast<int>(sketch.size());
    if (shape.width < 1 || shape.width > max_sketch_width) {
        return error::make(error_code::invalid_argument, "%.*s: a width of %llu is not in 1..%llu", name_size,
                           sketch.data(), static_cast<unsigned long long>(shape.width),
                           static_cast<unsigned long long>(max_sketch_width));
    }
    if (shape.depth < 1 || shape.depth > max_sketch_depth) {
        return error::make(error_code::invalid_argument, "%.*s: a depth of %u is not in 1..%u", name_size,
                           sketch.data(), shape.depth, max_sketch_depth);
    }
    return {};
}

result<void> check_bytes(std::string_view sketch, const sketch_shape& shape, std::size_t bytes) noexcept {
    if (const auto fine = check_shape(sketch, shape); !fine) return fine.error();
    if (bytes == shape.depth * shape.width * 4) return {};
    return error::make(error_code::corrupt, "%.*s: %zu bytes are not %u rows of %llu counters",
                       static_cast<int>(sketch.size()), sketch.data(), bytes, shape.depth,
                       static_cast<unsigned long long>(shape.width));
}

template <class Counter>
result<sketch_table<Counter>> sketch_table<Counter>::make(std::string_view sketch, const sketch_shape& shape,
                                                          const std::optional<hasher>& hash) noexcept {
    if (const auto fine = check_shape(sketch, shape); !fine) return fine.error();
    const auto chosen = hasher_or_random(hash);
    if (!chosen) return chosen.error();
    auto memory = buffer::zeroed(shape.depth * shape.width * sizeof(Counter));  // at most 2^39 bytes
    if (!memory) return memory.error();
    return sketch_table{shape, *chosen, *std::move(memory)};
}

template <class Counter>
result<void> sketch_table<Counter>::check_mergeable(std::string_view sketch, const sketch_table& other) const noexcept {
    const auto name_size = static_cast<int>(sketch.size());
    if (!(shape_ == other.shape_)) {
        return error::make(error_code::mismatch, "%.*s: %u rows of %llu counters cannot be merged with %u rows of %llu",
                           name_size, sketch.data(), shape_.depth, static_cast<unsigned long long>(shape_.width),
                           other.shape_.depth, static_cast<unsigned long long>(other.shape_.width));
    }
    if (!(hash_ == other.hash_)) {
        return error::make(error_code::mismatch,
                           "%.*s: sketches under different hash keys (%016llx and %016llx) cannot be merged", name_size,
                           sketch.data(), static_cast<unsigned long long>(hash_.key().id()),
                           static_cast<unsigned long long>(other.hash_.key().id()));
    }
    return {};
}

template class sketch_table<std::uint32_t>;
template class sketch_table<std::int32_t>;

namespace {

constexpr std::uint64_t largest_count = std::numeric_limits<std::uint32_t>::max();

// REQUIRES: `counter` is the value of a counter.
std::uint32_t sum_or_largest_count(std::uint64_t counter, std::uint64_t count) noexcept {
    return static_cast<std::uint32_t>(count >= largest_count - counter ? largest_count : counter + count);
}

}  // namespace

result<count_min> count_min::make(const count_min_options& options) noexcept {
    auto table = sketch_table<std::uint32_t>::make(name, options.shape, options.hash);
    if (!table) return table.error();
    return count_min{*std::move(table), options.conservative};
}

void count_min::add(const digest& d, std::uint64_t count) noexcept {
    table_.add_to_total(count);
    const std::uint32_t depth = shape().depth;
    if (!conservative_) {
        for (std::uint32_t row = 0; row < depth; ++row) {
            std::uint32_t& counter = table_.at(row, sketch_word(d, row));
            counter = sum_or_largest_count(counter, count);
        }
        return;
    }
    const std::uint32_t raised = sum_or_largest_count(estimate(d), count);
    for (std::uint32_t row = 0; row < depth; ++row) {
        std::uint32_t& counter = table_.at(row, sketch_word(d, row));
        counter = std::max(counter, raised);
    }
}

std::uint64_t count_min::estimate(const digest& d) const noexcept {
    std::uint64_t least = largest_count;
    for (std::uint32_t row = 0; row < shape().depth; ++row)
        least = std::min<std::uint64_t>(least, table_.at(row, sketch_word(d, row)));
    return least;
}

result<void> count_min::merge(const count_min& other) noexcept {
    if (const auto same = table_.check_mergeable(name, other.table_); !same) return same;
    if (conservative_ != other.conservative_)
        return error::make(error_code::mismatch,
                           "count_min: a sketch updated conservatively and a plain one: update both alike");
    const auto from = other.table_.counters();
    const auto into = table_.counters();
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = sum_or_largest_count(into[i], from[i]);
    table_.add_to_total(other.total());
    return {};
}

double count_min::noise() const noexcept {
    return std::numbers::e * static_cast<double>(total()) / static_cast<double>(shape().width);
}

result<count_min> count_min::from_bytes(const count_min_options& options, std::uint64_t total,
                                        std::span<const std::byte> bytes) noexcept {
    if (const auto fine = check_bytes(name, options.shape, bytes.size()); !fine) return fine.error();
    auto made = make(options);
    if (!made) return made;
    made->restore(bytes, total);
    const auto counters = made->table_.counters();
    const auto* const beyond = std::ranges::find_if(counters.data(), counters.data() + counters.size(),
                                                    [&](std::uint32_t counter) { return counter > total; });
    if (beyond != counters.data() + counters.size()) {
        return error::make(error_code::corrupt, "count_min: a counter of %u exceeds the total of %llu", *beyond,
                           static_cast<unsigned long long>(total));
    }
    return made;
}

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
    if (const auto fine = check_bytes(name, options.shape, bytes.size()); !fine) return fine.error();
    auto made = make(options);
    if (!made) return made;
    made->restore(bytes, total);
    for (const std::int64_t counter : made->table_.counters()) {
        if (counter >= -largest_counter && static_cast<std::uint64_t>(counter < 0 ? -counter : counter) <= total)
            continue;
        return error::make(error_code::corrupt, "count_sketch: a counter of %lld exceeds the total of %llu",
                           static_cast<long long>(counter), static_cast<unsigned long long>(total));
    }
    return made;
}

}  // namespace genista
