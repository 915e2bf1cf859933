// Games, space, levels and reads of one adaptive Bloom filter. See adaptive_bloom_parts.hpp.
#include "lab/experiments/adaptive_bloom_parts.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "lab/adversaries/adversary.hpp"
#include "lab/games/contenders.hpp"
#include "lab/games/learning_arena.hpp"
#include "lab/statistics/binomial.hpp"

namespace genista::lab {
namespace {

constexpr std::uint64_t first_bloom_absent_key = std::uint64_t{1} << 41;

adaptive_bloom_options seeded_bloom(std::uint64_t n, double rate, std::uint64_t seed) {
    return {.capacity = n,
            .false_positive_rate = rate,
            .hash = hasher{hash_key::from_seed(seed)},
            .random = repeatable(seed)};
}

bloom_game play_bloom_game(arena& at, std::string_view name, std::uint64_t queries, std::uint64_t seed) {
    const adversary* const by = find_adversary(name);
    if (by == nullptr) throw workload_error{"no adversary of this name: " + std::string{name}};
    by->play(at, {.queries = queries, .seed = seed});
    return {.adversary = by->name, .seen = at.counted()};
}

}  // namespace

// ---- the game ----------------------------------------------------------------------------------

bool bloom_game::within(double rate) const noexcept {
    return seen.negatives > 0 && seen.false_positives <= most_plausible_hits(seen.negatives, rate) &&
           seen.right_guesses <= most_plausible_hits(seen.guesses, rate);
}

nlohmann::json bloom_game::row(double rate) const {
    return {{"adversary", adversary},
            {"rate", rate},
            {"negatives", seen.negatives},
            {"false_positives", seen.false_positives},
            {"most_plausible", most_plausible_hits(seen.negatives, rate)},
            {"guesses", seen.guesses},
            {"right_guesses", seen.right_guesses},
            {"most_plausible_guesses", most_plausible_hits(seen.guesses, rate)},
            {"false_negatives", seen.false_negatives + denied},
            {"rebuilds", rebuilds},
            {"range_reads", seen.reads},
            {"kept", within(rate)}};
}

bloom_game play_adaptive_bloom(std::string_view adversary, std::uint64_t n, double rate, std::uint64_t queries,
                               std::uint64_t seed) {
    index_arena<adaptive_bloom_filter> at{seeded_bloom(n, rate, seed)};
    at.fill(n);
    bloom_game played = play_bloom_game(at, adversary, queries, seed);
    for (std::uint64_t key = 0; key < n; ++key) played.denied += at.filter().may_contain(key) ? 0u : 1u;
    played.rebuilds = at.filter().stats().renewals - 1;  // the first one built it
    return played;
}

bloom_game play_plain_bloom(std::string_view adversary, std::uint64_t n, double rate, std::uint64_t queries,
                            std::uint64_t seed) {
    contender_plan plan;
    plan.keys = n;
    plan.rate = rate;
    plan.seed = seed;
    const std::unique_ptr<arena> at = make_contender("bloom", plan);
    return play_bloom_game(*at, adversary, queries, seed);
}

// ---- one filter, taken apart -------------------------------------------------------------------

void read_counts::add(std::uint64_t cost) noexcept {
    ++operations;
    reads += cost;
    most = std::max(most, cost);
}
double read_counts::mean() const noexcept {
    return operations == 0 ? 0 : static_cast<double>(reads) / static_cast<double>(operations);
}
nlohmann::json read_counts::json() const {
    return {{"operations", operations}, {"mean_reads", mean()}, {"most_reads", most}};
}

void path_counts::add(const adaptive_bloom_path& path) {
    ++looks;
    cells += path.cells;
    dead_entries += path.dead_entries;
    if (reached.size() <= path.level) reached.resize(path.level + 1);
    for (unsigned level = 0; level <= path.level; ++level) ++reached[level];
}
double path_counts::mean_cells() const noexcept {
    return looks == 0 ? 0 : static_cast<double>(cells) / static_cast<double>(looks);
}
nlohmann::json path_counts::json() const {
    nlohmann::json shares = nlohmann::json::array();
    for (const std::uint64_t each : reached) shares.push_back(static_cast<double>(each) / static_cast<double>(looks));
    return {{"looks", looks},
            {"mean_cells", mean_cells()},
            {"mean_dead_entries",
             static_cast<double>(dead_entries) / static_cast<double>(std::max<std::uint64_t>(looks, 1))},
            {"share_reaching_level", shares}};
}

bool bloom_anatomy::space_kept() const noexcept {
    return bits <= bits_allowed && bits_after == bits_before;
}
// No level holds more keys than it was made for before n queries are over, and the paper's cost of
// a look-up holds on average.
bool bloom_anatomy::levels_kept() const noexcept {
    const bool within = std::ranges::all_of(levels(), [](const adaptive_bloom_level& l) { return l.keys <= l.most; });
    const double cost = 2 * std::log2(1 / rate);
    return within && rebuilds_within == 0 && absent_keys.mean_cells() <= cost && members.mean_cells() <= cost;
}
bool bloom_anatomy::reads_kept() const noexcept {
    return inserts.reads == 0 && negatives.reads == 0 && true_positives.most <= 1 && false_positives.mean() <= 3 &&
           inserts.operations > 0 && negatives.operations > 0 && false_positives.operations > 0;
}

nlohmann::json bloom_anatomy::row() const {
    nlohmann::json parts = nlohmann::json::array();
    for (const adaptive_bloom_level& each : levels()) {
        parts.push_back({{"functions", each.functions},
                         {"cells", each.cells},
                         {"keys", each.keys},
                         {"expected_at_most", each.expected},
                         {"allowed", each.most},
                         {"dead", each.dead},
                         {"bytes", each.cell_bytes},
                         {"bytes_of_dead", each.dead_bytes}});
    }
    return {{"rate", rate},
            {"bits_per_key_before", bits_before},
            {"bits_per_key_after_n_queries", bits_after},
            {"bits_per_key_at_a_million", bits},
            {"bits_allowed", bits_allowed},
            {"bits_with_plain_dead_bits", bits_plainly},
            {"bits_of_upper_levels", bits_of_upper},
            {"levels_after_n_queries", parts},
            {"rebuilds_within_n_queries", rebuilds_within},
            {"absent_keys", absent_keys.json()},
            {"stored_keys", members.json()},
            {"reads_of_inserts", inserts.json()},
            {"reads_of_negatives", negatives.json()},
            {"reads_of_false_positives", false_positives.json()},
            {"reads_of_true_positives", true_positives.json()},
            {"reads_of_rebuilds", rebuilds.json()},
            {"false_negatives", denied},
            {"kept", space_kept() && levels_kept() && reads_kept() && denied == 0}};
}

namespace {

class anatomy_run {
  public:
    anatomy_run(std::uint64_t n, double rate, std::uint64_t seed)
        : n_{n}, filter_{must(adaptive_bloom_filter::make(seeded_bloom(n, rate, seed)))} {
        seen_.rate = rate;
        seen_.bits_allowed = 1.05 * (1 + 8 * rate) * 1.4427 * std::log2(1 / rate);
    }

    bloom_anatomy dissect() {
        // Inserts half of the keys at once, makes some repairs, and inserts the others one by one;
        // some of them meet dead cells.
        for (std::uint64_t key = 0; key < n_ / 2; ++key) put(key);
        must(filter_.rebuild(remote_.map()));
        ask_absent_keys(n_ / 4);
        for (std::uint64_t key = n_ / 2; key < n_; ++key) {
            put(key);
            const std::uint64_t before = reads();
            if (must(filter_.insert(key, remote_.map())) != insert_outcome::inserted) throw workload_error{"full"};
            seen_.inserts.add(reads() - before);
        }
        renew();
        seen_.bits_before = bits_per_key();
        note_levels(0);
        // n queries, less the last, which would draw new hash functions.
        const std::uint64_t rebuilds = filter_.stats().renewals;
        constexpr std::uint64_t parts = 10;
        for (std::uint64_t part = 1; part <= parts; ++part) {
            ask_absent_keys(n_ * part / parts - n_ * (part - 1) / parts - (part == parts ? 1 : 0));
            note_levels(static_cast<double>(part) / parts);
        }
        seen_.rebuilds_within = filter_.stats().renewals - rebuilds;
        seen_.bits_after = bits_per_key();
        weigh();
        for (std::uint64_t i = 0; i < n_; ++i)
            seen_.absent_keys.add(filter_.path_of(filter_.hash()(next_absent_key_++)));
        for (std::uint64_t key = 0; key < n_; ++key) {
            const adaptive_bloom_path path = filter_.path_of(filter_.hash()(key));
            seen_.members.add(path);
            seen_.denied += path.maybe ? 0u : 1u;
        }
        for (std::uint64_t key = 0; key < 1'000; ++key) adapt(key, seen_.true_positives);
        renew();
        for (std::uint64_t key = 0; key < n_; ++key) seen_.denied += filter_.may_contain(key) ? 0u : 1u;
        return std::move(seen_);
    }

  private:
    void put(std::uint64_t key) { must(remote_.uncounted().put(filter_.hash()(key), integer_key{key}.view())); }
    [[nodiscard]] std::uint64_t reads() const {
        const remote_counts records = remote_.records().counts(), index = remote_.index().counts();
        return records.range_reads + records.point_reads + index.range_reads + index.point_reads;
    }
    void renew() {
        const std::uint64_t before = reads();
        must(filter_.rebuild(remote_.map()));
        seen_.rebuilds.add(reads() - before);
    }
    void adapt(std::uint64_t key, read_counts& into) {
        const std::uint64_t before = reads();
        (void)must(filter_.adapt(key, remote_.map()));
        into.add(reads() - before);
    }
    void ask_absent_keys(std::uint64_t count) {
        for (; count > 0; --count, ++next_absent_key_) {
            const std::uint64_t before = reads();
            if (filter_.may_contain(next_absent_key_)) {
                adapt(next_absent_key_, seen_.false_positives);
            } else {
                seen_.negatives.add(reads() - before);
            }
        }
    }
    void note_levels(double when) {
        seen_.queries.push_back(when);
        seen_.then.push_back(filter_.details().levels);
    }
    [[nodiscard]] double bits_per_key() const {
        return 8 * static_cast<double>(filter_.stats().local_bytes) / static_cast<double>(n_);
    }
    // The allocated bytes depend on capacity and rate alone.
    void weigh() {
        constexpr std::uint64_t million = 1'000'000;
        const auto made = must(adaptive_bloom_filter::make({.capacity = million, .false_positive_rate = seen_.rate}));
        const auto a_key = [](std::uint64_t bytes) { return 8.0 * static_cast<double>(bytes) / million; };
        std::uint64_t lists = 0, plain = 0, upper = 0;
        const auto levels = made.details().levels;
        for (const adaptive_bloom_level& each : levels) {
            lists += each.dead_bytes;
            plain += each.functions == 0 ? 0 : each.cell_bytes;
            upper += each.cell_bytes;
        }
        seen_.bits = a_key(made.stats().local_bytes);
        seen_.bits_plainly = seen_.bits - a_key(lists) + a_key(plain);
        seen_.bits_of_upper = a_key(upper - levels.front().cell_bytes);
    }

    std::uint64_t n_;
    index_in_memory remote_;
    adaptive_bloom_filter filter_;
    bloom_anatomy seen_;
    std::uint64_t next_absent_key_ = first_bloom_absent_key;
};

}  // namespace

bloom_anatomy dissect_adaptive_bloom(std::uint64_t n, double rate, std::uint64_t seed) {
    return anatomy_run{n, rate, seed}.dissect();
}

std::vector<report::section> draw_adaptive_bloom(const std::vector<bloom_anatomy>& all) {
    report::line_chart space;
    space.title = "Bits a key";
    space.caption =
        "Everything that a filter of a million keys allocates, the same before and after n queries; what Theorem 19 "
        "allows, with 8 for its O(1); with a plain bit for each cell that may be dead; and a Bloom filter that does "
        "not learn.";
    space.x = {"log2(1/ε)", false, report::unit::number};
    space.y = {"bits a key", false, report::unit::number};
    report::series ours{"adaptive_bloom", {}}, allowed{"allowed", {}}, plain{"plain dead bits", {}}, bloom{"bloom", {}};
    for (const bloom_anatomy& each : all) {
        space.at.push_back(std::log2(1 / each.rate));
        ours.y.push_back(each.bits);
        allowed.y.push_back(each.bits_allowed);
        plain.y.push_back(each.bits_plainly);
        bloom.y.push_back(1.4427 * std::log2(1 / each.rate));
    }
    space.lines = {ours, allowed, plain, bloom};
    report::section levels{"Levels", "", {}};
    for (const bloom_anatomy& each : all) {
        report::line_chart chart;
        chart.title = "Keys of each level, ε = " + shown_rate(each.rate);
        chart.caption = "Divided by what is expected at most after n queries.";
        chart.x = {"queries / n", false, report::unit::number};
        chart.y = {"keys / expected", false, report::unit::number};
        chart.at = each.queries;
        for (std::size_t level = 1; level < each.levels().size(); ++level) {
            report::series line{"level " + std::to_string(level), {}};
            for (const auto& then : each.then)
                line.y.push_back(static_cast<double>(then[level].keys) / then[level].expected);
            chart.lines.push_back(std::move(line));
        }
        levels.figures.emplace_back(std::move(chart));
    }
    return {{"Space", "", {std::move(space)}}, std::move(levels)};
}

}  // namespace genista::lab
