// An adversary of the ADAPTIVITY-GAME: a way of choosing operations. One file each; adversaries.cpp
// lists them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "lab/games/arena.hpp"

namespace genista::lab {

// An insert or an erase takes about as long as this many queries.
inline constexpr std::uint64_t change_effort = 32;

// What an adversary may spend, and its chance.
struct budget {
    std::uint64_t queries = 0;  // about how many; an insert or an erase counts as `change_effort` of them
    std::uint64_t seed = 1;
    std::function<void(double)> progress = [](double) {};
};

// The filter on which an attack is strongest. Sizes are no secret, and an adversary may find a
// small filter, or make one by erasing: where all absent keys fall into one bin, each answer
// reveals something about it.
struct stage {
    std::uint64_t capacity = 45;  // what the filter is made for; up to 45 is one bin of the broom filter
    std::uint64_t keys = 45;      // what it holds when the game begins
};
inline constexpr stage one_bin{45, 45};
inline constexpr stage half_empty_bin{45, 10};
inline constexpr stage crowded_bin{45, 108};  // one bin and its backyard: as full as they get, the rate close to ε
inline constexpr stage full_bin{45, 112};     // no room for one key more
inline constexpr stage few_bins{360, 330};
inline constexpr stage few_hundred{400, 300};
inline constexpr stage many_bins{100'000, 100'000};

struct adversary {
    std::string_view name;
    std::string_view idea;  // one line
    stage plays_on;
    // The arena comes filled with keys 0, 1, …, size() - 1 stored. Absent keys are taken from 2^40
    // upward.
    void (*play)(arena&, const budget&);
    // Its claims rest on what keys that were never compared have in common; the proof of [broom18
    // Lemma 13] does not count that.
    bool uses_history_of_others = false;
};

// Inserts 0, 1, …, keys - 1.
void fill(arena& at, std::uint64_t keys);

[[nodiscard]] std::span<const adversary> all_adversaries() noexcept;
// Those that need refusals, failing reads, snapshots: the broom filter's arena has all of it.
[[nodiscard]] std::span<const adversary> failure_adversaries() noexcept;
[[nodiscard]] const adversary* find_adversary(std::string_view name) noexcept;

}  // namespace genista::lab
