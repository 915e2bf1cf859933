// failing_files: RocksDB's file system with every call numbered, so that a test can make any one of
// them fail, once or from then on, or make the disk full.
//
// Numbered are the calls that reach a disk: creating, opening, appending, syncing, closing,
// reading, renaming, deleting, syncing folders. Locks, sizes and lists never fail, nor does
// RocksDB's own log of events.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace genista::test {

// Which calls fail. Shared by all files of a failing_files; may be changed at any time.
class io_fate {
  public:
    static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

    void fail_once(std::uint64_t call) noexcept { set(call, call); }
    void fail_from(std::uint64_t call) noexcept { set(call, never - 1); }
    // Appends and new files fail with "no space" until heal().
    void fill_disk() noexcept { full_.store(true); }
    // The next call of this kind to a file whose path holds `part` fails as on a full disk.
    void fail_next(std::string what, std::string part) {
        const std::lock_guard held{mutex_};
        next_victim_ = {std::move(what), std::move(part)};
    }
    // Calls of this kind to files whose path holds `part` never fail. Use before the first call.
    void spare(std::string what, std::string part) { spared_.emplace_back(std::move(what), std::move(part)); }
    void heal() noexcept {
        full_.store(false);
        first_.store(never);
    }
    [[nodiscard]] std::uint64_t calls() const noexcept { return next_.load(); }
    [[nodiscard]] std::uint64_t failed() const noexcept { return failed_.load(); }

    // The first call that failed: its kind and its file.
    [[nodiscard]] std::string first_victim() const {
        const std::lock_guard held{mutex_};
        return first_victim_;
    }

    [[nodiscard]] rocksdb::IOStatus strike(const char* what, const std::string& path, bool needs_space = false) {
        const std::uint64_t mine = next_.fetch_add(1);
        if ((needs_space && full_.load()) || is_next_victim(what, path)) {
            note(what, path);
            rocksdb::IOStatus full = rocksdb::IOStatus::NoSpace("planned");
            full.SetRetryable(true);  // as RocksDB's own file system does for ENOSPC
            return full;
        }
        if (mine < first_.load() || mine > last_.load()) return rocksdb::IOStatus::OK();
        for (const auto& [kind, part] : spared_) {
            if (kind == what && path.find(part) != std::string::npos) return rocksdb::IOStatus::OK();
        }
        note(what, path);
        return rocksdb::IOStatus::IOError("planned");
    }

  private:
    void note(const char* what, const std::string& path) {
        const std::lock_guard held{mutex_};
        if (failed_.fetch_add(1) == 0) first_victim_ = std::string{what} + " " + path;
    }
    [[nodiscard]] bool is_next_victim(const std::string& what, const std::string& path) {
        const std::lock_guard held{mutex_};
        const bool is = next_victim_.first == what && path.find(next_victim_.second) != std::string::npos;
        if (is) next_victim_ = {};
        return is;
    }
    void set(std::uint64_t first, std::uint64_t last) noexcept {
        last_.store(last);
        first_.store(first);
    }
    std::atomic<std::uint64_t> next_{0}, first_{never}, last_{never}, failed_{0};
    std::atomic<bool> full_{false};
    mutable std::mutex mutex_;
    std::string first_victim_;
    std::pair<std::string, std::string> next_victim_;
    std::vector<std::pair<std::string, std::string>> spared_;
};

namespace detail {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

class failing_writable final : public rocksdb::FSWritableFileOwnerWrapper {
  public:
    failing_writable(std::unique_ptr<rocksdb::FSWritableFile>&& file, io_fate& fate, std::string path)
        : FSWritableFileOwnerWrapper{std::move(file)}, fate_{fate}, path_{std::move(path)} {}
    IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* context) override {
        const IOStatus struck = fate_.strike("Append", path_, true);
        return struck.ok() ? FSWritableFileOwnerWrapper::Append(data, options, context) : struck;
    }
    IOStatus Append(const Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo&,
                    IODebugContext* context) override {
        return Append(data, options, context);
    }
    IOStatus Sync(const IOOptions& options, IODebugContext* context) override {
        const IOStatus struck = fate_.strike("Sync", path_);
        return struck.ok() ? FSWritableFileOwnerWrapper::Sync(options, context) : struck;
    }
    IOStatus Fsync(const IOOptions& options, IODebugContext* context) override {
        const IOStatus struck = fate_.strike("Fsync", path_);
        return struck.ok() ? FSWritableFileOwnerWrapper::Fsync(options, context) : struck;
    }
    IOStatus Close(const IOOptions& options, IODebugContext* context) override {
        const IOStatus struck = fate_.strike("Close", path_);
        const IOStatus closed = FSWritableFileOwnerWrapper::Close(options, context);
        return struck.ok() ? closed : struck;
    }

  private:
    io_fate& fate_;
    std::string path_;
};

class failing_sequential final : public rocksdb::FSSequentialFileOwnerWrapper {
  public:
    failing_sequential(std::unique_ptr<rocksdb::FSSequentialFile>&& file, io_fate& fate, std::string path)
        : FSSequentialFileOwnerWrapper{std::move(file)}, fate_{fate}, path_{std::move(path)} {}
    IOStatus Read(size_t size, const IOOptions& options, Slice* result, char* scratch,
                  IODebugContext* context) override {
        const IOStatus struck = fate_.strike("Read", path_);
        return struck.ok() ? FSSequentialFileOwnerWrapper::Read(size, options, result, scratch, context) : struck;
    }

  private:
    io_fate& fate_;
    std::string path_;
};

class failing_random_access final : public rocksdb::FSRandomAccessFileOwnerWrapper {
  public:
    failing_random_access(std::unique_ptr<rocksdb::FSRandomAccessFile>&& file, io_fate& fate, std::string path)
        : FSRandomAccessFileOwnerWrapper{std::move(file)}, fate_{fate}, path_{std::move(path)} {}
    IOStatus Read(std::uint64_t offset, size_t size, const IOOptions& options, Slice* result, char* scratch,
                  IODebugContext* context) const override {
        const IOStatus struck = fate_.strike("Read", path_);
        return struck.ok() ? FSRandomAccessFileOwnerWrapper::Read(offset, size, options, result, scratch, context)
                           : struck;
    }

  private:
    io_fate& fate_;
    std::string path_;
};

class failing_directory final : public rocksdb::FSDirectoryWrapper {
  public:
    failing_directory(std::unique_ptr<rocksdb::FSDirectory>&& directory, io_fate& fate, std::string path)
        : FSDirectoryWrapper{std::move(directory)}, fate_{fate}, path_{std::move(path)} {}
    IOStatus Fsync(const IOOptions& options, IODebugContext* context) override {
        const IOStatus struck = fate_.strike("Fsync", path_);
        return struck.ok() ? FSDirectoryWrapper::Fsync(options, context) : struck;
    }
    IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* context,
                                 const rocksdb::DirFsyncOptions& how) override {
        const IOStatus struck = fate_.strike("FsyncWithDirOptions", path_);
        return struck.ok() ? FSDirectoryWrapper::FsyncWithDirOptions(options, context, how) : struck;
    }

  private:
    io_fate& fate_;
    std::string path_;
};

}  // namespace detail

class failing_files final : public rocksdb::FileSystemWrapper {
  public:
    failing_files(io_fate& fate, const std::shared_ptr<rocksdb::FileSystem>& below)
        : FileSystemWrapper{below}, fate_{fate} {}
    const char* Name() const override { return "genista.failing_files"; }

    rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* made,
                                      rocksdb::IODebugContext* context) override {
        rocksdb::IOStatus status = fate_.strike("NewWritableFile", path, true);
        if (status.ok()) status = FileSystemWrapper::NewWritableFile(path, options, made, context);
        if (status.ok()) *made = std::make_unique<detail::failing_writable>(std::move(*made), fate_, path);
        return status;
    }
    rocksdb::IOStatus NewSequentialFile(const std::string& path, const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSSequentialFile>* made,
                                        rocksdb::IODebugContext* context) override {
        rocksdb::IOStatus status = fate_.strike("NewSequentialFile", path);
        if (status.ok()) status = FileSystemWrapper::NewSequentialFile(path, options, made, context);
        if (status.ok()) *made = std::make_unique<detail::failing_sequential>(std::move(*made), fate_, path);
        return status;
    }
    rocksdb::IOStatus NewRandomAccessFile(const std::string& path, const rocksdb::FileOptions& options,
                                          std::unique_ptr<rocksdb::FSRandomAccessFile>* made,
                                          rocksdb::IODebugContext* context) override {
        rocksdb::IOStatus status = fate_.strike("NewRandomAccessFile", path);
        if (status.ok()) status = FileSystemWrapper::NewRandomAccessFile(path, options, made, context);
        if (status.ok()) *made = std::make_unique<detail::failing_random_access>(std::move(*made), fate_, path);
        return status;
    }
    rocksdb::IOStatus NewDirectory(const std::string& path, const rocksdb::IOOptions& options,
                                   std::unique_ptr<rocksdb::FSDirectory>* made,
                                   rocksdb::IODebugContext* context) override {
        rocksdb::IOStatus status = fate_.strike("NewDirectory", path);
        if (status.ok()) status = FileSystemWrapper::NewDirectory(path, options, made, context);
        if (status.ok()) *made = std::make_unique<detail::failing_directory>(std::move(*made), fate_, path);
        return status;
    }
    rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to, const rocksdb::IOOptions& options,
                                 rocksdb::IODebugContext* context) override {
        const rocksdb::IOStatus struck = fate_.strike("RenameFile", from);
        return struck.ok() ? FileSystemWrapper::RenameFile(from, to, options, context) : struck;
    }
    rocksdb::IOStatus DeleteFile(const std::string& path, const rocksdb::IOOptions& options,
                                 rocksdb::IODebugContext* context) override {
        const rocksdb::IOStatus struck = fate_.strike("DeleteFile", path);
        return struck.ok() ? FileSystemWrapper::DeleteFile(path, options, context) : struck;
    }

  private:
    io_fate& fate_;
};

// An Env with failing files, and without the second that RocksDB sleeps after a failed background
// job.
class failing_env final : public rocksdb::EnvWrapper {
  public:
    failing_env(io_fate& fate, const std::shared_ptr<rocksdb::FileSystem>& below)
        : EnvWrapper{rocksdb::Env::Default()} {
        file_system_ = std::make_shared<failing_files>(fate, below);
    }
    const char* Name() const override { return "genista.failing_env"; }
    void SleepForMicroseconds(int micros) override { EnvWrapper::SleepForMicroseconds(std::min(micros, 1000)); }
};

}  // namespace genista::test
