// cuckoo_world: a filter of the cuckoo family, both halves of its R and the truth. It runs one
// operation at a time and compares the outcome with the truth (driven_world.hpp).
//
// After an operation that failed because R did (set_faults) the filter must be bit for bit as it
// was. An orphan is in a slot.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
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

// What an index does wrong in these tests: what the filter must notice, or cannot be told.
inline constexpr std::array index_faults = {fault_kind::error_before, fault_kind::error_after, fault_kind::error_midway,
                                            fault_kind::wrong_key,    fault_kind::missing,     fault_kind::throws};

template <class Filter>
class cuckoo_world : public driven_world<Filter> {
    using base = driven_world<Filter>;

  public:
    using base::any_key, base::saved, base::expect, base::put, base::take_out, base::is_stored;
    using base::filter, base::chance, base::plain, base::faulty, base::wrong, base::fixed;
    using typename base::bytes, typename base::faulty_records;

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

    // ---- operations -----------------------------------------------------------------------------

    // False: the filter has no room, or R failed and the caller gave up.
    bool insert(std::uint64_t key) {
        const bool was_member = members_.contains(key), was_orphan = orphans_.contains(key);
        put(key);
        for (;;) {
            const std::uint64_t held = filter.stats().keys;
            const auto outcome = watched([&] { return filter.insert(key, remote); }, "an insert");
            if (!outcome || *outcome == insert_outcome::full) {
                if (outcome) expect(held >= filter.stats().capacity, "full although below the capacity");
                if (outcome) expect(!was_member && !was_orphan, "full for a key that has a slot");
                if (!outcome && chance.below(2) == 0) continue;
                if (!was_member) take_out(key);
                return was_member;
            }
            expect((*outcome == insert_outcome::inserted) == (!was_member && !was_orphan), "insert: wrong outcome");
            orphans_.erase(key);
            members_.insert(key);
            expect(filter.may_contain(key), "a false negative right after an insert");
            return true;
        }
    }

    void erase(std::uint64_t key) {
        for (;;) {
            const bool was_member = members_.contains(key);
            const auto outcome = watched([&] { return filter.erase(key, remote); }, "an erase");
            if (outcome) {
                expect((*outcome == erase_outcome::erased) == was_member, "erase: wrong outcome");
                members_.erase(key);
                orphans_.erase(key);
                return;
            }
            if (was_member && !is_stored(key)) orphan(key);
            if (chance.below(2) == 0) return;
        }
    }

    // The store commits by itself, then forget() is called. An absent key must be forgotten without
    // harm.
    void forget(std::uint64_t key) {
        if (members_.contains(key)) {
            take_out(key);
            orphan(key);
        }
        for (;;) {
            const bool had_slot = orphans_.contains(key);
            const auto outcome =
                watched([&] { return filter.forget(genista::integer_key{key}.view(), remote); }, "a forget");
            if (outcome) {
                expect((*outcome == erase_outcome::erased) == had_slot, "forget: wrong outcome");
                orphans_.erase(key);
                return;
            }
            if (chance.below(2) == 0) return;
        }
    }

    void adapt(std::uint64_t key) {
        const bool maybe = filter.may_contain(key), had_slot = orphans_.contains(key);
        for (;;) {
            const auto outcome = watched([&] { return filter.adapt(key, remote); }, "an adapt");
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

    bool rebuild() {
        const auto outcome = watched([&] { return filter.rebuild(remote); }, "a rebuild");
        if (outcome) {
            orphans_.clear();
            expect(filter.stats().keys == members_.size(), "the rebuilt filter has another number of keys");
        }
        return outcome.has_value();
    }

    // Continues with the loaded filter: it must answer queries, and refuse changes until it is
    // rebuilt.
    void save_and_load() requires savable_filter<Filter> {
        const bytes file = saved();
        auto loaded = Filter::load(file);
        if (!loaded) return wrong.push_back("the snapshot does not load: " + std::string{loaded.error().message()});
        filter = *std::move(loaded);
        expect(saved() == file, "the loaded filter saves other bytes");
        scan();
        if (filter.stats().keys != 0) {
            const std::uint64_t key = any_key();
            const auto refused = filter.insert(key, remote);
            expect(!refused && refused.error().code() == error_code::mismatch,
                   "a loaded filter takes a key before a rebuild");
            const auto kept = filter.erase(key, remote);
            expect(!kept && kept.error().code() == error_code::mismatch, "a loaded filter erases before a rebuild");
            expect(!filter.adapt(key, remote), "a loaded filter adapts before a rebuild");
            expect(saved() == file, "a refused change has changed the filter");
        }
        for (int tries = 0; !rebuild(); ++tries) {
            if (!faulty_ || tries == 1000) return wrong.push_back("the loaded filter cannot be rebuilt");
        }
    }

    // The filter's own state, exactly.
    [[nodiscard]] std::vector<std::uint64_t> contents() const { return cuckoo::inspection::of(filter); }

    // ---- checks ---------------------------------------------------------------------------------

    // Every stored key and every orphan is answered maybe, and no other keys are counted.
    void scan() {
        for (const std::uint64_t key : members_) expect(filter.may_contain(key), "a false negative");
        for (const std::uint64_t key : orphans_) expect(filter.may_contain(key), "an orphan is answered no");
        expect(filter.stats().keys == members_.size() + orphans_.size(), "the count of keys differs from the truth");
    }
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
    [[nodiscard]] bool in_doubt() const noexcept { return in_doubt_; }

    memory_map plain_index;
    faulty_records faulty_index{plain_index, {.sleep = [](std::chrono::nanoseconds) {}}};
    with_index<memory_map, memory_map> truth{plain, plain_index};
    with_index<faulty_records, faulty_records> remote{faulty, faulty_index};  // what the filter is given
    std::uint64_t audits = 0, struck = 0;

  private:
    using base::members_, base::orphans_, base::faulty_, base::orphan;

    // Only a fault may cause an error, and an error must leave the filter as it was.
    template <class Call>
    auto watched(Call&& call, const char* what) -> decltype(call()) {
        const auto before = faulty_ ? contents() : std::vector<std::uint64_t>{};
        auto outcome = call();
        in_doubt_ = !outcome;
        if (outcome) return outcome;
        this->note_failure(what, outcome.error());
        if (faulty_ && contents() != before) wrong.push_back(std::string{what} + " failed, and the filter has changed");
        return outcome;
    }

    bool ever_faulty_ = false, in_doubt_ = false;
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
