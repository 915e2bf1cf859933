// power_loss_files: RocksDB's file system with a diary of every call that changes it. From the
// diary a test can draw the disk of any moment as power loss could have left it.
//
// What a disk promises, and no more:
//   data     a file's bytes up to its last sync; of what was appended later any prefix, its last
//            bytes perhaps zeros (but not in a MANIFEST: RocksDB 7.8, guarded or not, accepts a
//            prefix there, and reports zeros as corruption)
//   names    a folder's entries as of its last sync; of what was created, renamed and deleted in it
//            later any prefix
// The diary also takes notes (what was acknowledged when), from which a test derives what must have
// survived at a moment.
#pragma once

#include <rocksdb/file_system.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/splitmix.hpp"

namespace genista::test {

class disk_diary {
  public:
    enum class act : unsigned char { create, append, sync, rename, remove, sync_folder, note };
    struct entry {
        act what{};
        std::uint64_t file = 0;  // create, append, sync: which; note: the caller's number
        std::string path;        // create, remove: the name; rename: from; sync_folder: the folder
        std::string text;        // append: the bytes; rename: to
        std::uint64_t upto = 0;  // sync: bytes of the file, sync_folder: entries of the diary, before the sync began
    };

    std::uint64_t create(const std::string& path) {
        const std::lock_guard held{mutex_};
        entries_.push_back({act::create, ++files_, path, {}, 0});
        return files_;
    }
    void add(act what, std::uint64_t file, std::string path = {}, std::string text = {}, std::uint64_t upto = 0) {
        const std::lock_guard held{mutex_};
        entries_.push_back({what, file, std::move(path), std::move(text), upto});
    }
    void note(std::uint64_t number) { add(act::note, number); }
    [[nodiscard]] std::size_t moments() const {
        const std::lock_guard held{mutex_};
        return entries_.size();
    }
    // The numbers of all notes before a moment.
    [[nodiscard]] std::vector<std::uint64_t> notes_before(std::size_t moment) const {
        const std::lock_guard held{mutex_};
        std::vector<std::uint64_t> found;
        for (std::size_t i = 0; i < moment; ++i) {
            if (entries_[i].what == act::note) found.push_back(entries_[i].file);
        }
        return found;
    }

    // Writes the disk as it was after the first `moment` entries. A file below `from` is written to
    // the same relative path below `to`.
    void draw(std::size_t moment, splitmix& chance, const std::string& from, const std::string& to) const {
        const std::lock_guard held{mutex_};
        struct content {
            std::string bytes;
            std::size_t synced = 0;
        };
        std::map<std::uint64_t, content> files;
        std::map<std::string, std::size_t> lost_from;  // folder → the first change of names that is lost
        std::map<std::string, std::vector<std::size_t>> unsynced;
        for (std::size_t i = 0; i < moment; ++i) {
            const entry& e = entries_[i];
            if (e.what == act::append) files[e.file].bytes += e.text;
            if (e.what == act::sync) files[e.file].synced = std::max<std::size_t>(files[e.file].synced, e.upto);
            if (e.what == act::create || e.what == act::remove || e.what == act::rename)
                unsynced[folder_of(e.path)].push_back(i);
            if (e.what == act::sync_folder)
                std::erase_if(unsynced[e.path], [&](std::size_t at) { return at < e.upto; });
        }
        for (const auto& [folder, changes] : unsynced) {
            const std::size_t kept = chance.below(changes.size() + 1);
            lost_from[folder] = kept < changes.size() ? changes[kept] : moment;
        }
        std::map<std::string, std::uint64_t> names;
        for (std::size_t i = 0; i < moment; ++i) {
            const entry& e = entries_[i];
            if (e.what != act::create && e.what != act::remove && e.what != act::rename) continue;
            if (i >= lost_from[folder_of(e.path)]) continue;
            if (e.what == act::create) names[e.path] = e.file;
            if (e.what == act::remove) names.erase(e.path);
            if (e.what == act::rename) {
                if (const auto found = names.find(e.path); found != names.end()) {
                    const std::uint64_t file = found->second;
                    names.erase(found);
                    names[e.text] = file;
                }
            }
        }
        std::filesystem::remove_all(to);
        std::filesystem::create_directories(to);
        for (const auto& [path, file] : names) {
            const content& c = files[file];
            std::string bytes = c.bytes.substr(0, c.synced + chance.below(c.bytes.size() - c.synced + 1));
            const std::size_t fresh = bytes.size() - c.synced;
            if (fresh > 0 && chance.below(4) == 0 && path.find("/MANIFEST-") == std::string::npos) {
                const std::size_t torn = 1 + chance.below(std::min<std::size_t>(fresh, 512));
                std::fill(bytes.end() - static_cast<std::ptrdiff_t>(torn), bytes.end(), '\0');
            }
            const std::filesystem::path target{to + path.substr(from.size())};
            std::filesystem::create_directories(target.parent_path());
            std::ofstream{target, std::ios::binary}.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        }
    }

  private:
    static std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

    mutable std::mutex mutex_;
    std::vector<entry> entries_;
    std::uint64_t files_ = 0;
};

class power_loss_files final : public rocksdb::FileSystemWrapper {
  public:
    // The file system below need not sync: the diary decides what survives.
    power_loss_files(disk_diary& diary, const std::shared_ptr<rocksdb::FileSystem>& below)
        : FileSystemWrapper{below}, diary_{diary} {}
    const char* Name() const override { return "genista.power_loss_files"; }

    rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* made,
                                      rocksdb::IODebugContext* context) override {
        const rocksdb::IOStatus status = FileSystemWrapper::NewWritableFile(path, options, made, context);
        if (status.ok()) *made = std::make_unique<writable>(std::move(*made), diary_, diary_.create(path));
        return status;
    }
    rocksdb::IOStatus NewDirectory(const std::string& path, const rocksdb::IOOptions& options,
                                   std::unique_ptr<rocksdb::FSDirectory>* made,
                                   rocksdb::IODebugContext* context) override {
        const rocksdb::IOStatus status = FileSystemWrapper::NewDirectory(path, options, made, context);
        if (status.ok()) *made = std::make_unique<directory>(std::move(*made), diary_, path);
        return status;
    }
    rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to, const rocksdb::IOOptions& options,
                                 rocksdb::IODebugContext* context) override {
        const rocksdb::IOStatus status = FileSystemWrapper::RenameFile(from, to, options, context);
        if (status.ok()) diary_.add(disk_diary::act::rename, 0, from, to);
        return status;
    }
    rocksdb::IOStatus DeleteFile(const std::string& path, const rocksdb::IOOptions& options,
                                 rocksdb::IODebugContext* context) override {
        const rocksdb::IOStatus status = FileSystemWrapper::DeleteFile(path, options, context);
        if (status.ok()) diary_.add(disk_diary::act::remove, 0, path);
        return status;
    }
    // Calls that would write without an entry in the diary are not supported.
    rocksdb::IOStatus ReopenWritableFile(const std::string&, const rocksdb::FileOptions&,
                                         std::unique_ptr<rocksdb::FSWritableFile>*, rocksdb::IODebugContext*) override {
        return rocksdb::IOStatus::NotSupported("not in the diary");
    }
    rocksdb::IOStatus LinkFile(const std::string&, const std::string&, const rocksdb::IOOptions&,
                               rocksdb::IODebugContext*) override {
        return rocksdb::IOStatus::NotSupported("not in the diary");
    }

  private:
    class writable final : public rocksdb::FSWritableFileOwnerWrapper {
      public:
        writable(std::unique_ptr<rocksdb::FSWritableFile>&& file, disk_diary& diary, std::uint64_t number)
            : FSWritableFileOwnerWrapper{std::move(file)}, diary_{diary}, number_{number} {}
        rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                                 rocksdb::IODebugContext* context) override {
            const rocksdb::IOStatus status = FSWritableFileOwnerWrapper::Append(data, options, context);
            if (status.ok()) diary_.add(disk_diary::act::append, number_, {}, data.ToString());
            if (status.ok()) size_.fetch_add(data.size());
            return status;
        }
        rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                                 const rocksdb::DataVerificationInfo&, rocksdb::IODebugContext* context) override {
            return Append(data, options, context);
        }
        rocksdb::IOStatus Sync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* context) override {
            const std::uint64_t before = size_.load();
            const rocksdb::IOStatus status = FSWritableFileOwnerWrapper::Sync(options, context);
            if (status.ok()) diary_.add(disk_diary::act::sync, number_, {}, {}, before);
            return status;
        }
        rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* context) override {
            return Sync(options, context);
        }

      private:
        disk_diary& diary_;
        std::uint64_t number_;
        std::atomic<std::uint64_t> size_{0};
    };
    class directory final : public rocksdb::FSDirectoryWrapper {
      public:
        directory(std::unique_ptr<rocksdb::FSDirectory>&& inner, disk_diary& diary, std::string path)
            : FSDirectoryWrapper{std::move(inner)}, diary_{diary}, path_{std::move(path)} {
            while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
        }
        rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* context) override {
            const std::uint64_t before = diary_.moments();
            const rocksdb::IOStatus status = FSDirectoryWrapper::Fsync(options, context);
            if (status.ok()) diary_.add(disk_diary::act::sync_folder, 0, path_, {}, before);
            return status;
        }
        rocksdb::IOStatus FsyncWithDirOptions(const rocksdb::IOOptions& options, rocksdb::IODebugContext* context,
                                              const rocksdb::DirFsyncOptions& how) override {
            const std::uint64_t before = diary_.moments();
            const rocksdb::IOStatus status = FSDirectoryWrapper::FsyncWithDirOptions(options, context, how);
            if (status.ok()) diary_.add(disk_diary::act::sync_folder, 0, path_, {}, before);
            return status;
        }

      private:
        disk_diary& diary_;
        std::string path_;
    };

    disk_diary& diary_;
};

}  // namespace genista::test
