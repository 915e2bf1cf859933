// genista inspect: good snapshots of every kind, and files that are damaged, foreign, missing or
// not regular.
#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <iomanip>
#include <sstream>

#include "genista/detail/format/snapshot.hpp"
#include "genista/filters/blocked_bloom.hpp"
#include "genista/filters/bloom.hpp"
#include "genista/filters/bloomier.hpp"
#include "genista/filters/cleary.hpp"
#include "genista/filters/cuckoo_partial.hpp"
#include "genista/filters/cuckooing.hpp"
#include "genista/filters/daisy_broom.hpp"
#include "genista/filters/lossy.hpp"
#include "genista/filters/optimal_filter.hpp"
#include "genista/filters/succinct_set.hpp"
#include "genista/format/mapped_file.hpp"
#include "genista/oracles/oracle_model.hpp"
#include "genista/remote/indexed.hpp"
#include "genista/remote/memory_map.hpp"
#include "run_tool.hpp"
#include "tests/support/daisy_snapshot_exercise.hpp"
#include "trained_hosts.hpp"

namespace genista::test::inspect_cli_test {
namespace {

const hash_key secret = hash_key::from_seed(42);

template <class Filter>
void save_sample(const std::string& path) {
    auto filter = Filter::make({.capacity = 1000, .false_positive_rate = 0.01, .hash = hasher{secret}});
    ASSERT_TRUE(filter) << filter.error().message();
    for (std::uint64_t key = 0; key < 500; ++key) ASSERT_NE(filter->insert(key), insert_outcome::full);
    const result<void> saved = save_file(path, [&](sink& out) { return filter->save(out); });
    ASSERT_TRUE(saved) << saved.error().message();
}

// Built from its keys.
void save_bloomier(const std::string& path) {
    std::vector<std::uint64_t> keys(500);
    for (std::uint64_t key = 0; key < keys.size(); ++key) keys[key] = key;
    const auto filter = bloomier_filter::build({.false_positive_rate = 0.01, .value_bits = 10, .hash = hasher{secret}},
                                               std::span<const std::uint64_t>{keys}, keys);
    ASSERT_TRUE(filter) << filter.error().message();
    ASSERT_TRUE(save_file(path, [&](sink& out) { return filter->save(out); }));
}

void save_cuckooing(const std::string& path) {
    auto filter = cuckooing_filter::make({.capacity = 1000, .false_positive_rate = 0.01, .hash = hasher{secret}});
    ASSERT_TRUE(filter) << filter.error().message();
    memory_map records, index;
    with_index remote{records, index};
    for (std::uint64_t key = 0; key < 500; ++key) ASSERT_TRUE(filter->insert(key, remote));
    ASSERT_TRUE(save_file(path, [&](sink& out) { return filter->save(out); }));
}

std::string hex(std::uint64_t number) {
    std::ostringstream text;
    text << std::hex << std::setw(16) << std::setfill('0') << number;
    return text.str();
}

std::string hex(std::span<const std::uint8_t> bytes) {
    std::ostringstream text;
    for (const std::uint8_t b : bytes)
        text << std::hex << std::setw(2) << std::setfill('0') << static_cast<unsigned>(b);
    return text.str();
}

TEST(inspect_cli, shows_envelope_and_stats_of_every_kind) {
    const scratch_folder scratch;
    save_sample<bloom_filter>(scratch / "bloom");
    save_sample<blocked_bloom_filter>(scratch / "blocked_bloom");
    save_sample<cuckoo_partial_filter>(scratch / "cuckoo_partial");
    save_sample<optimal_filter>(scratch / "optimal_filter");
    save_sample<spectral_filter>(scratch / "spectral");
    save_sample<cleary_filter>(scratch / "cleary");
    for (const std::string kind :
         {"bloom", "blocked_bloom", "cuckoo_partial", "optimal_filter", "spectral", "cleary"}) {
        const tool_run run = run_tool({"inspect", scratch / kind, "--json"});
        ASSERT_EQ(run.status, 0) << kind << run.err;
        const nlohmann::json document = run.json();
        EXPECT_EQ(document.at("kind"), kind);
        EXPECT_EQ(document.at("hash"), "keyed");
        EXPECT_EQ(document.at("key_id"), hex(secret.id()));
        EXPECT_EQ(document.at("checksums"), "ok");
        EXPECT_EQ(document.at("file_bytes"), std::filesystem::file_size(scratch / kind));
        EXPECT_EQ(document.at("store_identity").get<std::string>().size(), 32u);
        EXPECT_EQ(document.at("stats").at("capacity"), 1000);
        EXPECT_GE(document.at("stats").at("keys"), 450);
        EXPECT_LE(document.at("stats").at("keys"), 500);
        for (const char* name : {"kind_version", "format_version", "sequence", "parameters_bytes"}) {
            EXPECT_TRUE(document.at(name).is_number()) << name;
        }
        EXPECT_GE(document.at("section_bytes").size(), 1u);
    }
}

// Those whose parameters or inserts are not those of a filter.
template <class Dictionary>
void save_numbers(const std::string& path) {
    auto all = Dictionary::make({.universe = 1000, .hash = hasher{secret}});
    ASSERT_TRUE(all) << all.error().message();
    for (std::uint64_t x = 0; x < 500; ++x) ASSERT_TRUE(all->insert(x));
    ASSERT_TRUE(save_file(path, [&](sink& out) { return all->save(out); }));
}

TEST(inspect_cli, reads_the_dictionaries_and_the_lossy_filter) {
    const scratch_folder scratch;
    save_numbers<succinct_set>(scratch / "succinct_set");
    save_numbers<succinct_multiset>(scratch / "multiset");
    auto lossy = lossy_filter::make({.capacity = 1000, .false_negative_share = 0, .hash = hasher{secret}});
    ASSERT_TRUE(lossy);
    for (std::uint64_t key = 0; key < 500; ++key) ASSERT_EQ(lossy->insert(key), lossy_insert::stored);
    ASSERT_TRUE(save_file(scratch / "lossy", [&](sink& out) { return lossy->save(out); }));
    for (const std::string kind : {"succinct_set", "multiset", "lossy"}) {
        const tool_run run = run_tool({"inspect", scratch / kind, "--json"});
        ASSERT_EQ(run.status, 0) << kind << run.err;
        EXPECT_EQ(run.json().at("kind"), kind);
        EXPECT_EQ(run.json().at("stats").at("keys"), 500);
        EXPECT_EQ(run.json().at("stats").at("capacity"), 1000);
    }
}

TEST(inspect_cli, reads_the_filter_that_is_only_built) {
    const scratch_folder scratch;
    save_bloomier(scratch / "bloomier");
    const tool_run run = run_tool({"inspect", scratch / "bloomier", "--json"});
    ASSERT_EQ(run.status, 0) << run.err;
    const nlohmann::json document = run.json();
    EXPECT_EQ(document.at("kind"), "bloomier");
    EXPECT_EQ(document.at("filter"), "bloomier");
    EXPECT_EQ(document.at("stats").at("keys"), 500);
    EXPECT_EQ(document.at("section_bytes").size(), 3u);
}

// Both ways: the document, and the table, which is said to be of one page's width.
nlohmann::json inspected(const std::string& path, const std::vector<std::string>& words) {
    const tool_run run = run_tool({"inspect", path, "--json"}), table = run_tool({"inspect", path});
    EXPECT_EQ(run.status, 0) << path << run.err;
    EXPECT_EQ(table.status, 0) << path << table.err;
    expect_words(table.out, words);
    EXPECT_EQ(table.out.find("does not know"), std::string::npos) << table.out;
    expect_page_width(table.out);
    return run.status == 0 ? run.json() : nlohmann::json{};
}

std::string golden(const char* name) {
    return std::string{GENISTA_SOURCE_DIR} + "/tests/golden/" + name;
}

TEST(inspect_cli, shows_the_contents_of_an_oracle) {
    const auto exact = inspected(golden("exact_oracle-v1-keyed.snapshot"), {"oracle.keys", "oracle.unknown_key.asked"});
    EXPECT_EQ(exact.at("kind"), "exact_oracle");
    EXPECT_EQ(exact.at("oracle").at("name"), "exact_oracle");
    EXPECT_EQ(exact.at("oracle").at("keys"), 60);
    EXPECT_GE(exact.at("oracle").at("memory_bytes"), 60 * 24);
    EXPECT_GT(exact.at("oracle").at("unknown_key").at("stored"), 0.0);
    EXPECT_TRUE(exact.at("stats").is_null()) << "no filter";
    for (const std::string name : {"count_min_oracle", "count_sketch_oracle"}) {
        const auto sketch = inspected(golden((name + "-v1-keyed.snapshot").c_str()),
                                      {"oracle.inserts.width", "oracle.queries.total", "oracle.unseen_key.stored"});
        EXPECT_EQ(sketch.at("oracle").at("name"), name);
        EXPECT_EQ(sketch.at("hash"), "keyed");
        EXPECT_EQ(sketch.at("oracle").at("inserts").at("depth"), 3);
        EXPECT_EQ(sketch.at("oracle").at("queries").at("depth"), 4);
        EXPECT_EQ(sketch.at("oracle").at("queries").at("width"), 20);
        EXPECT_EQ(sketch.at("oracle").at("inserts").at("total"), sketch.at("oracle").at("queries").at("total"));
        EXPECT_GT(sketch.at("oracle").at("queries").at("noise"), 0.0);
        EXPECT_EQ(sketch.at("oracle").contains("conservative"), name == "count_min_oracle");
    }
    const auto score = inspected(golden("score_oracle-v1.snapshot"), {"oracle.divergence_bits", "none"});
    EXPECT_EQ(score.at("hash"), "none");
    EXPECT_EQ(score.at("oracle").at("weights"), 1000);
    EXPECT_GE(score.at("oracle").at("bins"), 2);
    EXPECT_GT(score.at("oracle").at("divergence_bits"), 0.0);
}

TEST(inspect_cli, shows_the_oracle_and_the_profile_of_a_model) {
    const auto model = inspected(golden("oracle_model-v1-score.snapshot"),
                                 {"model.insert_draws", "profile.entries", "oracle.name", "score_oracle"});
    EXPECT_EQ(model.at("model").at("insert_draws"), 2000);
    EXPECT_EQ(model.at("model").at("query_draws"), 2000);
    EXPECT_EQ(model.at("model").at("held_out"), true);
    EXPECT_GE(model.at("profile").at("entries"), 2);
    EXPECT_GT(model.at("profile").at("stored_draws"), 0);
    EXPECT_EQ(model.at("oracle").at("name"), "score_oracle");
}

TEST(inspect_cli, shows_the_plan_of_a_daisy_filter_and_whether_the_queries_have_drifted) {
    const auto bloom = inspected(golden("daisy_bloom-v1-octet.snapshot"), {"stats.keys", "plan.parameter", "octet"});
    EXPECT_EQ(bloom.at("filter"), "daisy_bloom");
    EXPECT_EQ(bloom.at("plan").at("draws"), 300.0);
    EXPECT_EQ(bloom.at("plan").at("largest_class"), 8);
    EXPECT_EQ(bloom.at("drift").at("draws"), 300);
    EXPECT_EQ(bloom.at("drift").at("verdict"), "fuller_than_planned") << "its keys came from all classes";
    const auto prints =
        inspected(golden("daisy_fingerprint-v3-keyed.snapshot"), {"tables[0]", "remainder_bits", "drift.extra_tables"});
    EXPECT_EQ(prints.at("filter"), "daisy_fingerprint");
    EXPECT_EQ(prints.at("drift").at("verdict"), "fuller_than_planned") << "1,500 draws of 600";
    EXPECT_GT(prints.at("drift").at("extra_tables"), 0);
    std::uint64_t values = 0;
    for (const auto& table : prints.at("tables")) values += table.at("values").get<std::uint64_t>();
    EXPECT_EQ(values, prints.at("stats").at("keys"));
}

TEST(inspect_cli, shows_a_daisy_broom_filter_without_its_oracle) {
    const scratch_folder scratch;
    daisy_broom_options options;
    options.hash = hasher{secret};
    options.random = repeatable(1);
    auto filter = *daisy_broom_filter<scripted_oracle>::make(options, daisy_world_plan(500), daisy_world_oracle(500));
    memory_map remote;
    for (std::uint64_t key = 0; key < 400; ++key) {
        ASSERT_TRUE(remote.put(filter.hash()(key), integer_key{key}.view()));
        ASSERT_TRUE(filter.insert(key, remote));
    }
    ASSERT_TRUE(save_file(scratch / "daisy_broom", [&](sink& out) { return filter.save(out); }));
    const auto document = inspected(scratch / "daisy_broom", {"bands[0]", "exceptions.buckets", "oracle_identity"});
    EXPECT_EQ(document.at("kind"), "daisy_broom");
    EXPECT_EQ(document.at("filter"), "daisy_broom");
    EXPECT_EQ(document.at("stats").at("keys"), 400);
    EXPECT_EQ(document.at("stats").at("capacity"), 500);
    ASSERT_EQ(document.at("bands").size(), filter.bands().all().size());
    std::uint64_t kept = 0;
    for (const auto& band : document.at("bands")) kept += band.at("keys").get<std::uint64_t>();
    EXPECT_EQ(kept, 280) << "of three digits in ten nothing is kept";
    EXPECT_EQ(document.at("oracle_identity").get<std::string>().size(), 32u);
    EXPECT_EQ(document.at("plan").at("draws"), 500.0);
    EXPECT_EQ(document.at("drift").at("notable"), false);
}

TEST(inspect_cli, an_oracle_a_model_and_a_daisy_filter_around_nonsense_are_refused) {
    const scratch_folder scratch;
    const std::array<std::byte, 8> nonsense{};
    const std::span<const std::byte> sections[] = {nonsense};
    for (const int kind : {20, 21, 22, 23, 24, 25, 27, 28}) {
        const snapshot_info info{.kind = static_cast<snapshot_kind>(kind), .kind_version = 1, .hash_id = 1};
        const std::string path = scratch / std::to_string(kind);
        ASSERT_TRUE(save_file(path, [&](sink& out) { return write_snapshot(out, info, nonsense, sections); }));
        expect_refused({"inspect", path}, path, "");
    }
}

TEST(inspect_cli, names_a_filter_over_an_index) {
    const scratch_folder scratch;
    save_cuckooing(scratch / "cuckooing");
    const auto document = inspected(scratch / "cuckooing", {"cuckooing"});
    EXPECT_EQ(document.at("kind"), "cuckooing");
    EXPECT_EQ(document.at("filter"), "cuckooing");
    EXPECT_EQ(document.at("stats").at("keys"), 500);
    EXPECT_EQ(document.at("stats").at("capacity"), 1000);
}

// Earlier versions wrote snapshots of the structures of papers/.
TEST(inspect_cli, an_old_snapshot_of_a_structure_of_papers_is_refused_by_name) {
    for (const std::string name : {"cuckoo", "cyclic", "swapping", "broom_paper", "whitelist", "weighted_bloom"}) {
        const std::string path = std::string{GENISTA_SOURCE_DIR} + "/tests/retired/" + name + "-v1-keyed.snapshot";
        expect_refused({"inspect", path}, path, "(" + name + ")");
        expect_refused({"inspect", path, "--json"}, path, "no longer reads snapshots of that filter");
    }
}

TEST(inspect_cli, never_shows_the_hash_key) {
    const scratch_folder scratch;
    save_sample<bloom_filter>(scratch / "bloom");
    const std::span<const std::uint8_t> key{secret.bytes};
    for (const std::string format : {"", "--json"}) {
        std::vector<std::string> line{"inspect", scratch / "bloom"};
        if (!format.empty()) line.push_back(format);
        const tool_run run = run_tool(line);
        ASSERT_EQ(run.status, 0) << run.err;
        EXPECT_NE(run.out.find(hex(secret.id())), std::string::npos) << run.out;
        for (std::size_t at = 0; at + 4 <= key.size(); ++at) {
            EXPECT_EQ(run.out.find(hex(key.subspan(at, 4))), std::string::npos) << "bytes from " << at;
        }
    }
}

TEST(inspect_cli, damaged_snapshots_are_refused) {
    const scratch_folder scratch;
    save_sample<cuckoo_partial_filter>(scratch / "good");
    const std::string good = contents(scratch / "good"), path = scratch / "damaged";
    ASSERT_GT(good.size(), 400u);
    for (const std::size_t length : {std::size_t{1}, std::size_t{100}, std::size_t{192}, good.size() - 1}) {
        put_contents(path, good.substr(0, length));
        expect_refused({"inspect", path}, path, "");
        expect_refused({"inspect", path, "--json"}, path, "");
    }
    for (const std::size_t at : {std::size_t{0}, std::size_t{9}, std::size_t{40}, std::size_t{190}, std::size_t{200},
                                 good.size() / 2, good.size() - 1}) {
        std::string flipped = good;
        flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
        put_contents(path, flipped);
        expect_refused({"inspect", path}, path, "");
    }
    put_contents(path, good + "x");
    expect_refused({"inspect", path}, path, "");
}

TEST(inspect_cli, what_is_not_a_readable_file_is_refused) {
    const scratch_folder scratch;
    put_contents(scratch / "empty", "");
    put_contents(scratch / "text", std::string(1000, 'a'));
    for (const std::string& path : {scratch / "missing", scratch / "empty", scratch / "text", scratch.folder().string(),
                                    std::string{"/dev/null"}, std::string{}}) {
        expect_refused({"inspect", path}, path, "");
    }
}

TEST(inspect_cli, a_valid_envelope_around_nonsense_is_refused) {
    const scratch_folder scratch;
    const std::array<std::byte, 8> nonsense{};
    const std::span<const std::byte> sections[] = {nonsense};
    const snapshot_info info{.kind = snapshot_kind::bloom, .kind_version = 1, .hash_id = 1};
    ASSERT_TRUE(save_file(scratch / "odd", [&](sink& out) { return write_snapshot(out, info, nonsense, sections); }));
    expect_refused({"inspect", scratch / "odd"}, scratch / "odd", "");
}

TEST(inspect_cli, a_kind_from_the_future_shows_its_envelope_alone) {
    const scratch_folder scratch;
    const snapshot_info info{
        .kind = static_cast<snapshot_kind>(4711), .kind_version = 3, .hash_id = 1, .store = {.sequence = 99}};
    ASSERT_TRUE(save_file(scratch / "new", [&](sink& out) { return write_snapshot(out, info, {}, {}); }));
    const tool_run run = run_tool({"inspect", scratch / "new", "--json"});
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(run.json().at("kind"), "unknown");
    EXPECT_EQ(run.json().at("kind_id"), 4711);
    EXPECT_EQ(run.json().at("sequence"), 99);
    EXPECT_TRUE(run.json().at("stats").is_null());
    const tool_run table = run_tool({"inspect", scratch / "new"});
    EXPECT_EQ(table.status, 0);
    EXPECT_NE(table.out.find("does not support the kind"), std::string::npos) << table.out;
}

TEST(inspect_cli, shows_how_much_of_class_0_a_daisy_broom_filter_keeps) {
    const auto document = inspected(std::string{GENISTA_SOURCE_DIR} + "/tests/golden/daisy_broom-v5-late.snapshot",
                                    {"class_0.built", "exceptions.cells"});
    EXPECT_EQ(document.at("bands").size(), 2u);
    EXPECT_EQ(document.at("class_0"), nlohmann::json({{"kept", true}, {"rate_bits", 8}, {"ranges", 3}, {"built", 2}}));
    EXPECT_EQ(document.at("exceptions").at("cells"), 80);
}

}  // namespace
}  // namespace genista::test::inspect_cli_test
