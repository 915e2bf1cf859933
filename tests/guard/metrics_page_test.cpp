// Pages of metrics, read by a strict reader of the format: one store and several, any labels,
// sampled histograms.
#include "genista/guard/metrics.hpp"

#include <gtest/gtest.h>

#include <string>

#include "genista/filters/broom.hpp"
#include "genista/guard/guarded.hpp"
#include "genista/guard/memory_store.hpp"
#include "tests/support/exposition.hpp"

namespace genista::test::metrics_page_test {
namespace {

std::string trouble_of(const std::string& page) {
    return exposition::read(page).trouble;
}

// The control: the reader must be able to refuse.
TEST(exposition, refuses_what_prometheus_would_or_should_not_get) {
    const std::string good =
        "# HELP a_total Of a.\n# TYPE a_total counter\na_total{x=\"1\"} 1\na_total{x=\"\\\"\\\\\\n\"} 2\n";
    EXPECT_EQ(trouble_of(good), "");
    EXPECT_EQ(exposition::read(good).value("a_total", {{"x", "\"\\\n"}}), 2.0);
    for (const char* bad : {
             "a_total 1\n",                                                                     // no HELP
             "# HELP a_total Of a.\na_total 1\n",                                               // no TYPE
             "# HELP a_total Of a.\n# TYPE a_total counter\n",                                  // no samples
             "# HELP a_total Of a.\n# TYPE a_total counter\na_total 1",                         // no end
             "# HELP a_total Of a.\n# TYPE a_total counter\na_total 1\na_total 2\n",            // twice
             "# HELP a_total Of a.\n# TYPE a_total counter\nb_total 1\n",                       // another name
             "# HELP a_total Of a.\n# TYPE a_total counter\na_total{x=\"\"\"} 1\n",             // not escaped
             "# HELP a_total Of a.\n# TYPE a_total counter\na_total{x=\"\\t\"} 1\n",            // unknown escape
             "# HELP a_total Of a.\n# TYPE a_total counter\na_total{x=\"a\nb\"} 1\n",           // end of line
             "# HELP a_total Of a.\n# TYPE a_total counter\na_total{x=\"1\",x=\"2\"} 1\n",      // label twice
             "# HELP a_total Of a.\n# TYPE a_total counter\na_total one\n",                     // no number
             "# HELP a_total Of a.\n# TYPE a_total gauge\na_total 1\n",                         // a gauge as a counter
             "# HELP h Of h.\n# TYPE h histogram\nh_bucket{le=\"1\"} 1\nh_sum 1\nh_count 1\n",  // no +Inf
             "# HELP h Of h.\n# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 1\n",
             "# HELP h Of h.\n# TYPE h histogram\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 2\n",
         }) {
        EXPECT_NE(trouble_of(bad), "") << bad;
    }
    EXPECT_NE(trouble_of(good + "# HELP b B.\n# TYPE b gauge\nb 1\n" + good), "") << "a name in two pieces";
}

struct guarded_users {
    memory_store store{hasher{hash_key::from_seed(5)}};
    guarded<broom_filter, memory_store> guard{
        *broom_filter::make({.capacity = 1000, .hash = hasher{hash_key::from_seed(5)}}), store};
};

TEST(metrics_page, of_one_store_is_valid_with_and_without_labels) {
    guarded_users users;
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(users.guard.put("key-" + std::to_string(i), "v"));
    for (int i = 0; i < 640; ++i) (void)users.guard.get("key-" + std::to_string(i));
    for (const metric_labels& labels : {metric_labels{}, metric_labels{{"store", "users"}, {"shard", "7"}}}) {
        const auto text = users.guard.metrics_text(labels);
        ASSERT_TRUE(text) << text.error().message();
        const exposition page = exposition::read(*text);
        EXPECT_EQ(page.trouble, "") << *text;
        exposition::label_set wanted;
        for (const metric_label& each : labels) wanted.emplace(each.name, each.value);
        EXPECT_EQ(page.value("genista_guard_queries_total", wanted), 640.0);
        EXPECT_EQ(page.value("genista_guard_keys", wanted), 300.0);
        EXPECT_EQ(page.value("genista_guard_foreign_writes_total", wanted), 0.0);
        EXPECT_EQ(page.value("genista_guard_ranges_pending_repair", wanted), 0.0);
        EXPECT_EQ(page.value("genista_guard_read_seconds_count", wanted),
                  page.value("genista_guard_reads_total", wanted));
        EXPECT_EQ(page.families.count("genista_build_info"), 1u);
        const auto& info = page.families.at("genista_build_info").samples.at("genista_build_info");
        ASSERT_EQ(info.size(), 1u);
        EXPECT_EQ(info.begin()->second, 1.0);
        EXPECT_EQ(info.begin()->first.count("version"), 1u);
    }
}

TEST(metrics_page, a_sampled_histogram_says_so_and_counts_its_samples) {
    guarded_users users;
    for (int i = 0; i < 640; ++i) (void)users.guard.get("key-" + std::to_string(i));
    const auto text = users.guard.metrics_text();
    ASSERT_TRUE(text);
    const exposition page = exposition::read(*text);
    EXPECT_EQ(page.value("genista_guard_queries_total"), 640.0);
    EXPECT_EQ(page.value("genista_guard_sampled_query_seconds_count"), 10.0);
    EXPECT_NE(page.families.at("genista_guard_sampled_query_seconds").help.find("one in 64"), std::string::npos);
    // Every other histogram has an entry for each event.
    for (const auto& [name, each] : page.families) {
        if (each.kind == "histogram" && name != "genista_guard_sampled_query_seconds") {
            EXPECT_EQ(name, "genista_guard_read_seconds");
            EXPECT_EQ(page.value(name + "_count"), page.value("genista_guard_reads_total"));
        }
    }
}

// Found in use: each store had its own HELP and TYPE, so that two stores made an invalid page.
TEST(metrics_page, several_stores_share_one_help_and_type_a_name) {
    guarded_users users, orders;
    for (int i = 0; i < 5; ++i) (void)users.guard.get("x");
    (void)orders.guard.get("x");
    metrics_page page;
    ASSERT_TRUE(users.guard.add_metrics(page, {{"store", "users"}}));
    ASSERT_TRUE(orders.guard.add_metrics(page, {{"store", "orders"}}));
    const exposition read = exposition::read(page.text());
    EXPECT_EQ(read.trouble, "") << page.text();
    EXPECT_EQ(read.value("genista_guard_queries_total", {{"store", "users"}}), 5.0);
    EXPECT_EQ(read.value("genista_guard_queries_total", {{"store", "orders"}}), 1.0);
    // The same labels again would make two samples of one series: the page stays unchanged.
    const std::string before = page.text();
    const auto again = orders.guard.add_metrics(page, {{"store", "orders"}});
    ASSERT_FALSE(again);
    EXPECT_NE(again.error().message().find("store=\"orders\""), std::string_view::npos) << again.error().message();
    EXPECT_EQ(page.text(), before);
    metrics_page two;
    ASSERT_TRUE(users.guard.add_metrics(two, {{"a", "1"}, {"b", "2"}}));
    EXPECT_FALSE(users.guard.add_metrics(two, {{"b", "2"}, {"a", "1"}})) << "the order of labels means nothing";
}

// Found in use: a value with a quote, a backslash or an end of line made the page invalid.
TEST(metrics_page, values_of_labels_are_escaped_and_come_back_as_they_were) {
    guarded_users users;
    for (const std::string value : {"C:\\data\\", "a \"quoted\" name", "two\nlines", "\\n", "\\", "\"", "",
                                    "Ωμέγα, 日本, 🙂", "}{,=", "tab\tand\rreturn"}) {
        const auto text = users.guard.metrics_text({{"store", value}});
        ASSERT_TRUE(text) << value;
        const exposition page = exposition::read(*text);
        EXPECT_EQ(page.trouble, "") << value;
        EXPECT_EQ(page.value("genista_guard_queries_total", {{"store", value}}), 0.0) << value;
    }
}

TEST(metrics_page, refuses_labels_that_would_cost_the_whole_page) {
    guarded_users users;
    const auto message_of = [&](const metric_labels& labels) {
        const auto text = users.guard.metrics_text(labels);
        return text ? std::string{} : std::string{text.error().message()};
    };
    for (const std::string name : {"", "1st", "a-b", "a b", "ä", "__name__", "x\n", "a:b"})
        EXPECT_NE(message_of({{name, "v"}}).find("'" + name + "' is not a label name"), std::string::npos) << name;
    EXPECT_NE(message_of({{"le", "v"}}).find("the label le is genista's own"), std::string::npos);
    EXPECT_NE(message_of({{"origin", "v"}}).find("the label origin is genista's own"), std::string::npos);
    EXPECT_NE(message_of({{"a", "v"}, {"b", "v"}, {"a", "w"}}).find("the label a is given twice"), std::string::npos);
    for (const std::string& value :
         {std::string("\0", 1), std::string{"\xff"}, std::string{"\xc0\x80"}, std::string{"a\xe2\x82"},
          std::string{"\xed\xa0\x80"}, std::string{"\xf5\x80\x80\x80"}, std::string{"\xe0\x9f\xbf"},
          std::string{"\xf4\x90\x80\x80"}, std::string{"\x80"}})
        EXPECT_NE(message_of({{"store", value}}).find("the label store is not UTF-8"), std::string::npos) << value;
    EXPECT_EQ(message_of({{"store", "\xf4\x8f\xbf\xbf\xef\xbf\xbd\xc2\x80"}}), "");
}

}  // namespace
}  // namespace genista::test::metrics_page_test
