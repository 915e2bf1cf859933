// count_min: adding, estimating and merging. See count_min.hpp.
#include "genista/detail/oracles/count_min.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numbers>

namespace genista {
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
    if (const auto fine = check_shape(name, options.shape); !fine) return fine.error();
    if (bytes.size() != options.shape.depth * options.shape.width * sizeof(std::uint32_t)) {
        return error::make(error_code::corrupt, "count_min: %zu bytes are not %u rows of %llu counters", bytes.size(),
                           options.shape.depth, static_cast<unsigned long long>(options.shape.width));
    }
    auto made = make(options);
    if (!made) return made;
    std::memcpy(made->table_.bytes().data(), bytes.data(), bytes.size());
    made->table_.add_to_total(total);
    const auto counters = made->table_.counters();
    const auto* const beyond = std::ranges::find_if(counters.data(), counters.data() + counters.size(),
                                                    [&](std::uint32_t counter) { return counter > total; });
    if (beyond != counters.data() + counters.size()) {
        return error::make(error_code::corrupt, "count_min: a counter of %u exceeds the total of %llu", *beyond,
                           static_cast<unsigned long long>(total));
    }
    return made;
}

}  // namespace genista
