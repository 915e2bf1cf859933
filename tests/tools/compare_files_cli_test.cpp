// genista compare and its files: key files of every form, permanent stores, full disks, and
// signals.
#include <gtest/gtest.h>

#include "compare_cli.hpp"

namespace genista::test::compare_files_cli_test {
namespace {

std::uint64_t keys_stored(const std::string& path) {
    const tool_run run = run_tool({"compare", "--keys", path, "--filters", "none", "--number-of-queries", "10",
                                   "--value-bytes", "1", "--json", "-"});
    EXPECT_EQ(run.status, 0) << run.err;
    return run.status == 0 ? run.json().at("run").at("keys").get<std::uint64_t>() : 0;
}

TEST(compare_files_cli, line_ends_empty_lines_repetitions_and_zero_bytes_are_understood) {
    const scratch_folder scratch;
    const auto stored = [&](const std::string& text) {
        put_contents(scratch / "keys", text);
        return keys_stored(scratch / "keys");
    };
    EXPECT_EQ(stored("a\nb\nc\n"), 3u);
    EXPECT_EQ(stored("a\nb\nc"), 3u) << "the last line needs no end";
    EXPECT_EQ(stored("a\r\nb\r\na\n"), 2u) << "\\r\\n ends a line too";
    EXPECT_EQ(stored("a\n\n\r\nb\n\n"), 2u) << "empty lines are no keys";
    EXPECT_EQ(stored("a\nb\na\na\n"), 2u) << "a key given twice is one key";
    EXPECT_EQ(stored(std::string{"a\0b\na\0c\na\n", 10}), 3u) << "zero bytes belong to their key";
    EXPECT_EQ(stored("a\n" + std::string(65536, 'x') + "\r\n" + std::string(65535, 'x') + "\n"), 3u);
}

TEST(compare_files_cli, gzip_and_standard_input_are_read_like_plain_files) {
    const scratch_folder scratch;
    put_contents(scratch / "keys", lines("key", 0, 1000));
    ASSERT_EQ(shell("gzip -k " + (scratch / "keys")), 0);
    EXPECT_EQ(keys_stored(scratch / "keys.gz"), 1000u);
    for (const char* name : {"keys", "keys.gz"}) {
        ASSERT_EQ(shell("cat " + (scratch / name) + " | $GENISTA compare --keys - --filters none " +
                        "--number-of-queries 10 --value-bytes 1 --json - >" + (scratch / "out.json")),
                  0);
        EXPECT_EQ(json::parse(contents(scratch / "out.json")).at("run").at("keys"), 1000);
    }
}

TEST(compare_files_cli, bad_files_are_refused_by_name_and_line) {
    const scratch_folder scratch;
    const auto refused = [&](const std::string& text, const std::string& value, const std::string& allowed) {
        put_contents(scratch / "bad", text);
        expect_refused({"compare", "--keys", scratch / "bad"}, value, allowed);
    };
    refused("", scratch / "bad", "holds no key");
    refused("\n\r\n\n", scratch / "bad", "holds no key");
    refused("a\nb\n" + std::string(65537, 'x') + "\n", "line 3", "65536 bytes");
    refused("a\n" + std::string(300'000, 'x'), "line 2", "65536 bytes");
    expect_refused({"compare", "--keys", scratch / "missing"}, scratch / "missing", "No such file");
    expect_refused({"compare", "--keys", scratch.folder().string()}, "it is a folder", "name a file");

    put_contents(scratch / "keys", "a\n");
    put_contents(scratch / "empty", "");
    expect_refused({"compare", "--keys", scratch / "keys", "--queries", scratch / "missing"}, "missing",
                   "No such file");
    expect_refused({"compare", "--keys", scratch / "keys", "--queries", scratch / "empty"}, "empty", "holds no key");

    put_contents(scratch / "many", lines("key", 0, 5000));
    ASSERT_EQ(shell("gzip " + (scratch / "many")), 0);
    const std::string whole = contents(scratch / "many.gz");
    refused(whole.substr(0, whole.size() / 2), scratch / "bad", "end in the middle");
    std::string bent = whole;
    bent[bent.size() / 2] = static_cast<char>(bent[bent.size() / 2] ^ 0x55);
    refused(bent, scratch / "bad", "cannot be read");
}

TEST(compare_files_cli, a_store_is_made_filled_and_opened_again) {
    const scratch_folder scratch;
    put_contents(scratch / "keys", lines("in", 0, 400));
    put_contents(scratch / "more", lines("in", 300, 600));
    put_contents(scratch / "queries", lines("in", 0, 1000));
    for (const std::string layout : {"clustered", "indexed"}) {
        const arguments usual{"compare",
                              "--store",
                              scratch / layout,
                              "--layout",
                              layout,
                              "--filters",
                              "none,rocksdb_bloom,broom",
                              "--number-of-queries",
                              "100",
                              "--json",
                              "-"};
        const auto keys = [&](const arguments& more) {
            const tool_run run = run_tool(joined(usual, more));
            EXPECT_EQ(run.status, 0) << run.err;
            return run.status == 0 ? run.json().at("run").at("keys").get<int>() : -1;
        };
        EXPECT_EQ(keys({"--keys", scratch / "keys"}), 400);
        EXPECT_EQ(keys({}), 400) << "alone it is opened as it is";
        EXPECT_EQ(keys({"--keys", scratch / "more"}), 600) << "keys it has are not added again";
        const json document = json_of(joined(usual, {"--queries", scratch / "queries"}));
        EXPECT_EQ(row_of(phase_of(document, "replay"), "broom").at("absent"), 400);
        EXPECT_EQ(row_of(phase_of(document, "replay"), "broom").at("false_negatives"), 0);
        EXPECT_FALSE(std::filesystem::exists(scratch / layout + "/genista-loading"));
    }
}

TEST(compare_files_cli, what_is_not_a_store_of_that_layout_is_refused_and_not_changed) {
    const scratch_folder scratch;
    put_contents(scratch / "keys", lines("in", 0, 100));
    std::filesystem::create_directory(scratch / "junk");
    put_contents(scratch / "junk/letter", "dear reader");
    std::filesystem::create_directory(scratch / "nothing");
    const arguments with_keys{"--keys", scratch / "keys"};
    expect_refused({"compare", "--store", scratch / "junk"}, scratch / "junk", "not a RocksDB");
    expect_refused(joined({"compare", "--store", scratch / "junk"}, with_keys), scratch / "junk", "not a RocksDB");
    expect_refused({"compare", "--store", scratch / "keys"}, scratch / "keys", "file");
    expect_refused({"compare", "--store", scratch / "missing"}, scratch / "missing", "no database");
    expect_refused({"compare", "--store", scratch / "nothing"}, scratch / "nothing", "empty");
    EXPECT_EQ(contents(scratch / "junk/letter"), "dear reader");
    EXPECT_FALSE(std::filesystem::exists(scratch / "missing"));
    EXPECT_TRUE(is_empty(scratch / "nothing"));

    const arguments quick{"--filters", "none", "--number-of-queries", "10", "--json", "-"};
    for (const std::string layout : {"clustered", "indexed"}) {
        const std::string other = layout == "clustered" ? "indexed" : "clustered";
        const arguments made = joined({"compare", "--store", scratch / layout, "--layout", layout}, with_keys);
        ASSERT_EQ(run_tool(joined(made, quick)).status, 0);
        expect_refused({"compare", "--store", scratch / layout, "--layout", other}, layout, other);
        expect_refused(joined({"compare", "--store", scratch / layout, "--layout", other}, with_keys), layout, other);
        const tool_run again = run_tool(joined({"compare", "--store", scratch / layout, "--layout", layout}, quick));
        ASSERT_EQ(again.status, 0) << again.err;
        EXPECT_EQ(again.json().at("run").at("keys"), 100);
    }
}

TEST(compare_files_cli, a_store_that_is_only_read_does_not_change) {
    const scratch_folder scratch;
    put_contents(scratch / "keys", lines("in", 0, 300));
    const auto names_and_sizes = [](const std::string& folder) {
        std::vector<std::string> all;
        for (const auto& each : std::filesystem::recursive_directory_iterator{folder}) {
            all.push_back(each.path().string() + " " + (each.is_regular_file() ? contents(each.path()) : ""));
        }
        std::sort(all.begin(), all.end());
        return all;
    };
    for (const std::string layout : {"clustered", "indexed"}) {
        const arguments usual{"compare", "--store", scratch / layout, "--layout", layout, "--number-of-queries", "50"};
        ASSERT_EQ(run_tool(joined(usual, {"--keys", scratch / "keys"})).status, 0);
        const auto before = names_and_sizes(scratch / layout);
        ASSERT_EQ(run_tool(usual).status, 0);
        EXPECT_EQ(names_and_sizes(scratch / layout), before);
    }
}

TEST(compare_files_cli, a_full_disk_ends_the_run_and_leaves_a_store_that_can_be_filled_later) {
    const scratch_folder scratch;
    std::filesystem::create_directory(scratch / "tmp");
    put_contents(scratch / "keys", lines("in", 0, 5000));
    for (const std::string layout : {"clustered", "indexed"}) {
        // Files may grow to 1 MB, and 5000 values of 1000 bytes want 5: the write fails as on a
        // full disk.
        const std::string line = "TMPDIR=" + (scratch / "tmp") + " $GENISTA compare --filters none " +
                                 "--number-of-queries 10 --value-bytes 1000 --layout " + layout + " --keys " +
                                 (scratch / "keys") + " --store " + (scratch / layout) + " >" + (scratch / "out") +
                                 " 2>" + (scratch / "err");
        EXPECT_EQ(shell("trap '' XFSZ; ulimit -f 2048; " + line), 2);
        EXPECT_EQ(contents(scratch / "out"), "");
        EXPECT_NE(contents(scratch / "err").find("File too large"), std::string::npos) << contents(scratch / "err");
        EXPECT_TRUE(is_empty(scratch / "tmp"));
        EXPECT_EQ(shell(line), 0) << contents(scratch / "err");
    }
}

TEST(compare_files_cli, nothing_is_left_in_the_folder_for_temporary_files) {
    const scratch_folder scratch;
    std::filesystem::create_directory(scratch / "tmp");
    const std::string tool =
        "TMPDIR=" + (scratch / "tmp") + " $GENISTA compare --number-of-keys 2000 --value-bytes 50 ";
    const std::string quiet = " >/dev/null 2>&1";
    EXPECT_EQ(shell(tool + "--number-of-queries 100" + quiet), 0);
    EXPECT_TRUE(is_empty(scratch / "tmp"));
    EXPECT_EQ(shell(tool + "--bits-per-key 3" + quiet), 2);
    EXPECT_TRUE(is_empty(scratch / "tmp"));
    const std::string missing = "TMPDIR=" + (scratch / "missing") + " $GENISTA compare --number-of-keys 10";
    EXPECT_EQ(shell(missing + quiet), 2);
    for (const char* signal : {"INT", "TERM", "HUP"}) {
        // It would run for hours; it gets a signal when its folder exists. A shell has its
        // background ignore SIGINT.
        const std::string endless =
            "env --default-signal=INT " + tool + "--number-of-queries 1e8 --filters none" + quiet;
        const std::string there = "until [ -n \"$(ls " + (scratch / "tmp") + ")\" ]; do sleep 0.05; done; sleep 0.3; ";
        EXPECT_NE(shell("(" + endless + " & run=$!; " + there + "kill -s " + signal + " $run; wait $run)" + quiet), 0);
        EXPECT_TRUE(is_empty(scratch / "tmp")) << signal;
    }
}

}  // namespace
}  // namespace genista::test::compare_files_cli_test
