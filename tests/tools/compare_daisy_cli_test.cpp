// genista compare --oracle: filters with a model of the queries, beside those without, in the same
// memory; and everything that can be wrong with a model. The model is trained on hosts that are
// neither stored nor asked for afterwards.
#include <gtest/gtest.h>

#include "compare_cli.hpp"
#include "genista/filters/bloom.hpp"
#include "genista/format/sink.hpp"
#include "tests/support/fix_checksums.hpp"
#include "trained_hosts.hpp"

namespace genista::test::compare_daisy_cli_test {
namespace {

constexpr const char* rivals = "bloom,broom,daisy_bloom,daisy_broom";

// hosts.model of 3,000 hosts of each kind; keys and queries are the next 20,000.
class compare_daisy_cli : public ::testing::Test {
  protected:
    void SetUp() override {
        write_logs(scratch, 3'000);
        ASSERT_EQ(run_tool(train_line(scratch, {"--bytes", "2^10"})).status, 0);
        write_hosts(scratch / "keys", scratch / "asked", 3'000, 23'000);
    }

    [[nodiscard]] arguments compare(const arguments& more) const {
        return joined({"compare", "--keys", scratch / "keys", "--oracle", model(), "--value-bytes", "8"}, more);
    }
    [[nodiscard]] std::string model() const { return scratch / "hosts.model"; }

    const scratch_folder scratch;
};

TEST_F(compare_daisy_cli, all_rows_have_the_same_memory_and_deny_no_stored_key) {
    // Every stored host once, every other host twice.
    const std::string asked = contents(scratch / "asked");
    put_contents(scratch / "queries", contents(scratch / "keys") + asked + asked);
    for (const char* rate : {"1/256", "1/4096"}) {
        const tool_run run = run_tool(compare({"--queries", scratch / "queries", "--filters", rivals, "--error-rate",
                                               rate, "--seed", "5", "--json", "-"}));
        ASSERT_EQ(run.status, 0) << run.err;
        const json document = run.json();
        const json& phase = phase_of(document, "replay");
        ASSERT_EQ(phase.at("rows").size(), 4u);
        const double bits = document.at("run").at("bits_per_key");
        for (const json& row : phase.at("rows")) {
            EXPECT_EQ(row.at("queries"), 60'000) << row.at("filter");
            EXPECT_EQ(row.at("absent"), 40'000) << row.at("filter");
            EXPECT_EQ(row.at("false_negatives"), 0) << row.at("filter");
            EXPECT_EQ(row.at("guard_wasted_reads"), row.at("wasted_reads")) << row.at("filter");
            EXPECT_LE(row.at("bits_per_key").get<double>(), bits * 1.01) << row.at("filter") << ": with the model";
        }
        // A filter that does not learn wastes every read twice; one that learns reads R for it.
        const json& idle = row_of(phase, "daisy_bloom");
        EXPECT_EQ(idle.at("repeated_wasted_reads").get<int>() * 2, idle.at("wasted_reads").get<int>());
        EXPECT_EQ(idle.at("adapts"), 0);
        const json& learns = row_of(phase, "daisy_broom");
        EXPECT_GT(learns.at("adapts"), 0);
        EXPECT_GE(learns.at("remote_reads"), learns.at("adapts"));
        EXPECT_LT(idle.at("wasted_reads"), 20) << "of 40,000, with as many bits as broom";
    }
}

// The memory is enough for all keys at 2^-8, and not for two bands: a plan that keeps nothing of
// many keys would waste thousands.
TEST_F(compare_daisy_cli, few_keys_get_the_plan_that_wastes_fewest_reads) {
    const json document = json_of(compare({"--queries", scratch / "asked", "--filters", "daisy_broom", "--error-rate",
                                           "1/4096", "--seed", "5", "--json", "-"}));
    EXPECT_LT(row_of(phase_of(document, "replay"), "daisy_broom").at("wasted_reads"),
              100);  // of 20,000; 2^-8 of them are 78
}

TEST_F(compare_daisy_cli, the_table_has_their_rows_and_only_one_learns_from_an_attack) {
    // By default an attack adds the memory of the deferred band: with so few keys false positives
    // are then hard to find.
    const arguments attacked{"--filters",
                             "daisy_bloom,daisy_broom",
                             "--bits-per-key",
                             "32",
                             "--attack",
                             "--pool",
                             "100",
                             "--number-of-queries",
                             "500"};
    const tool_run run = run_tool(compare(attacked));
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(run.err, "");
    expect_words(run.out, {"zipf: ", "uniform: ", "half present: ", "replay attack: ", "\ndaisy_bloom ",
                           "\ndaisy_broom ", "bits a key for each filter", "Repaired false positives"});
    const json document = json_of(compare(joined(attacked, {"--json", "-"})));
    const json& attack = phase_of(document, "replay attack");
    EXPECT_EQ(row_of(attack, "daisy_bloom").at("wasted_reads"), 500);
    EXPECT_LT(row_of(attack, "daisy_broom").at("wasted_reads"), 50);
}

TEST_F(compare_daisy_cli, the_indexed_layout_has_daisy_bloom_only) {
    const json document = json_of(compare({"--filters", "bloom,daisy_bloom", "--layout", "indexed", "--error-rate",
                                           "1/64", "--number-of-queries", "300", "--json", "-"}));
    for (const json& phase : document.at("phases"))
        EXPECT_EQ(row_of(phase, "daisy_bloom").at("false_negatives"), 0) << phase.at("name");
    expect_refused(compare({"--filters", "daisy_broom", "--layout", "indexed"}), "daisy_broom", "clustered");
}

TEST_F(compare_daisy_cli, a_memory_too_small_and_keys_unlike_the_models_are_named) {
    expect_refused(compare({"--filters", "daisy_broom", "--bits-per-key", "2"}), "2.00 bits a key", "which needs");
    put_contents(scratch / "few", lines("host", 0, 500));
    expect_refused({"compare", "--keys", scratch / "few", "--oracle", model(), "--filters", "daisy_broom"}, "500 keys",
                   "it is for more keys than these");
    // The model expects few keys that look like these, and plans little for them.
    expect_refused({"compare", "--keys", scratch / "asked", "--oracle", model(), "--filters", "daisy_broom",
                    "--value-bytes", "8", "--bits-per-key", "30"},
                   "not like those that the model was trained on", "comes to");
}

TEST_F(compare_daisy_cli, oracle_and_filters_need_each_other) {
    const arguments keys{"compare", "--keys", scratch / "keys"};
    expect_refused(joined(keys, {"--filters", "bloom,daisy_bloom"}), "daisy_bloom", "--oracle MODEL");
    expect_refused(joined(keys, {"--filters", "daisy_broom"}), "daisy_broom", "genista daisy train");
    expect_refused(compare({"--filters", "bloom,broom"}), "--oracle", "daisy_bloom and daisy_broom");
    expect_refused(compare({}), "--oracle", "names neither");
    expect_refused(compare({"--filters", "daisy_blom"}), "'daisy_blom'", "did you mean daisy_bloom?");
}

TEST_F(compare_daisy_cli, what_is_not_a_model_is_refused_by_name_before_anything_is_stored) {
    const std::string good = contents(model());
    const arguments line = compare({"--filters", "daisy_bloom,daisy_broom", "--store", scratch / "store"});
    const auto refused = [&](const std::string& bytes, const std::string& allowed) {
        put_contents(model(), bytes);
        expect_refused(line, "hosts.model", allowed);
        EXPECT_FALSE(std::filesystem::exists(scratch / "store"));
    };
    refused("", "empty file");
    refused("not a model at all\n", "not a Genista snapshot");
    refused(good.substr(0, good.size() / 2), "truncated");
    std::string flipped = good;
    flipped[good.size() / 2] = static_cast<char>(flipped[good.size() / 2] ^ 1);
    refused(flipped, "checksum");
    std::string newer = good;
    newer[12] = 9;  // the kind's version: docs/format.md
    fix_checksums(std::as_writable_bytes(std::span{newer}));
    refused(newer, "kind version 9");

    auto bloom = bloom_filter::make({.capacity = 100});
    ASSERT_TRUE(bloom);
    ASSERT_TRUE(save_file(scratch / "hosts.model", [&](sink& out) { return bloom->save(out); }));
    expect_refused(line, "hosts.model", "kind 1 (bloom)");
    std::filesystem::remove(model());
    expect_refused(line, "hosts.model", "No such file");
    std::filesystem::create_directory(model());
    expect_refused(line, "hosts.model", "directory");
    EXPECT_FALSE(std::filesystem::exists(scratch / "store"));
}

TEST_F(compare_daisy_cli, too_little_memory_for_filter_and_model_is_refused) {
    expect_refused(compare({"--filters", "daisy_bloom", "--bits-per-key", "2"}), "2.00 bits a key",
                   "--bits-per-key gives more");
    expect_refused(compare({"--filters", "daisy_broom", "--bits-per-key", "2"}), "2.00 bits a key", "an oracle of");
}

}  // namespace
}  // namespace genista::test::compare_daisy_cli_test
