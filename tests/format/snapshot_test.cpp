// The snapshot envelope: writing, reading, damage, and kinds that are no longer read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "genista/detail/format/snapshot.hpp"
#include "genista/detail/oracles/any_oracle.hpp"
#include "genista/filters/bloom.hpp"
#include "genista/filters/broom.hpp"
#include "genista/filters/cuckooing.hpp"
#include "genista/format/mapped_file.hpp"
#include "tests/support/fix_checksums.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::snapshot_test {
namespace {

// ---- the envelope -------------------------------------------------------------------------------

// The snapshot format: a written file opens to the same contents, its bytes are those of
// docs/format.md, and every rule has an error that names it.

using bytes = std::vector<std::byte>;
using ::testing::HasSubstr;

snapshot_info some_info() {
    snapshot_info info{.kind = snapshot_kind::cuckoo_partial,
                       .kind_version = 3,
                       .hash_id = 2,
                       .key_id = 0x0123456789abcdef,
                       .store = {.sequence = 77}};
    for (std::size_t i = 0; i < 16; ++i) info.store.identity[i] = static_cast<std::byte>(0xf0 + i);
    return info;
}

bytes snapshot_of(const snapshot_info& info, const bytes& parameters, const std::vector<bytes>& sections) {
    vector_sink out;
    const std::vector<std::span<const std::byte>> views(sections.begin(), sections.end());
    const result<void> written = write_snapshot(out, info, parameters, views);
    EXPECT_TRUE(written) << written.error().message();
    return std::move(out).take();
}

bytes small_snapshot() {
    test::splitmix chance{5};
    return snapshot_of(some_info(), chance.bytes(40), {chance.bytes(100), chance.bytes(64)});
}

std::string refusal(std::span<const std::byte> damaged, error_code code = error_code::corrupt) {
    const result<snapshot_view> view = open_snapshot(damaged);
    if (view) return "accepted";
    EXPECT_EQ(view.error().code(), code) << view.error().message();
    return std::string{view.error().message()};
}

// The reference model: builds the same file by appending bytes, as docs/format.md describes it.
bytes as_documented(const snapshot_info& info, const bytes& parameters, const std::vector<bytes>& sections) {
    bytes made(192);
    test::put_little_endian(made, 10, 2, static_cast<std::uint64_t>(info.kind));
    test::put_little_endian(made, 12, 2, info.kind_version);
    test::put_little_endian(made, 14, 2, info.hash_id);
    test::put_little_endian(made, 16, 8, info.key_id);
    std::copy(info.store.identity.begin(), info.store.identity.end(), made.begin() + 24);
    test::put_little_endian(made, 40, 8, info.store.sequence);
    test::put_little_endian(made, 56, 4, parameters.size());
    test::put_little_endian(made, 60, 4, sections.size());
    const auto append = [&](const bytes& part) {
        made.insert(made.end(), part.begin(), part.end());
        while (made.size() % 64 != 0) made.push_back(std::byte{0});
    };
    append(parameters);
    for (std::size_t i = 0; i < sections.size(); ++i) {
        test::put_little_endian(made, 64 + 8 * i, 8, sections[i].size());
        append(sections[i]);
    }
    test::fix_envelope(made);
    return made;
}

TEST(snapshot, has_exactly_the_documented_bytes_and_opens_to_what_was_written) {
    test::splitmix chance{2};
    constexpr std::uint64_t edges[] = {0, 1, 63, 64, 65, 127, 128, 1000, 4096};
    for (int round = 0; round < 2'000; ++round) {
        snapshot_info info = some_info();
        do {
            info.kind = static_cast<snapshot_kind>(chance.below(65536));
        } while (is_retired(info.kind));
        info.kind_version = static_cast<std::uint16_t>(chance());
        info.hash_id = static_cast<std::uint16_t>(chance());
        info.key_id = chance();
        info.store.sequence = chance();
        const bytes parameters = chance.bytes(edges[chance.below(std::size(edges))]);
        std::vector<bytes> sections(chance.below(max_snapshot_sections + 1));
        std::vector<std::uint64_t> lengths;
        for (bytes& section : sections) {
            section = chance.bytes(edges[chance.below(std::size(edges))]);
            lengths.push_back(section.size());
        }

        const bytes written = snapshot_of(info, parameters, sections);
        ASSERT_EQ(written, as_documented(info, parameters, sections));
        const result<std::uint64_t> size = snapshot_size_bytes(parameters.size(), lengths);
        ASSERT_TRUE(size);
        ASSERT_EQ(*size, written.size());

        const result<snapshot_view> view = open_snapshot(written);
        ASSERT_TRUE(view) << view.error().message();
        ASSERT_EQ(view->info, info);
        ASSERT_TRUE(std::ranges::equal(view->parameters, parameters));
        ASSERT_EQ(view->section_count, sections.size());
        for (std::size_t i = 0; i < sections.size(); ++i) {
            ASSERT_TRUE(std::ranges::equal(view->sections[i], sections[i]));
            ASSERT_EQ((view->sections[i].data() - written.data()) % 64, 0) << "I1";
        }
        for (std::size_t i = sections.size(); i < max_snapshot_sections; ++i) ASSERT_TRUE(view->sections[i].empty());
    }
}

TEST(snapshot, opens_at_any_address) {
    const bytes good = small_snapshot();
    for (std::size_t shift = 0; shift < 64; ++shift) {
        bytes moved(shift + good.size());
        std::copy(good.begin(), good.end(), moved.begin() + static_cast<std::ptrdiff_t>(shift));
        EXPECT_TRUE(open_snapshot(std::span{moved}.subspan(shift)));
    }
}

TEST(snapshot, foreign_bytes_are_not_a_snapshot) {
    EXPECT_THAT(refusal({}), HasSubstr("not a Genista snapshot"));
    EXPECT_THAT(refusal(bytes(1)), HasSubstr("not a Genista snapshot"));
    EXPECT_THAT(refusal(bytes(100'000)), HasSubstr("not a Genista snapshot"));
    EXPECT_THAT(refusal(test::splitmix{9}.bytes(1000)), HasSubstr("not a Genista snapshot"));
}

TEST(snapshot, text_mode_damage_is_named) {
    const bytes good = small_snapshot();
    bytes unix_ends;  // CR LF → LF
    for (std::size_t i = 0; i < good.size(); ++i) {
        if (good[i] == std::byte{'\r'} && i + 1 < good.size() && good[i + 1] == std::byte{'\n'}) continue;
        unix_ends.push_back(good[i]);
    }
    bytes dos_ends;  // LF → CR LF
    for (const std::byte b : good) {
        if (b == std::byte{'\n'}) dos_ends.push_back(std::byte{'\r'});
        dos_ends.push_back(b);
    }
    bytes seven_bits = good;
    for (std::byte& b : seven_bits) b &= std::byte{0x7f};
    for (const bytes& damaged : {unix_ends, dos_ends, seven_bits})
        EXPECT_THAT(refusal(damaged), HasSubstr("text mode"));
}

TEST(snapshot, truncation_names_both_lengths) {
    const bytes good = small_snapshot();
    EXPECT_THAT(refusal(std::span{good}.first(5)), HasSubstr("truncated: 5 bytes, and the header alone has 192"));
    ASSERT_EQ(good.size(), 448u);
    EXPECT_THAT(refusal(std::span{good}.first(447)), HasSubstr("truncated: 447 bytes of 448"));
}

TEST(snapshot, trailing_bytes_are_refused) {
    bytes longer = small_snapshot();
    longer.push_back(std::byte{0});
    EXPECT_THAT(refusal(longer), HasSubstr("448 bytes is followed by 1 more"));
    longer.resize(longer.size() + 63);
    test::fix_checksums(longer);
    EXPECT_THAT(refusal(longer), HasSubstr("followed by 64 more"));
    test::fix_envelope(longer);
    EXPECT_THAT(refusal(longer), HasSubstr("add up"));
}

TEST(snapshot, another_format_version_is_unsupported_and_both_are_named) {
    for (const std::uint64_t version : {0u, 3u, 65535u}) {
        bytes other = small_snapshot();
        test::put_little_endian(other, 8, 2, version);
        EXPECT_THAT(refusal(other), HasSubstr("header damaged")) << "a flipped bit is damage, not a new version";
        test::fix_checksums(other);
        EXPECT_THAT(refusal(other, error_code::unsupported),
                    HasSubstr("format version " + std::to_string(version) + "; this library reads versions 1 and 2"));
    }
}

TEST(snapshot, every_reserved_byte_must_be_zero) {
    for (std::size_t at = 144; at < 184; ++at) {
        bytes other = small_snapshot();
        other[at] = std::byte{1};
        test::fix_checksums(other);
        EXPECT_THAT(refusal(other), HasSubstr("reserved"));
    }
}

TEST(snapshot, every_padding_byte_must_be_zero) {
    const bytes good = small_snapshot();
    std::vector<std::size_t> padding;
    for (std::size_t at = 192 + 40; at < 256; ++at) padding.push_back(at);
    for (std::size_t at = 256 + 100; at < 384; ++at) padding.push_back(at);
    for (const std::size_t at : padding) {
        bytes other = good;
        other[at] = std::byte{0x80};
        test::fix_checksums(other);
        EXPECT_THAT(refusal(other), HasSubstr("padding"));
    }
}

TEST(snapshot, lengths_that_do_not_fit_are_refused_without_overflow) {
    const bytes good = small_snapshot();
    constexpr std::uint64_t top = std::numeric_limits<std::uint64_t>::max();
    for (std::uint64_t near : {std::uint64_t{0}, std::uint64_t{1} << 31, std::uint64_t{1} << 32, std::uint64_t{1} << 62,
                               std::uint64_t{1} << 63, top}) {
        for (std::uint64_t offset = 0; offset < 600; ++offset) {
            for (const std::uint64_t length : {near + offset, near - offset}) {
                for (std::size_t section = 0; section < 8; ++section) {
                    const std::size_t at = 64 + 8 * section;
                    bytes other = good;
                    if (section < 2 && load_little_endian<std::uint64_t>(&other[at]) == length) continue;
                    if (section >= 2 && length == 0) continue;
                    test::put_little_endian(other, at, 8, length);
                    test::fix_checksums(other);
                    const std::string why = refusal(other);
                    // A length that does not change the padded sum moves bytes between section and
                    // padding.
                    if (section < 2 && (length + 63) / 64 == (section == 0 ? 2u : 1u) && length <= 128) {
                        ASSERT_THAT(why, ::testing::AnyOf(HasSubstr("padding"), HasSubstr("accepted")));
                    } else {
                        ASSERT_THAT(why, ::testing::AnyOf(HasSubstr("add up"), HasSubstr("gives a length")));
                    }
                }
                bytes other = good;
                test::put_little_endian(other, 48, 8, length);
                test::fix_checksums(other);
                ASSERT_THAT(refusal(other), HasSubstr(length == good.size() ? "accepted" : "add up"));
            }
        }
    }
}

TEST(snapshot, too_many_parameters_or_sections_are_refused_on_opening) {
    for (const std::uint64_t count : {std::uint64_t{9}, std::uint64_t{255}, std::uint64_t{0xffffffff}}) {
        bytes other = small_snapshot();
        test::put_little_endian(other, 60, 4, count);
        test::fix_checksums(other);
        EXPECT_THAT(refusal(other), HasSubstr("at most 4096 and 8"));
    }
    for (const std::uint64_t length : {std::uint64_t{4097}, std::uint64_t{0xffffffff}}) {
        bytes other = small_snapshot();
        test::put_little_endian(other, 56, 4, length);
        test::fix_checksums(other);
        EXPECT_THAT(refusal(other), HasSubstr("at most 4096 and 8"));
    }
    bytes fewer = small_snapshot();
    test::put_little_endian(fewer, 60, 4, 1);
    test::fix_checksums(fewer);
    EXPECT_THAT(refusal(fewer), HasSubstr("gives a length to section 1"));
}

TEST(snapshot, an_unknown_kind_opens_but_no_loader_takes_it) {
    snapshot_info info = some_info();
    info.kind = static_cast<snapshot_kind>(4711);
    const bytes strange = snapshot_of(info, {}, {bytes(8)});
    const result<snapshot_view> view = open_snapshot(strange);
    ASSERT_TRUE(view);
    EXPECT_EQ(to_string(view->info.kind), "unknown");
    const result<snapshot_view> loaded = open_snapshot_as(snapshot_kind::bloom, 1, 1, strange);
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code(), error_code::mismatch);
    EXPECT_EQ(loaded.error().message(), "snapshot of kind 4711 (unknown), not of kind 1 (bloom)");
}

TEST(snapshot, a_loader_refuses_other_kind_versions_and_section_counts) {
    const bytes good = small_snapshot();  // cuckoo_partial, kind version 3, two sections
    EXPECT_TRUE(open_snapshot_as(snapshot_kind::cuckoo_partial, 3, 2, good));
    const result<snapshot_view> newer = open_snapshot_as(snapshot_kind::cuckoo_partial, 2, 2, good);
    ASSERT_FALSE(newer);
    EXPECT_EQ(newer.error().code(), error_code::unsupported);
    EXPECT_THAT(std::string{newer.error().message()}, HasSubstr("kind version 3; this library reads versions 1 to 2"));
    const result<snapshot_view> fewer = open_snapshot_as(snapshot_kind::cuckoo_partial, 3, 1, good);
    ASSERT_FALSE(fewer);
    EXPECT_EQ(fewer.error().code(), error_code::corrupt);
    EXPECT_FALSE(open_snapshot_as(snapshot_kind::cuckoo_partial, 3, 2, std::span{good}.first(100)));

    snapshot_info info = some_info();
    info.kind_version = 0;
    EXPECT_FALSE(open_snapshot_as(snapshot_kind::cuckoo_partial, 3, 0, snapshot_of(info, {}, {})));
}

TEST(snapshot, sizes_are_exact_up_to_the_largest_file_and_an_error_beyond) {
    constexpr std::uint64_t limit = std::numeric_limits<std::int64_t>::max();
    constexpr std::uint64_t largest = limit - 63 - 192;  // the last multiple of 64 that fits behind the header
    static_assert((largest + 192 + 64) % 64 == 0);
    const auto size_of = [](std::uint64_t parameters, std::vector<std::uint64_t> lengths) {
        return snapshot_size_bytes(parameters, lengths);
    };
    EXPECT_EQ(*size_of(0, {}), 192u);
    EXPECT_EQ(*size_of(4096, {1}), 192u + 4096 + 64);
    EXPECT_EQ(*size_of(0, {largest}), limit - 63);
    EXPECT_EQ(*size_of(0, {1, largest - 64}), limit - 63);
    for (const std::uint64_t length : {largest + 1, limit, limit + 1, ~std::uint64_t{0} - 63, ~std::uint64_t{0}}) {
        EXPECT_FALSE(size_of(0, {length})) << length;
        EXPECT_FALSE(size_of(0, {64, length})) << length;
        EXPECT_FALSE(size_of(64, {length, 64})) << length;
    }
    EXPECT_FALSE(size_of(0, {largest, 1}));
    EXPECT_FALSE(size_of(1, {largest}));
    EXPECT_FALSE(size_of(4097, {}));
    EXPECT_FALSE(size_of(~std::uint64_t{0}, {}));
    EXPECT_FALSE(size_of(0, std::vector<std::uint64_t>(9)));
}

TEST(snapshot, too_much_is_refused_before_a_byte_is_written) {
    vector_sink out;
    const result<void> parameters = write_snapshot(out, some_info(), bytes(4097), {});
    ASSERT_FALSE(parameters);
    EXPECT_EQ(parameters.error().message(), "snapshot parameters of 4097 bytes; at most 4096 are allowed");
    const std::vector<std::span<const std::byte>> many(20);
    const result<void> sections = write_snapshot(out, some_info(), {}, many);
    ASSERT_FALSE(sections);
    EXPECT_EQ(sections.error().message(), "20 snapshot sections; at most 8 are allowed");
    EXPECT_TRUE(out.bytes().empty());
}

// Fails at the j-th write, in one of three manners, and counts the calls after it, which must be
// none.
class failing_sink final : public sink {
  public:
    enum class manner { error, exception, no_memory, other };
    failing_sink(std::size_t at, manner how) : left_{at}, how_{how} {}
    result<void> write(std::span<const std::byte> piece) override {
        ++calls;
        largest = std::max(largest, piece.size());
        if (left_-- != 0) return {};
        if (how_ == manner::exception) throw std::runtime_error{"disk on fire"};
        if (how_ == manner::no_memory) throw std::bad_alloc{};
        if (how_ == manner::other) throw 42;
        return error::make(error_code::timeout, "the j-th write");
    }
    std::size_t calls = 0;
    std::size_t largest = 0;

  private:
    std::size_t left_;
    manner how_;
};

TEST(snapshot, the_first_failed_write_is_reported_and_is_the_last) {
    const bytes part(100);
    const std::vector<std::span<const std::byte>> sections(3, part);
    failing_sink healthy{1000, failing_sink::manner::error};
    ASSERT_TRUE(write_snapshot(healthy, some_info(), part, sections));
    ASSERT_GE(healthy.calls, 5u);
    for (std::size_t j = 0; j < healthy.calls; ++j) {
        using manner = failing_sink::manner;
        for (const auto& [how, code] :
             {std::pair{manner::error, error_code::timeout}, std::pair{manner::exception, error_code::io},
              std::pair{manner::no_memory, error_code::out_of_memory}, std::pair{manner::other, error_code::io}}) {
            failing_sink out{j, how};
            const result<void> written = write_snapshot(out, some_info(), part, sections);
            ASSERT_FALSE(written);
            EXPECT_EQ(written.error().code(), code);
            EXPECT_EQ(out.calls, j + 1);
        }
    }
}

// ---- retired kinds ------------------------------------------------------------------------------

// Snapshots of structures of papers/, which earlier versions wrote: whatever opens one refuses it
// by name. tests/retired has one file of each kind as it was written then.

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
}  // namespace genista::snapshot_test
