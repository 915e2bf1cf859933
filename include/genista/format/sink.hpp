// sink: where bytes go, one call after another, each of which may fail. Every save() writes into
// one.
//
// A sink that has failed once has lost bytes: a writer stops at the first error and hands it
// on. Two sinks live here, memory and a file that is replaced all at once; snapshot.hpp draws the
// bytes themselves.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "genista/base/result.hpp"

namespace genista {

class sink {
  public:
    virtual ~sink() = default;
    virtual result<void> write(std::span<const std::byte> bytes) = 0;

  protected:
    sink() = default;
    sink(const sink&) = default;
    sink(sink&&) = default;
    sink& operator=(const sink&) = default;
    sink& operator=(sink&&) = default;
};

// Bytes in memory. No memory is an error, and what was written before stays as it was.
class vector_sink final : public sink {
  public:
    result<void> write(std::span<const std::byte> bytes) noexcept override;

    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::vector<std::byte> take() && noexcept { return std::move(bytes_); }

  private:
    std::vector<std::byte> bytes_;
};

// A file that appears whole or not at all: the bytes go to a temporary file beside it, and commit()
// makes that file durable and renames it over the old one.
//
//     create: PATH.tmp-XXXXXX      write ...      commit: fsync, rename to PATH, fsync of the
//                                                 directory
//
// I1  Until commit() has renamed, whatever was at PATH is untouched, and a sink that dies removes
//     its temporary file.
//
// I2  After the first error every later write and the commit fail: no file with a hole is put in
//     place.
//
// I3  A reader that has the old file open or mapped keeps the old bytes: files are replaced, never
//     rewritten.
//
// A new file may be read by its owner only, because a snapshot can hold the filter's secret hash
// key; a file that replaces another takes over its permission bits. A symbolic link is followed, so
// that the link itself stays. Anything at PATH that is no regular file (a directory, /dev/null) is
// refused.
class atomic_file_sink final : public sink {
  public:
    [[nodiscard]] static result<atomic_file_sink> create(std::string_view path) noexcept;

    atomic_file_sink(atomic_file_sink&& other) noexcept;
    atomic_file_sink& operator=(atomic_file_sink&&) = delete;
    ~atomic_file_sink() override;

    result<void> write(std::span<const std::byte> bytes) noexcept override;

    // Once, at the end. The one failure after which PATH holds the new bytes is that of the last
    // step, and its message says so: the rename is done, but a power loss may still undo it.
    result<void> commit() noexcept;

  private:
    atomic_file_sink() = default;
    void discard() noexcept;

    std::string path_;       // the destination, links resolved
    std::string temporary_;  // empty once renamed or removed
    int file_ = -1;
    int directory_ = -1;
    bool failed_ = false;
};

// save_file("a.snapshot", [&](sink& out) { return filter.save(out); }): all of it or the old file
// (I1 above).
template <std::invocable<sink&> Write>
result<void> save_file(std::string_view path, Write&& write) {
    result<atomic_file_sink> file = atomic_file_sink::create(path);
    if (!file) return file.error();
    if (result<void> written = write(*file); !written) return written;
    return file->commit();
}

}  // namespace genista
