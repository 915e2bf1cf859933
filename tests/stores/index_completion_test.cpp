// The index is completed (after writes past the guard, by repair() or the keeper's thread) while another thread looks for
// foreign writes, saves, ingests or asks for a re-index. What that thread finds is not what the scan has met.
#include <gmock/gmock.h>

#include <functional>

#include "genista/base/fail_point.hpp"
#include "tests/stores/guarded_db_world.hpp"

namespace genista::test::index_completion_test {
namespace {

constexpr std::uint64_t some = 300;
constexpr std::uint64_t late = 999'999;

// Does something once, when the scan is over and the index not yet called whole.
class after_the_scan {
  public:
    explicit after_the_scan(std::function<void()> what) {
        todo() = std::move(what);
        at_fail_point = &hook;
    }
    after_the_scan(const after_the_scan&) = delete;
    after_the_scan& operator=(const after_the_scan&) = delete;
    ~after_the_scan() { at_fail_point = nullptr; }

  private:
    static std::function<void()>& todo() {
        static std::function<void()> one;
        return one;
    }
    static void hook(const char* point) {
        if (std::string_view{point} != "index.filled" || !todo()) return;
        const std::function<void()> once = std::exchange(todo(), nullptr);
        once();
    }
};

guarded_db_options without_thread() {
    guarded_db_options options = test_options();
    options.keeper.every = std::chrono::milliseconds{0};
    return options;
}

struct finder {
    const char* name;
    void (*find)(guarded_db&);
};

class index_completion : public testing::TestWithParam<finder> {};

TEST_P(index_completion, does_not_hide_what_another_thread_found_beside_it) {
    const scratch folder;
    {
        const auto db = open_guarded(folder.path(), without_thread());
        for (std::uint64_t i = 0; i < some; ++i) ASSERT_TRUE(db->Put({}, key_number(i), "value").ok());
        ASSERT_TRUE(db->base().Put({}, key_number(some), "past the guard").ok());
        EXPECT_FALSE(db->look_for_foreign_writes());
        {
            const after_the_scan then{[&] {
                ASSERT_TRUE(db->base().Put({}, key_number(late), "behind the scan").ok());
                GetParam().find(*db);
            }};
            EXPECT_FALSE(db->repair());  // a key came behind the scan
        }
        std::string value;
        EXPECT_TRUE(db->Get({}, key_number(late), &value).ok());
        EXPECT_TRUE(db->repair());
        EXPECT_TRUE(db->Get({}, key_number(late), &value).ok());
        expect_sound(*db);
        EXPECT_TRUE(db->Close().ok());
    }
    const auto db = open_guarded(folder.path(), without_thread());
    std::string value;
    EXPECT_TRUE(db->Get({}, key_number(late), &value).ok());
    EXPECT_TRUE(db->Get({}, key_number(some), &value).ok());
    expect_sound(*db);
}

constexpr finder finders[] = {
    {"look", [](guarded_db& db) { EXPECT_FALSE(db.look_for_foreign_writes()); }},
    {"save", [](guarded_db& db) { EXPECT_FALSE(db.keeper().save()); }},
    {"repair_everywhere", [](guarded_db& db) { db.inner_gate().need_repair_everywhere(false); }},
};

INSTANTIATE_TEST_SUITE_P(by, index_completion, testing::ValuesIn(finders),
                         [](const auto& each) { return std::string{each.param.name}; });

}  // namespace
}  // namespace genista::test::index_completion_test
