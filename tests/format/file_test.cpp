// Files: a save is all or nothing whichever step fails, and no unusual path makes it crash, hang or
// replace a file that it must not replace.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "genista/detail/format/snapshot.hpp"
#include "genista/format/mapped_file.hpp"
#include "genista/format/sink.hpp"

// The library is linked statically, so these two functions take precedence over those of the C
// library. They inject faults into system calls that no file system on a test machine can be made
// to fail, and otherwise make the real call.
namespace {
int fsync_calls_until_failure = -1;
int rename_calls_until_failure = -1;
bool is_its_turn(int& countdown) {
    return countdown >= 0 && countdown-- == 0;
}
}  // namespace

extern "C" int fsync(int file) {
    if (is_its_turn(fsync_calls_until_failure)) {
        errno = EIO;
        return -1;
    }
    return static_cast<int>(syscall(SYS_fsync, file));
}
extern "C" int rename(const char* from, const char* to) noexcept {
    if (is_its_turn(rename_calls_until_failure)) {
        errno = ENOSPC;
        return -1;
    }
    return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

namespace genista::file_test {
namespace {

namespace fs = std::filesystem;
using bytes = std::vector<std::byte>;
using ::testing::AllOf;
using ::testing::HasSubstr;

class files : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = ::testing::TempDir() + "genista-format-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        directory = pattern;
        path = (directory / "a.snapshot").string();
    }
    void TearDown() override {
        fsync_calls_until_failure = rename_calls_until_failure = -1;
        fs::remove_all(directory);
    }
    std::string contents(const std::string& of) {
        std::ifstream in{of, std::ios::binary};
        return {std::istreambuf_iterator<char>{in}, {}};
    }
    void put(const std::string& to, const std::string& text) { std::ofstream{to, std::ios::binary} << text; }
    std::size_t entries() {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator{directory}, fs::directory_iterator{}));
    }
    static std::span<const std::byte> view(std::string_view text) { return std::as_bytes(std::span{text}); }
    // A save of "new" that must fail. The old file stays unchanged, with no other file beside it.
    template <class Write>
    std::string failed_save(Write&& write) {
        put(path, "old");
        const result<void> saved = save_file(path, write);
        EXPECT_FALSE(saved);
        EXPECT_EQ(contents(path), "old");
        EXPECT_EQ(entries(), 1u) << "a temporary file was left";
        return saved ? "" : std::string{saved.error().message()};
    }

    fs::path directory;
    std::string path;
};

result<void> write_new(sink& out) {
    if (result<void> w = out.write(std::as_bytes(std::span{std::string_view{"ne"}})); !w) return w;
    return out.write(std::as_bytes(std::span{std::string_view{"w"}}));
}

TEST_F(files, a_save_creates_and_then_replaces_the_file) {
    ASSERT_TRUE(save_file(path, write_new));
    EXPECT_EQ(contents(path), "new");
    put(path, "something older and longer");
    ASSERT_TRUE(save_file(path, write_new));
    EXPECT_EQ(contents(path), "new");
    EXPECT_EQ(entries(), 1u);
}

TEST_F(files, a_bare_file_name_is_saved_in_the_current_directory) {
    const fs::path before = fs::current_path();
    fs::current_path(directory);
    const result<void> saved = save_file("bare", write_new);
    fs::current_path(before);
    ASSERT_TRUE(saved) << saved.error().message();
    EXPECT_EQ(contents((directory / "bare").string()), "new");
}

TEST_F(files, a_new_file_is_private_and_a_replaced_one_keeps_its_permissions) {
    ASSERT_TRUE(save_file(path, write_new));
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    fs::permissions(path, static_cast<fs::perms>(0644));
    ASSERT_TRUE(save_file(path, write_new));
    EXPECT_EQ(fs::status(path).permissions(), static_cast<fs::perms>(0644));
}

TEST_F(files, a_link_stays_and_the_file_behind_it_is_replaced) {
    const std::string link = (directory / "link").string();
    put(path, "old");
    fs::create_symlink("a.snapshot", link);
    ASSERT_TRUE(save_file(link, write_new));
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_EQ(contents(path), "new");
    fs::remove(path);
    EXPECT_FALSE(save_file(link, write_new)) << "the link leads nowhere";
    EXPECT_TRUE(fs::is_symlink(link));
}

TEST_F(files, a_writer_that_fails_halfway_leaves_the_old_file) {
    EXPECT_EQ(failed_save([](sink& out) -> result<void> {
                  if (result<void> w = out.write(view("half")); !w) return w;
                  return error::make(error_code::timeout, "the filter gave up");
              }),
              "the filter gave up");
}

TEST_F(files, a_writer_that_throws_leaves_the_old_file) {
    put(path, "old");
    EXPECT_THROW(static_cast<void>(save_file(path, [](sink&) -> result<void> { throw 1; })), int);
    EXPECT_EQ(contents(path), "old");
    EXPECT_EQ(entries(), 1u);
}

TEST_F(files, a_failed_sync_of_the_file_leaves_the_old_file) {
    fsync_calls_until_failure = 0;
    EXPECT_THAT(failed_save(write_new), AllOf(HasSubstr("cannot sync"), HasSubstr(path), HasSubstr("errno 5")));
}

TEST_F(files, a_failed_rename_leaves_the_old_file) {
    rename_calls_until_failure = 0;
    EXPECT_THAT(failed_save(write_new), AllOf(HasSubstr("cannot rename"), HasSubstr("No space left")));
}

TEST_F(files, a_failed_sync_of_the_directory_says_that_the_file_was_replaced) {
    put(path, "old");
    fsync_calls_until_failure = 1;
    const result<void> saved = save_file(path, write_new);
    ASSERT_FALSE(saved);
    EXPECT_THAT(std::string{saved.error().message()}, HasSubstr("replaced, but cannot sync the directory"));
    EXPECT_EQ(contents(path), "new");
    EXPECT_EQ(entries(), 1u);
}

TEST_F(files, a_disk_that_takes_no_more_bytes_leaves_the_old_file) {
    // The kernel itself refuses: a limit on the size of files is reached in the middle of a write.
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{.rlim_cur = 10'000, .rlim_max = before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    std::string later;
    const std::string why = failed_save([&](sink& out) {
        const bytes much(30'000);
        const result<void> first = out.write(much);
        const result<void> second = out.write(std::span{much}.first(1));
        later = second ? "accepted" : std::string{second.error().message()};
        return first;
    });
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, handler);
    EXPECT_THAT(why, AllOf(HasSubstr("cannot write"), HasSubstr("File too large")));
    EXPECT_THAT(later, HasSubstr("failed")) << "I2";
}

TEST_F(files, an_error_that_the_writer_swallows_still_fails_the_save) {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{.rlim_cur = 100, .rlim_max = before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    failed_save([&](sink& out) -> result<void> {
        static_cast<void>(out.write(bytes(1000)));
        return {};
    });
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, handler);
}

TEST_F(files, a_committed_sink_takes_nothing_more) {
    result<atomic_file_sink> file = atomic_file_sink::create(path);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write(view("new")));
    EXPECT_FALSE(fs::exists(path)) << "nothing appears before the commit";
    ASSERT_TRUE(file->commit());
    EXPECT_FALSE(file->write(view("more")));
    EXPECT_FALSE(file->commit());
    EXPECT_EQ(contents(path), "new");
}

TEST_F(files, paths_that_cannot_be_saved_to_are_errors_with_a_name) {
    const auto why = [](std::string_view to) {
        const result<void> saved = save_file(to, write_new);
        return saved ? std::string{"saved"} : std::string{saved.error().message()};
    };
    EXPECT_THAT(why(""), HasSubstr("0 bytes"));
    EXPECT_THAT(why(std::string_view{"a\0b", 3}), HasSubstr("zero byte at 1"));
    EXPECT_THAT(why(directory.string()), HasSubstr("Is a directory"));
    EXPECT_THAT(why(path + "/x/"), HasSubstr("No such file"));
    EXPECT_THAT(why((directory / "missing" / "a").string()), AllOf(HasSubstr("missing/a"), HasSubstr("errno 2")));
    EXPECT_THAT(why((directory / std::string(300, 'n')).string()), HasSubstr("File name too long"));
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_THAT(why(path), HasSubstr("will not replace"));
    // Not a real device: if this check were broken, a test run by the superuser would replace it.
    const std::string link = (directory / "link").string();
    fs::create_symlink("a.snapshot", link);
    EXPECT_THAT(why(link), HasSubstr("will not replace"));
    EXPECT_TRUE(fs::is_fifo(path));
    put((directory / "plain").string(), "x");
    EXPECT_THAT(why((directory / "plain" / "a").string()), HasSubstr("Not a directory"));
}

// The superuser can read every file and write to every directory, so the call is made as the user
// nobody.
template <class Call>
auto as_nobody(Call&& call) {
    const uid_t self = ::geteuid();
    const bool changed = self == 0 && ::seteuid(65534) == 0;
    auto outcome = call();
    EXPECT_TRUE(!changed || ::seteuid(self) == 0);
    return outcome;
}

TEST_F(files, an_unwritable_directory_is_an_error_and_its_files_stay) {
    put(path, "old");
    fs::permissions(directory, static_cast<fs::perms>(0555));
    const result<void> saved = as_nobody([&] { return save_file(path, write_new); });
    fs::permissions(directory, static_cast<fs::perms>(0755));
    ASSERT_FALSE(saved);
    EXPECT_THAT(std::string{saved.error().message()}, AllOf(HasSubstr(path), HasSubstr("Permission denied")));
    EXPECT_EQ(contents(path), "old");
    EXPECT_EQ(entries(), 1u);
}

TEST_F(files, a_snapshot_written_to_a_file_opens_in_place_and_as_a_copy) {
    const bytes section(1000, std::byte{7});
    const std::span<const std::byte> sections[] = {section};
    ASSERT_TRUE(save_file(path, [&](sink& out) {
        return write_snapshot(out, {.kind = snapshot_kind::bloom, .kind_version = 1}, view("parameters"), sections);
    }));
    const result<mapped_file> mapped = mapped_file::open(path);
    ASSERT_TRUE(mapped);
    const result<snapshot_view> in_place = open_snapshot(mapped->bytes());
    ASSERT_TRUE(in_place);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(in_place->sections[0].data()) % 64, 0u);
    EXPECT_TRUE(std::ranges::equal(in_place->sections[0], section));
    const result<buffer> copy = read_file(path, mapped->bytes().size());
    ASSERT_TRUE(copy);
    EXPECT_TRUE(std::ranges::equal(copy->bytes(), mapped->bytes()));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(open_snapshot(copy->bytes())->sections[0].data()) % 64, 0u);
}

TEST_F(files, a_mapping_keeps_the_old_bytes_when_the_file_is_replaced) {
    put(path, "old");
    const result<mapped_file> mapped = mapped_file::open(path);
    ASSERT_TRUE(mapped);
    ASSERT_TRUE(save_file(path, write_new));
    EXPECT_TRUE(std::ranges::equal(mapped->bytes(), view("old"))) << "I3";
}

TEST_F(files, a_mapping_can_be_moved) {
    put(path, "old");
    mapped_file mapped = std::move(*mapped_file::open(path));
    mapped_file other;
    EXPECT_TRUE(other.bytes().empty());
    other = std::move(mapped);
    EXPECT_TRUE(std::ranges::equal(other.bytes(), view("old")));
}

TEST_F(files, files_that_cannot_be_read_are_errors_with_a_name) {
    const auto why = [](std::string_view from) {
        const result<mapped_file> mapped = mapped_file::open(from);
        const result<buffer> copy = read_file(from, 1000);
        if (mapped || copy) return std::string{"read"};
        EXPECT_EQ(mapped.error().message(), copy.error().message());
        return std::string{copy.error().message()};
    };
    EXPECT_THAT(why(""), HasSubstr("0 bytes"));
    EXPECT_THAT(why(std::string_view{"/etc\0x", 6}), HasSubstr("zero byte at 4"));
    EXPECT_THAT(why(path), AllOf(HasSubstr("cannot open " + path), HasSubstr("No such file"), HasSubstr("errno 2")));
    EXPECT_THAT(why(directory.string()), HasSubstr("Is a directory"));
    EXPECT_THAT(why("/dev/zero"), HasSubstr("not a regular file"));
    put(path, "");
    EXPECT_THAT(why(path), HasSubstr("empty file"));
    fs::remove(path);
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_THAT(why(path), HasSubstr("not a regular file")) << "and it did not wait for a writer";
    const std::string deep = (directory / std::string(200, 'd') / std::string(200, 'e')).string();
    EXPECT_THAT(why(deep), AllOf(HasSubstr("..."), HasSubstr("eee: No such file")));
}

TEST_F(files, an_unreadable_file_is_an_error) {
    put(path, "secret");
    fs::permissions(path, fs::perms::none);
    fs::permissions(directory, static_cast<fs::perms>(0755));
    const result<mapped_file> mapped = as_nobody([&] { return mapped_file::open(path); });
    ASSERT_FALSE(mapped);
    EXPECT_THAT(std::string{mapped.error().message()}, HasSubstr("Permission denied"));
}

TEST_F(files, a_copy_keeps_to_its_limit) {
    put(path, "12345");
    EXPECT_TRUE(read_file(path, 5));
    const result<buffer> refused = read_file(path, 4);
    ASSERT_FALSE(refused);
    EXPECT_THAT(std::string{refused.error().message()}, HasSubstr("a.snapshot has 5 bytes; at most 4 are read"));
    fs::resize_file(path, std::uintmax_t{1} << 40);  // a hole of 1 TiB: refused before any allocation
    EXPECT_FALSE(read_file(path, 1 << 20));
}

TEST(vector_sink, appends_and_reports_what_cannot_fit) {
    vector_sink out;
    const bytes two(2, std::byte{1});
    ASSERT_TRUE(out.write(two));
    ASSERT_TRUE(out.write({}));
    const result<void> refused = out.write({two.data(), std::size_t{std::numeric_limits<std::ptrdiff_t>::max()}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::out_of_memory);
    EXPECT_EQ(out.bytes().size(), 2u);
    ASSERT_TRUE(out.write(two));
    EXPECT_EQ(std::move(out).take(), bytes(4, std::byte{1}));
}

}  // namespace
}  // namespace genista::file_test
