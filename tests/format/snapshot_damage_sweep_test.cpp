// Damaged snapshots, exhaustively: every truncation and every bit flip of a 64 KiB file must be
// refused (reliability figure "damaged snapshots"), and no mutation with corrected checksums may be
// read out of bounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "genista/detail/format/snapshot.hpp"
#include "tests/support/fix_checksums.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::snapshot_damage_sweep_test {
namespace {

using bytes = std::vector<std::byte>;

// Three sections of odd sizes and a parameter block, 65,536 bytes in all, padding included.
bytes snapshot_of_64_kib() {
    test::splitmix chance{3};
    const bytes parameters = chance.bytes(100);
    const bytes first = chance.bytes(1), second = chance.bytes(30'001), third = chance.bytes(35'100);
    const std::span<const std::byte> sections[] = {first, second, third};
    vector_sink out;
    EXPECT_TRUE(write_snapshot(out, {.kind = snapshot_kind::bloom, .kind_version = 1}, parameters, sections));
    EXPECT_EQ(out.bytes().size(), 65'536u);
    return std::move(out).take();
}

TEST(snapshot_damage, every_truncation_of_64_kib_is_refused) {
    const bytes good = snapshot_of_64_kib();
    ASSERT_TRUE(open_snapshot(good));
    for (std::size_t length = 0; length < good.size(); ++length) {
        // A copy of exactly that length, so that a sanitizer detects a read past the end.
        const bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length));
        ASSERT_FALSE(open_snapshot(cut)) << "cut to " << length;
    }
}

TEST(snapshot_damage, every_bit_flip_of_64_kib_is_refused) {
    bytes damaged = snapshot_of_64_kib();
    std::size_t refused = 0;
    for (std::size_t bit = 0; bit < 8 * damaged.size(); ++bit) {
        const auto mask = static_cast<std::byte>(1u << bit % 8);
        damaged[bit / 8] ^= mask;
        const result<snapshot_view> view = open_snapshot(damaged);
        ASSERT_FALSE(view) << "bit " << bit;
        refused += view.error().code() == error_code::corrupt;
        damaged[bit / 8] ^= mask;
    }
    EXPECT_EQ(refused, 524'288u);
    EXPECT_TRUE(open_snapshot(damaged)) << "the flips were undone";
}

// The promises of a view that opened: its parts are inside the bytes, in order and aligned, and
// writing them again gives the same bytes (I1, I3).
void check_promises(const bytes& file, const snapshot_view& view) {
    const std::byte* end = file.data() + snapshot_header_bytes;
    ASSERT_EQ(view.parameters.data(), end);
    end += view.parameters.size();
    for (std::size_t i = 0; i < view.section_count; ++i) {
        ASSERT_GE(view.sections[i].data(), end);
        ASSERT_EQ((view.sections[i].data() - file.data()) % 64, 0);
        end = view.sections[i].data() + view.sections[i].size();
    }
    ASSERT_LE(end, file.data() + file.size());
    vector_sink again;
    ASSERT_TRUE(write_snapshot(again, view.info, view.parameters, std::span{view.sections}.first(view.section_count)));
    ASSERT_TRUE(std::ranges::equal(again.bytes(), file));
}

TEST(snapshot_damage, mutations_with_corrected_checksums_open_only_as_valid_snapshots) {
    test::splitmix chance{4};
    const bytes parameters = chance.bytes(70), first = chance.bytes(65), second = chance.bytes(200);
    const std::span<const std::byte> sections[] = {first, second};
    vector_sink out;
    ASSERT_TRUE(write_snapshot(out, {.kind = snapshot_kind::bloom, .kind_version = 1}, parameters, sections));
    const bytes good = std::move(out).take();

    std::size_t accepted = 0;
    constexpr std::size_t mutations = 200'000;
    for (std::size_t round = 0; round < mutations; ++round) {
        bytes mutant = good;
        for (auto edits = 1 + chance.below(3); edits > 0; --edits) {
            // Mostly in the lengths at [48, 128), which the reader computes with.
            const std::size_t at = chance.below(2) == 0 ? 48 + chance.below(80) : chance.below(mutant.size());
            mutant[at] = static_cast<std::byte>(chance.below(3) == 0 ? chance.below(256) : chance.below(4) * 64);
        }
        if (chance.below(4) == 0) mutant.resize(192 + 64 * chance.below(12));
        if (chance.below(2) == 0) {
            test::fix_envelope(mutant);
        } else {
            test::fix_checksums(mutant);
        }
        const result<snapshot_view> view = open_snapshot(mutant);
        if (!view) continue;
        ++accepted;
        check_promises(mutant, *view);
        if (HasFatalFailure()) return;
    }
    // Both outcomes must be common, or the mutations test nothing.
    EXPECT_GT(accepted, mutations / 100);
    EXPECT_LT(accepted, mutations * 9 / 10);
}

}  // namespace
}  // namespace genista::snapshot_damage_sweep_test
