// Snapshots of every filter, damaged and forged many times.
//
// The sizes are the reliability figures: every truncation and every bit flip of a 64 KiB file, and
// 10^5 (long: 10^7) mutations whose checksums were repaired. Such a file may load as a filter that
// was never saved; it must then be a sound one, which answers, takes keys, saves and loads.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "filters/filter_snapshots.hpp"
#include "tests/support/scale.hpp"

namespace genista::snapshot_sweep_test {
namespace {

using bytes = test::file_bytes;
using test::saved, test::filled, test::filled_to_64_kib;

template <class Filter>
class snapshot_sweep : public ::testing::Test {};
TYPED_TEST_SUITE(snapshot_sweep, test::all_local_filters, test::filter_names);

TYPED_TEST(snapshot_sweep, every_truncation_of_64_kib_is_refused) {
    const bytes file = saved(filled_to_64_kib<TypeParam>());
    ASSERT_GT(file.size(), 65'000u);
    test::expect_truncations_refused<TypeParam>(file);
}

TYPED_TEST(snapshot_sweep, every_bit_flip_of_64_kib_is_refused) {
    const bytes file = saved(filled_to_64_kib<TypeParam>());
    ASSERT_GT(file.size(), 65'000u);
    test::expect_bit_flips_refused<TypeParam>(file);
}

// Changes a byte, sets a word to a special value, or resizes. Half of the changes are among the
// parameters, with which all size arithmetic starts.
void mutate(bytes& file, test::splitmix& chance) {
    constexpr std::uint64_t special[] = {0,
                                         1,
                                         2,
                                         63,
                                         64,
                                         512,
                                         0x7fffffff,
                                         0xffffffff,
                                         std::uint64_t{1} << 40,
                                         std::uint64_t{1} << 61,
                                         std::uint64_t{1} << 63,
                                         ~std::uint64_t{0}};
    for (auto edits = 1 + chance.below(3); edits > 0; --edits) {
        const bool in_parameters = chance.below(2) == 0;
        const std::size_t at = in_parameters ? 192 + chance.below(128)
                                             : (chance.below(4) == 0 ? 10 : 192) + chance.below(file.size() - 200);
        const std::size_t width = std::size_t{1} << chance.below(4);
        if (at + width > file.size()) continue;
        switch (chance.below(4)) {
            case 0:
                file[at] ^= static_cast<std::byte>(1u << chance.below(8));
                break;
            case 1:
                test::put_little_endian(file, at, width, chance());
                break;
            case 2:
                test::put_little_endian(file, at, width, special[chance.below(std::size(special))]);
                break;
            default: {  // a little more or less, as an off-by-one error would give
                const std::uint64_t old = load_little_endian<std::uint64_t>(&file[std::min(at, file.size() - 8)]);
                test::put_little_endian(file, std::min(at, file.size() - 8), 8, old + chance.below(17) - 8);
            }
        }
    }
    if (chance.below(8) == 0) file.resize(192 + 64 * chance.below(2 * file.size() / 64));
}

TYPED_TEST(snapshot_sweep, forgeries_with_valid_checksums_give_an_error_or_a_sound_filter) {
    std::vector<bytes> originals;
    for (const double rate : {0.5, 1.0 / 256, 1.0 / 4096}) {
        originals.push_back(saved(filled<TypeParam>(1, rate)));
        originals.push_back(saved(filled<TypeParam>(400, rate)));
    }
    const auto rounds = test::scaled<std::uint64_t>(100'000, 10'000'000);
    const auto forge = [](bytes& file, test::splitmix& chance) {
        mutate(file, chance);
        test::repair(file);
    };
    test::expect_forgeries_refused_or_sound({originals, 11, rounds, rounds / 20, rounds * 19 / 20}, forge,
                                            test::exercise_snapshot<TypeParam>);
}

}  // namespace
}  // namespace genista::snapshot_sweep_test
