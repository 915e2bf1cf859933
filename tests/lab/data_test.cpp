// Where traces come from: the user's file before the folder that was named, before the usual one,
// before synthetic ones.
#include "lab/workloads/data.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <numeric>

#include "lab/workloads/synthetic_trace.hpp"
#include "workload_files.hpp"

namespace genista::lab::data_test {
namespace {

// The variable and the current folder belong to the process: both are restored.
class data : public ::testing::Test {
  protected:
    data() {
        if (const char* const value = ::getenv(data_variable); value != nullptr) variable_ = value;
        ::unsetenv(data_variable);
        std::filesystem::create_directories(files_.folder() + "/project");
        std::filesystem::current_path(files_.folder() + "/project");
    }
    ~data() override {
        std::filesystem::current_path(folder_);
        if (variable_) ::setenv(data_variable, variable_->c_str(), 1);
    }

    workload_files files_;

  private:
    std::filesystem::path folder_ = std::filesystem::current_path();
    std::optional<std::string> variable_;
};

std::vector<std::string> names_of(const result<std::vector<trace>>& traces) {
    std::vector<std::string> names;
    if (!traces) return {std::string{traces.error().message()}};
    for (const trace& each : *traces) names.push_back(each.name);
    return names;
}

using texts = std::vector<std::string>;

TEST_F(data, the_named_folder_comes_before_the_variable_and_both_before_the_usual_one) {
    files_.put_gzip("shared/data/traces/usual.keys.gz", "a\n");
    files_.put_gzip("other/traces/net-b.keys.gz", "a\n");
    files_.put_gzip("other/traces/a.keys.gz", "a\n");
    files_.put("other/traces/notes.txt", "no trace\n");
    files_.put_gzip("third/traces/third.keys.gz", "a\n");
    run_options options;
    EXPECT_EQ(names_of(traces_for(options)), (texts{"usual"}));
    ::setenv(data_variable, (files_.folder() + "/third").c_str(), 1);
    EXPECT_EQ(names_of(traces_for(options)), (texts{"third"}));
    options.data_directory = files_.folder() + "/other";
    EXPECT_EQ(names_of(traces_for(options)), (texts{"a", "net-b"})) << "all of them, by name";
    EXPECT_TRUE(traces_for(options)->at(1).is_network);
    options.trace_path = files_.put("own.csv", "x,y\nz,y\n");
    EXPECT_EQ(names_of(traces_for(options)), (texts{"own"}));
    EXPECT_EQ(traces_for(options)->at(0).keys[0], "x,y");
    options.columns = "2";
    EXPECT_EQ(traces_for(options)->at(0).keys[0], "y");
    ::setenv(data_variable, "", 1);
    EXPECT_EQ(names_of(traces_for({})), (texts{"usual"})) << "an empty variable names nothing";
}

TEST_F(data, a_named_folder_that_has_no_traces_is_refused_and_nothing_replaces_it) {
    files_.put_gzip("shared/data/traces/usual.keys.gz", "a\n");
    files_.put("bare/notes.txt", "");
    files_.put("empty/traces/notes.txt", "");
    for (const char* name : {"none", "bare", "empty"}) {
        const std::string path = files_.folder() + "/" + name;
        run_options options;
        options.data_directory = path;
        expect_error(traces_for(options), {path, "no"});
        ::setenv(data_variable, path.c_str(), 1);
        expect_error(traces_for({}), {path, "no"});
        ::unsetenv(data_variable);
    }
}

TEST_F(data, one_broken_trace_of_a_folder_breaks_all) {
    files_.put_gzip("other/traces/a.keys.gz", "a\n");
    files_.put_gzip("other/traces/b.keys.gz", "");
    run_options options;
    options.data_directory = files_.folder() + "/other";
    expect_error(traces_for(options), {"b.keys.gz", "holds no key"});
}

TEST_F(data, columns_need_a_file_and_a_separator_needs_columns) {
    run_options options;
    options.columns = "1";
    expect_error(traces_for(options), {"columns '1'", "trace"});
    options.columns = "";
    options.separator = ";";
    options.trace_path = files_.put("own", "a;b\n");
    expect_error(traces_for(options), {"';'", "columns"});
}

TEST_F(data, without_any_data_traces_are_synthetic_and_marked_so) {
    files_.put("shared/data/README.md", "no traces yet\n");
    const auto made = traces_for({});
    EXPECT_EQ(names_of(made), (texts{"net-synthetic-packets", "net-synthetic-events", "net-synthetic-lasting"}));
    for (const trace& each : *made) {
        EXPECT_TRUE(each.is_synthetic);
        EXPECT_TRUE(each.is_network);
    }
}

TEST(synthetic_trace, has_the_shares_of_the_traces_it_imitates) {
    const std::vector<trace> made = synthetic_traces(1);
    ASSERT_EQ(made.size(), 3u);
    const trace_facts packets = facts_of(made[0]), events = facts_of(made[1]);
    EXPECT_EQ(packets.keys, 150'000u);
    EXPECT_NEAR(static_cast<double>(packets.accesses), 814'029, 40'000);
    EXPECT_NEAR(packets.top_percent_share, 0.083, 0.01);
    EXPECT_NEAR(packets.repeat_share, 0.816, 0.01);
    EXPECT_NEAR(packets.seen_once_share, 0.473, 0.01);
    EXPECT_LT(packets.most_frequent_share, 0.004);
    EXPECT_NEAR(static_cast<double>(events.accesses), 153'996, 8'000);
    EXPECT_NEAR(events.top_percent_share, 0.089, 0.01);
    EXPECT_NEAR(events.repeat_share, 0.549, 0.02);
    EXPECT_NEAR(events.seen_once_share, 0.475, 0.01);
}

// The share of all different keys that are known after each tenth of the trace.
TEST(synthetic_trace, new_flows_begin_all_the_time) {
    for (const trace& each : synthetic_traces(2)) {
        std::uint32_t known = 0;
        std::vector<std::uint32_t> after_tenth;
        for (std::size_t i = 0; i < each.accesses.size(); ++i) {
            ASSERT_LE(each.accesses[i], known) << "numbers are given in the order of first appearance";
            known += each.accesses[i] == known ? 1u : 0u;
            if ((i + 1) % (each.accesses.size() / 10) == 0) after_tenth.push_back(known);
        }
        ASSERT_EQ(known, each.keys.size());
        for (std::size_t tenth = 1; tenth < after_tenth.size(); ++tenth) {
            EXPECT_GT(after_tenth[tenth] - after_tenth[tenth - 1], each.keys.size() / 25) << each.name << " " << tenth;
        }
    }
}

TEST(synthetic_trace, flows_are_brief_but_for_a_few_and_last_where_they_should) {
    const std::vector<trace> made = synthetic_traces(3);
    // The share of flows with two accesses or more whose first and last are at least `apart` of the
    // trace from each other.
    const auto lasting = [](const trace& of, double apart) {
        std::vector<std::size_t> first(of.keys.size(), of.accesses.size()), last(of.keys.size());
        for (std::size_t i = 0; i < of.accesses.size(); ++i) {
            first[of.accesses[i]] = std::min(first[of.accesses[i]], i);
            last[of.accesses[i]] = i;
        }
        double repeated = 0, far = 0;
        for (std::size_t key = 0; key < first.size(); ++key) {
            const auto span = static_cast<double>(last[key] - first[key]) / static_cast<double>(of.accesses.size());
            repeated += last[key] > first[key] ? 1 : 0;
            far += span > apart ? 1 : 0;
        }
        return far / repeated;
    };
    EXPECT_NEAR(lasting(made[0], 0.005), 0.02, 0.005);
    EXPECT_NEAR(lasting(made[1], 0.005), 0.02, 0.005);
    EXPECT_GT(lasting(made[2], 0.005), 0.9);
}

TEST(synthetic_trace, is_the_same_for_the_same_seed_only) {
    const std::vector<trace> one = synthetic_traces(1), again = synthetic_traces(1), other = synthetic_traces(2);
    for (std::size_t i = 0; i < one.size(); ++i) {
        EXPECT_EQ(one[i].accesses, again[i].accesses);
        EXPECT_EQ(one[i].keys[1000], again[i].keys[1000]);
        EXPECT_NE(one[i].accesses, other[i].accesses);
    }
}

}  // namespace
}  // namespace genista::lab::data_test
