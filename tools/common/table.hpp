// Aligned text tables: columns as wide as their widest cell, two spaces between, long
// text wrapped.
//
//     filter          insert  negative
//     blocked_bloom      2.1       2.2
//
// The layout is not stable: scripts should read the JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace genista::tool {

inline constexpr std::size_t page_width = 120;

enum class align { left, right };

class table {
  public:
    struct column {
        std::string title;
        align side = align::left;
        std::size_t widest = page_width;  // longer cells are wrapped between words
    };

    explicit table(std::vector<column> columns);

    // Missing cells are empty; surplus cells are a bug.
    void add_row(std::vector<std::string> cells);

    // Title line and rows, each line ended, none with trailing spaces.
    [[nodiscard]] std::string text() const;

  private:
    std::vector<column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

// Lines of at most `width` characters, broken between words; a longer word keeps a line of its own.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width);

// 1234567 -> 1'234'567
[[nodiscard]] std::string grouped(unsigned long long number);

// How many columns a UTF-8 text takes, one for each code point.
[[nodiscard]] std::size_t display_width(std::string_view text) noexcept;

}  // namespace genista::tool
