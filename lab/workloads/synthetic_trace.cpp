// Flows that come and go. See synthetic_trace.hpp.
#include "lab/workloads/synthetic_trace.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "lab/workloads/random.hpp"

namespace genista::lab {
namespace {

// Measured by `genista lab trace` on the trace of a server's packets, and imitated: 814,029
// accesses to 149,448 keys, so that 82 % are repeats; the most frequent 1 % of the keys have 8.3 %
// of the accesses; 47 % of the keys are seen once; no flow has more than 2001 accesses. Of the
// flows with two accesses or more, half are over after 40 accesses to any key and 95 % after 3,500,
// and 2 % last for most of the trace.
constexpr flow_character packets{.name = "net-synthetic-packets",
                                 .flows = 150'000,
                                 .once_share = 0.47,
                                 .usual_most = 15,
                                 .large_share = 0.006,
                                 .large_least = 18,
                                 .large_most = 2000,
                                 .large_exponent = 2.2,
                                 .lasting_share = 0.02};

// The same for the trace of events: 153,996 accesses to 69,513 keys; 55 % repeats; the top 1 % have
// 8.9 %; 47 % seen once. Nearly all are over at once: three in four within three accesses.
constexpr flow_character events{.name = "net-synthetic-events",
                                .flows = 70'000,
                                .once_share = 0.475,
                                .usual_most = 4,
                                .large_share = 0.007,
                                .large_least = 5,
                                .large_most = 2000,
                                .large_exponent = 2,
                                .lasting_share = 0.02,
                                .brief_least = 1,
                                .brief_most = 40};

// No real trace is like this. It is here because repeats that are far apart make a filter forget.
constexpr flow_character lasting = [] {
    flow_character made = packets;
    made.name = "net-synthetic-lasting";
    made.lasting_share = 1;
    return made;
}();

struct arrival {
    double time = 0;  // of the whole trace, 0..1
    std::uint32_t flow = 0;
};

// Density x^-s between two bounds, by inversion.
double power_law(double least, double most, double exponent, double unit) {
    const double one_minus = 1 - exponent;
    const double low = std::pow(least, one_minus), high = std::pow(most, one_minus);
    return std::pow(low + unit * (high - low), 1 / one_minus);
}

std::uint64_t size_of_flow(const flow_character& c, random_stream& chance) {
    const double kind = chance.unit();
    if (kind < c.once_share) return 1;
    if (kind >= 1 - c.large_share) {
        return static_cast<std::uint64_t>(power_law(c.large_least, c.large_most + 1, c.large_exponent, chance.unit()));
    }
    return 2 + chance.below(c.usual_most - 1);
}

// The text of a connection: source, destination, their ports, protocol.
std::string five_tuple(random_stream& chance) {
    const std::uint64_t hosts = chance(), ports = chance();
    std::array<char, 64> text{};
    const auto part = [](std::uint64_t of, unsigned at) { return static_cast<unsigned>((of >> at) & 0xff); };
    std::snprintf(text.data(), text.size(), "10.%u.%u.%u,192.168.%u.%u,%u,%u,%s", part(hosts, 0), part(hosts, 8),
                  part(hosts, 16), part(hosts, 24), part(hosts, 32), 1024 + static_cast<unsigned>(ports % 64'000),
                  part(ports, 32), (ports >> 63) != 0 ? "tcp" : "udp");
    return text.data();
}

std::vector<arrival> arrivals_of(const flow_character& c, random_stream& chance) {
    std::vector<std::uint64_t> sizes(c.flows);
    for (std::uint64_t& each : sizes) each = size_of_flow(c, chance);
    const auto total = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
    std::vector<arrival> all;
    all.reserve(total);
    for (std::uint64_t flow = 0; flow < c.flows; ++flow) {
        // Evenly over the time, so that new flows begin at the same rate from the first access to
        // the last.
        const double start = (static_cast<double>(flow) + chance.unit()) / static_cast<double>(c.flows);
        const bool lasts = chance.unit() < c.lasting_share;
        const double part = chance.unit();
        const double brief = c.brief_least * std::pow(c.brief_most / c.brief_least, part) / static_cast<double>(total);
        const double life = std::min(lasts ? part * (1 - start) : brief, 1 - start);
        all.push_back({start, static_cast<std::uint32_t>(flow)});
        for (std::uint64_t i = 1; i < sizes[flow]; ++i) {
            all.push_back({start + chance.unit() * life, static_cast<std::uint32_t>(flow)});
        }
    }
    std::ranges::stable_sort(all, {}, &arrival::time);
    return all;
}

}  // namespace

trace make_flows(const flow_character& character, std::uint64_t seed) {
    random_stream chance{seed};
    trace made = trace_named_after(character.name);
    made.is_synthetic = true;
    const std::vector<arrival> arrivals = arrivals_of(character, chance);
    constexpr std::uint32_t unseen = ~std::uint32_t{0};
    std::vector<std::uint32_t> number_of(character.flows, unseen);
    made.accesses.reserve(arrivals.size());
    for (const arrival& each : arrivals) {
        std::uint32_t& number = number_of[each.flow];
        // Two flows may draw the same text: then the later one draws again.
        while (number == unseen) {
            const std::size_t before = made.keys.size();
            if (const auto added = made.keys.add(five_tuple(chance)); *added == before) number = *added;
        }
        made.accesses.push_back(number);
    }
    return made;
}

std::vector<trace> synthetic_traces(std::uint64_t seed) {
    std::vector<trace> made;
    for (const flow_character& each : {packets, events, lasting})
        made.push_back(make_flows(each, 3 * seed + made.size()));
    return made;
}

}  // namespace genista::lab
