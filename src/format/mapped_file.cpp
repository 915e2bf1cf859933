// mapped_file: opens a file carefully, then maps or copies it. See mapped_file.hpp.
#include "genista/format/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "format/os_error.hpp"

namespace genista {
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
    const result<std::string> name = detail::path_string(path);
    if (!name) return name.error();
    descriptor file{::open(name->c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    if (file.number() < 0) return detail::os_error("cannot open", path);
    struct stat status {};
    if (::fstat(file.number(), &status) != 0) return detail::os_error("cannot look at", path);
    if (!S_ISREG(status.st_mode)) {
        if (S_ISDIR(status.st_mode)) return detail::os_error("cannot read", path, EISDIR);
        return unusable(path, "is not a regular file");
    }
    if (status.st_size <= 0) return unusable(path, "is an empty file");
    if (static_cast<std::uint64_t>(status.st_size) > std::numeric_limits<std::size_t>::max()) {
        return detail::os_error("cannot address", path, EFBIG);
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
    if (data == MAP_FAILED) return detail::os_error("cannot map", path);
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
    const std::string_view shown = detail::end_of_path(path);
    if (size > limit_bytes) {
        return error::make(error_code::invalid_argument, "%.*s has %zu bytes; at most %llu are read",
                           static_cast<int>(shown.size()), shown.data(), size,
                           static_cast<unsigned long long>(limit_bytes));
    }
    result<buffer> bytes = buffer::zeroed(size);
    if (!bytes) return bytes;
    const ssize_t got = read_fully(opened->file.number(), bytes->data(), size);
    if (got < 0) return detail::os_error("cannot read", path);
    std::byte beyond{};
    const ssize_t more = read_fully(opened->file.number(), &beyond, 1);
    if (more < 0) return detail::os_error("cannot read", path);
    if (static_cast<std::size_t>(got) != size || more != 0) {
        return error::make(error_code::io, "%.*s of %zu bytes changed its length while it was read",
                           static_cast<int>(shown.size()), shown.data(), size);
    }
    return bytes;
}

}  // namespace genista
