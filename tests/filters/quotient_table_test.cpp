// The quotient table against a reference model: a list of entries for every quotient.
#include "filters/quotient_table.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <vector>

#include "tests/support/splitmix.hpp"

namespace genista::quotient_table_test {
namespace {

struct entry {
    std::uint64_t value, more;
    bool operator==(const entry&) const = default;
};
using model = std::map<std::uint64_t, std::vector<entry>>;

std::vector<entry> run_in(const quotient_table& table, std::uint64_t quotient) {
    std::vector<entry> found;
    const auto run = table.run_of(quotient);
    for (std::uint64_t slot = run.first; slot < run.last; ++slot) found.push_back({table[slot], table.more(slot)});
    return found;
}

void expect_alike(const quotient_table& table, const model& truth) {
    const auto checked = table.check();
    ASSERT_TRUE(checked) << checked.error().message();
    std::uint64_t size = 0;
    for (std::uint64_t quotient = 0; quotient < table.quotients(); ++quotient) {
        const auto found = truth.find(quotient);
        const std::vector<entry> wanted = found == truth.end() ? std::vector<entry>{} : found->second;
        ASSERT_EQ(run_in(table, quotient), wanted) << "quotient " << quotient;
        size += wanted.size();
    }
    ASSERT_EQ(table.size(), size);
}

void drive(const quotient_shape& shape, double load, std::uint64_t seed) {
    auto made = quotient_table::make(shape);
    ASSERT_TRUE(made) << made.error().message();
    quotient_table& table = *made;
    model truth;
    test::splitmix chance{seed};
    const auto most = static_cast<std::uint64_t>(load * static_cast<double>(shape.quotients));
    std::uint64_t refused = 0;
    for (int step = 0; step < 4000; ++step) {
        const std::uint64_t quotient = chance() % shape.quotients;
        if (table.size() < most && chance() % 5 < 3) {
            const entry e{chance() & bits::low_mask(shape.bits), chance() & bits::low_mask(shape.more_bits)};
            const bool room = table.has_room(quotient);
            const auto slot = table.insert(quotient, e.value, e.more);
            ASSERT_EQ(room, slot.has_value());
            if (slot) {
                ASSERT_LE(*slot - quotient, shape.window);
                truth[quotient].push_back(e);
            } else {
                ++refused;
            }
        } else if (const std::uint64_t with_run = table.next_occupied(quotient); with_run < shape.quotients) {
            const auto run = table.run_of(with_run);
            const std::uint64_t which = chance() % run.size();
            table.erase(with_run, run.first + which);
            auto& list = truth[with_run];
            list.erase(list.begin() + static_cast<std::ptrdiff_t>(which));
            if (list.empty()) truth.erase(with_run);
        }
        if (step % 50 == 0) expect_alike(table, truth);
        if (::testing::Test::HasFatalFailure()) return;
    }
    expect_alike(table, truth);
    if (shape.window < 8) {
        EXPECT_GT(refused, 0u);
    }
}

TEST(quotient_table, behaves_like_one_list_per_quotient) {
    drive({.quotients = 200, .bits = 5, .more_bits = 0, .window = 64}, 0.8, 1);
    drive({.quotients = 1000, .bits = 9, .more_bits = 15, .window = 96}, 0.9, 2);
    drive({.quotients = 64, .bits = 64, .more_bits = 64, .window = 1000}, 1.0, 3);
    drive({.quotients = 3000, .bits = 1, .more_bits = 0, .window = 60'000}, 0.97, 4);
}

TEST(quotient_table, refuses_entries_that_would_slide_beyond_its_window_and_changes_nothing) {
    drive({.quotients = 300, .bits = 7, .more_bits = 3, .window = 5}, 0.9, 5);
    drive({.quotients = 1, .bits = 3, .more_bits = 0, .window = 1}, 100, 6);
}

TEST(quotient_table, refuses_invalid_shapes) {
    for (const quotient_shape& shape :
         {quotient_shape{.quotients = 0}, quotient_shape{.bits = 0}, quotient_shape{.bits = 65},
          quotient_shape{.more_bits = 65}, quotient_shape{.window = 0}, quotient_shape{.window = 60'001}}) {
        EXPECT_FALSE(quotient_table::make(shape));
    }
}

TEST(quotient_table, loads_its_own_bytes_and_no_others) {
    const quotient_shape shape{.quotients = 150, .bits = 6, .more_bits = 4, .window = 40};
    quotient_table table = *quotient_table::make(shape);
    test::splitmix chance{7};
    while (table.size() < 120) (void)table.insert(chance() % shape.quotients, chance() & 63, chance() & 15);
    const std::vector<std::byte> bytes{table.bytes().begin(), table.bytes().end()};
    const auto copy = quotient_table::from_bytes(shape, bytes);
    ASSERT_TRUE(copy) << copy.error().message();
    EXPECT_EQ(copy->size(), table.size());
    EXPECT_EQ(std::memcmp(copy->bytes().data(), bytes.data(), bytes.size()), 0);
    EXPECT_FALSE(quotient_table::from_bytes(shape, std::span{bytes}.first(bytes.size() - 8)));
    // Every flipped bit of the metadata is detected.
    const std::uint64_t metadata = 2 * table.slots() + table.slots() / 64 * 16;
    for (std::uint64_t bit = 0; bit < metadata; ++bit) {
        std::vector<std::byte> damaged = bytes;
        damaged[bit / 8] ^= std::byte{1} << bit % 8;
        const auto loaded = quotient_table::from_bytes(shape, damaged);
        EXPECT_FALSE(loaded && loaded->size() == table.size()) << "bit " << bit;
    }
}

}  // namespace
}  // namespace genista::quotient_table_test
