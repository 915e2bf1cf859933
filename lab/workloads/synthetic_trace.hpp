// Synthetic traces with the character of network traces, for machines without real ones.
//
// They imitate what two real traces have in common (packets of a server over 72 hours; events of
// one site's connections over a day), and nothing else: the shares below, a steady rate of new
// flows, and flows of which nearly all are short. They show that an experiment runs and how it
// reacts. Only a real trace shows what a filter gains on a real network.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/workloads/trace.hpp"

namespace genista::lab {

// A flow: how many accesses it has, and over which time they are spread.
//
//     once           one access
//     usual          2..usual_most accesses, all alike
//     large          large_least..large_most accesses, x of them with probability about
//                    x^-large_exponent: the heavy tail
struct flow_character {
    const char* name = "";
    std::uint64_t flows = 0;
    double once_share = 0;
    std::uint64_t usual_most = 2;
    double large_share = 0;
    double large_least = 2;
    double large_most = 2;
    double large_exponent = 2;
    // A lasting flow covers a uniform part of the rest of the trace; the others are over after
    // brief_least to brief_most accesses (to any key), all magnitudes alike.
    double lasting_share = 0;
    double brief_least = 2;
    double brief_most = 2000;
};

[[nodiscard]] trace make_flows(const flow_character& character, std::uint64_t seed);

// Three: packets, events, and packets of flows that all last. The same for the same seed.
[[nodiscard]] std::vector<trace> synthetic_traces(std::uint64_t seed);

}  // namespace genista::lab
