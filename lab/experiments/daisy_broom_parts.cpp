// The measurements of daisy-broom, part by part. See daisy_broom.hpp.
#include <algorithm>
#include <functional>
#include <memory>
#include <unordered_set>
#include <utility>

#include "genista/filters/bloom.hpp"
#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_broom.hpp"
#include "genista/filters/with_oracle.hpp"
#include "lab/adversaries/adversary.hpp"
#include "lab/experiments/daisy_broom.hpp"
#include "lab/games/daisy_broom_arena.hpp"
#include "lab/statistics/binomial.hpp"
#include "lab/workloads/daisy_input.hpp"
#include "papers/perturbed_oracle.hpp"

namespace genista::lab {
namespace {

using wrong_oracle = perturbed_oracle<odds_world>;
using shared_wrong = std::shared_ptr<const wrong_oracle>;
using wrong_daisy_broom = daisy_broom_filter<wrong_oracle>;

constexpr std::uint64_t two_class_universe = std::uint64_t{1} << 60;
constexpr double stored_share = 0.9, asked_share = 0.1;  // of the first half

odds_world two_class_world() {
    return odds_world::two_classes(two_class_universe, two_class_universe / 2, stored_share, asked_share);
}

// With a hash key that no filter here has: classes that depend on a key's digest would put a band's
// keys into few of its bins.
shared_wrong make_oracle(perturbed_options options) {
    options.seed = 0x0dd5;
    return std::make_shared<wrong_oracle>(
        must(wrong_oracle::make(std::make_shared<odds_world>(two_class_world()), std::move(options))));
}

// Draws from P, in R in R's order, or not yet inserted. Of 2^60 keys hardly any is drawn twice.
struct filled_remote {
    records_in_memory remote;
    hasher hash;
    std::vector<std::uint64_t> keys;

    filled_remote(std::uint64_t count, std::uint64_t seed, bool stored = true) : hash{hash_key::from_seed(seed)} {
        const auto draw = two_class_world().stored_draws(seed);
        std::unordered_set<std::uint64_t> seen;
        std::vector<std::pair<digest, std::uint64_t>> records;
        while (keys.size() < count) {
            const std::uint64_t key = draw();
            if (!seen.insert(key).second) continue;
            keys.push_back(key);
            records.emplace_back(hash(key), key);
        }
        if (!stored) return;
        std::sort(records.begin(), records.end());
        for (const auto& [where, key] : records) (void)must(remote.uncounted().put(where, integer_key{key}.view()));
    }
    [[nodiscard]] bool holds(std::uint64_t key) {
        return must(remote.uncounted().contains(hash(key), integer_key{key}.view()));
    }
    // Asks for an absent key as a guard does. Returns true for a wasted read.
    template <class Filter>
    bool wastes(Filter& filter, std::uint64_t key) {
        if (!filter.may_contain(key) || holds(key)) return false;
        (void)must(filter.adapt(key, remote.map()));
        return true;
    }
    template <class Filter>
    [[nodiscard]] double bits_per_key(const Filter& filter) const {
        return 8 * static_cast<double>(filter.stats().local_bytes) / static_cast<double>(keys.size());
    }
};

// The filter that takes no more than `bytes`, oracle included. The bytes beside its bands are known
// only when it is built.
wrong_daisy_broom fit_into(filled_remote& in, std::uint64_t bytes, std::uint64_t bits, const shared_wrong& oracle,
                           const std::function<result<daisy_plan>(const daisy_terms&)>& plan_for, std::uint64_t seed) {
    while (true) {
        const auto plan = must(plan_for_bits(static_cast<double>(in.keys.size()), bits, plan_for));
        daisy_broom_options options;
        options.hash = in.hash;
        options.random = repeatable(seed);
        options.bits = bits;
        auto made = must(wrong_daisy_broom::build(options, plan, oracle, in.remote.uncounted()));
        const std::uint64_t takes = made.stats().local_bytes;
        if (takes <= bytes) return made;
        bits -= std::min(bits, 8 * (takes - bytes) + 512);
    }
}

// The keys that a filter's range reads visited since the last call.
class read_meter {
  public:
    explicit read_meter(filled_remote& in) noexcept : in_{in} {}
    void begin() noexcept { before_ = in_.remote.map().counts(); }
    void end() noexcept {
        const remote_counts now = in_.remote.map().counts();
        reads_ += now.range_reads - before_.range_reads;
        keys_ += now.keys_visited - before_.keys_visited;
    }
    [[nodiscard]] double keys_a_read() const noexcept {
        return static_cast<double>(keys_) / static_cast<double>(reads_ == 0 ? 1 : reads_);
    }

  private:
    filled_remote& in_;
    remote_counts before_;
    std::uint64_t reads_ = 0, keys_ = 0;
};

}  // namespace

equal_bits_seen compare_at_equal_bits(const equal_bits_plan& plan, const std::function<void(double)>& progress) {
    filled_remote in{plan.keys, plan.seed};
    broom_options broom_is;
    broom_is.capacity = plan.keys;
    broom_is.false_positive_rate = plan.broom_rate;
    broom_is.hash = in.hash;
    broom_is.random = repeatable(plan.seed);
    auto broom = must(broom_filter::build(broom_is, in.remote.uncounted()));
    perturbed_options right{.mistake = plan.without_odds ? oracle_mistake::constant : oracle_mistake::none};
    right.constant = {0x1p-60, 0x1p-60};
    const std::vector<odds_group> groups =
        plan.without_odds ? std::vector<odds_group>{{right.constant, 0x1p60}} : two_class_world().groups();
    const auto plan_for = [&groups](const daisy_terms& terms) { return plan_for_groups(terms, groups); };
    auto daisy = fit_into(in, broom.stats().local_bytes, must(broom_filter::bits_for(plan.keys, plan.broom_rate)),
                          make_oracle(right), plan_for, plan.seed);
    equal_bits_seen seen{.keys = plan.keys, .queries = plan.queries, .parameter = daisy.plan().terms.rate};
    const auto draw = two_class_world().asked_draws(plan.seed + 1);
    std::vector<std::uint64_t> asked(1 << 16);
    read_meter of_broom{in}, of_daisy{in};
    for (std::uint64_t done = 0; done < plan.queries; done += asked.size()) {
        std::generate(asked.begin(), asked.end(), std::ref(draw));
        of_broom.begin();
        for (const std::uint64_t key : asked) seen.broom_wasted += in.wastes(broom, key) ? 1u : 0u;
        of_broom.end();
        of_daisy.begin();
        for (const std::uint64_t key : asked) seen.daisy_wasted += in.wastes(daisy, key) ? 1u : 0u;
        of_daisy.end();
        progress(static_cast<double>(done) / static_cast<double>(plan.queries));
    }
    seen.broom_keys_a_read = of_broom.keys_a_read();
    seen.daisy_keys_a_read = of_daisy.keys_a_read();
    seen.broom_bits = in.bits_per_key(broom);
    seen.daisy_bits = in.bits_per_key(daisy);
    seen.expected_rate = daisy.bands().expected_rate();
    seen.lower_bound_bits = daisy.plan().lower_bound_bits() / static_cast<double>(plan.keys);
    for (const daisy_band& each : daisy.bands().all()) seen.rate_bits.push_back(each.rate_bits);
    return seen;
}

namespace {

struct tried_oracle {
    std::string name;
    perturbed_options options;
    bool plan_is_right = false;  // made with the exact oracle: the input has drifted away from it
};

std::vector<tried_oracle> all_oracles() {
    return {
        {.name = "exact", .options = {.mistake = oracle_mistake::none}},
        {.name = "wrong by up to 4x", .options = {.mistake = oracle_mistake::random}},
        {.name = "4x too small", .options = {.mistake = oracle_mistake::too_small}},
        {.name = "4x too large", .options = {.mistake = oracle_mistake::too_large}},
        {.name = "constant", .options = {.mistake = oracle_mistake::constant, .constant = {0x1p-60, 0x1p-60}}},
        {.name = "shuffled", .options = {.mistake = oracle_mistake::shuffled, .universe = two_class_universe}},
        {.name = "swapped, by the right plan", .options = {.mistake = oracle_mistake::swapped}, .plan_is_right = true},
        {.name = "every key nearly certain, by the right plan",
         .options = {.mistake = oracle_mistake::constant, .constant = {0.5, 0x1p-60}},
         .plan_is_right = true}};
}

daisy_plan plan_by(const wrong_oracle& oracle, const daisy_terms& terms, std::uint64_t seed) {
    constexpr std::size_t sampled = 32'768;  // as in daisy-sampling
    std::vector<key_odds> stored, asked;
    const auto put = two_class_world().stored_draws(seed + 2), ask = two_class_world().asked_draws(seed + 3);
    for (std::size_t i = 0; i < sampled; ++i) {
        stored.push_back(oracle.odds(put()));
        asked.push_back(oracle.odds(ask()));
    }
    return must(plan_from_samples(terms, stored, asked));
}

replayed_oracle replay_one(const tried_oracle& tried, std::uint64_t keys, std::uint64_t pool, std::size_t rounds,
                           std::uint64_t seed) {
    filled_remote in{keys, seed, false};
    const daisy_terms terms{static_cast<double>(in.keys.size()), 0x1p-10};
    const auto oracle = make_oracle(tried.options);
    const auto exact = make_oracle({.mistake = oracle_mistake::none});
    daisy_broom_options options;
    options.hash = in.hash;
    options.random = repeatable(seed);
    options.exception_bytes = 16 * pool;
    auto filter =
        must(wrong_daisy_broom::make(options, plan_by(tried.plan_is_right ? *exact : *oracle, terms, seed), oracle));
    for (const std::uint64_t key : in.keys) {
        (void)must(in.remote.map().put(in.hash(key), integer_key{key}.view()));
        if (must(filter.insert(key, in.remote.map())) == insert_outcome::full)
            throw workload_error{"the filter is full"};
    }
    replayed_oracle seen{.oracle = tried.name};
    const auto draw = two_class_world().asked_draws(seed + 4);
    std::vector<std::uint64_t> found;
    while (found.size() < pool) {
        const std::uint64_t key = draw();
        ++seen.asked;
        if (!in.wastes(filter, key)) continue;
        found.push_back(key);
        seen.of_class_0 += filter.class_of(integer_key{key}.view()) == 0 ? 1u : 0u;
    }
    seen.pool = found.size();
    for (std::size_t round = 0; round < rounds; ++round) {
        std::uint64_t wasted = 0;
        for (const std::uint64_t key : found) wasted += in.wastes(filter, key) ? 1u : 0u;
        seen.wasted.push_back(wasted);
    }
    for (const std::uint64_t key : in.keys) seen.denied += filter.may_contain(key) ? 0u : 1u;
    seen.sound = filter.audit(in.remote.uncounted()).has_value();
    seen.bits_per_key = in.bits_per_key(filter);
    seen.drifted = filter.drift().is_notable();
    return seen;
}

}  // namespace

std::vector<replayed_oracle> replay_under_wrong_oracles(std::uint64_t keys, std::uint64_t pool, std::size_t rounds,
                                                        std::uint64_t seed,
                                                        const std::function<void(double)>& progress) {
    std::vector<replayed_oracle> all;
    const auto oracles = all_oracles();
    for (const tried_oracle& each : oracles) {
        all.push_back(replay_one(each, keys, pool, rounds, seed));
        progress(static_cast<double>(all.size()) / static_cast<double>(oracles.size()));
    }
    return all;
}

namespace {

perturbed_options nearly_certain() {
    return {.mistake = oracle_mistake::constant, .constant = {0.5, 0x1p-60}};
}

wrong_daisy_broom filled_filter(filled_remote& in, const daisy_plan& plan, bool late, std::uint64_t seed) {
    daisy_broom_options options;
    options.hash = in.hash;
    options.random = repeatable(seed);
    options.deferred_band = late;
    auto filter = must(wrong_daisy_broom::make(options, plan, make_oracle(nearly_certain())));
    for (const std::uint64_t key : in.keys) (void)must(filter.insert(key, in.remote.uncounted()));
    return filter;
}

class_0_replay replay_class_0_by(const daisy_plan& plan, std::string name, std::uint64_t keys, std::uint64_t pool,
                                 std::size_t rounds, std::uint64_t seed) {
    filled_remote in{keys, seed};
    auto filter = filled_filter(in, plan, true, seed), control = filled_filter(in, plan, false, seed);
    class_0_replay seen{.plan = std::move(name), .keys = keys, .pool = pool};
    seen.list_holds = filter.exceptions().buckets() * absent_cells::cells_of_a_bucket * 2 / 3;
    const double empty = in.bits_per_key(filter);
    const auto draw = two_class_world().asked_draws(seed + 5);
    std::vector<std::uint64_t> asked;
    while (asked.size() < pool) {
        const std::uint64_t key = draw();
        if (!in.holds(key)) asked.push_back(key);
    }
    for (std::size_t round = 0; round < rounds; ++round) {
        std::uint64_t wasted = 0, forgot = 0;
        for (const std::uint64_t key : asked) {
            const std::uint64_t before = in.remote.map().counts().range_reads;
            if (!in.wastes(filter, key)) continue;
            ++wasted;
            seen.most_range_reads = std::max(seen.most_range_reads, in.remote.map().counts().range_reads - before);
            seen.most_bits = std::max(seen.most_bits, in.bits_per_key(filter) - empty);
        }
        for (const std::uint64_t key : asked) forgot += in.wastes(control, key) ? 1u : 0u;
        seen.wasted.push_back(wasted);
        seen.control.push_back(forgot);
    }
    seen.last_bits = in.bits_per_key(filter) - empty;
    for (const std::uint64_t key : in.keys)
        seen.denied += filter.may_contain(key) && control.may_contain(key) ? 0u : 1u;
    seen.sound = filter.audit(in.remote.uncounted()).has_value() && control.audit(in.remote.uncounted()).has_value();
    return seen;
}

}  // namespace

std::vector<class_0_replay> replay_class_0(std::uint64_t keys, std::uint64_t pool, std::size_t rounds,
                                           std::uint64_t seed, const std::function<void(double)>& progress) {
    const daisy_terms terms{static_cast<double>(keys), 0x1p-10};
    std::vector<class_0_replay> all;
    all.push_back(replay_class_0_by(plan_by(*make_oracle(nearly_certain()), terms, seed), "by this oracle", keys, pool,
                                    rounds, seed));
    progress(0.5);
    all.push_back(replay_class_0_by(plan_by(*make_oracle({.mistake = oracle_mistake::none}), terms, seed),
                                    "by the right one", keys, pool, rounds, seed));
    progress(1);
    return all;
}

replay_controls replay_without_learning(std::uint64_t keys, std::uint64_t pool, std::uint64_t seed) {
    filled_remote in{keys, seed};
    const daisy_terms terms{static_cast<double>(keys), 0x1p-10};
    const auto oracle = std::make_shared<odds_world>(two_class_world());
    with_oracle daisy{
        must(daisy_bloom_filter::make({.plan = must(plan_for_groups(terms, oracle->groups())), .hash = in.hash})),
        std::shared_ptr<const odds_world>{oracle}};
    auto bloom = must(bloom_filter::make({.capacity = keys, .false_positive_rate = terms.rate, .hash = in.hash}));
    for (const std::uint64_t key : in.keys) {
        (void)daisy.insert(key);
        (void)bloom.insert(key);
    }
    const auto share = [&](const auto& filter) {
        const auto draw = two_class_world().asked_draws(seed + 4);
        std::vector<std::uint64_t> found;
        while (found.size() < pool) {
            const std::uint64_t key = draw();
            if (filter.may_contain(key) && !in.holds(key)) found.push_back(key);
        }
        const auto again =
            std::count_if(found.begin(), found.end(), [&](std::uint64_t key) { return filter.may_contain(key); });
        return static_cast<double>(again) / static_cast<double>(pool);
    };
    return {.bloom = share(bloom), .daisy_bloom = share(daisy)};
}

std::vector<band_game> play_against_bands(std::uint64_t effort, std::uint64_t seed,
                                          const std::function<void(double)>& progress) {
    std::vector<band_game> all;
    const auto adversaries = all_adversaries();
    for (const adversary& by : adversaries) {
        const bool grows = by.plays_on.keys <= by.plays_on.capacity && by.plays_on.capacity > few_bins.capacity;
        // Each band of the two has the room that the adversary's stage has for all. A restored
        // snapshot has one certain false positive a bin until the bin is renewed
        // (docs/filters/broom.md); this adversary renews one bin only, and so has to stay in one
        // band.
        const bool one_band = by.name == "restart-replay";
        daisy_broom_arena at{{.capacity = 2 * by.plays_on.capacity,
                              .grows = grows,
                              .only = one_band ? parity::odd : parity::both,
                              .seed = seed}};
        fill(at, (one_band ? 1 : 2) * by.plays_on.keys);
        by.play(at, {.queries = effort, .seed = seed, .progress = [](double) {}});
        for (unsigned band = 0; band < 2; ++band) {
            const score& seen = at.by_band()[band];
            const daisy_band& is = at.filter().bands().all()[band];
            band_game game{.adversary = std::string{by.name}, .rate_bits = is.rate_bits, .seen = seen};
            game.seen.false_negatives = at.counted().false_negatives;
            game.most_plausible = most_plausible_hits(seen.negatives, is.rate());
            game.most_plausible_guesses = most_plausible_hits(seen.guesses, is.rate());
            all.push_back(game);
        }
        progress(static_cast<double>(all.size()) / static_cast<double>(2 * adversaries.size()));
    }
    return all;
}

}  // namespace genista::lab
