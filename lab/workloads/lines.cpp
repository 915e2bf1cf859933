// Bytes and lines of a file. See lines.hpp.
#include "lab/workloads/lines.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <vector>

namespace genista::lab {
namespace {

constexpr std::size_t raw_bytes = std::size_t{256} << 10;
constexpr unsigned char gzip_first = 0x1f, gzip_second = 0x8b;
constexpr int gzip_only = 15 + 16;  // for inflateInit2: the largest window, a gzip header, and checksums compared
constexpr std::size_t longest_shown_path = 120;

}  // namespace

std::string shown_path(const std::string& path) {
    if (path == "-") return "standard input";
    std::string shown{"'"};
    return shown.append(path, 0, longest_shown_path).append("'");
}

byte_source::~byte_source() {
    if (stream_made_) ::inflateEnd(&stream_);
    if (descriptor_ >= 0) ::close(descriptor_);
}

error byte_source::unreadable(const char* why) const noexcept {
    return error::make(error_code::invalid_argument, "%s cannot be read: %.80s", name_.c_str(), why);
}

result<void> byte_source::open() {
    // A copy, so that closing ours leaves the process its own.
    descriptor_ = path_ == "-" ? ::dup(STDIN_FILENO) : ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) return unreadable(std::strerror(errno));
    struct stat found {};
    if (::fstat(descriptor_, &found) != 0) return unreadable(std::strerror(errno));
    if (S_ISDIR(found.st_mode)) return unreadable("it is a folder; name a file, or - for standard input");
    return {};
}

result<void> byte_source::fetch() {
    raw_.erase(raw_.begin(), raw_.begin() + static_cast<std::ptrdiff_t>(used_));
    used_ = 0;
    const std::size_t kept = raw_.size();
    raw_.resize(kept + raw_bytes);
    ssize_t got = 0;
    do {
        got = ::read(descriptor_, raw_.data() + kept, raw_bytes);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return unreadable(std::strerror(errno));
    raw_.resize(kept + static_cast<std::size_t>(got));
    ended_ = got == 0;
    return {};
}

result<void> byte_source::recognise() {
    while (waiting() < 2 && !ended_) {
        if (const auto fetched = fetch(); !fetched) return fetched;
    }
    // A single first byte of the gzip mark is a gzip file cut short.
    const bool gzip = waiting() > 0 && raw_[0] == gzip_first && (waiting() == 1 || raw_[1] == gzip_second);
    form_ = gzip ? form::gzip : form::plain;
    if (!gzip) return {};
    if (::inflateInit2(&stream_, gzip_only) != Z_OK) {
        return error::make(error_code::out_of_memory, "no memory to read %s", name_.c_str());
    }
    stream_made_ = true;
    return {};
}

// Skips the zeros behind a gzip member. Bytes after them have to be a member.
result<void> byte_source::next_member() {
    while (true) {
        while (waiting() > 0 && raw_[used_] == 0) ++used_;
        if (waiting() > 0 || ended_) break;
        if (const auto fetched = fetch(); !fetched) return fetched;
    }
    if (waiting() > 0) {
        ::inflateReset(&stream_);
        between_members_ = false;
    }
    return {};
}

result<std::size_t> byte_source::inflate_some(std::span<char> out) {
    while (true) {
        if (between_members_) {
            if (const auto moved = next_member(); !moved) return moved.error();
            if (between_members_) return std::size_t{0};
        }
        if (waiting() == 0 && !ended_) {
            if (const auto fetched = fetch(); !fetched) return fetched.error();
        }
        stream_.next_in = raw_.data() + used_;
        stream_.avail_in = static_cast<uInt>(waiting());
        stream_.next_out = reinterpret_cast<unsigned char*>(out.data());
        stream_.avail_out = static_cast<uInt>(out.size());
        const int state = ::inflate(&stream_, Z_NO_FLUSH);
        used_ = raw_.size() - stream_.avail_in;
        const std::size_t made = out.size() - stream_.avail_out;
        if (state == Z_STREAM_END) {
            between_members_ = true;
        } else if (state != Z_OK && state != Z_BUF_ERROR) {
            return unreadable(stream_.msg != nullptr ? stream_.msg : "its gzip data are damaged");
        } else if (made == 0 && ended_ && waiting() == 0) {
            return unreadable("the gzip data end in the middle");
        }
        if (made > 0) return made;
    }
}

result<std::size_t> byte_source::read(std::span<char> out) {
    if (form_ == form::unknown) {
        if (const auto known = recognise(); !known) return known.error();
    }
    if (form_ == form::gzip) return inflate_some(out);
    if (waiting() == 0 && !ended_) {
        if (const auto fetched = fetch(); !fetched) return fetched.error();
    }
    const std::size_t given = std::min(waiting(), out.size());
    std::copy_n(raw_.begin() + static_cast<std::ptrdiff_t>(used_), given, out.begin());
    used_ += given;
    return given;
}

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
