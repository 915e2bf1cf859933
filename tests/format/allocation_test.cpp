// Each allocation of each call of this room fails in turn: the call reports an error, and leaves
// nothing behind.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "genista/detail/format/snapshot.hpp"
#include "genista/format/mapped_file.hpp"
#include "genista/format/sink.hpp"
#include "tests/support/failing_allocator.hpp"

namespace genista::allocation_test {
namespace {

using test::fail_each_allocation, test::failing_allocations;

TEST(format_allocations, a_vector_sink_keeps_what_it_had) {
    vector_sink out;
    const std::vector<std::byte> piece(100, std::byte{1});
    ASSERT_TRUE(out.write(piece));
    {
        const failing_allocations armed{0};
        const std::span<const std::byte> much{piece};
        result<void> written = out.write(much);
        while (written) written = out.write(much);  // until it has to grow
        EXPECT_EQ(written.error().code(), error_code::out_of_memory);
    }
    const std::size_t size = out.bytes().size();
    EXPECT_EQ(size % 100, 0u);
    ASSERT_TRUE(out.write(piece));
    EXPECT_EQ(out.bytes().size(), size + 100);
}

TEST(format_allocations, writing_and_opening_a_snapshot_allocate_nothing) {
    class null_sink final : public sink {
        result<void> write(std::span<const std::byte>) override { return {}; }
    } out;
    const std::vector<std::byte> piece(1000);
    const std::span<const std::byte> sections[] = {piece, piece};
    EXPECT_EQ(fail_each_allocation([&] { return write_snapshot(out, {}, piece, sections); }), 0u);
    vector_sink kept;
    ASSERT_TRUE(write_snapshot(kept, {}, piece, sections));
    EXPECT_EQ(fail_each_allocation([&] { return open_snapshot(kept.bytes()); }), 0u);
}

TEST(format_allocations, saving_and_reading_files_report_a_failed_one_and_leave_nothing) {
    std::string directory = ::testing::TempDir() + "genista-format-XXXXXX";
    ASSERT_NE(::mkdtemp(directory.data()), nullptr);
    const std::string path = directory + "/a.snapshot";  // too long to fit into a string without allocation
    const std::vector<std::byte> piece(1000, std::byte{1});
    const auto entries = [&] {
        std::size_t count = 0;
        for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator{directory}) ++count;
        return count;
    };
    const std::uint64_t saves = fail_each_allocation([&] {
        const result<void> saved = save_file(path, [&](sink& out) { return out.write(piece); });
        return saved;
    });
    EXPECT_GE(saves, 2u);
    EXPECT_EQ(entries(), 1u);
    EXPECT_GE(fail_each_allocation([&] { return mapped_file::open(path); }), 1u);
    EXPECT_GE(fail_each_allocation([&] { return read_file(path, 1000); }), 2u);
    std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace genista::allocation_test
