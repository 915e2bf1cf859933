// Output: files that appear whole or not at all, inputs that no output replaces, pipes that are
// closed early, narrow terminals, and one run of a report at a time.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include "compare_cli.hpp"

namespace genista::test::output_cli_test {
namespace {

arguments small_compare(const arguments& more) {
    return joined({"compare", "--number-of-keys", "500", "--number-of-queries", "100", "--filters", "none"}, more);
}

TEST(output_cli, a_page_is_a_file_and_anything_else_is_refused_before_the_work) {
    const scratch_folder scratch;
    expect_refused(small_compare({"--report", "/dev/null"}), "/dev/null", "not a regular file");
    expect_refused(small_compare({"--report", scratch.folder().string()}), scratch.folder().string(), "folder");
    std::filesystem::create_symlink(scratch / "nowhere", scratch / "link");
    for (const char* option : {"--report", "--json"})
        expect_refused(small_compare({option, scratch / "link"}), scratch / "link", "a link to nothing");
    expect_refused({"lab", "matrix", "--html", "/dev/null"}, "/dev/null", "not a regular file");
    expect_refused({"daisy", "train", "--inserts", "x", "--queries", "y", "--out", "/dev/null"}, "/dev/null",
                   "not a regular file");
}

TEST(output_cli, json_goes_into_pipes_and_devices_and_through_links) {
    const scratch_folder scratch;
    const std::string list = "$GENISTA lab trace '" + (scratch / "trace") + "' --json ";
    put_contents(scratch / "trace", "a\nb\n");
    ASSERT_EQ(shell(list + "/dev/null >/dev/null"), 0);
    ASSERT_EQ(shell(list + "/dev/stderr 2>'" + (scratch / "err") + "' >/dev/null"), 0);
    EXPECT_EQ(json::parse(contents(scratch / "err")).at("traces").size(), 1u);
    const std::string pipe = scratch / "pipe";
    ASSERT_EQ(shell("mkfifo " + pipe + "; cat " + pipe + " >'" + (scratch / "read") + "' & " + list + pipe +
                    " >/dev/null; s=$?; wait; exit $s"),
              0);
    EXPECT_EQ(json::parse(contents(scratch / "read")).at("traces").size(), 1u);
    put_contents(scratch / "real.json", "old");
    std::filesystem::create_symlink(scratch / "real.json", scratch / "link.json");
    ASSERT_EQ(shell(list + (scratch / "link.json") + " >/dev/null"), 0);
    EXPECT_TRUE(std::filesystem::is_symlink(scratch / "link.json"));
    EXPECT_EQ(json::parse(contents(scratch / "real.json")).at("traces").size(), 1u);
    ASSERT_EQ(shell("umask 022; " + list + (scratch / "new.json") + " >/dev/null"), 0);
    EXPECT_EQ(std::filesystem::status(scratch / "new.json").permissions(), std::filesystem::perms{0644});
}

TEST(output_cli, a_full_disk_leaves_the_old_json_and_nothing_half_written) {
    const scratch_folder scratch;
    std::filesystem::create_directory(scratch / "out");
    put_contents(scratch / "out/list.json", "old");
    std::string many;
    for (int i = 0; i < 40; ++i) many += " '" + (scratch / "trace") + "'";
    put_contents(scratch / "trace", "a\nb\n");
    // Files may grow to 4 KB, and forty traces take more: the write fails as on a full disk.
    EXPECT_EQ(shell("trap '' XFSZ; ulimit -f 8; $GENISTA lab trace" + many + " --json '" + (scratch / "out/list.json") +
                    "' >/dev/null 2>'" + (scratch / "err") + "'"),
              1);
    EXPECT_NE(contents(scratch / "err").find("list.json"), std::string::npos) << contents(scratch / "err");
    EXPECT_EQ(contents(scratch / "out/list.json"), "old");
    std::filesystem::remove(scratch / "out/list.json");
    EXPECT_TRUE(is_empty(scratch / "out"));
}

TEST(output_cli, no_output_replaces_an_input_or_another_output) {
    const scratch_folder scratch;
    const std::string keys = scratch / "keys", other = scratch / "other";
    put_contents(keys, "a\nb\n");
    put_contents(other, "a\nc\n");
    std::filesystem::create_symlink(keys, scratch / "link");
    std::filesystem::create_hard_link(keys, scratch / "hard");
    const arguments compare{"compare", "--keys", keys, "--queries", other};
    expect_refused(joined(compare, {"--json", keys}), "--json", "the file of --keys");
    expect_refused(joined(compare, {"--report", scratch / "./other"}), "--report", "the file of --queries");
    expect_refused(joined(compare, {"--json", scratch / "link"}), "--json", "the file of --keys");
    expect_refused(joined(compare, {"--json", scratch / "hard"}), "--json", "the file of --keys");
    expect_refused(joined(compare, {"--json", scratch / "new", "--report", scratch / "new"}), "--report",
                   "the file of --json");
    const arguments train{"daisy", "train", "--inserts", keys, "--queries", other};
    expect_refused(joined(train, {"--out", other}), "--out", "the file of --queries");
    expect_refused(joined(train, {"--out", scratch / "m", "--json", scratch / "m"}), "--json", "the file of --out");
    expect_refused({"daisy", "size", "--model", keys, "--json", keys}, "--json", "the file of --model");
    expect_refused({"lab", "trace", other, keys, "--json", keys}, "--json", "the file of FILE");
    expect_refused({"lab", "report", "--only", "broom-words", "--json", scratch / "p", "--html", scratch / "p"},
                   "--html", "the file of --json");
    EXPECT_EQ(contents(keys), "a\nb\n");
    EXPECT_EQ(contents(other), "a\nc\n");
    EXPECT_FALSE(std::filesystem::exists(scratch / "new"));
}

// Neither file exists yet: only the names show it.
TEST(output_cli, two_names_of_one_new_file_are_one_file) {
    const scratch_folder scratch;
    put_contents(scratch / "log", "a\nb\n");
    const std::string here = "cd '" + scratch.folder().string() + "' && $GENISTA ";
    for (const char* line :
         {"daisy train --inserts log --queries log --out new --json ./new",
          "compare --number-of-keys 500 --filters none --json new --report ./new",
          "lab run broom-words --quick --json new --report ./new", "lab matrix --quick --json ./new --html new",
          "lab report --quick --json ./new --html new", "lab report --quick --json new.parts --html new"}) {
        EXPECT_EQ(shell(here + line + " 2>err >out"), 2) << line;
        EXPECT_NE(contents(scratch / "err").find("name another"), std::string::npos)
            << line << contents(scratch / "err");
        EXPECT_EQ(contents(scratch / "out"), "") << line;
        EXPECT_FALSE(std::filesystem::exists(scratch / "new")) << line;
    }
}

TEST(output_cli, a_reader_that_leaves_early_leaves_no_temporary_folder_behind) {
    const scratch_folder scratch;
    std::filesystem::create_directory(scratch / "tmp");
    const std::string tool = "TMPDIR=" + (scratch / "tmp") + " $GENISTA ";
    // A timeline of every query is far more than a pipe holds.
    (void)shell(tool +
                "compare --number-of-keys 2000 --number-of-queries 20000 --value-bytes 8 --json - 2>&1 | head -1" +
                " >/dev/null");
    EXPECT_TRUE(is_empty(scratch / "tmp"));
    (void)shell(tool + "lab run broom-words broom-words --quick 2>&1 | :");
    EXPECT_TRUE(is_empty(scratch / "tmp"));
}

TEST(output_cli, an_experiment_that_is_interrupted_leaves_nothing_on_disk) {
    const scratch_folder scratch;
    std::filesystem::create_directory(scratch / "tmp");
    // It fills databases for minutes; it gets a signal when there is one. A shell has its
    // background ignore SIGINT.
    const std::string endless =
        "TMPDIR=" + (scratch / "tmp") + " env --default-signal=INT $GENISTA lab run sustained-guard >/dev/null 2>&1";
    const std::string there = "until ls " + (scratch / "tmp") + "/*/* >/dev/null 2>&1; do sleep 0.05; done; sleep 0.3;";
    EXPECT_NE(shell("(" + endless + " & run=$!; " + there + " kill -s INT $run; wait $run)"), 0);
    EXPECT_TRUE(is_empty(scratch / "tmp"));
}

TEST(output_cli, two_runs_of_one_report_exclude_each_other) {
    const scratch_folder scratch;
    const arguments line{"lab", "report", "--quick", "--only", "broom-words", "--html", scratch / "lab.html"};
    ASSERT_EQ(run_tool(line).status, 0);
    const int held = ::open((scratch / "lab.html.parts").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT_EQ(::flock(held, LOCK_EX), 0);
    expect_refused(line, "lab.html.parts", "another run");
    ::close(held);
    EXPECT_EQ(run_tool(line).status, 0);
}

// What a run writes to stderr if that is a terminal of so many columns.
std::string on_terminal(unsigned columns, const std::string& line) {
    const int ours = ::posix_openpt(O_RDWR | O_NOCTTY);
    if (ours < 0 || ::grantpt(ours) != 0 || ::unlockpt(ours) != 0) return "no terminal";
    const std::string name = ::ptsname(ours);
    const int theirs = ::open(name.c_str(), O_RDWR | O_NOCTTY);
    struct winsize size {};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = 10;
    (void)::ioctl(theirs, TIOCSWINSZ, &size);
    std::string seen;
    // A terminal holds a few kilobytes: read while it runs.
    std::jthread reader{[&] {
        char piece[256];
        for (ssize_t got = 0; (got = ::read(ours, piece, sizeof piece)) > 0;)
            seen.append(piece, static_cast<std::size_t>(got));
    }};
    (void)shell("TERM=xterm " + line + " 2>" + name);
    ::close(theirs);  // the last one: the reader gets an error instead of more
    reader.join();
    ::close(ours);
    return seen;
}

TEST(output_cli, a_progress_bar_fits_the_terminal_it_is_drawn_on) {
    for (const unsigned columns : {30u, 200u}) {
        const std::string seen = on_terminal(columns, "$GENISTA lab run broom-words --quick >/dev/null");
        EXPECT_NE(seen.find('%'), std::string::npos) << "no bar at all";
        std::istringstream redraws{seen};
        const std::string clear = "\033[K";
        for (std::string each; std::getline(redraws, each, '\r');) {
            if (each.starts_with(clear)) each.erase(0, clear.size());
            EXPECT_LT(each.size(), columns) << each;
        }
        EXPECT_TRUE(seen.ends_with("\r" + clear)) << "it is erased when the work is done";
    }
}

TEST(output_cli, there_are_no_colours_and_no_bar_on_a_dumb_terminal_or_a_pipe) {
    EXPECT_EQ(on_terminal(80, "TERM=dumb $GENISTA lab run broom-words --quick >/dev/null"), "");
    const tool_run run = run_tool({"lab", "list"});
    EXPECT_EQ(run.out.find('\033'), std::string::npos);
}

}  // namespace
}  // namespace genista::test::output_cli_test
