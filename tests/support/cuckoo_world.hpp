// cuckoo_world: a filter of the cuckoo family, both halves of its R and the truth
// (driven_world.hpp).
//
// After an operation that failed because R did (set_faults) the filter must be bit for bit as it
// was. An orphan is in a slot.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "filters/cuckoo/slots.hpp"
#include "genista/detail/filters/cuckoo/family.hpp"
#include "genista/remote/indexed.hpp"
#include "tests/support/driven_world.hpp"

// Keys, salts and table, as words: equal if and only if the filters are.
struct genista::cuckoo::inspection {
    template <class Filter>
    [[nodiscard]] static std::vector<std::uint64_t> of(const Filter& filter) {
        const cuckoo_state& in = filter.state();
        std::vector<std::uint64_t> all{filter.stats().keys};
        for (const auto& salt : in.salts) all.push_back(salt.load());
        const std::span words{in.words, words_for(in.shape.slots(), in.shape.slot_bits())};
        all.insert(all.end(), words.begin(), words.end());
        return all;
    }
};

namespace genista::test {

// What an index does wrong at random in these tests.
inline constexpr std::array index_faults = {fault_kind::error_before, fault_kind::error_after, fault_kind::error_midway,
                                            fault_kind::wrong_key,    fault_kind::missing,     fault_kind::throws};

template <class Filter>
class cuckoo_world : public driven_world<cuckoo_world<Filter>, Filter> {
    using base = driven_world<cuckoo_world<Filter>, Filter>;

  public:
    using base::filter, base::chance, base::plain, base::faulty, base::wrong, base::fixed, base::audits, base::struck;
    using base::saved, base::expect, base::scan;
    using typename base::bytes, typename base::faulty_records;
    static constexpr bool erase_takes_orphans = true;

    // `options.random` is the seed of everything.
    explicit cuckoo_world(const cuckoo_options& options, std::uint64_t universe = 0)
        : base{*Filter::make(base::with_hash(options)), options.random.seed().value_or(1) ^ 0x6375636b, universe,
               options.capacity} {}

    // Sets the share for both halves.
    void set_faults(double share) {
        this->set_faults_of(faulty, share, fault_plan{}.random_record_below);
        if (faulty_) struck += faulty_index.counts().injected();
        fault_plan plan{.seed = chance(), .random_record_below = 16};
        for (const fault_kind each : index_faults) {
            if (share > 0) plan.rates.push_back({each, share / static_cast<double>(index_faults.size())});
        }
        expect(faulty_index.set_plan(plan).has_value(), "the plan of faults is invalid");
        faulty_ = share > 0;
        ever_faulty_ = ever_faulty_ || faulty_;
    }

    void adapt(std::uint64_t key) {
        const bool maybe = filter.may_contain(key), had_slot = orphans_.contains(key);
        for (;;) {
            const auto outcome = this->watched([&] { return filter.adapt(key, remote); }, "an adapt");
            if (!outcome) {
                if (chance.below(2) == 0) return;
                continue;
            }
            const bool still = filter.may_contain(key);
            if (members_.contains(key)) {
                expect(*outcome == adapt_outcome::true_positive, "adapt of a stored key: wrong outcome");
            } else if (!maybe) {
                expect(*outcome == adapt_outcome::was_negative, "adapt of a negative: wrong outcome");
            } else {
                expect(*outcome == (still ? adapt_outcome::unfixed : adapt_outcome::fixed), "adapt: wrong outcome");
                if (filter.shape().rule == cuckoo_rule::plain)
                    expect(still || had_slot, "a filter that does not adapt has adapted");
                fixed += still ? 0u : 1u;
            }
            orphans_.erase(key);
            return;
        }
    }

    void save_and_load() requires savable_filter<Filter> {
        const bytes file = saved();
        if (!this->load(file)) return;
        scan();
        if (filter.stats().keys != 0) this->expect_refusals(file, error_code::mismatch);
        this->rebuild_loaded(1'000);
    }

    // The filter's own state, exactly.
    [[nodiscard]] std::vector<std::uint64_t> contents() const { return cuckoo::inspection::of(filter); }

    // After a failed change the index of R may be out of date, until the next change that succeeds.
    void audit() {
        if (in_doubt_) return;
        ++audits;
        if (const auto sound = filter.audit(truth); !sound) wrong.emplace_back(sound.error().message());
        // A store that never failed must hold no records of former generations.
        if (!ever_faulty_) expect(records() == filter.stats().keys, "R holds records that the filter does not need");
    }
    // The number of records in the index of R.
    [[nodiscard]] std::uint64_t records() const noexcept { return plain_index.size(); }
    // The places that have a record, in order.
    [[nodiscard]] std::vector<std::uint64_t> places() const {
        std::vector<std::uint64_t> found;
        static_cast<void>(plain_index.for_each(0, ~std::uint64_t{0}, [&](const digest& place, key_view) {
            found.push_back(place.position);
            return true;
        }));
        return found;
    }
    // Another program writes to the filter's index: this key is all that the place has, or nothing.
    void replace(std::uint64_t place, std::optional<key_view> key) {
        expect(plain_index.erase_range(place, place).has_value(), "the index failed to erase");
        if (key) expect(plain_index.put(digest{place, 0}, *key).has_value(), "the index failed to put");
    }

    memory_map plain_index;
    faulty_records faulty_index{plain_index, {.sleep = [](std::chrono::nanoseconds) {}}};
    with_index<memory_map, memory_map> truth{plain, plain_index};
    with_index<faulty_records, faulty_records> remote{faulty, faulty_index};  // what the filter is given

  private:
    using base::members_, base::orphans_, base::faulty_, base::in_doubt_;

    bool ever_faulty_ = false;
};

// The first of the keys 0, 1, … whose insert, after all smaller ones, brings new hash functions,
// and the seed of the filter in which it does.
struct rehashing_insert {
    std::uint64_t seed = 0;
    std::uint64_t key = 0;
};
template <class Filter, class Options>
std::optional<rehashing_insert> find_rehashing_insert(Options&& options, std::uint64_t first_seed = 1) {
    for (std::uint64_t seed = first_seed; seed < first_seed + 10'000; ++seed) {
        cuckoo_world<Filter> w{options(seed)};
        for (std::uint64_t key = 0; key < w.filter.stats().capacity; ++key) {
            (void)w.insert(key);
            if (w.filter.rehashes() != 0) return rehashing_insert{seed, key};
        }
    }
    return std::nullopt;
}

}  // namespace genista::test
