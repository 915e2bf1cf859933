// Keys and queries from files or from a seed. See workload.hpp.
#include "compare/workload.hpp"

#include <cmath>
#include <numeric>
#include <utility>

#include "bench/keys.hpp"
#include "lab/workloads/key_file.hpp"
#include "lab/workloads/random.hpp"

namespace genista::tool::compare {
namespace {

error too_many_keys() noexcept {
    return error::make(error_code::invalid_argument, "more than %zu different keys are not possible here",
                       key_table::most_keys);
}

result<key_number> number_of(key_table& keys, std::string_view key) {
    const auto number = keys.add(key);
    if (!number) return too_many_keys();
    return *number;
}

void count_absent(const workload& of, phase_plan& phase) {
    std::vector<bool> seen(of.keys.size());
    for (const key_number number : phase.queries) {
        if (of.is_stored(number)) continue;
        ++phase.absent;
        phase.distinct_absent += seen[number] ? 0u : 1u;
        seen[number] = true;
    }
}

result<phase_plan> read_queries(const std::string& path, workload& into) {
    phase_plan phase{.name = "replay", .queries = {}};
    const auto read = lab::read_keys(path, [&](std::string_view key) -> result<void> {
        const auto number = number_of(into.keys, key);
        if (!number) return number.error();
        phase.queries.push_back(*number);
        return {};
    });
    if (!read) return read.error();
    return phase;
}

// Ranks 1 .. most with P(k) proportional to 1/k: floor(most^u) has P(k) proportional to ln(1 +
// 1/k), which is at most 1/k and at least ln(2)/k, so that rejection corrects it.
std::uint64_t zipf_rank(lab::random_stream& chance, std::uint64_t most) {
    while (true) {
        const auto k = static_cast<std::uint64_t>(std::pow(static_cast<double>(most) + 1, chance.unit()));
        const double wanted = 1 / static_cast<double>(k), proposed = std::log1p(wanted);
        if (k <= most && chance.unit() < std::log(2.0) * wanted / proposed) return k;
    }
}

result<phase_plan> zipf_queries(const request& asked, workload& into) {
    lab::random_stream chance{asked.seed + 1};
    std::vector<key_number> stored(into.stored);
    std::iota(stored.begin(), stored.end(), key_number{0});
    for (std::size_t i = stored.size(); i > 1; --i) std::swap(stored[i - 1], stored[chance.below(i)]);
    const fresh_keys absent_keys{asked.seed, fresh_keys::stream::zipf};
    phase_plan phase{.name = "zipf", .queries = {}};
    while (phase.queries.size() < asked.own_queries) {
        const std::uint64_t rank = zipf_rank(chance, 2 * std::uint64_t{into.stored}) - 1;
        if (rank % 2 == 0) {
            phase.queries.push_back(stored[rank / 2]);
        } else {
            const auto number = number_of(into.keys, absent_keys.at(rank / 2).text());
            if (!number) return number.error();
            phase.queries.push_back(*number);
        }
    }
    return phase;
}

result<phase_plan> fresh_queries(const request& asked, workload& into, bool half_present) {
    using stream = fresh_keys::stream;
    lab::random_stream chance{asked.seed + 2};
    const fresh_keys absent_keys{asked.seed, half_present ? stream::half_present : stream::uniform};
    std::uint64_t place = 0;
    phase_plan phase{.name = half_present ? "half present" : "uniform", .queries = {}};
    while (phase.queries.size() < asked.own_queries) {
        if (half_present && (chance() & 1) != 0) {
            phase.queries.push_back(static_cast<key_number>(chance.below(into.stored)));
            continue;
        }
        const std::size_t known = into.keys.size();
        const auto number = number_of(into.keys, absent_keys.at(place++).text());
        if (!number) return number.error();
        if (*number >= known) phase.queries.push_back(*number);  // else it is equal to a key of the user
    }
    return phase;
}

}  // namespace

fresh_key fresh_keys::at(std::uint64_t place) const noexcept {
    // Each stream has 2^40 places of one bijection of 64 bits: bench/keys.hpp.
    const bench::key_source source{seed_};
    std::uint64_t bits = source(static_cast<bench::key_use>(which_), place);
    fresh_key made;
    for (std::size_t i = made.digits.size(); i > 0; --i, bits >>= 4) made.digits[i - 1] = "0123456789abcdef"[bits & 15];
    return made;
}

result<void> add_stored_keys(const request& asked, workload& into) {
    if (!asked.keys_path.empty()) {
        const auto read = lab::read_keys(asked.keys_path, [&](std::string_view key) -> result<void> {
            const auto number = number_of(into.keys, key);
            return number ? result<void>{} : number.error();
        });
        if (!read) return read.error();
    }
    if (asked.makes_keys()) {
        const fresh_keys own{asked.seed, fresh_keys::stream::stored};
        for (std::uint64_t i = 0; i < asked.own_keys; ++i) {
            if (const auto number = number_of(into.keys, own.at(i).text()); !number) return number.error();
        }
    }
    into.stored = into.keys.size();
    return {};
}

result<void> add_phases(const request& asked, workload& into) {
    std::vector<result<phase_plan>> made;
    if (!asked.queries_path.empty()) {
        made.push_back(read_queries(asked.queries_path, into));
    } else {
        made.push_back(zipf_queries(asked, into));
        made.push_back(fresh_queries(asked, into, false));
        made.push_back(fresh_queries(asked, into, true));
    }
    for (result<phase_plan>& each : made) {
        if (!each) return each.error();
        count_absent(into, *each);
        into.phases.push_back(std::move(*each));
    }
    return {};
}

}  // namespace genista::tool::compare
