// Snapshot files through the database's FileSystem: a sink that publishes a file all at once, the
// list of files, and reading one.
#pragma once

#include <rocksdb/file_system.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "genista/detail/base/buffer.hpp"
#include "genista/format/sink.hpp"

namespace genista::rocks {

struct snapshot_file {
    std::uint64_t sequence = 0;  // the store's last write when the filter was saved; the header's mark is older
    std::string path;
};

// Makes the path readable by its owner only, because it holds the hash key.
void keep_to_owner(const std::string& path) noexcept;

// Whether a name in the folder is genista's: a snapshot, a temporary file, or a table that was
// being ingested.
[[nodiscard]] bool is_own_file(std::string_view name) noexcept;

// Newest first. Empty if the folder does not exist.
[[nodiscard]] result<std::vector<snapshot_file>> list_snapshots(rocksdb::FileSystem& files, const std::string& folder);
[[nodiscard]] std::string snapshot_path(const std::string& folder, std::uint64_t sequence);
[[nodiscard]] result<buffer> read_snapshot(rocksdb::FileSystem& files, const std::string& path);
// Durable: the file does not return after a loss of power.
[[nodiscard]] result<void> remove_snapshot(rocksdb::FileSystem& files, const std::string& folder,
                                           const std::string& path);
// Removes all snapshots but the newest `keep`.
void prune_snapshots(rocksdb::FileSystem& files, const std::string& folder, std::size_t keep);

// Writes to FOLDER/filter.tmp. publish() makes the bytes durable under their final name.
class published_file final : public sink {
  public:
    [[nodiscard]] static result<std::unique_ptr<published_file>> create(rocksdb::FileSystem& files,
                                                                        const std::string& folder);
    ~published_file() override;

    result<void> write(std::span<const std::byte> bytes) noexcept override;
    result<void> publish(const std::string& path);

  private:
    published_file(rocksdb::FileSystem& files, std::string folder, std::unique_ptr<rocksdb::FSWritableFile> file)
        : files_{files}, folder_{std::move(folder)}, file_{std::move(file)} {}

    rocksdb::FileSystem& files_;
    std::string folder_;
    std::unique_ptr<rocksdb::FSWritableFile> file_;
    bool published_ = false;
};

}  // namespace genista::rocks
