// Numbers of keys, and figures of traces. See trace.hpp.
#include "lab/workloads/trace.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "lab/workloads/key_file.hpp"

namespace genista::lab {
namespace {

constexpr std::array<std::string_view, 4> endings{".keys", ".csv", ".tsv", ".txt"};
constexpr std::string_view network_prefix = "net-";

std::string name_of(const std::string& path) {
    std::string_view name = path;
    name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
    if (name.ends_with(".gz")) name.remove_suffix(3);
    for (const std::string_view ending : endings) {
        if (!name.ends_with(ending)) continue;
        name.remove_suffix(ending.size());
        break;
    }
    return std::string{name == "-" || name.empty() ? "standard input" : name};
}

}  // namespace

trace trace_named_after(const std::string& path) {
    trace made;
    made.name = name_of(path);
    made.is_network = made.name.starts_with(network_prefix);
    return made;
}

result<void> add_access(trace& into, std::string_view key) {
    const auto number = into.keys.add(key);
    if (!number) {
        return error::make(error_code::invalid_argument, "%.120s: a trace may have at most %zu different keys",
                           into.name.c_str(), key_table::most_keys);
    }
    into.accesses.push_back(*number);
    return {};
}

result<trace> read_trace(const std::string& path) {
    trace made = trace_named_after(path);
    const auto read = read_keys(path, [&](std::string_view key) { return add_access(made, key); });
    if (!read) return read.error();
    return made;
}

trace_facts facts_of(const trace& of) {
    trace_facts facts{.accesses = of.accesses.size(), .keys = of.keys.size()};
    if (of.accesses.empty()) return facts;
    std::vector<std::uint64_t> counts(of.keys.size());
    for (const std::uint32_t number : of.accesses) ++counts[number];
    std::ranges::sort(counts, std::greater{});
    const auto top = static_cast<std::ptrdiff_t>((counts.size() + 99) / 100);
    const auto in_top = std::accumulate(counts.begin(), counts.begin() + top, std::uint64_t{0});
    const auto accesses = static_cast<double>(facts.accesses), keys = static_cast<double>(facts.keys);
    facts.top_percent_share = static_cast<double>(in_top) / accesses;
    facts.repeat_share = 1 - keys / accesses;
    facts.seen_once_share = static_cast<double>(std::ranges::count(counts, std::uint64_t{1})) / keys;
    facts.most_frequent_share = static_cast<double>(counts.front()) / accesses;
    return facts;
}

}  // namespace genista::lab
