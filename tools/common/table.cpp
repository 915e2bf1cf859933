// Tables, wrapping and digit groups. See table.hpp.
#include "table.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace genista::tool {
namespace {

void append_padded(std::string& line, std::string_view cell, std::size_t width, align side) {
    const std::size_t used = display_width(cell);
    const std::string gap(width > used ? width - used : 0, ' ');
    if (side == align::right)
        line.append(gap).append(cell);
    else
        line.append(cell).append(gap);
}

void finish_line(std::string& page, std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    page.append(line).append("\n");
}

}  // namespace

std::size_t display_width(std::string_view text) noexcept {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }));
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
    std::vector<std::string> lines;
    std::string line;
    while (!text.empty()) {
        const std::size_t cut = std::min(text.find_first_of(" \n"), text.size());
        const std::string_view word = text.substr(0, cut);
        text.remove_prefix(std::min(cut + 1, text.size()));
        if (word.empty()) continue;
        if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
            lines.push_back(std::exchange(line, {}));
        }
        if (!line.empty()) line += ' ';
        line += word;
    }
    if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
    return lines;
}

std::string grouped(unsigned long long number) {
    const std::string digits = std::to_string(number);
    std::string made;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) made += '\'';
        made += digits[i];
    }
    return made;
}

table::table(std::vector<column> columns) : columns_{std::move(columns)} {}

void table::add_row(std::vector<std::string> cells) {
    assert(cells.size() <= columns_.size());
    cells.resize(columns_.size());
    rows_.push_back(std::move(cells));
}

std::string table::text() const {
    // Wrap first, then measure: the width of a column is that of its longest line.
    std::vector<std::vector<std::vector<std::string>>> wrapped;
    std::vector<std::size_t> widths;
    for (const column& c : columns_) widths.push_back(display_width(c.title));
    for (const auto& row : rows_) {
        auto& lines = wrapped.emplace_back();
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            lines.push_back(wrap(row[c], columns_[c].widest));
            for (const std::string& line : lines[c]) widths[c] = std::max(widths[c], display_width(line));
        }
    }
    std::string page, line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        append_padded(line, columns_[c].title, widths[c], columns_[c].side);
        line += "  ";
    }
    finish_line(page, line);
    for (const auto& row : wrapped) {
        std::size_t height = 0;
        for (const auto& cell : row) height = std::max(height, cell.size());
        for (std::size_t y = 0; y < height; ++y) {
            line.clear();
            for (std::size_t c = 0; c < columns_.size(); ++c) {
                append_padded(line, y < row[c].size() ? row[c][y] : std::string{}, widths[c], columns_[c].side);
                line += "  ";
            }
            finish_line(page, line);
        }
    }
    return page;
}

}  // namespace genista::tool
