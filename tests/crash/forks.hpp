// forks: a copy of a store is used apart from it, and parts of the copy come back. Both have one
// identity and use the same sequence numbers for different writes. docs/operations.md promises that
// a snapshot of one that is put beside the other is refused.
#pragma once

#include <filesystem>
#include <string>

#include "stores/rocksdb/snapshot_files.hpp"
#include "tests/crash/either_store.hpp"

namespace genista::test {

// Replaces a folder by a copy of another one.
inline void copy_folder(const std::string& from, const std::string& to) {
    std::filesystem::remove_all(to);
    if (std::filesystem::exists(from)) std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
}

[[nodiscard]] inline std::string snapshots_of(const std::string& database) {
    return database + "/genista";
}

enum class mixing { beside, instead };  // of the snapshots that are already there

// Copies snapshots of another moment, or of another history, to a closed database.
inline void bring_snapshots(const std::string& kept, const std::string& database, mixing how) {
    const std::string to = snapshots_of(database);
    if (how == mixing::instead) std::filesystem::remove_all(to);
    if (!std::filesystem::exists(kept)) return;
    std::filesystem::copy(kept, to,
                          std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
}

// The control: saves a snapshot of this store with the life `owner` in it, as if there were no
// lives.
inline result<void> save_as(either_store& store, const rocks::store_id& owner, const std::string& database) {
    const rocks::snapshotter_place place = store.place();
    const store_mark mark{.identity = owner, .sequence = place.db->GetLatestSequenceNumber()};
    auto file = rocks::published_file::create(*place.db->GetFileSystem(), snapshots_of(database));
    if (!file) return file.error();
    if (const auto saved = store.core().filter().save(**file, mark); !saved) return saved;
    return (*file)->publish(rocks::snapshot_path(snapshots_of(database), mark.sequence));
}

}  // namespace genista::test
