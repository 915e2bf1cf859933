// key_list: the keys of a log in their order, repetitions included. Oracles are trained on it.
//
//     bytes    all keys, one behind the other          ends   where each ends
//
// 8 bytes beside the bytes of a key, and 16 more for its view while views() is in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "genista/base/result.hpp"
#include "genista/hash/key.hpp"

namespace genista::lab {

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

// One key a line, plain or gzip (key_file.hpp). A file without keys is an error.
[[nodiscard]] result<key_list> read_key_list(const std::string& path);

}  // namespace genista::lab
