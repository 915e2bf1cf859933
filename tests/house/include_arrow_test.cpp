// Every file of the tree keeps the include arrow (include_arrow.hpp has the rules), and the checker
// refuses lines that break it.
#include "include_arrow.hpp"

#include <gtest/gtest.h>

#include "source_tree.hpp"

namespace genista::test::include_arrow_test {
namespace {

TEST(include_arrow, is_kept_by_every_file_of_the_library_and_its_users) {
    std::size_t includes = 0;
    for (const source_file& file : source_tree(GENISTA_SOURCE_DIR)) {
        if (!file.is_cpp()) continue;
        for (std::size_t i = 0; i < file.lines.size(); ++i) {
            const std::string reason = broken_arrow(file.path, file.lines[i]);
            EXPECT_EQ(reason, "") << file.path << ":" << i + 1;
            if (room_of_file(file.path) && included_path(file.lines[i])) ++includes;
        }
    }
    EXPECT_GT(includes, 20u) << "the walk found almost no files: does it look at the right folders?";
}

TEST(include_arrow, reads_the_room_off_the_path) {
    EXPECT_EQ(room_of_file("include/genista/bits/word.hpp"), "bits");
    EXPECT_EQ(room_of_file("include/genista/detail/hash/field.hpp"), "hash");
    EXPECT_EQ(room_of_file("src/filters/kernels/avx2.cpp"), "filters");
    EXPECT_EQ(room_of_file("papers/whitelist.hpp"), "papers");
    EXPECT_EQ(room_of_file("support/remote/faulty_map.hpp"), "support");
    EXPECT_EQ(room_of_file("stores/rocksdb/store.hpp"), "stores");
    EXPECT_EQ(room_of_file("tools/genista/main.cpp"), "tools");
    EXPECT_EQ(room_of_file("lab/experiment.hpp"), "lab");
    EXPECT_EQ(room_of_file("tests/bits/word_test.cpp"), std::nullopt) << "tests may include everything";
    EXPECT_EQ(room_of_file("include/genista/genista.hpp"), std::nullopt) << "a header above the rooms";
}

TEST(include_arrow, finds_includes_however_they_are_spaced_and_quoted) {
    EXPECT_EQ(included_path("#include \"genista/bits/word.hpp\""), "genista/bits/word.hpp");
    EXPECT_EQ(included_path("  #  include <genista/bits/word.hpp>  // why"), "genista/bits/word.hpp");
    EXPECT_EQ(included_path("// #include \"genista/bits/word.hpp\""), std::nullopt);
    EXPECT_EQ(included_path("#define include \"x.hpp\""), std::nullopt);
    EXPECT_EQ(included_path("#include MACRO"), std::nullopt);
    EXPECT_EQ(included_path("#include \"unclosed"), std::nullopt);
    EXPECT_EQ(included_path("#"), std::nullopt);
    EXPECT_EQ(included_path(""), std::nullopt);
}

TEST(include_arrow, lets_a_file_include_its_own_room_and_rooms_to_the_left) {
    EXPECT_EQ(broken_arrow("include/genista/bits/a.hpp", "#include \"genista/base/b.hpp\""), "");
    EXPECT_EQ(broken_arrow("include/genista/bits/a.hpp", "#include \"genista/bits/b.hpp\""), "");
    EXPECT_EQ(broken_arrow("src/filters/bloom.cpp", "#include \"filters/kernels.hpp\""), "");
    EXPECT_EQ(broken_arrow("src/filters/bloom.cpp", "#include \"genista/format/snapshot.hpp\""), "");
    EXPECT_EQ(broken_arrow("tools/genista/main.cpp", "#include \"lab/experiment.hpp\""), "");
    EXPECT_EQ(broken_arrow("src/base/a.cpp", "#include <sys/mman.h>"), "");
    EXPECT_EQ(broken_arrow("include/genista/bits/a.hpp", "#include <vector>"), "");
}

TEST(include_arrow, refuses_an_include_to_the_right) {
    EXPECT_NE(broken_arrow("include/genista/base/a.hpp", "#include \"genista/bits/b.hpp\""), "");
    EXPECT_NE(broken_arrow("include/genista/bits/a.hpp", "#include \"genista/hash/b.hpp\""), "");
    EXPECT_NE(broken_arrow("include/genista/format/a.hpp", "#include <genista/remote/b.hpp>"), "");
    EXPECT_NE(broken_arrow("src/hash/a.cpp", "#include \"filters/kernels.hpp\""), "");
    EXPECT_NE(broken_arrow("include/genista/oracles/a.hpp", "#include \"genista/filters/b.hpp\""), "");
    EXPECT_NE(broken_arrow("include/genista/filters/a.hpp", "#include \"genista/guard/b.hpp\""), "");
    EXPECT_NE(broken_arrow("src/guard/a.cpp", "#include \"stores/rocksdb/b.hpp\""), "");
    EXPECT_NE(broken_arrow("stores/rocksdb/a.cpp", "#include \"lab/experiment.hpp\""), "");
    EXPECT_NE(broken_arrow("include/genista/bits/a.hpp", "#include \"genista/detail/hash/b.hpp\""), "");
    EXPECT_NE(broken_arrow("include/genista/detail/bits/a.hpp", "#include \"genista/hash/b.hpp\""), "");
    EXPECT_NE(broken_arrow("src/filters/a.cpp", "#include \"papers/whitelist.hpp\""), "");
    EXPECT_NE(broken_arrow("stores/rocksdb/a.cpp", "#include \"papers/whitelist.hpp\""), "");
    EXPECT_NE(broken_arrow("papers/a.cpp", "#include \"support/remote/faulty_map.hpp\""), "");
    EXPECT_NE(broken_arrow("support/a.cpp", "#include \"lab/experiment.hpp\""), "");
}

TEST(include_arrow, refuses_private_headers_in_public_ones_and_climbing_and_unknown_rooms) {
    EXPECT_NE(broken_arrow("include/genista/filters/a.hpp", "#include \"filters/kernels.hpp\""), "");
    EXPECT_NE(broken_arrow("include/genista/detail/filters/a.hpp", "#include \"filters/kernels.hpp\""), "");
    EXPECT_NE(broken_arrow("include/genista/filters/a.hpp", "#include \"papers/whitelist.hpp\""), "");
    EXPECT_NE(broken_arrow("include/genista/filters/a.hpp", "#include \"support/remote/faulty_map.hpp\""), "");
    EXPECT_NE(broken_arrow("src/filters/a.cpp", "#include \"../hash/b.hpp\""), "");
    EXPECT_NE(broken_arrow("src/attic/a.cpp", "#include \"genista/base/b.hpp\""), "");
    EXPECT_NE(broken_arrow("src/filters/a.cpp", "#include \"genista/attic/b.hpp\""), "");
}

}  // namespace
}  // namespace genista::test::include_arrow_test
