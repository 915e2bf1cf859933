// score_fit: gradient descent and quantisation. See score_fit.hpp.
#include "oracles/score_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "oracles/score_math.hpp"
#include "oracles/score_ngrams.hpp"

namespace genista {
namespace {

// How much more one draw of the shorter log may count. With heavier draws AdaGrad's weights would
// oscillate.
constexpr double heaviest_draw = 32;

}  // namespace

std::uint64_t score_mix(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

score_fit::score_fit(const score_settings& settings, std::uint64_t weights, std::uint64_t seed,
                     std::span<const score_draw> draws)
    : slots_(weights),
      draws_{draws},
      order_(draws.size()),
      chance_{score_mix(seed ^ 0x6a09e667f3bcc909)},
      step_{static_cast<float>(settings.step)},
      shrinkage_{static_cast<float>(settings.shrinkage)},
      longest_{settings.longest_ngram} {
    std::iota(order_.begin(), order_.end(), 0U);
    const auto all = static_cast<double>(draws.size());
    const auto stored = static_cast<double>(std::ranges::count_if(draws, &score_draw::is_stored));
    importance_ = {std::min(heaviest_draw, all / (2 * (all - stored))), std::min(heaviest_draw, all / (2 * stored))};
}

// A Fisher-Yates shuffle, one step before each draw.
void score_fit::epoch() noexcept {
    for (std::size_t i = 0; i < order_.size(); ++i) {
        chance_ += 0x9e3779b97f4a7c15;
        const auto other = i + static_cast<std::size_t>(scale(score_mix(chance_), order_.size() - i));
        std::swap(order_[i], order_[other]);
        learn(draws_[order_[i]]);
    }
}

void score_fit::learn(const score_draw& from) noexcept {
    std::size_t count = 0;
    double sum = bias_;
    each_ngram(from.key, longest_, slots_.size(), [&](std::size_t at) {
        sum += static_cast<double>(slots_[at].weight);
        touched_[count++] = static_cast<std::uint32_t>(at);
    });
    const double guess = 1 / (1 + portable_exp(-sum));
    const double slope = (guess - (from.is_stored ? 1 : 0)) * importance_[from.is_stored];
    bias_ -= 0.01 * slope;
    for (std::size_t i = 0; i < count; ++i) {
        slot& each = slots_[touched_[i]];
        const float down = static_cast<float>(slope) + shrinkage_ * each.weight;
        each.moved += down * down;
        each.weight -= step_ * down / std::sqrt(each.moved);
    }
}

std::vector<std::int8_t> score_fit::quantised(unsigned clipped) const {
    std::vector<float> sizes(slots_.size());
    std::ranges::transform(slots_, sizes.begin(), [](const slot& each) { return std::abs(each.weight); });
    const auto largest =
        sizes.end() - 1 - static_cast<std::ptrdiff_t>(std::min(sizes.size() - 1, sizes.size() * clipped / 1024));
    std::ranges::nth_element(sizes, largest);
    const float unit = *largest > 0 ? 127 / *largest : 0;
    std::vector<std::int8_t> made(slots_.size());
    for (std::size_t i = 0; i < made.size(); ++i)
        made[i] = static_cast<std::int8_t>(std::lround(std::clamp(slots_[i].weight * unit, -127.0F, 127.0F)));
    return made;
}

}  // namespace genista
