// How many lines a daisy Bloom filter needs for a plan, its expected rate, and its kernels.
//
// Scattered: the length of [daisy §5], m = n Σ p_x ⌈k_x⌉ / ln 2, which leaves half of the bits
// zero. With s probes a share f ≈ 1 - e^(-s/m) of the bits are ones, and an absent key of class j
// passes with probability f^j. The number of draws in each class is random, and so is f: on average
// an absent key passes with probability E[f^j], to the second order
//
//     f^j (1 + j (j - 1)/2 · Var f / f²),
//     Var f = e^(-2 s/m) Σ_c n P_c c² / m² + e^(-s/m) (1 - (1 + s/m) e^(-s/m)) / m
//
// (the first term: which keys are drawn; the second: where the probes fall). It matters in small
// tables: 2.5 % at class 8 and 500 draws. They get lines until E is what the plan expects.
//
// Blocked: draws of class c whose first lane is f come to a line as a Poisson variable of mean load
// · P_c / lanes, independent of all others. A set T of an absent key's bits, one in each of its
// lanes, stays zero under all of them with probability
//
//     e^(-load · avoid(T)),
//     avoid(T) = Σ_c P_c / lanes Σ_f (1 - (1 - 1/lane_bits)^|T ∩ lanes of (c, f)|)
//
// because each bit is chosen independently. By inclusion and exclusion an absent key of class j
// passes with probability
//
//     Σ over T ⊆ {its j lanes} of (-1)^|T| e^(-load · avoid(T)),
//
// exactly, and with the same probability for every first lane, by symmetry. The load is the largest
// at which the plan's queries pass at the rate of a half-full table, Σ A_j 2^-j.
#pragma once

#include <cstdint>

#include "genista/base/result.hpp"
#include "genista/filters/daisy_bloom.hpp"

namespace genista {

struct daisy_bloom_size {
    daisy_layout layout = daisy_layout::scattered;
    std::uint64_t lines = 0;  // of 64 bytes
};

inline constexpr std::uint64_t daisy_line_bits = 512;

[[nodiscard]] constexpr unsigned lanes_of(daisy_layout layout) noexcept {
    return layout == daisy_layout::octet ? 8 : layout == daisy_layout::sixteen ? 16 : 0;
}

// REQUIRES: `wanted`, if given, is above the plan's expected rate. The fewest lines whose expected
// rate is at most `wanted`.
[[nodiscard]] daisy_bloom_size scattered_size(const daisy_plan& plan, double wanted = 0) noexcept;

// The layout with the fewest lines among those with enough lanes. REQUIRES: the plan's largest
// class is at most 16.
[[nodiscard]] result<daisy_bloom_size> blocked_size(const daisy_plan& plan) noexcept;

[[nodiscard]] result<double> expected_rate_of(const daisy_plan& plan, const daisy_bloom_size& size) noexcept;

// The kernels for a blocked layout and the active instruction set: daisy_blocked_kernels.cpp. Those
// for scattered probes are compiled in daisy_bloom.cpp.
[[nodiscard]] const daisy_bloom_kernels* daisy_blocked_kernels_for(daisy_layout layout) noexcept;

}  // namespace genista
