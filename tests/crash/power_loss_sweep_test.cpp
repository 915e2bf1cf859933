// Power loss: a script runs over a file system that records every call. The disk of many moments is
// rebuilt as power loss could have left it, and each image is opened
// (tests/support/power_loss_files.hpp says what a disk promises). Every write that was acknowledged
// and synced must be present, no present key may be denied, and the store must continue from there,
// into a second crash.
//
// In the mix: every second script writes past the guard too (indexed layout), and has a thread
// beside it that repairs, looks and saves. An image that was used further is a fork of the script's
// history, and its snapshots are put beside later images.
//
// GENISTA_IMAGES sets how many, for both layouts together.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/crash/forks.hpp"
#include "tests/crash/harness.hpp"
#include "tests/crash/repairs_beside.hpp"
#include "tests/crash/script.hpp"
#include "tests/support/power_loss_files.hpp"

namespace genista::test::power_loss_sweep_test {
namespace {

constexpr std::uint64_t steps_of_a_script = 700;
constexpr std::uint64_t images_of_a_script = 18;
constexpr std::uint64_t steps_for_a_task = 8;  // of the thread beside the script

class power_loss : public testing::TestWithParam<rocks::layout> {
  protected:
    struct count {
        std::uint64_t images = 0, from_snapshot = 0, second_from_snapshot = 0;
        std::uint64_t forked = 0, past_the_guard = 0, reindexed = 0, tasks = 0;
    };

    void run_script(std::uint64_t seed, std::uint64_t images) {
        const scratch place;
        disk_diary diary;
        const std::unique_ptr<rocksdb::Env> env =
            rocksdb::NewCompositeEnv(std::make_shared<power_loss_files>(diary, std::make_shared<unsynced_files>()));
        const bool mixed = seed % 2 == 0;
        script history{seed, place.path("table"), {.foreign = mixed ? 35u : 0u, .beside_repairs = mixed}};
        {
            auto store = either_store::open(place.path(), {.arrangement = GetParam(), .env = env.get()});
            ASSERT_TRUE(store) << store.error().message();
            std::optional<repairs_beside> repairs;
            if (mixed) repairs.emplace(**store, seed, script::keys);
            for (std::uint64_t i = 0; i < steps_of_a_script; ++i) {
                if (repairs && i % steps_for_a_task == 0) repairs->next();
                const auto done = history.step(
                    **store, [&](std::size_t n) { diary.note(2 * n); }, [&](std::size_t n) { diary.note(2 * n + 1); });
                ASSERT_TRUE(done) << done.error().message();
            }
            if (repairs) expect_no_trouble(*repairs);
            (void)history.look(**store);
            expect_readable(**store, history.possible(), "before the loss of power, script " + std::to_string(seed));
        }
        seen_.past_the_guard += history.past_the_guard();
        splitmix chance{seed};
        for (std::uint64_t i = 0; i < images && !HasFatalFailure(); ++i) {
            const std::size_t moment = 1 + chance.below(diary.moments());
            diary.draw(moment, chance, place.path(), place.path("image"));
            look_at(diary, moment, history, place, chance,
                    "script " + std::to_string(seed) + ", image " + std::to_string(i) + ", moment " +
                        std::to_string(moment) + " of " + std::to_string(diary.moments()));
        }
    }

    void expect_no_trouble(repairs_beside& repairs) {
        repairs.rest();
        seen_.tasks += repairs.tasks();
        EXPECT_FALSE(repairs.failure()) << *repairs.failure();
    }

    // Snapshots of an image of another moment, which was used further, are put beside this one's
    // own, or replace them.
    void mix(const scratch& place, splitmix& chance, std::string& story) {
        const std::string kept = place.path("kept");
        if (!std::filesystem::exists(kept) || chance.below(2) == 0) return;
        bring_snapshots(kept, place.path("image"), chance.below(3) == 0 ? mixing::instead : mixing::beside);
        ++seen_.forked;
        story += ", with snapshots of a fork";
    }

    void look_at(const disk_diary& diary, std::size_t moment, const script& history, const scratch& place,
                 splitmix& chance, std::string story) {
        std::size_t end = 0, durable = 0;
        std::set<std::size_t> acknowledged;
        for (const std::uint64_t note : diary.notes_before(moment)) {
            const std::size_t number = note / 2;
            if (note % 2 == 0) {
                end = number + 1;
                continue;
            }
            acknowledged.insert(number);
            if (history.steps()[number].makes_durable) durable = number + 1;
        }
        const auto possible =
            history.possible(end, durable, [&](std::size_t step) { return acknowledged.contains(step); });
        mix(place, chance, story);
        auto store = either_store::open(place.path("image"), {.arrangement = GetParam(), .snapshot_on_close = false});
        ASSERT_TRUE(store) << store.error().message() << "\n" << story;
        seen_.reindexed += (*store)->counters().foreign_writes > 0 ? 1u : 0u;
        expect_possible(**store, possible, story);
        ++seen_.images;
        seen_.from_snapshot += (*store)->origin() == rocks::filter_origin::snapshot ? 1u : 0u;
        if (HasFatalFailure()) return;
        go_on(*std::move(store), place, chance(), story);
    }

    // The same store is used further, without a last snapshot. Its snapshots are kept for other
    // images.
    void go_on(std::unique_ptr<either_store> store, const scratch& place, std::uint64_t seed, std::string story) {
        std::vector<std::set<std::uint32_t>> now(script::keys);
        for (std::uint32_t key = 0; key < script::keys; ++key)
            now[key] = {version_in(*store->get(ledger::name_of(key)))};
        splitmix chance{seed};
        const auto steps = 20 + chance.below(150);
        const auto snapshot_at = chance.below(steps);
        const bool foreign = store->is_indexed() && chance.below(4) == 0;
        for (std::uint64_t i = 0; i < steps; ++i) {
            const auto key = static_cast<std::uint32_t>(chance.below(script::keys));
            const std::uint32_t version =
                chance.below(3) == 0 ? ledger::absent : 1'000'000 + static_cast<std::uint32_t>(i);
            const auto done = write(*store, key, version, foreign && chance.below(10) == 0);
            ASSERT_TRUE(done) << done.error().message() << "\n" << story;
            now[key] = {version};
            if (i != snapshot_at) continue;
            const auto saved = save_whole(*store);
            ASSERT_TRUE(saved) << saved.error().message() << "\n" << story;
        }
        store.reset();
        mix(place, chance, story);
        auto again = either_store::open(place.path("image"), {.arrangement = GetParam(), .snapshot_on_close = false});
        ASSERT_TRUE(again) << again.error().message() << "\n" << story;
        seen_.reindexed += (*again)->counters().foreign_writes > 0 ? 1u : 0u;
        expect_possible(**again, now, "second life of " + story);
        seen_.second_from_snapshot += (*again)->origin() == rocks::filter_origin::snapshot ? 1u : 0u;
        again->reset();
        if (chance.below(2) == 0) copy_folder(snapshots_of(place.path("image")), place.path("kept"));
    }

    result<void> write(either_store& store, std::uint32_t key, std::uint32_t version, bool past_the_guard) {
        const std::string name = ledger::name_of(key);
        seen_.past_the_guard += past_the_guard ? 1u : 0u;
        if (version == ledger::absent) return past_the_guard ? store.erase_past_the_guard(name) : store.erase(name);
        const std::string value = ledger::value_of(version);
        return past_the_guard ? store.put_past_the_guard(name, value) : store.put(name, value);
    }
    static result<void> save_whole(either_store& store) {
        const auto saved = store.save();
        if (saved || saved.error().code() != error_code::mismatch) return saved;
        if (const auto repaired = store.repair(); !repaired) return repaired;
        return store.save();
    }

    count seen_;
};

TEST_P(power_loss, keeps_what_was_synced_and_denies_nothing) {
    const std::uint64_t wanted = amount("GENISTA_IMAGES", 70, 2000) / 2;
    for (std::uint64_t seed = 1; seen_.images < wanted && !HasFatalFailure(); ++seed)
        run_script(seed, std::min(images_of_a_script, wanted - seen_.images));
    if (HasFatalFailure()) return;
    EXPECT_GT(seen_.from_snapshot, wanted / 10);
    EXPECT_GT(seen_.second_from_snapshot, wanted / 10);
    EXPECT_GT(seen_.forked, wanted / 10);
    EXPECT_GT(seen_.tasks, wanted);
    const bool indexed = GetParam() == rocks::layout::indexed;
    EXPECT_EQ(seen_.past_the_guard > 0, indexed);
    EXPECT_EQ(seen_.reindexed > 0, indexed);
    std::printf(
        "%s: %llu images opened, %llu of them from a snapshot, %llu second lives from one; %llu times beside "
        "snapshots of a fork, %llu writes past the guard, %llu openings found some, %llu tasks beside\n",
        rocks::to_string(GetParam()).data(), static_cast<unsigned long long>(seen_.images),
        static_cast<unsigned long long>(seen_.from_snapshot),
        static_cast<unsigned long long>(seen_.second_from_snapshot), static_cast<unsigned long long>(seen_.forked),
        static_cast<unsigned long long>(seen_.past_the_guard), static_cast<unsigned long long>(seen_.reindexed),
        static_cast<unsigned long long>(seen_.tasks));
}

INSTANTIATE_TEST_SUITE_P(of, power_loss, testing::Values(rocks::layout::clustered, rocks::layout::indexed),
                         [](const auto& each) { return std::string{rocks::to_string(each.param)}; });

}  // namespace
}  // namespace genista::test::power_loss_sweep_test
