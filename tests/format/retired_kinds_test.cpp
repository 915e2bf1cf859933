// Snapshots of structures of papers/, which earlier versions wrote: whatever opens one refuses it
// by name. tests/retired has one file of each kind as it was written then.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "genista/detail/format/snapshot.hpp"
#include "genista/detail/oracles/any_oracle.hpp"
#include "genista/filters/bloom.hpp"
#include "genista/filters/broom.hpp"
#include "genista/filters/cuckooing.hpp"
#include "genista/format/mapped_file.hpp"

namespace genista::retired_kinds_test {
namespace {

struct retired {
    unsigned number;
    std::string_view name;
};
constexpr retired all_retired[] = {{5, "cuckoo"},      {7, "cyclic"},     {8, "swapping"},
                                   {9, "broom_paper"}, {12, "whitelist"}, {26, "weighted_bloom"}};

buffer old_file(std::string_view name) {
    auto file = read_file(
        std::string{GENISTA_SOURCE_DIR} + "/tests/retired/" + std::string{name} + "-v1-keyed.snapshot", 1 << 20);
    EXPECT_TRUE(file) << file.error().message();
    return *std::move(file);
}

TEST(retired_kinds, keep_their_numbers_and_names) {
    std::size_t found = 0;
    for (unsigned kind = 0; kind < 65'536; ++kind) found += is_retired(static_cast<snapshot_kind>(kind)) ? 1u : 0u;
    EXPECT_EQ(found, std::size(all_retired));
    for (const retired& each : all_retired) {
        EXPECT_TRUE(is_retired(static_cast<snapshot_kind>(each.number))) << each.name;
        EXPECT_EQ(to_string(static_cast<snapshot_kind>(each.number)), each.name);
    }
}

template <class Loaded>
void expect_refused_by_name(const Loaded& loaded, const retired& each) {
    ASSERT_FALSE(loaded) << each.name;
    EXPECT_EQ(loaded.error().code(), error_code::unsupported);
    EXPECT_EQ(loaded.error().message(), "snapshot of kind " + std::to_string(each.number) + " (" +
                                            std::string{each.name} +
                                            "); this version no longer reads snapshots of that filter");
}

TEST(retired_kinds, are_refused_by_name_whatever_loads_them) {
    for (const retired& each : all_retired) {
        const buffer file = old_file(each.name);
        expect_refused_by_name(open_snapshot(file.bytes()), each);
        expect_refused_by_name(bloom_filter::load(file.bytes()), each);
        expect_refused_by_name(broom_filter::load(file.bytes()), each);
        expect_refused_by_name(cuckooing_filter::load(file.bytes()), each);
        expect_refused_by_name(any_oracle::load(file.bytes()), each);
    }
}

// A damaged file of such a kind is damaged first.
TEST(retired_kinds, damage_is_reported_as_damage) {
    for (const retired& each : all_retired) {
        const buffer file = old_file(each.name);
        const auto cut = open_snapshot(file.bytes().first(file.bytes().size() - 1));
        ASSERT_FALSE(cut);
        EXPECT_EQ(cut.error().code(), error_code::corrupt) << each.name;
    }
}

}  // namespace
}  // namespace genista::retired_kinds_test
