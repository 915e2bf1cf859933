// What the databases of a test stand on: a fresh directory, and an environment that does not wait
// for the disk. For tests in which the power does not fail.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <memory>
#include <string>
#include <utility>

#include "tests/support/scratch_folder.hpp"

namespace genista::test {

class scratch : public scratch_folder {
  public:
    [[nodiscard]] std::string path(const std::string& name = "db") const { return *this / name; }
};

// The ordinary file system without the waits for the disk.
class unsynced_files final : public rocksdb::FileSystemWrapper {
  public:
    unsynced_files() : FileSystemWrapper{rocksdb::FileSystem::Default()} {}
    const char* Name() const override { return "genista.test.unsynced_files"; }

    rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* made,
                                      rocksdb::IODebugContext* context) override {
        return wrap(target()->NewWritableFile(name, options, made, context), *made);
    }
    rocksdb::IOStatus ReopenWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                         std::unique_ptr<rocksdb::FSWritableFile>* made,
                                         rocksdb::IODebugContext* context) override {
        return wrap(target()->ReopenWritableFile(name, options, made, context), *made);
    }
    rocksdb::IOStatus ReuseWritableFile(const std::string& name, const std::string& old,
                                        const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSWritableFile>* made,
                                        rocksdb::IODebugContext* context) override {
        return wrap(target()->ReuseWritableFile(name, old, options, made, context), *made);
    }
    rocksdb::IOStatus NewDirectory(const std::string& name, const rocksdb::IOOptions& options,
                                   std::unique_ptr<rocksdb::FSDirectory>* made,
                                   rocksdb::IODebugContext* context) override {
        const rocksdb::IOStatus status = target()->NewDirectory(name, options, made, context);
        if (status.ok()) *made = std::make_unique<directory>();
        return status;
    }

  private:
    class file final : public rocksdb::FSWritableFileOwnerWrapper {
      public:
        using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;
        rocksdb::IOStatus Sync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override { return {}; }
        rocksdb::IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override { return {}; }
        rocksdb::IOStatus RangeSync(std::uint64_t, std::uint64_t, const rocksdb::IOOptions&,
                                    rocksdb::IODebugContext*) override {
            return {};
        }
    };
    class directory final : public rocksdb::FSDirectory {
        rocksdb::IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override { return {}; }
    };
    static rocksdb::IOStatus wrap(rocksdb::IOStatus status, std::unique_ptr<rocksdb::FSWritableFile>& made) {
        if (status.ok()) made = std::make_unique<file>(std::move(made));
        return status;
    }
};

[[nodiscard]] inline rocksdb::Env* unsynced_env() {
    static const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(std::make_shared<unsynced_files>());
    return env.get();
}

}  // namespace genista::test
