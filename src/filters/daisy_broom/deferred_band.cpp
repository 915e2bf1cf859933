// Which ranges of a deferred band are filled from R. See deferred_band.hpp.
#include "genista/detail/filters/daisy_broom/deferred_band.hpp"

#include <bit>
#include <cassert>
#include <utility>

namespace genista {

deferred_band::deferred_band(broom_filter broom, std::uint64_t ranges)
    : broom_{std::move(broom)}, ranges_{ranges}, bits_{new std::atomic<std::uint64_t>[(ranges + 63) / 64]()} {
    assert(ranges >= 1);
}

bool deferred_band::mark_built(std::uint64_t number) noexcept {
    const std::uint64_t bit = std::uint64_t{1} << number % 64;
    if ((bits_[number / 64].fetch_or(bit, std::memory_order_acq_rel) & bit) != 0) return false;
    return built_.fetch_add(1, std::memory_order_acq_rel) + 1 == ranges_;
}

void deferred_band::mark_all_built() noexcept {
    for (std::uint64_t number = 0; number < ranges_; ++number) (void)mark_built(number);
}

// Words before the cursor have been full once, and stay so.
std::optional<std::uint64_t> deferred_band::next_unbuilt() noexcept {
    std::uint64_t word = cursor_.load(std::memory_order_relaxed);
    for (; word < words(); ++word) {
        const auto first = static_cast<unsigned>(std::countr_one(bits_[word].load(std::memory_order_relaxed)));
        if (first < 64 && 64 * word + first < ranges_) break;
    }
    cursor_.store(word, std::memory_order_relaxed);
    if (word == words()) return std::nullopt;
    const auto first = static_cast<unsigned>(std::countr_one(bits_[word].load(std::memory_order_relaxed)));
    if (first == 64 || 64 * word + first >= ranges_) return std::nullopt;
    return 64 * word + first;
}

void deferred_band::save(std::span<std::uint64_t> into) const noexcept {
    assert(into.size() == words());
    for (std::uint64_t i = 0; i < words(); ++i) into[i] = bits_[i].load(std::memory_order_acquire);
}

bool deferred_band::restore(std::span<const std::uint64_t> from) noexcept {
    assert(from.size() == words());
    if (ranges_ % 64 != 0 && from.back() >> ranges_ % 64 != 0) return false;
    std::uint64_t filled = 0;
    for (std::uint64_t i = 0; i < words(); ++i) {
        bits_[i].store(from[i], std::memory_order_relaxed);
        filled += static_cast<std::uint64_t>(std::popcount(from[i]));
    }
    built_.store(filled, std::memory_order_release);
    return true;
}

}  // namespace genista
