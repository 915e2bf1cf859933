// batched_hunt: arena::query_run in batches. A negative changes nothing, so that the answers up to
// the first positive are those of single queries; adversaries spend most of their time here.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "lab/games/arena.hpp"

namespace genista::lab {

// key_of(number): the key that the adversary's number stands for. count(first, many): this many
// numbers from `first` on were negatives. query(number) -> reply: the arena's single query, for the
// first positive.
template <class Filter, class KeyOf, class Count, class Query>
arena::hunt batched_hunt(const Filter& filter, std::uint64_t first, std::uint64_t most, const KeyOf& key_of,
                         const Count& count, const Query& query) {
    constexpr std::uint64_t batch = 64;
    std::array<std::uint64_t, batch> keys;
    arena::hunt now;
    while (now.asked < most && !now.caught) {
        const std::uint64_t many = std::min(batch, most - now.asked);
        for (std::uint64_t i = 0; i < many; ++i) keys[i] = key_of(first + now.asked + i);
        std::uint64_t maybe = 0;
        filter.may_contain(std::span<const std::uint64_t>{keys.data(), many}, std::span{&maybe, 1});
        const auto negative = std::min(many, static_cast<std::uint64_t>(std::countr_zero(maybe)));
        count(first + now.asked, negative);
        now.asked += negative;
        if (negative < many) now.caught = query(first + now.asked++).false_positive();
    }
    return now;
}

}  // namespace genista::lab
