// Table files and how they join a database. See sorted_files.hpp.
#include "compare/sorted_files.hpp"

#include <filesystem>
#include <utility>

#include "genista/detail/stores/rocksdb/status.hpp"

namespace genista::tool::compare {

void remove_loading(const std::string& database) noexcept {
    std::error_code ignored;
    std::filesystem::remove_all(database + loading_folder, ignored);
}

sorted_files::sorted_files(const rocksdb::Options& options, std::string folder)
    : options_{options}, folder_{std::move(folder)} {
    options_.use_direct_reads = false;  // it only writes
}

sorted_files::~sorted_files() {
    writer_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

result<void> sorted_files::begin_file() {
    if (files_.empty()) {
        std::error_code failure;
        std::filesystem::remove_all(folder_, failure);  // of an interrupted run
        std::filesystem::create_directory(folder_, failure);
        if (failure) {
            return error::make(error_code::invalid_argument, "'%.120s' cannot be made: %.60s", folder_.c_str(),
                               failure.message().c_str());
        }
    }
    writer_ = std::make_unique<rocksdb::SstFileWriter>(rocksdb::EnvOptions{options_}, options_);
    files_.push_back(folder_ + "/" + std::to_string(files_.size()) + ".sst");
    if (const auto opened = writer_->Open(files_.back()); !opened.ok()) {
        return rocks::to_error(opened, "make a table file");
    }
    return {};
}

result<void> sorted_files::end_file() {
    const auto finished = writer_->Finish();
    writer_.reset();
    if (!finished.ok()) return rocks::to_error(finished, "write a table file");
    return {};
}

result<void> sorted_files::add(const rocksdb::Slice& key, const rocksdb::Slice& value) {
    if (writer_ == nullptr) {
        if (const auto begun = begin_file(); !begun) return begun;
    }
    if (const auto put = writer_->Put(key, value); !put.ok()) return rocks::to_error(put, "write a table file");
    return writer_->FileSize() < file_bytes ? result<void>{} : end_file();
}

result<void> sorted_files::move_into(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family) {
    if (writer_ != nullptr) {
        if (const auto ended = end_file(); !ended) return ended;
    }
    if (files_.empty()) return {};
    rocksdb::IngestExternalFileOptions how;
    how.move_files = true;
    const auto moved = db.IngestExternalFile(&family, files_, how);
    if (!moved.ok()) return rocks::to_error(moved, "take table files into the database");
    return {};
}

}  // namespace genista::tool::compare
