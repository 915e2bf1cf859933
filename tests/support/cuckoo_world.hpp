// cuckoo_world: a filter of the cuckoo family, both halves of its R and the truth
// (driven_world.hpp).
//
// After an operation that failed because R did (set_faults) the filter must be bit for bit as it
// was. An orphan is in a slot.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "filters/cuckoo/slots.hpp"
#include "genista/detail/filters/cuckoo/family.hpp"
#include "genista/remote/memory_slots.hpp"
#include "support/remote/faulty_slots.hpp"
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
        if (faulty_) struck += faulty_half.struck();
        faulty_half.set_plan(
            {.rate = share, .kinds = {all_slot_faults.begin(), all_slot_faults.end()}, .seed = chance()});
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

    // After a failed change the slots of R may be out of date, until the next change that succeeds.
    void audit() {
        if (in_doubt_) return;
        ++audits;
        if (const auto sound = filter.audit(truth); !sound) wrong.emplace_back(sound.error().message());
        // A store that never failed must hold no records of former generations.
        if (!ever_faulty_) expect(records() == filter.stats().keys, "R holds records that the filter does not need");
    }
    // The number of records in all slots of R.
    [[nodiscard]] std::uint64_t records() {
        std::uint64_t seen = 0;
        const auto read = plain_slots.for_each_slot(0, ~std::uint64_t{0}, [&](std::uint64_t, key_view) {
            ++seen;
            return true;
        });
        expect(read.has_value(), "the slots cannot be read");
        return seen;
    }

    memory_slots plain_slots;
    faulty_slots<memory_slots> faulty_half{plain_slots};
    with_slots<memory_map, memory_slots> truth{plain, plain_slots};
    with_slots<faulty_records, faulty_slots<memory_slots>> remote{faulty, faulty_half};  // what the filter is given

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
