// Arenas by name. See contenders.hpp.
#include "lab/games/contenders.hpp"

#include <algorithm>
#include <array>

#include "genista/filters/adaptive_bloom.hpp"
#include "genista/filters/blocked_bloom.hpp"
#include "genista/filters/bloom.hpp"
#include "genista/filters/cascade.hpp"
#include "genista/filters/cleary.hpp"
#include "genista/filters/cuckoo_partial.hpp"
#include "genista/filters/cuckooing.hpp"
#include "lab/adversaries/adversary.hpp"
#include "lab/games/broom_arena.hpp"
#include "lab/games/cuckoo_arena.hpp"
#include "lab/games/daisy_broom_arena.hpp"
#include "lab/games/index_arena.hpp"
#include "lab/games/local_arena.hpp"
#include "lab/games/remembering_bloom.hpp"
#include "papers/broom_paper.hpp"
#include "papers/cuckoo_family.hpp"
#include "papers/whitelist.hpp"

namespace genista::lab {
namespace {

template <class Filter>
std::unique_ptr<arena> make_cuckoo(const contender_plan& plan) {
    cuckoo_options options;
    options.capacity = plan.keys;
    options.fingerprint_bits = plan.fingerprint_bits;
    options.hash = hasher{hash_key::from_seed(plan.seed)};
    options.tables = plan.tables;
    options.bin_slots = plan.bin_slots;
    options.load = plan.load;
    options.random = repeatable(plan.seed);
    return std::make_unique<cuckoo_arena<Filter>>(options);
}

template <class Filter>
std::unique_ptr<arena> make_local(const contender_plan& plan) {
    return std::make_unique<local_arena<Filter>>(filter_options{
        .capacity = plan.keys, .false_positive_rate = plan.rate, .hash = hasher{hash_key::from_seed(plan.seed)}});
}

std::unique_ptr<arena> make_broom(const contender_plan& plan) {
    broom_options options;
    options.capacity = plan.keys;
    options.false_positive_rate = plan.rate;
    options.hash = hasher{hash_key::from_seed(plan.seed)};
    options.random = repeatable(plan.seed);
    options.grows = plan.grows;
    return std::make_unique<broom_arena<broom_filter>>(options);
}

// Bands of the rates 2^-8 and 2^-10, by an exact oracle. The promise for all queries is the larger
// rate. On stages of one bin all keys are of that band, which has the stage's capacity: such
// attacks rest on the history of one bin, and would otherwise meet two.
std::unique_ptr<arena> make_daisy_broom(const contender_plan& plan) {
    const bool one_band = plan.keys < few_bins.capacity;
    return std::make_unique<daisy_broom_arena>(daisy_arena_options{.capacity = (one_band ? 2 : 1) * plan.keys,
                                                                   .grows = plan.grows,
                                                                   .only = one_band ? parity::even : parity::both,
                                                                   .seed = plan.seed});
}

// The filters of the two broom papers: an index beside the records.
template <class Filter, class Options>
std::unique_ptr<arena> make_indexed(const contender_plan& plan) {
    Options options;
    options.capacity = plan.keys;
    options.false_positive_rate = plan.rate;
    options.hash = hasher{hash_key::from_seed(plan.seed)};
    options.random = repeatable(plan.seed);
    return std::make_unique<index_arena<Filter>>(options);
}

std::unique_ptr<arena> make_whitelist(const contender_plan& plan) {
    return std::make_unique<learning_arena<whitelist_filter, records_in_memory>>(whitelist_options{
        .capacity = plan.keys, .false_positive_rate = plan.rate, .hash = hasher{hash_key::from_seed(plan.seed)}});
}

// One bit a key for the remembered keys.
std::unique_ptr<arena> make_bloom_cache(const contender_plan& plan) {
    const std::uint64_t bloom_bits = must(bloom_filter::bits_for(plan.keys, plan.rate));
    const std::uint64_t bits = bloom_bits + plan.keys;
    return std::make_unique<remembering_arena>(
        remembering_options{.keys = plan.keys,
                            .total_bits = bits,
                            .bloom_share = static_cast<double>(bloom_bits) / static_cast<double>(bits),
                            .seed = plan.seed},
        plan.rate);
}

struct known_contender {
    std::string_view name;
    std::unique_ptr<arena> (*make)(const contender_plan&);
    bool takes_more_than_capacity = false;
};
constexpr std::array known_contenders{
    known_contender{cuckoo_filter::name, make_cuckoo<cuckoo_filter>},
    known_contender{cuckooing_filter::name, make_cuckoo<cuckooing_filter>},
    known_contender{cyclic_filter<1>::name, make_cuckoo<cyclic_filter<1>>},
    known_contender{cyclic_filter<2>::name, make_cuckoo<cyclic_filter<2>>},
    known_contender{cyclic_filter<3>::name, make_cuckoo<cyclic_filter<3>>},
    known_contender{swapping_filter::name, make_cuckoo<swapping_filter>},
    known_contender{broom_filter::name, make_broom, true},
    known_contender{daisy_broom_arena::filter_type::name, make_daisy_broom, true},
    known_contender{broom_paper_filter::name, make_indexed<broom_paper_filter, broom_paper_options>},
    known_contender{cascade_filter::name, make_indexed<cascade_filter, cascade_options>},
    known_contender{adaptive_bloom_filter::name, make_indexed<adaptive_bloom_filter, adaptive_bloom_options>},
    known_contender{bloom_filter::name, make_local<bloom_filter>},
    known_contender{blocked_bloom_filter::name, make_local<blocked_bloom_filter>},
    known_contender{cuckoo_partial_filter::name, make_local<cuckoo_partial_filter>},
    known_contender{cleary_filter::name, make_local<cleary_filter>},
    known_contender{whitelist_filter::name, make_whitelist},
    known_contender{"bloom_cache", make_bloom_cache},
};

}  // namespace

std::unique_ptr<arena> make_empty_contender(std::string_view filter, const contender_plan& plan) {
    const auto* const found = std::ranges::find(known_contenders, filter, &known_contender::name);
    return found == known_contenders.end() ? nullptr : found->make(plan);
}

std::unique_ptr<arena> make_contender(std::string_view filter, const contender_plan& plan) {
    std::unique_ptr<arena> made = make_empty_contender(filter, plan);
    if (made != nullptr) made->fill(plan.keys);
    return made;
}

bool takes_more_than_capacity(std::string_view filter) noexcept {
    const auto* const found = std::ranges::find(known_contenders, filter, &known_contender::name);
    return found != known_contenders.end() && found->takes_more_than_capacity;
}

std::vector<std::string> all_contenders() {
    std::vector<std::string> names;
    for (const known_contender& each : known_contenders) names.emplace_back(each.name);
    return names;
}

std::string contender_names() {
    std::string names;
    for (const known_contender& each : known_contenders) names.append(names.empty() ? "" : ", ").append(each.name);
    return names;
}

}  // namespace genista::lab
