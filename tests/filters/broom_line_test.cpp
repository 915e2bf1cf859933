// broom::line compared with a reference model: (quotient, remainder) pairs in two halves.
#include "filters/broom/line.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <vector>

#include "tests/support/splitmix.hpp"

namespace genista::broom::broom_line_test {
namespace {

// For each half its remainders by quotient, in order of insertion within a run.
struct plain_line {
    std::array<std::vector<std::uint8_t>, quotients_per_bin> runs;

    [[nodiscard]] unsigned used(bool mirrored) const {
        unsigned all = 0;
        for (unsigned q = 0; q < quotients_per_half; ++q) all += static_cast<unsigned>(of(mirrored, q).size());
        return all;
    }
    [[nodiscard]] const std::vector<std::uint8_t>& of(bool mirrored, unsigned quotient) const {
        return runs[quotient + (mirrored ? quotients_per_half : 0)];
    }
    [[nodiscard]] std::uint64_t matches(line_key key) const {
        unsigned rank = 0;
        for (unsigned q = 0; q < key.quotient_in_half(); ++q)
            rank += static_cast<unsigned>(of(key.mirrored(), q).size());
        std::uint64_t found = 0;
        for (const std::uint8_t remainder : runs[key.quotient]) {
            if (remainder == key.remainder) found |= std::uint64_t{1} << line::slot_of(key.mirrored(), rank);
            ++rank;
        }
        return found;
    }
};

void expect_same(const line& packed, const plain_line& plain) {
    const unsigned ones =
        static_cast<unsigned>(std::popcount(packed.words[0]) + std::popcount(packed.words[1] & 0xffffffffffffu));
    ASSERT_EQ(ones, 64u) << "I1";
    for (const bool mirrored : {false, true}) ASSERT_EQ(packed.used(mirrored), plain.used(mirrored));
    for (unsigned quotient = 0; quotient < quotients_per_bin; ++quotient) {
        const rank_range range = packed.ranks({quotient, 0});
        ASSERT_EQ(range.size(), plain.runs[quotient].size()) << quotient;
        for (unsigned i = 0; i < range.size(); ++i) {
            ASSERT_EQ(packed.remainder(line::slot_of(quotient >= quotients_per_half, range.first + i)),
                      plain.runs[quotient][i]);
        }
    }
}

TEST(broom_line, filling_equals_inserting_one_by_one) {
    test::splitmix chance{17};
    for (int round = 0; round < 5000; ++round) {
        line one_by_one = line::empty();
        one_by_one.set_salt(static_cast<std::uint8_t>(chance.below(256)));
        line filled = one_by_one;
        const std::uint64_t tries = chance.below(80), quotients = 1 + chance.below(quotients_per_bin);
        std::vector<line_key> keys;
        for (std::uint64_t i = 0; i < tries; ++i) {
            const line_key key{static_cast<unsigned>((chance.below(quotients) + static_cast<unsigned>(round)) % 64),
                               static_cast<std::uint8_t>(chance.below(256))};
            if (!one_by_one.has_room(key.mirrored())) continue;
            (void)one_by_one.insert(key);
            keys.push_back(key);
        }
        std::array<std::uint8_t, slots_per_bin> slots{};
        filled.fill(keys, slots);
        ASSERT_EQ(filled, one_by_one) << round;
        for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(filled.remainder(slots[i]), keys[i].remainder);
    }
}

TEST(broom_line, an_empty_line_has_room_and_matches_nothing) {
    const line empty = line::empty();
    EXPECT_EQ(empty.used(), 0u);
    for (unsigned quotient = 0; quotient < quotients_per_bin; ++quotient) {
        for (unsigned r = 0; r < 256; ++r) ASSERT_EQ(empty.matches({quotient, static_cast<std::uint8_t>(r)}), 0u);
    }
}

TEST(broom_line, agrees_with_the_model_after_every_insert_until_it_is_full) {
    test::splitmix chance{1};
    for (int round = 0; round < 2000; ++round) {
        line packed = line::empty();
        packed.set_salt(static_cast<std::uint8_t>(round));
        packed.set_overflow(static_cast<std::uint8_t>(round * 7));
        plain_line plain;
        // Some rounds use few quotients, some one half, some all of them.
        const std::uint64_t quotients = round % 3 == 0 ? 3 : round % 3 == 1 ? 32 : 64;
        const std::uint64_t first = round % 2 == 0 ? 0 : 64 - quotients;
        for (int refused = 0; refused < 20;) {
            const line_key key{static_cast<unsigned>(first + chance.below(quotients)),
                               static_cast<std::uint8_t>(chance.below(8) * 31)};
            const bool room =
                plain.used(key.mirrored()) < slots_per_half && plain.used(false) + plain.used(true) < slots_per_bin;
            ASSERT_EQ(packed.has_room(key.mirrored()), room);
            ASSERT_EQ(packed.matches(key), plain.matches(key));
            if (!room) {
                ++refused;
                continue;
            }
            const unsigned rank = packed.insert(key);
            plain.runs[key.quotient].push_back(key.remainder);
            ASSERT_EQ(packed.remainder(line::slot_of(key.mirrored(), rank)), key.remainder);
            expect_same(packed, plain);
            ASSERT_EQ(packed.salt(), static_cast<std::uint8_t>(round));
            ASSERT_EQ(packed.overflow(), static_cast<std::uint8_t>(round * 7));
        }
    }
}

TEST(broom_line, look_ups_in_any_bytes_are_safe) {
    test::splitmix chance{2};
    for (int round = 0; round < 20'000; ++round) {
        line torn;
        for (auto& word : torn.words) word = chance.below(3) == 0 ? 0 : chance();
        for (unsigned quotient = 0; quotient < quotients_per_bin; ++quotient) {
            const std::uint64_t found = torn.matches({quotient, static_cast<std::uint8_t>(chance())});
            ASSERT_EQ(found >> slots_per_bin, 0u);
        }
    }
}

}  // namespace
}  // namespace genista::broom::broom_line_test
