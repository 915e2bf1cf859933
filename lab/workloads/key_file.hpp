// Files of keys, plain or gzip; `-` is standard input. lines.hpp defines a line. Empty lines are
// left out.
//
//     read_keys        one key a line: the bytes of the line, whatever they are (zero bytes too),
//                      at most longest_line_bytes of them
//     read_key_list    the same, kept in their order, repetitions included; oracles are trained on
//                      it
//     read_key_set     `key<TAB>label`, keys all different. For example host names to block and to
//                      pass
//     read_odds_file   `key<TAB>probability`
//
// Each reads the whole file or returns an error that names the file, the line and what is allowed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "genista/base/result.hpp"
#include "genista/hash/key.hpp"
#include "genista/oracles/exact_oracle.hpp"
#include "lab/workloads/key_table.hpp"

namespace genista::lab {

// Called for each key; the view is valid during the call. An error ends the reading.
using take_key = std::function<result<void>(std::string_view key)>;

// Returns the number of keys. Errors name the file, the line and what is allowed; a file without
// keys is an error.
[[nodiscard]] result<std::uint64_t> read_keys(const std::string& path, const take_key& take);

// Checks that `path` is a file and can be opened, so that a bad second file is found before the
// first has been read.
[[nodiscard]] result<void> check_key_file(const std::string& path);

// The error of a reader for a file that holds no key.
[[nodiscard]] error no_key_in(const std::string& path, std::string_view expected) noexcept;

// The keys of a log.
//
//     bytes    all keys, one behind the other          ends   where each ends
//
// 8 bytes beside the bytes of a key, and 16 more for its view while views() is in use.
class key_list {
  public:
    void add(std::string_view key) {
        bytes_.insert(bytes_.end(), key.begin(), key.end());
        ends_.push_back(bytes_.size());
    }

    [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }
    [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
        const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
        return {bytes_.data() + begin, ends_[i] - begin};
    }
    // Valid until the next add().
    [[nodiscard]] std::vector<key_view> views() const {
        std::vector<key_view> made;
        made.reserve(size());
        for (std::size_t i = 0; i < size(); ++i) made.emplace_back((*this)[i]);
        return made;
    }

  private:
    std::vector<char> bytes_;
    std::vector<std::size_t> ends_;
};

// A file without keys is an error.
[[nodiscard]] result<key_list> read_key_list(const std::string& path);

// A set with labels.
struct key_set {
    key_table keys;                       // in the order of the file
    std::vector<std::uint32_t> label_of;  // a number of `labels` for each key
    std::vector<std::string> labels;      // in the order of first appearance; few
};

// An error for a line without a TAB or with two, an empty key or label, and a key that was there
// before.
[[nodiscard]] result<key_set> read_key_set(const std::string& path);

// Known probabilities. The caller checks whether they sum to one (exact_oracle.hpp).
struct odds_file {
    key_list keys;
    std::vector<double> odds;  // one a key

    // Valid while this object lives.
    [[nodiscard]] std::vector<weighted_key> column() const;
};

// An error for a line without a TAB, an empty key, and a probability that is no number or not in
// 0..1.
[[nodiscard]] result<odds_file> read_odds_file(const std::string& path);

}  // namespace genista::lab
