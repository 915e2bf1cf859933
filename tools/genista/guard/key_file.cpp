// Lines out of a stream of pieces. See key_file.hpp for what a line is.
#include "guard/key_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <vector>

namespace genista::tool::guard {
namespace {

constexpr std::size_t piece_bytes = std::size_t{256} << 10;

// Descriptors and zlib's state, closed on every way out.
class input {
  public:
    input() = default;
    input(const input&) = delete;
    input& operator=(const input&) = delete;
    ~input() {
        if (stream_ != nullptr)
            ::gzclose(stream_);
        else if (descriptor_ >= 0)
            ::close(descriptor_);
    }

    result<void> open(const std::string& path) {
        name_ = "standard input";
        if (path != "-") name_ = fmt::format("'{:.120}'", path);
        // A copy, so that closing ours leaves the process its own. A pipe must not be waited for before it is read.
        descriptor_ = path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (descriptor_ < 0) return unreadable(std::strerror(errno));
        struct stat found {};
        if (::fstat(descriptor_, &found) != 0) return unreadable(std::strerror(errno));
        if (S_ISDIR(found.st_mode)) return unreadable("it is a folder; name a file, or - for standard input");
        return {};
    }

    result<void> begin() {
        stream_ = ::gzdopen(descriptor_, "rb");
        if (stream_ == nullptr) return no_memory();
        if (::gzbuffer(stream_, static_cast<unsigned>(piece_bytes)) != 0) return no_memory();
        return {};
    }

    // Nothing at the end. A gzip file that stops in the middle is an error, not an end.
    result<std::size_t> read(char* out) {
        const int got = ::gzread(stream_, out, static_cast<unsigned>(piece_bytes));
        int state = Z_OK;
        const char* why = ::gzerror(stream_, &state);
        if (got >= 0 && (state == Z_OK || state == Z_STREAM_END)) return static_cast<std::size_t>(got);
        if (state == Z_BUF_ERROR) return unreadable("the gzip data end in the middle");
        return unreadable(state == Z_ERRNO ? std::strerror(errno) : why);
    }

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

  private:
    [[nodiscard]] error unreadable(const char* why) const noexcept {
        return error::make(error_code::invalid_argument, "%s cannot be read: %.80s", name_.c_str(), why);
    }
    [[nodiscard]] static error no_memory() noexcept {
        return error::make(error_code::out_of_memory, "no memory to read a key file");
    }

    std::string name_;
    int descriptor_ = -1;
    gzFile stream_ = nullptr;
};

// Gathers the pieces of a line that crosses the end of a buffer.
class line_splitter {
  public:
    line_splitter(const std::string& name, const take_key& take) : name_{name}, take_{take} {}

    result<void> feed(std::string_view piece) {
        while (true) {
            const std::size_t end = piece.find('\n');
            // The \r of a line end does not count against the limit; neither do we keep more than the limit needs.
            const std::string_view part = piece.substr(0, end);
            if (rest_.size() + part.size() > longest_key_bytes + 1) return too_long();
            if (end == std::string_view::npos) {
                rest_.append(part);
                return {};
            }
            if (const auto taken = line(part); !taken) return taken;
            piece.remove_prefix(end + 1);
        }
    }

    result<std::uint64_t> finish() {
        if (!rest_.empty()) {
            if (const auto taken = line({}, false); !taken) return taken.error();
        }
        return keys_;
    }

  private:
    result<void> line(std::string_view part, bool ended = true) {
        std::string_view whole = part;
        if (!rest_.empty()) whole = rest_.append(part);
        if (ended && whole.ends_with('\r')) whole.remove_suffix(1);
        if (whole.size() > longest_key_bytes) return too_long();
        ++lines_;
        result<void> taken;
        if (!whole.empty()) {
            ++keys_;
            taken = take_(whole);
        }
        rest_.clear();
        return taken;
    }

    [[nodiscard]] error too_long() const noexcept {
        return error::make(error_code::invalid_argument, "%s, line %" PRIu64 ": longer than a key may be (%zu bytes)",
                           name_.c_str(), lines_ + 1, longest_key_bytes);
    }

    const std::string& name_;
    const take_key& take_;
    std::string rest_;
    std::uint64_t lines_ = 0;
    std::uint64_t keys_ = 0;
};

}  // namespace

result<std::uint64_t> read_keys(const std::string& path, const take_key& take) {
    input file;
    if (const auto opened = file.open(path); !opened) return opened.error();
    if (const auto begun = file.begin(); !begun) return begun.error();
    std::vector<char> piece(piece_bytes);
    line_splitter lines{file.name(), take};
    while (true) {
        const auto got = file.read(piece.data());
        if (!got) return got.error();
        if (*got == 0) break;
        if (const auto fed = lines.feed({piece.data(), *got}); !fed) return fed.error();
    }
    const auto keys = lines.finish();
    if (keys && *keys == 0) {
        return error::make(error_code::invalid_argument, "%s holds no key: one a line is expected",
                           file.name().c_str());
    }
    return keys;
}

result<void> check_key_file(const std::string& path) {
    input file;
    return path == "-" ? result<void>{} : file.open(path);
}

}  // namespace genista::tool::guard
