// Lines from a stream of pieces. See lines.hpp for the definition of a line.
#include "lab/workloads/lines.hpp"

#include <algorithm>
#include <cinttypes>
#include <vector>

namespace genista::lab {
namespace {

constexpr std::size_t piece_bytes = std::size_t{256} << 10;

// Gathers the pieces of a line that crosses the end of a buffer.
class line_splitter {
  public:
    line_splitter(const std::string& name, const take_line& take, std::size_t longest)
        : name_{name}, take_{take}, longest_{longest} {}

    result<void> feed(std::string_view piece) {
        while (true) {
            const std::size_t end = piece.find('\n');
            // The \r of a line end does not count against the limit. No more is kept than the limit
            // needs.
            const std::string_view part = piece.substr(0, end);
            if (rest_.size() + part.size() > longest_ + 1) return too_long();
            if (end == std::string_view::npos) {
                rest_.append(part);
                return {};
            }
            if (const auto taken = line(part, true); !taken) return taken;
            piece.remove_prefix(end + 1);
        }
    }

    result<void> finish() { return rest_.empty() ? result<void>{} : line({}, false); }

  private:
    result<void> line(std::string_view part, bool ended) {
        std::string_view whole = part;
        if (!rest_.empty()) whole = rest_.append(part);
        if (ended && whole.ends_with('\r')) whole.remove_suffix(1);
        if (whole.size() > longest_) return too_long();
        const result<void> taken = take_(whole, ++lines_);
        rest_.clear();
        return taken;
    }

    [[nodiscard]] error too_long() const noexcept {
        return error::make(error_code::invalid_argument, "%s, line %" PRIu64 ": longer than a line may be (%zu bytes)",
                           name_.c_str(), lines_ + 1, longest_);
    }

    const std::string& name_;
    const take_line& take_;
    std::size_t longest_;
    std::string rest_;
    std::uint64_t lines_ = 0;
};

}  // namespace

result<void> read_lines(const std::string& path, const take_line& take, std::size_t longest) {
    byte_source file{path};
    if (const auto opened = file.open(); !opened) return opened;
    std::vector<char> piece(piece_bytes);
    line_splitter lines{file.name(), take, longest};
    while (true) {
        const auto got = file.read(piece);
        if (!got) return got.error();
        if (*got == 0) break;
        if (const auto fed = lines.feed({piece.data(), *got}); !fed) return fed;
    }
    return lines.finish();
}

std::string shown_text(std::string_view text, std::size_t longest) {
    std::string shown{text.substr(0, longest)};
    std::ranges::replace_if(
        shown, [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
    return shown;
}

}  // namespace genista::lab
