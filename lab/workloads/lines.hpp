// Bytes and lines of a file, plain or gzip; `-` is standard input.
//
// byte_source. A gzip file may have several members, one behind the other, and zeros behind the
// last. Anything else that is not whole is an error: data that end in the middle, a wrong checksum,
// bytes behind a member that begin no other. (gzread() of zlib takes such bytes for the end of the
// file and reports no error; a trace would be used without its second half.)
//
// read_lines.
//   line end    \n, or \r\n: one \r before the \n belongs to it. The last line needs none
//   limit       a longer line is an error, so that a file without line ends does not take all
//               memory
// A file is read once, in pieces: only what the caller keeps takes memory. A file is used only if
// all of it could be read: after an error the caller drops what it has.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "genista/base/result.hpp"

namespace genista::lab {

// The name of a file in errors: 'path', or standard input; cut so that the rest of the message has
// room.
[[nodiscard]] std::string shown_path(const std::string& path);

class byte_source {
  public:
    explicit byte_source(const std::string& path) : path_{path}, name_{shown_path(path)} {}
    byte_source(const byte_source&) = delete;
    byte_source& operator=(const byte_source&) = delete;
    ~byte_source();

    // REQUIRES: called once, before the first read. Reads nothing: does not wait for a pipe.
    [[nodiscard]] result<void> open();

    // How many bytes were put at the front of `out`, which is not empty; nothing at the end.
    [[nodiscard]] result<std::size_t> read(std::span<char> out);

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

  private:
    enum class form { unknown, plain, gzip };

    [[nodiscard]] error unreadable(const char* why) const noexcept;
    [[nodiscard]] result<void> fetch();      // more raw bytes, or ended_
    [[nodiscard]] result<void> recognise();  // plain or gzip, by the first bytes
    [[nodiscard]] result<void> next_member();
    [[nodiscard]] result<std::size_t> inflate_some(std::span<char> out);

    [[nodiscard]] std::size_t waiting() const noexcept { return raw_.size() - used_; }

    std::string path_;
    std::string name_;
    int descriptor_ = -1;
    form form_ = form::unknown;
    std::vector<unsigned char> raw_;  // as they are in the file; the first used_ of them are consumed
    std::size_t used_ = 0;
    bool ended_ = false;  // the file has no more raw bytes
    z_stream stream_{};
    bool stream_made_ = false;
    bool between_members_ = true;
};

inline constexpr std::size_t longest_line_bytes = std::size_t{64} << 10;

// Called for each line, empty ones too, with its number from 1; the view is valid during the call.
// An error ends the reading.
using take_line = std::function<result<void>(std::string_view line, std::uint64_t number)>;

[[nodiscard]] result<void> read_lines(const std::string& path, const take_line& take,
                                      std::size_t longest = longest_line_bytes);

// A piece of a file for a message: cut, and a ? for each byte that could upset a terminal or begin
// a new line.
[[nodiscard]] std::string shown_text(std::string_view text, std::size_t longest = 40);

}  // namespace genista::lab
