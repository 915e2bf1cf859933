// sink: the sinks into memory and into a file that is replaced atomically. See sink.hpp.
#include "genista/format/sink.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>

#include "format/os_error.hpp"

namespace genista {
namespace {

void close_quietly(int& file) noexcept {
    if (file >= 0) ::close(file);
    file = -1;
}

// The file to replace, and its permissions.
struct destination {
    std::string path;
    mode_t mode = S_IRUSR | S_IWUSR;
};

// A link is followed to its target, which must exist; otherwise the rename would replace the link.
// May throw bad_alloc.
result<destination> resolve(std::string path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
        if (errno == ENOENT) return destination{.path = std::move(path)};
        return detail::os_error("cannot look at", path);
    }
    if (S_ISLNK(status.st_mode)) {
        const std::unique_ptr<char, decltype(&::free)> real{::realpath(path.c_str(), nullptr), &::free};
        if (real == nullptr || ::stat(real.get(), &status) != 0)
            return detail::os_error("cannot follow the link", path);
        path = real.get();
    }
    if (!S_ISREG(status.st_mode)) {
        return detail::os_error("will not replace", path, S_ISDIR(status.st_mode) ? EISDIR : EINVAL);
    }
    return destination{.path = std::move(path), .mode = status.st_mode & mode_t{0777}};
}

std::string directory_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return path.substr(0, slash + 1);
}

// fsync may be interrupted; any other failure is final, since the kernel may already have dropped
// the dirty pages.
int sync(int file) noexcept {
    int status = 0;
    do status = ::fsync(file);
    while (status != 0 && errno == EINTR);
    return status;
}

}  // namespace

result<void> vector_sink::write(std::span<const std::byte> bytes) noexcept {
    try {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
        return {};
    } catch (const std::exception&) {  // bad_alloc or length_error; insertion at the end has no other effect then
        return error::make(error_code::out_of_memory, "no memory for %zu bytes after the %zu already written",
                           bytes.size(), bytes_.size());
    }
}

result<atomic_file_sink> atomic_file_sink::create(std::string_view path) noexcept {
    try {
        result<std::string> checked = detail::path_string(path);
        if (!checked) return checked.error();
        result<destination> target = resolve(std::move(*checked));
        if (!target) return target.error();

        atomic_file_sink made;
        made.path_ = std::move(target->path);
        // Opened now, so that a directory that cannot be opened is an error while the old file
        // still exists.
        made.directory_ = ::open(directory_of(made.path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (made.directory_ < 0) return detail::os_error("cannot open the directory of", made.path_);
        std::string temporary = made.path_ + ".tmp-XXXXXX";
        made.file_ = ::mkostemp(temporary.data(), O_CLOEXEC);
        if (made.file_ < 0) return detail::os_error("cannot create a temporary file beside", made.path_);
        made.temporary_ = std::move(temporary);
        if (::fchmod(made.file_, target->mode) != 0)
            return detail::os_error("cannot set the permissions of", made.temporary_);
        return made;
    } catch (const std::exception&) {
        return error::make(error_code::out_of_memory, "no memory to save to a path of %zu bytes", path.size());
    }
}

atomic_file_sink::atomic_file_sink(atomic_file_sink&& other) noexcept
    : sink{other},
      path_{std::exchange(other.path_, {})},
      temporary_{std::exchange(other.temporary_, {})},
      file_{std::exchange(other.file_, -1)},
      directory_{std::exchange(other.directory_, -1)},
      failed_{std::exchange(other.failed_, true)} {}

atomic_file_sink::~atomic_file_sink() {
    discard();
}

void atomic_file_sink::discard() noexcept {
    failed_ = true;
    close_quietly(file_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    temporary_.clear();
    close_quietly(directory_);
}

result<void> atomic_file_sink::write(std::span<const std::byte> bytes) noexcept {
    if (failed_) return error::make(error_code::io, "write to a file that has failed or was committed before");
    while (!bytes.empty()) {
        // Linux writes at most 2^31 - 4096 bytes in a call, and fewer when the disk fills up: the
        // loop continues until an error says why.
        const ssize_t moved = ::write(file_, bytes.data(), std::min(bytes.size(), std::size_t{1} << 30));
        if (moved < 0 && errno == EINTR) continue;
        if (moved <= 0) {
            const error failure = detail::os_error("cannot write", temporary_, moved < 0 ? errno : EIO);
            discard();
            return failure;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(moved));
    }
    return {};
}

result<void> atomic_file_sink::commit() noexcept {
    if (failed_) return error::make(error_code::io, "commit of a file that has failed or was committed before");
    const char* step = nullptr;
    if (sync(file_) != 0) {
        step = "cannot sync the temporary file of";
    } else if (::close(std::exchange(file_, -1)) != 0) {  // network file systems report late errors here
        step = "cannot close the temporary file of";
    } else if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
        step = "cannot rename the temporary file to";
    } else {
        temporary_.clear();  // it is the destination now, so it must not be removed
        if (sync(directory_) != 0) step = "replaced, but cannot sync the directory of";
    }
    if (step != nullptr) {
        const error failure = detail::os_error(step, path_);
        discard();
        return failure;
    }
    discard();
    return {};
}

}  // namespace genista
