// Rows, columns, keys. See csv.hpp for what is a row.
#include "lab/workloads/csv.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cinttypes>
#include <optional>

#include "lab/workloads/key_file.hpp"
#include "lab/workloads/lines.hpp"

namespace genista::lab {
namespace {

constexpr std::array separators{',', ';', '\t'};
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // some programs begin a CSV file with it

struct column {
    std::size_t number = 0;  // from 1; 0 as long as only the name is known
    std::string name;
};

bool is_number(std::string_view text) noexcept {
    return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

result<std::vector<column>> parse_columns(const std::string& text) {
    const auto bad = [&](const char* why) {
        return error::make(error_code::invalid_argument, "columns '%.80s': %s", text.c_str(), why);
    };
    csv_row row{','};
    if (row.add_line(text) != csv_row::state::complete) return bad("a quote is not closed");
    std::vector<column> columns;
    for (const std::string& field : row.fields()) {
        if (field.empty()) return bad("one is empty; numbers from 1 or names are expected, with commas between");
        if (!is_number(field)) {
            columns.push_back({.number = 0, .name = field});
            continue;
        }
        std::uint32_t number = 0;
        const auto parsed = std::from_chars(field.data(), field.data() + field.size(), number);
        if (parsed.ec != std::errc{}) return bad("a number is too large");
        if (number == 0) return bad("there is no column 0; they are numbered from 1");
        columns.push_back({.number = number, .name = {}});
    }
    return columns;
}

// Nothing: it is chosen by the first row.
result<std::optional<char>> parse_separator(const std::string& text) {
    if (text.empty()) return std::optional<char>{};
    if (text == "tab" || text == "\\t") return std::optional<char>{'\t'};
    if (text.size() == 1 && std::ranges::find(separators, text[0]) != separators.end()) return std::optional{text[0]};
    return error::make(error_code::invalid_argument, "separator '%.40s': , or ; or tab is expected", text.c_str());
}

char separator_of(std::string_view first_line) {
    char best = separators[0];
    std::size_t most = 0;
    for (const char each : separators) {
        csv_row row{each};
        row.add_line(first_line);
        if (row.fields().size() <= most) continue;
        most = row.fields().size();
        best = each;
    }
    return best;
}

std::string listed(const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& each : names) list.append(list.empty() ? "" : ", ").append(shown_text(each));
    return list;
}

std::string in_brackets(const std::string& name) {
    std::string text;
    if (!name.empty()) text.append(" (").append(shown_text(name)).append(")");
    return text;
}

class table_reader {
  public:
    table_reader(const std::string& path, std::vector<column> columns, std::optional<char> separator)
        : file_{shown_path(path)},
          columns_{std::move(columns)},
          wants_names_{std::ranges::any_of(columns_, [](const column& each) { return each.number == 0; })},
          separator_{separator},
          made_{trace_named_after(path)} {}

    result<void> take(std::string_view line, std::uint64_t number) {
        if (number == 1 && line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
        if (!row_open_) {
            if (line.empty()) return {};
            row_line_ = number;
        }
        if (!row_) row_.emplace(separator_ ? *separator_ : separator_of(line));
        const auto state = row_->add_line(line);
        if (state == csv_row::state::text_after_quote) return bad("text behind a closing quote");
        row_open_ = state == csv_row::state::quote_open;
        // Rows have the limit of lines; otherwise a forgotten quote would first take in the rest of
        // the file.
        if (row_->bytes() > longest_line_bytes) {
            return bad(row_open_ ? "a quote that is opened here is not closed within 65536 bytes"
                                 : "longer than a row may be (65536 bytes)");
        }
        if (row_open_) return {};
        return wants_names_ && !names_known_ ? take_names() : take_row();
    }

    // After the last line.
    result<trace> finish(const std::string& path) {
        static_assert(longest_line_bytes == 65536, "the messages above say so");
        if (row_open_) return bad("a quote that is opened here is never closed");
        if (made_.accesses.empty()) return no_key_in(path, wants_names_ ? "a row behind that of the names" : "a row");
        return std::move(made_);
    }

  private:
    [[nodiscard]] error bad(const char* why) const noexcept {
        return error::make(error_code::invalid_argument, "%s, line %" PRIu64 ": %s", file_.c_str(), row_line_, why);
    }

    result<void> take_names() {
        const std::vector<std::string>& names = row_->fields();
        for (column& each : columns_) {
            if (each.number != 0) continue;
            const auto found = std::ranges::find(names, each.name);
            const auto times = std::ranges::count(names, each.name);
            if (times == 1) {
                each.number = static_cast<std::size_t>(found - names.begin()) + 1;
                continue;
            }
            const std::string there = times == 0 ? listed(names) : std::string{"several of that name; give its number"};
            return error::make(error_code::invalid_argument, "%s, line %" PRIu64 ": no column '%s'; there are %s",
                               file_.c_str(), row_line_, shown_text(each.name).c_str(), there.c_str());
        }
        names_known_ = true;
        return {};
    }

    result<void> take_row() {
        const std::vector<std::string>& fields = row_->fields();
        key_.clear();
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const std::size_t number = columns_[i].number;
            if (number > fields.size()) {
                return error::make(error_code::invalid_argument,
                                   "%s, line %" PRIu64 ": %zu column%s, but column %zu%s was asked for", file_.c_str(),
                                   row_line_, fields.size(), fields.size() == 1 ? "" : "s", number,
                                   in_brackets(columns_[i].name).c_str());
            }
            if (i > 0) key_.push_back(',');
            key_.append(fields[number - 1]);
        }
        if (key_.empty()) return bad("the key is empty");
        return add_access(made_, key_);
    }

    std::string file_;
    std::vector<column> columns_;
    bool wants_names_;
    bool names_known_ = false;
    std::optional<char> separator_;
    std::optional<csv_row> row_;
    bool row_open_ = false;
    std::uint64_t row_line_ = 1;  // where the row begins
    std::string key_;
    trace made_;
};

}  // namespace

csv_row::state csv_row::add_line(std::string_view line) {
    if (open_) {
        fields_.back().push_back('\n');
        ++bytes_;
    } else {
        fields_.clear();
        bytes_ = 0;
    }
    bytes_ += line.size();
    return add_fields(line);
}

csv_row::state csv_row::add_fields(std::string_view line) {
    bool begins = !open_;  // a field begins at the front of `line`
    while (true) {
        if (begins) {
            fields_.emplace_back();
            open_ = line.starts_with('"');
            if (open_) line.remove_prefix(1);
        }
        std::string& field = fields_.back();
        if (!open_) {
            const std::size_t end = line.find(separator_);
            field.append(line.substr(0, end));
            if (end == std::string_view::npos) return state::complete;
            line.remove_prefix(end + 1);
            begins = true;
            continue;
        }
        const std::size_t quote = line.find('"');
        field.append(line.substr(0, quote));
        if (quote == std::string_view::npos) return state::quote_open;
        line.remove_prefix(quote + 1);
        begins = false;
        if (line.starts_with('"')) {
            field.push_back('"');
            line.remove_prefix(1);
            continue;
        }
        open_ = false;
        if (line.empty()) return state::complete;
        if (line.front() != separator_) return state::text_after_quote;
        line.remove_prefix(1);
        begins = true;
    }
}

result<void> check(const csv_choice& chosen) {
    if (const auto columns = parse_columns(chosen.columns); !columns) return columns.error();
    if (const auto separator = parse_separator(chosen.separator); !separator) return separator.error();
    return {};
}

result<trace> read_csv_trace(const std::string& path, const csv_choice& chosen) {
    auto columns = parse_columns(chosen.columns);
    if (!columns) return columns.error();
    const auto separator = parse_separator(chosen.separator);
    if (!separator) return separator.error();
    table_reader table{path, *std::move(columns), *separator};
    const auto read = read_lines(
        path, [&](std::string_view line, std::uint64_t number) -> result<void> { return table.take(line, number); });
    if (!read) return read.error();
    return table.finish(path);
}

}  // namespace genista::lab
