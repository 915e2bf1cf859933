// Files: the sinks into memory and into a file that is replaced atomically (sink.hpp), and files
// that are opened carefully, then mapped or copied (mapped_file.hpp).
#include "genista/base/result.hpp"
#include "genista/format/mapped_file.hpp"
#include "genista/format/sink.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <string_view>

namespace genista {
namespace {

// ---- Errors of the operating system: what was tried, on which path, and errno in words and
// figures.

// The last 120 bytes of a path: enough to recognise a file, with room for the rest of an error's
// text.
std::string_view end_of_path(std::string_view path) noexcept {
    constexpr std::size_t shown_bytes = 120;
    return path.size() > shown_bytes ? path.substr(path.size() - shown_bytes) : path;
}

// For example "cannot open /a/b: No such file or directory (errno 2)".
error os_error(const char* what, std::string_view path, int number = errno) noexcept {
    const std::string_view shown = end_of_path(path);
    const char* const text = strerrordesc_np(number);
    return error::make(number == ENOMEM ? error_code::out_of_memory : error_code::io, "%s %s%.*s: %s (errno %d)", what,
                       shown.size() < path.size() ? "..." : "", static_cast<int>(shown.size()), shown.data(),
                       text != nullptr ? text : "unknown error", number);
}

// The path as a C string. The C library would stop at a zero byte and open some other file, so that
// is an error; so are an empty path and a lack of memory.
result<std::string> path_string(std::string_view path) noexcept {
    if (path.empty()) return error::make(error_code::invalid_argument, "a path of 0 bytes names no file");
    if (path.find('\0') != std::string_view::npos) {
        return error::make(error_code::invalid_argument, "a path with a zero byte at %zu names no file",
                           path.find('\0'));
    }
    try {
        return std::string{path};
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "no memory for a path of %zu bytes", path.size());
    }
}

}  // namespace

// ---- Sinks

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
        return os_error("cannot look at", path);
    }
    if (S_ISLNK(status.st_mode)) {
        const std::unique_ptr<char, decltype(&::free)> real{::realpath(path.c_str(), nullptr), &::free};
        if (real == nullptr || ::stat(real.get(), &status) != 0) return os_error("cannot follow the link", path);
        path = real.get();
    }
    if (!S_ISREG(status.st_mode)) {
        return os_error("will not replace", path, S_ISDIR(status.st_mode) ? EISDIR : EINVAL);
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
        result<std::string> checked = path_string(path);
        if (!checked) return checked.error();
        result<destination> target = resolve(std::move(*checked));
        if (!target) return target.error();

        atomic_file_sink made;
        made.path_ = std::move(target->path);
        // Opened now, so that a directory that cannot be opened is an error while the old file
        // still exists.
        made.directory_ = ::open(directory_of(made.path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (made.directory_ < 0) return os_error("cannot open the directory of", made.path_);
        std::string temporary = made.path_ + ".tmp-XXXXXX";
        made.file_ = ::mkostemp(temporary.data(), O_CLOEXEC);
        if (made.file_ < 0) return os_error("cannot create a temporary file beside", made.path_);
        made.temporary_ = std::move(temporary);
        if (::fchmod(made.file_, target->mode) != 0) return os_error("cannot set the permissions of", made.temporary_);
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
            const error failure = os_error("cannot write", temporary_, moved < 0 ? errno : EIO);
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
        const error failure = os_error(step, path_);
        discard();
        return failure;
    }
    discard();
    return {};
}

// ---- Files to read

namespace {

class descriptor {
  public:
    explicit descriptor(int number) noexcept : number_{number} {}
    descriptor(descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
    descriptor& operator=(descriptor&&) = delete;
    ~descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    [[nodiscard]] int number() const noexcept { return number_; }

  private:
    int number_;
};

error unusable(std::string_view path, const char* why) noexcept {
    const auto shown = static_cast<int>(std::min<std::size_t>(path.size(), 150));
    return error::make(error_code::io, "'%.*s' %s", shown, path.data(), why);
}

struct open_file {
    descriptor file;
    std::size_t size_bytes;  // at least 1
};

// O_NONBLOCK: opening a FIFO must not wait for a writer. It has no effect on regular files, and
// other files are refused.
result<open_file> open_regular(std::string_view path) noexcept {
    const result<std::string> name = path_string(path);
    if (!name) return name.error();
    descriptor file{::open(name->c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    if (file.number() < 0) return os_error("cannot open", path);
    struct stat status {};
    if (::fstat(file.number(), &status) != 0) return os_error("cannot look at", path);
    if (!S_ISREG(status.st_mode)) {
        if (S_ISDIR(status.st_mode)) return os_error("cannot read", path, EISDIR);
        return unusable(path, "is not a regular file");
    }
    if (status.st_size <= 0) return unusable(path, "is an empty file");
    if (static_cast<std::uint64_t>(status.st_size) > std::numeric_limits<std::size_t>::max()) {
        return os_error("cannot address", path, EFBIG);
    }
    return open_file{.file = std::move(file), .size_bytes = static_cast<std::size_t>(status.st_size)};
}

// Reads up to `count` bytes; fewer only at the file's end. -1 with errno on an error.
ssize_t read_fully(int file, std::byte* to, std::size_t count) noexcept {
    std::size_t done = 0;
    while (done < count) {
        const ssize_t moved = ::read(file, to + done, std::min(count - done, std::size_t{1} << 30));
        if (moved < 0 && errno == EINTR) continue;
        if (moved < 0) return -1;
        if (moved == 0) break;
        done += static_cast<std::size_t>(moved);
    }
    return static_cast<ssize_t>(done);
}

}  // namespace

result<mapped_file> mapped_file::open(std::string_view path) noexcept {
    const result<open_file> opened = open_regular(path);
    if (!opened) return opened.error();
    void* const data = ::mmap(nullptr, opened->size_bytes, PROT_READ, MAP_PRIVATE, opened->file.number(), 0);
    if (data == MAP_FAILED) return os_error("cannot map", path);
    mapped_file mapped;
    mapped.data_ = static_cast<std::byte*>(data);
    mapped.size_ = opened->size_bytes;
    return mapped;
}

mapped_file::~mapped_file() {
    if (data_ != nullptr) ::munmap(data_, size_);
}

result<buffer> read_file(std::string_view path, std::uint64_t limit_bytes) noexcept {
    const result<open_file> opened = open_regular(path);
    if (!opened) return opened.error();
    const std::size_t size = opened->size_bytes;
    const std::string_view shown = end_of_path(path);
    if (size > limit_bytes) {
        return error::make(error_code::invalid_argument, "%.*s has %zu bytes; at most %llu are read",
                           static_cast<int>(shown.size()), shown.data(), size,
                           static_cast<unsigned long long>(limit_bytes));
    }
    result<buffer> bytes = buffer::zeroed(size);
    if (!bytes) return bytes;
    const ssize_t got = read_fully(opened->file.number(), bytes->data(), size);
    if (got < 0) return os_error("cannot read", path);
    std::byte beyond{};
    const ssize_t more = read_fully(opened->file.number(), &beyond, 1);
    if (more < 0) return os_error("cannot read", path);
    if (static_cast<std::size_t>(got) != size || more != 0) {
        return error::make(error_code::io, "%.*s of %zu bytes changed its length while it was read",
                           static_cast<int>(shown.size()), shown.data(), size);
    }
    return bytes;
}

}  // namespace genista
