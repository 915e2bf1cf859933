// Traces from CSV tables: the key of a row is its chosen columns, joined by commas.
//
//   row        fields between separators, as RFC 4180 has them: a field may stand in double quotes,
//              and then hold separators, line breaks (\n, however the file writes them) and quotes,
//              doubled. A quote inside a bare field is itself
//   columns    "1,5" or "src,dport", quoted like a row where a name needs it. All digits is a
//              number, counted from 1; everything else is a name, and then the first row has the
//              names and is no data
//   separator  "," ";" "tab", or nothing: the first of them that cuts the first row into most
//              fields
//   empty rows are left out
//
// Every row must have every chosen column, and a key must not be empty. A row without them is an
// error with its line: no table is used in part.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "genista/base/result.hpp"
#include "lab/workloads/trace.hpp"

namespace genista::lab {

struct csv_choice {
    std::string columns;
    std::string separator;
};

// Checks columns and separator before a file is read.
[[nodiscard]] result<void> check(const csv_choice& chosen);

[[nodiscard]] result<trace> read_csv_trace(const std::string& path, const csv_choice& chosen);

// Cuts rows into fields, line by line, because a quoted field may continue in the next one.
class csv_row {
  public:
    enum class state { complete, quote_open, text_after_quote };

    explicit csv_row(char separator) noexcept : separator_{separator} {}

    // After `complete` the next line begins a new row. After `text_after_quote` ("a"b) nothing more
    // can be read.
    state add_line(std::string_view line);

    [[nodiscard]] const std::vector<std::string>& fields() const noexcept { return fields_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  private:
    state add_fields(std::string_view line);

    char separator_;
    bool open_ = false;  // inside a quoted field
    std::size_t bytes_ = 0;
    std::vector<std::string> fields_;
};

}  // namespace genista::lab
