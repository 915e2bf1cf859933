// Traces, sets and sequences from files: they are read correctly, and a file that is not whole is
// refused by file and line.
#include "lab/workloads/trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "lab/workloads/csv.hpp"
#include "lab/workloads/key_file.hpp"
#include "lab/workloads/kmers.hpp"
#include "workload_files.hpp"

namespace genista::lab::trace_test {
namespace {

using numbers = std::vector<std::uint32_t>;
using texts = std::vector<std::string>;

texts keys_of(const trace& of) {
    texts keys;
    for (std::uint32_t i = 0; i < of.keys.size(); ++i) keys.emplace_back(of.keys[i]);
    return keys;
}

TEST(trace, numbers_its_keys_in_the_order_of_first_appearance) {
    const workload_files files;
    for (const std::string& path :
         {files.put("net-a.keys", "b\na\r\nb\n\nc\na"), files.put_gzip("net-a.keys.gz", "b\na\r\nb\n\nc\na")}) {
        const auto read = read_trace(path);
        ASSERT_TRUE(read) << read.error().message();
        EXPECT_EQ(read->accesses, (numbers{0, 1, 0, 2, 1}));
        EXPECT_EQ(keys_of(*read), (texts{"b", "a", "c"}));
        EXPECT_EQ(read->name, "net-a");
        EXPECT_TRUE(read->is_network);
        EXPECT_FALSE(read->is_synthetic);
    }
    EXPECT_FALSE(read_trace(files.put("internet-a.csv", "b\n"))->is_network);
}

TEST(trace, a_gzip_file_that_lacks_any_of_its_bytes_is_refused) {
    const workload_files files;
    std::string text;
    for (int i = 0; i < 50; ++i) text.append(std::to_string(i * i)).append("\n");
    const std::string whole = bytes_of(files.put_gzip("whole", text));
    ASSERT_EQ(read_trace(files.put("copy", whole))->accesses.size(), 50u);
    for (std::size_t kept = 1; kept < whole.size(); ++kept) {
        expect_error(read_trace(files.put("cut", whole.substr(0, kept))), {"cut", "end in the middle"});
    }
    expect_error(read_trace(files.put("cut", "")), {"cut", "holds no key"});
    for (std::size_t at = whole.size() - 8; at < whole.size(); ++at) {
        std::string bent = whole;
        bent[at] = static_cast<char>(bent[at] ^ 1);
        expect_error(read_trace(files.put("bent", bent)), {"bent", "incorrect"});
    }
}

TEST(trace, a_gzip_file_of_several_members_is_read_to_its_end_or_refused) {
    const workload_files files;
    const std::string one = bytes_of(files.put_gzip("1", "a\nb\n")), two = bytes_of(files.put_gzip("2", "c\nd\n"));
    EXPECT_EQ(read_trace(files.put("both", one + two))->accesses, (numbers{0, 1, 2, 3}));
    EXPECT_EQ(read_trace(files.put("zeros", one + std::string(600'000, '\0')))->accesses.size(), 2u);
    for (std::size_t kept = 1; kept < two.size(); ++kept) {
        expect_error(read_trace(files.put("cut", one + two.substr(0, kept))), {"cut", "end in the middle"});
    }
    // gzread() would treat the bytes that follow as the end of the file.
    expect_error(read_trace(files.put("junk", one + "c\nd\n")), {"junk", "cannot be read"});
    std::string bent = one + two;
    bent[one.size()] = 'x';
    expect_error(read_trace(files.put("bent", bent)), {"bent", "cannot be read"});
}

TEST(trace, files_that_cannot_be_read_and_lines_that_are_too_long_are_refused) {
    const workload_files files;
    expect_error(read_trace(files.folder() + "/none"), {"none", "No such file"});
    expect_error(read_trace(files.folder()), {"folder"});
    expect_error(read_trace(files.put("blank", "\n\r\n\n")), {"blank", "holds no key"});
    expect_error(read_trace(files.put_gzip("void.gz", "")), {"void.gz", "holds no key"});
    const std::string longest(65536, 'x');
    EXPECT_EQ(read_trace(files.put("longest", "a\n" + longest + "\r\n"))->keys[1], longest);
    expect_error(read_trace(files.put("longer", "a\n\nb\n" + longest + "y\n")), {"longer", "line 4", "65536"});
}

TEST(trace, its_facts_are_counted) {
    const workload_files files;
    std::string text;
    for (int i = 0; i < 150; ++i) text.append(std::to_string(i)).append("\n");
    for (int i = 0; i < 40; ++i) text.append("7\n");
    for (int i = 0; i < 10; ++i) text.append("8\n");
    const trace_facts facts = facts_of(*read_trace(files.put("t", text)));
    EXPECT_EQ(facts.accesses, 200u);
    EXPECT_EQ(facts.keys, 150u);
    EXPECT_DOUBLE_EQ(facts.top_percent_share, (41 + 11) / 200.0) << "1 % of 150 keys is two keys";
    EXPECT_DOUBLE_EQ(facts.repeat_share, 50 / 200.0);
    EXPECT_DOUBLE_EQ(facts.seen_once_share, 148 / 150.0);
    EXPECT_DOUBLE_EQ(facts.most_frequent_share, 41 / 200.0);
    EXPECT_EQ(facts_of(trace{}).accesses, 0u);
}

TEST(csv, keys_are_the_chosen_columns_by_number_or_by_name) {
    const workload_files files;
    const std::string path = files.put("flows.csv", "src,dst,port\nx,y,1\nz,y,2\nx,y,1\n");
    const auto named = read_csv_trace(path, {.columns = "port,src", .separator = {}});
    ASSERT_TRUE(named) << named.error().message();
    EXPECT_EQ(keys_of(*named), (texts{"1,x", "2,z"}));
    EXPECT_EQ(named->accesses, (numbers{0, 1, 0}));
    EXPECT_EQ(named->name, "flows");
    EXPECT_EQ(keys_of(*read_csv_trace(path, {.columns = "2", .separator = {}})), (texts{"dst", "y"}))
        << "with numbers alone the first row is data";
    EXPECT_EQ(keys_of(*read_csv_trace(path, {.columns = "src,2", .separator = {}})), (texts{"x,y", "z,y"}));
    const std::string odd = files.put("odd.csv", "\xef\xbb\xbf\"a,b\",a\n1,2\n");
    EXPECT_EQ(keys_of(*read_csv_trace(odd, {.columns = "\"a,b\"", .separator = {}})), (texts{"1"}));
    const std::string packed = files.put_gzip("flows.csv.gz", "x;y\nz;y\n");
    EXPECT_EQ(read_csv_trace(packed, {.columns = "2", .separator = {}})->accesses, (numbers{0, 0}));
}

TEST(csv, the_separator_is_given_or_the_one_that_cuts_the_first_row_most) {
    const workload_files files;
    const auto first_key = [&](const std::string& text, const std::string& columns, const std::string& separator) {
        const auto read = read_csv_trace(files.put("t", text), {.columns = columns, .separator = separator});
        return read ? std::string{read->keys[0]} : std::string{read.error().message()};
    };
    EXPECT_EQ(first_key("a,b;c;d\n", "2", ""), "c");
    EXPECT_EQ(first_key("a,b;c;d\n", "1", ""), "a,b");
    EXPECT_EQ(first_key("a,b;c;d\n", "2", ","), "b;c;d");
    EXPECT_EQ(first_key("a,b\tc;d\te\n", "3", ""), "e");
    EXPECT_EQ(first_key("a,b\tc\n", "2", "tab"), "c");
    EXPECT_EQ(first_key("a,b\tc\n", "2", "\t"), "c");
    EXPECT_EQ(first_key("\"a;b;c\",d\n", "2", ""), "d") << "what is quoted does not count";
    EXPECT_EQ(first_key("alone\n", "1", ""), "alone");
    EXPECT_EQ(first_key("a,b;c\n", "1", ""), "a") << "as many of both: the comma";
}

TEST(csv, quoted_fields_may_hold_separators_quotes_and_line_breaks) {
    const workload_files files;
    const std::string path =
        files.put("q.csv", "\"a,1\",x\n\"b \"\"2\"\"\",x\r\n\n\"c\r\n\n3\",x\n\"\",x\n5\" disk,x\n d ,x\n");
    const auto both = read_csv_trace(path, {.columns = "1,2", .separator = {}});
    ASSERT_TRUE(both) << both.error().message();
    EXPECT_EQ(keys_of(*both), (texts{"a,1,x", "b \"2\",x", "c\n\n3,x", ",x", "5\" disk,x", " d ,x"}));
}

TEST(csv, rows_that_are_broken_are_refused_by_file_and_line) {
    const workload_files files;
    const auto refused = [&](const std::string& text, const std::string& columns,
                             std::initializer_list<std::string_view> words) {
        expect_error(read_csv_trace(files.put("bad.csv", text), {.columns = columns, .separator = ","}), words);
    };
    refused("a,b,c\nd,e\n", "1,3", {"bad.csv", "line 2", "2 columns", "column 3"});
    refused("a,b\n\n\"x\ny\",1\nd\n", "2", {"line 5: 1 column,", "column 2"});
    refused("src,dst\nx\n", "dst", {"line 2", "1 column", "column 2 (dst)"});
    refused("src,dst\nx,y\n", "port", {"line 1", "'port'", "src, dst"});
    refused("src,src\nx,y\n", "src", {"'src'", "several", "number"});
    refused("\"s\nrc\",dst\nx,y\n", "port", {"s?rc, dst"});
    refused("a,\"b\nc,d\ne,f\n", "1", {"line 1", "never closed"});
    refused("a,b\nc,\"d\n" + std::string(40'000, 'x') + "\n" + std::string(40'000, 'x') + "\n", "1",
            {"line 2", "not closed within 65536"});
    refused("a,b\nc,\"d\"e\n", "1", {"line 2", "closing quote"});
    refused("a,b\n,c\n", "1", {"line 2", "empty"});
    refused("src,dst\n", "dst", {"bad.csv", "holds no key"});
    refused("", "1", {"bad.csv", "holds no key"});
    std::string cut = bytes_of(files.put_gzip("t", "a,b\nc,d\n"));
    cut.resize(cut.size() - 3);
    refused(cut, "1", {"end in the middle"});
}

TEST(csv, columns_and_separators_that_are_none_are_refused_before_a_file_is_read) {
    const auto refused = [](const std::string& columns, const std::string& separator,
                            std::initializer_list<std::string_view> words) {
        expect_error(check({.columns = columns, .separator = separator}), words);
        expect_error(read_csv_trace("no such file", {.columns = columns, .separator = separator}), words);
    };
    refused("0", "", {"column 0", "from 1"});
    refused("1,0", "", {"1,0", "column 0"});
    refused("", "", {"empty"});
    refused("1,,2", "", {"1,,2", "empty"});
    refused("99999999999", "", {"99999999999", "too large"});
    refused("\"a", "", {"quote"});
    refused("1", "|", {"'|'", "tab"});
    refused("1", ",,", {"',,'", "tab"});
    EXPECT_TRUE(check({.columns = "1,src", .separator = "tab"}));
}

TEST(key_set, has_keys_and_labels_in_the_order_of_the_file) {
    const workload_files files;
    const auto read = read_key_set(files.put_gzip("s.tsv.gz", "b\tbad\na\tgood\r\n\nc\tbad\n"));
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->keys.size(), 3u);
    EXPECT_EQ(read->keys[2], "c");
    EXPECT_EQ(read->labels, (texts{"bad", "good"}));
    EXPECT_EQ(read->label_of, (numbers{0, 1, 0}));
}

TEST(key_set, a_line_that_is_no_new_key_with_a_label_is_refused) {
    const workload_files files;
    const auto refused = [&](const std::string& text, std::initializer_list<std::string_view> words) {
        expect_error(read_key_set(files.put("bad.tsv", text)), words);
    };
    refused("a\tx\nb\n", {"bad.tsv", "line 2", "no TAB"});
    refused("a\tx\nb\ty\tz\n", {"line 2", "more than one TAB"});
    refused("a\tx\n\nb\ty\na\ty\n", {"line 4", "'a'", "before"});
    refused("\tx\n", {"line 1", "key is empty"});
    refused("a\t\n", {"line 1", "label is empty"});
    refused("\n", {"bad.tsv", "holds no key"});
    std::string many;
    for (int i = 0; i <= 1000; ++i)
        many.append(std::to_string(i)).append("\tlabel").append(std::to_string(i)).append("\n");
    refused(many, {"line 1001", "1000 different labels"});
}

TEST(kmers, are_the_smaller_of_each_piece_and_its_reverse_complement) {
    const workload_files files;
    const auto text_of = [&](const std::string& sequence, unsigned k) {
        const auto read = read_kmers(files.put("s.seq", sequence), k);
        texts made;
        if (!read) return texts{std::string{read.error().message()}};
        for (const std::uint64_t each : *read) made.push_back(kmer_text(each, k));
        return made;
    };
    EXPECT_EQ(text_of("ACGTT\n", 3), (texts{"ACG", "ACG", "AAC"})) << "ACG, CGT whose complement is ACG, GTT: AAC";
    EXPECT_EQ(text_of("ac\nGt\r\nt", 3), (texts{"ACG", "ACG", "AAC"})) << "lines belong together, small letters count";
    EXPECT_EQ(text_of("ACGT", 1), (texts{"A", "C", "C", "A"}));
    const std::string longest = "ACGTACGTTTGCAAACCCGGGTTTACACGTGT";
    ASSERT_EQ(longest.size(), longest_kmer);
    const std::uint64_t whole = read_kmers(files.put("s.seq", longest), 32)->at(0);
    EXPECT_EQ(kmer_text(std::max(whole, reverse_complement(whole, 32)), 32).size(), 32u);
    EXPECT_TRUE(kmer_text(whole, 32) == longest || kmer_text(reverse_complement(whole, 32), 32) == longest);
    EXPECT_LE(whole, reverse_complement(whole, 32));
}

TEST(kmers, letters_that_are_no_base_and_lengths_that_do_not_fit_are_refused) {
    const workload_files files;
    const std::string good = files.put("s.seq", "ACGT\nACGT\n");
    EXPECT_EQ(read_kmers(good, 8)->size(), 1u);
    expect_error(read_kmers(good, 9), {"8 bases", "9 letters"});
    expect_error(read_kmers(good, 0), {"0 letters", "1..32"});
    expect_error(read_kmers(good, 33), {"33 letters", "1..32"});
    expect_error(read_kmers(files.put("n.seq", "ACGT\nACNT\n"), 3), {"n.seq", "line 2", "place 3", "'N'"});
    expect_error(read_kmers(files.put("x.seq", "AC\x01T\n"), 3), {"line 1", "place 3", "0x01"});
    expect_error(read_kmers(files.put("e.seq", ""), 3), {"e.seq", "0 bases"});
    std::string cut = bytes_of(files.put_gzip("s.seq.gz", std::string(1000, 'A')));
    cut.resize(cut.size() - 1);
    expect_error(read_kmers(files.put("cut.seq.gz", cut), 3), {"cut.seq.gz", "end in the middle"});
}

}  // namespace
}  // namespace genista::lab::trace_test
