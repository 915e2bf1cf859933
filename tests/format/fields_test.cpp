// field_writer and field_reader: the bytes are fixed, and the reader is defined for any bytes.
#include "genista/detail/format/fields.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/splitmix.hpp"

namespace genista::fields_test {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
    std::vector<std::byte> made;
    for (const int v : values) made.push_back(static_cast<std::byte>(v));
    return made;
}

TEST(field_writer, writes_little_endian_without_gaps) {
    field_writer fields;
    fields.u8(0x01).u16(0x0203).u32(0x04050607).u64(0x08090a0b0c0d0e0f).f64(1.0).bytes(bytes_of({0xaa, 0xbb}));
    const auto expected = bytes_of({0x01, 0x03, 0x02, 0x07, 0x06, 0x05, 0x04, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a,
                                    0x09, 0x08, 0,    0,    0,    0,    0,    0,    0xf0, 0x3f, 0xaa, 0xbb});
    EXPECT_EQ(std::vector<std::byte>(fields.view().begin(), fields.view().end()), expected);
}

TEST(field_writer, refuses_the_byte_after_the_last_and_then_has_no_bytes) {
    field_writer fields;
    fields.bytes(std::vector<std::byte>(max_parameters_bytes - 8)).u64(7);
    EXPECT_EQ(fields.view().size(), max_parameters_bytes);
    EXPECT_FALSE(fields.overflowed());
    fields.bytes({});
    EXPECT_FALSE(fields.overflowed());
    fields.u8(0);
    EXPECT_TRUE(fields.overflowed());
    EXPECT_TRUE(fields.view().empty());
}

TEST(field_writer, overflow_stays_even_for_fields_that_would_fit) {
    field_writer fields;
    fields.u32(1).bytes(std::vector<std::byte>(max_parameters_bytes)).u8(1);
    EXPECT_TRUE(fields.overflowed());
    EXPECT_TRUE(fields.view().empty());
}

TEST(field_reader, reads_back_what_was_written) {
    field_writer fields;
    const auto raw = bytes_of({1, 2, 3});
    fields.u8(255).u16(65535).u32(4294967295u).u64(~std::uint64_t{0} - 1).f64(-0.1).bytes(raw).bytes(raw);
    field_reader reader{fields.view()};
    EXPECT_EQ(reader.u8(), 255);
    EXPECT_EQ(reader.u16(), 65535);
    EXPECT_EQ(reader.u32(), 4294967295u);
    EXPECT_EQ(reader.u64(), ~std::uint64_t{0} - 1);
    EXPECT_EQ(reader.f64(), -0.1);
    std::vector<std::byte> copied(3);
    reader.copy(copied);
    EXPECT_EQ(copied, raw);
    EXPECT_FALSE(reader.finished());
    EXPECT_EQ(reader.remaining_bytes(), 3u);
    const auto view = reader.bytes(3);
    EXPECT_EQ(std::vector<std::byte>(view.begin(), view.end()), raw);
    EXPECT_TRUE(reader.finished());
    EXPECT_TRUE(reader.bytes(0).empty());
    EXPECT_TRUE(reader.finished());
}

TEST(field_reader, keeps_every_double_bit_for_bit) {
    using limits = std::numeric_limits<double>;
    for (const double value : {0.0, -0.0, limits::infinity(), limits::denorm_min(), limits::max(), 1.0 / 256}) {
        field_writer fields;
        fields.f64(value);
        EXPECT_EQ(std::bit_cast<std::uint64_t>(field_reader{fields.view()}.f64()), std::bit_cast<std::uint64_t>(value));
    }
    field_writer fields;
    fields.f64(limits::quiet_NaN());
    EXPECT_TRUE(std::isnan(field_reader{fields.view()}.f64()));
}

TEST(field_reader, missing_bytes_are_zeros_and_a_failure_that_stays) {
    const auto three = bytes_of({1, 2, 3});
    field_reader reader{three};
    EXPECT_EQ(reader.u32(), 0u);
    EXPECT_TRUE(reader.failed());
    EXPECT_EQ(reader.u8(), 0) << "a byte is left, but nothing after a failure can be trusted";
    EXPECT_FALSE(reader.finished());
    std::vector<std::byte> out = bytes_of({9, 9});
    reader.copy(out);
    EXPECT_EQ(out, bytes_of({0, 0}));
    EXPECT_FALSE(field_reader{three}.failed());
    EXPECT_TRUE(field_reader{{}}.finished());
}

TEST(field_reader, huge_counts_fail_without_arithmetic_on_them) {
    const auto three = bytes_of({1, 2, 3});
    for (const std::size_t count :
         {std::size_t{4}, std::numeric_limits<std::size_t>::max(), std::numeric_limits<std::size_t>::max() / 2 + 1}) {
        field_reader reader{three};
        EXPECT_TRUE(reader.bytes(count).empty());
        EXPECT_TRUE(reader.failed());
    }
}

// Any sequence of reads over any bytes never reads past the end, and finished() holds exactly if
// the widths add up to the size.
TEST(field_reader, is_defined_for_random_reads_of_any_bytes) {
    test::splitmix chance{1};
    for (int round = 0; round < 200'000; ++round) {
        const std::vector<std::byte> bytes = chance.bytes(chance.below(24));
        field_reader reader{bytes};
        std::size_t asked = 0;
        for (auto reads = chance.below(6); reads > 0; --reads) {
            const std::size_t width = std::size_t{1} << chance.below(5);
            asked += width;
            switch (width) {
                case 1:
                    static_cast<void>(reader.u8());
                    break;
                case 2:
                    static_cast<void>(reader.u16());
                    break;
                case 4:
                    static_cast<void>(reader.u32());
                    break;
                case 8:
                    static_cast<void>(reader.f64());
                    break;
                default:
                    static_cast<void>(reader.bytes(width));
                    break;
            }
        }
        ASSERT_EQ(reader.failed(), asked > bytes.size());
        ASSERT_EQ(reader.finished(), asked == bytes.size());
    }
}

}  // namespace
}  // namespace genista::fields_test
