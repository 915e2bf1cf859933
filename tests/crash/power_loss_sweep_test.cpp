// Power loss: a script runs over a file system that keeps a diary, the disk of many moments is drawn as power loss could have
// left it, and each is opened (tests/support/power_loss_files.hpp has what a disk promises). What was acknowledged and synced
// must be there, nothing that is there may be denied, and the store must go on from there, into a second crash.
//
// GENISTA_IMAGES sets how many, for both layouts together.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/crash/harness.hpp"
#include "tests/crash/script.hpp"
#include "tests/support/power_loss_files.hpp"

namespace genista::test::power_loss_sweep_test {
namespace {

constexpr std::uint64_t steps_of_a_script = 700;
constexpr std::uint64_t images_of_a_script = 25;

class power_loss : public testing::TestWithParam<rocks::layout> {
  protected:
    struct count {
        std::uint64_t images = 0, from_snapshot = 0, second_from_snapshot = 0;
    };

    void run_script(std::uint64_t seed, std::uint64_t images) {
        const scratch place;
        disk_diary diary;
        const std::unique_ptr<rocksdb::Env> env =
            rocksdb::NewCompositeEnv(std::make_shared<power_loss_files>(diary, std::make_shared<unsynced_files>()));
        script history{seed, place.path("table")};
        {
            auto store = either_store::open(place.path(), {.arrangement = GetParam(), .env = env.get()});
            ASSERT_TRUE(store) << store.error().message();
            for (std::uint64_t i = 0; i < steps_of_a_script; ++i) {
                const auto done = history.step(
                    **store, [&](std::size_t n) { diary.note(2 * n); }, [&](std::size_t n) { diary.note(2 * n + 1); });
                ASSERT_TRUE(done) << done.error().message();
            }
        }
        splitmix chance{seed};
        for (std::uint64_t i = 0; i < images && !HasFatalFailure(); ++i) {
            const std::size_t moment = 1 + chance.below(diary.moments());
            diary.draw(moment, chance, place.path(), place.path("image"));
            look_at(diary, moment, history, place.path("image"), chance,
                    "script " + std::to_string(seed) + ", image " + std::to_string(i) + ", moment " +
                        std::to_string(moment) + " of " + std::to_string(diary.moments()));
        }
    }

    void look_at(const disk_diary& diary, std::size_t moment, const script& history, const std::string& image,
                 splitmix& chance, const std::string& story) {
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
        auto store = either_store::open(image, {.arrangement = GetParam(), .snapshot_on_close = false});
        ASSERT_TRUE(store) << store.error().message() << "\n" << story;
        expect_possible(**store, possible, story);
        ++seen_.images;
        seen_.from_snapshot += (*store)->origin() == rocks::filter_origin::snapshot ? 1u : 0u;
        if (HasFatalFailure()) return;
        go_on(*std::move(store), image, chance(), story);
    }

    // The same store lives on, and is left without a last snapshot.
    void go_on(std::unique_ptr<either_store> store, const std::string& image, std::uint64_t seed,
               const std::string& story) {
        std::vector<std::set<std::uint32_t>> now(script::keys);
        for (std::uint32_t key = 0; key < script::keys; ++key)
            now[key] = {version_in(*store->get(ledger::name_of(key)))};
        splitmix chance{seed};
        const auto steps = 20 + chance.below(150);
        const auto snapshot_at = chance.below(steps);
        for (std::uint64_t i = 0; i < steps; ++i) {
            const auto key = static_cast<std::uint32_t>(chance.below(script::keys));
            const std::uint32_t version =
                chance.below(3) == 0 ? ledger::absent : 1'000'000 + static_cast<std::uint32_t>(i);
            const auto done = version == ledger::absent ? store->erase(ledger::name_of(key))
                                                        : store->put(ledger::name_of(key), ledger::value_of(version));
            ASSERT_TRUE(done) << done.error().message() << "\n" << story;
            now[key] = {version};
            if (i != snapshot_at) continue;
            ASSERT_TRUE(store->save()) << story;
        }
        store.reset();
        auto again = either_store::open(image, {.arrangement = GetParam(), .snapshot_on_close = false});
        ASSERT_TRUE(again) << again.error().message() << "\n" << story;
        expect_possible(**again, now, "second life of " + story);
        seen_.second_from_snapshot += (*again)->origin() == rocks::filter_origin::snapshot ? 1u : 0u;
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
    std::printf("%s: %llu images opened, %llu of them from a snapshot, %llu second lives from one\n",
                rocks::to_string(GetParam()).data(), static_cast<unsigned long long>(seen_.images),
                static_cast<unsigned long long>(seen_.from_snapshot),
                static_cast<unsigned long long>(seen_.second_from_snapshot));
}

INSTANTIATE_TEST_SUITE_P(of, power_loss, testing::Values(rocks::layout::clustered, rocks::layout::indexed),
                         [](const auto& each) { return std::string{rocks::to_string(each.param)}; });

}  // namespace
}  // namespace genista::test::power_loss_sweep_test
