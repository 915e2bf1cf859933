// Snapshot files on disk. Names have a fixed width, so that they sort by their numbers. See
// snapshot_files.hpp.
#include "stores/rocksdb/snapshot_files.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "genista/detail/base/fail_point.hpp"
#include "genista/detail/stores/rocksdb/status.hpp"

namespace genista::rocks {
namespace {

constexpr std::string_view prefix = "filter-";
constexpr std::string_view temporary = "filter.tmp";
constexpr std::size_t digits = 16;
constexpr std::size_t append_bytes = std::size_t{1} << 20;

rocksdb::IOStatus sync_folder(rocksdb::FileSystem& files, const std::string& folder) {
    std::unique_ptr<rocksdb::FSDirectory> directory;
    const rocksdb::IOStatus opened = files.NewDirectory(folder, {}, &directory, nullptr);
    return opened.ok() ? directory->Fsync({}, nullptr) : opened;
}

}  // namespace

void keep_to_owner(const std::string& path) noexcept {
    std::error_code none_there;  // a file system that keeps its files elsewhere has no modes either
    const bool is_directory = std::filesystem::is_directory(path, none_there);
    if (none_there) return;
    using std::filesystem::perms;
    std::filesystem::permissions(path, is_directory ? perms::owner_all : perms::owner_read | perms::owner_write,
                                 none_there);
}

bool is_own_file(std::string_view name) noexcept {
    return name.starts_with(prefix) || name.starts_with("filter.") || name.starts_with("ingest-");
}

std::string snapshot_path(const std::string& folder, std::uint64_t sequence) {
    char name[digits + 1];
    std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(sequence));
    return folder + "/" + std::string{prefix} + name;
}

result<std::vector<snapshot_file>> list_snapshots(rocksdb::FileSystem& files, const std::string& folder) {
    std::vector<std::string> names;
    std::vector<snapshot_file> found;
    const rocksdb::IOStatus status = files.GetChildren(folder, {}, &names, nullptr);
    if (status.IsNotFound() || status.IsPathNotFound()) return found;
    if (!status.ok()) return to_error(status, "list the snapshots in " + folder);
    for (const std::string& name : names) {
        const std::string_view text{name};
        if (!text.starts_with(prefix) || text.size() != prefix.size() + digits) continue;
        std::uint64_t sequence = 0;
        const char* const end = text.data() + text.size();
        if (std::from_chars(text.data() + prefix.size(), end, sequence, 16).ptr != end) continue;
        found.push_back({sequence, std::string{folder}.append("/").append(name)});
    }
    std::sort(found.begin(), found.end(),
              [](const snapshot_file& a, const snapshot_file& b) { return a.sequence > b.sequence; });
    return found;
}

result<buffer> read_snapshot(rocksdb::FileSystem& files, const std::string& path) {
    std::uint64_t size = 0;
    std::unique_ptr<rocksdb::FSSequentialFile> file;
    rocksdb::IOStatus status = files.GetFileSize(path, {}, &size, nullptr);
    if (status.ok()) status = files.NewSequentialFile(path, {}, &file, nullptr);
    if (!status.ok()) return to_error(status, "read the snapshot " + path);
    auto made = buffer::zeroed(size);
    if (!made) return made.error();
    std::size_t done = 0;
    while (done < size) {
        rocksdb::Slice piece;
        char* const to = reinterpret_cast<char*>(made->data()) + done;
        status = file->Read(std::min<std::size_t>(append_bytes, size - done), {}, &piece, to, nullptr);
        if (!status.ok()) return to_error(status, "read the snapshot " + path);
        if (piece.empty()) return error::make(error_code::corrupt, "the snapshot %s ends too early", path.c_str());
        if (piece.data() != to) std::copy_n(piece.data(), piece.size(), to);
        done += piece.size();
    }
    return made;
}

result<void> remove_snapshot(rocksdb::FileSystem& files, const std::string& folder, const std::string& path) {
    rocksdb::IOStatus status = files.DeleteFile(path, {}, nullptr);
    if (status.ok() || status.IsNotFound() || status.IsPathNotFound()) status = sync_folder(files, folder);
    if (!status.ok()) return to_error(status, "remove the snapshot " + path);
    return {};
}

void prune_snapshots(rocksdb::FileSystem& files, const std::string& folder, std::size_t keep) {
    const auto found = list_snapshots(files, folder);
    for (std::size_t i = keep; found && i < found->size(); ++i) (void)files.DeleteFile((*found)[i].path, {}, nullptr);
}

result<std::unique_ptr<published_file>> published_file::create(rocksdb::FileSystem& files, const std::string& folder) {
    rocksdb::IOStatus status = files.CreateDirIfMissing(folder, {}, nullptr);
    std::unique_ptr<rocksdb::FSWritableFile> file;
    const std::string path = folder + "/" + std::string{temporary};
    if (status.ok()) keep_to_owner(folder);
    if (status.ok()) status = files.NewWritableFile(path, {}, &file, nullptr);  // truncates what a dead process left
    if (!status.ok()) return to_error(status, "write the snapshot " + path);
    keep_to_owner(path);
    return std::unique_ptr<published_file>{new published_file{files, folder, std::move(file)}};
}

published_file::~published_file() {
    if (published_) return;
    file_.reset();
    (void)files_.DeleteFile(folder_ + "/" + std::string{temporary}, {}, nullptr);
}

result<void> published_file::write(std::span<const std::byte> bytes) noexcept try {
    while (!bytes.empty()) {
        const auto piece = bytes.first(std::min(bytes.size(), append_bytes));
        const rocksdb::Slice slice{reinterpret_cast<const char*>(piece.data()), piece.size()};
        if (const auto status = file_->Append(slice, {}, nullptr); !status.ok())
            return to_error(status, "write a snapshot to " + folder_);
        bytes = bytes.subspan(piece.size());
    }
    return {};
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to write a snapshot");
}

result<void> published_file::publish(const std::string& path) {
    rocksdb::IOStatus status = file_->Sync({}, nullptr);
    if (status.ok()) status = file_->Close({}, nullptr);
    fail_point("snapshotter.written");
    if (status.ok()) status = files_.RenameFile(folder_ + "/" + std::string{temporary}, path, {}, nullptr);
    if (!status.ok()) return to_error(status, "write the snapshot " + path);
    published_ = true;
    fail_point("snapshotter.renamed");
    status = sync_folder(files_, folder_);
    if (!status.ok()) return to_error(status, "make the snapshot " + path + " durable");
    return {};
}

}  // namespace genista::rocks
