// Options, policies and the size of RocksDB's own filters; table files and how they join a
// database. See rocksdb_files.hpp.
#include "compare/rocksdb_files.hpp"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/table_properties.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>

#include "genista/detail/stores/rocksdb/database.hpp"
#include "genista/detail/stores/rocksdb/record_key.hpp"
#include "genista/detail/stores/rocksdb/status.hpp"

namespace genista::tool::compare {
namespace {

class silent_log final : public rocksdb::Logger {
  public:
    using rocksdb::Logger::Logv;
    void Logv(const char*, va_list) override {}
};

rocksdb::Options with_table(rocksdb::Options options, std::size_t cache_bytes, const filter_policy& policy) {
    rocksdb::BlockBasedTableOptions table;
    if (const auto* defaults = options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>()) table = *defaults;
    table.filter_policy = policy;
    table.no_block_cache = cache_bytes == 0;
    table.block_cache = cache_bytes == 0 ? nullptr : rocksdb::NewLRUCache(cache_bytes);
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    options.compression = rocksdb::kNoCompression;
    options.info_log = std::make_shared<silent_log>();
    return options;
}

filter_policy make_policy(filter_kind kind, double bits) {
    if (kind == filter_kind::rocksdb_ribbon) return filter_policy{rocksdb::NewRibbonFilterPolicy(bits)};
    return filter_policy{rocksdb::NewBloomFilterPolicy(bits)};
}

// What a filter of this policy takes in one file of so many keys.
result<double> measured_bits(const filter_policy& policy, std::uint64_t keys, rocksdb::Env& memory) {
    const std::string path = "/sample";
    rocksdb::Options options = with_table(rocks::default_rocksdb_options(), 0, policy);
    options.env = &memory;
    const auto failed = [](const rocksdb::Status& status) { return rocks::to_error(status, "measure a filter"); };
    rocksdb::SstFileWriter writer{rocksdb::EnvOptions{}, options};
    if (const auto opened = writer.Open(path); !opened.ok()) return failed(opened);
    for (std::uint64_t i = 0; i < keys; ++i) {
        char key[8];
        rocks::store_big_endian(i, key);
        if (const auto put = writer.Put({key, sizeof key}, {}); !put.ok()) return failed(put);
    }
    if (const auto finished = writer.Finish(); !finished.ok()) return failed(finished);
    rocksdb::SstFileReader reader{options};
    const auto opened = reader.Open(path);
    if (!opened.ok()) return failed(opened);
    const double bits = static_cast<double>(reader.GetTableProperties()->filter_size) * 8 / static_cast<double>(keys);
    return bits;
}

}  // namespace

rocksdb::Options rocksdb_options(const request& asked, bool direct_reads, const filter_policy& policy) {
    rocksdb::Options options = with_table(rocks::default_rocksdb_options(), asked.cache_mb << 20, policy);
    options.use_direct_reads = direct_reads;
    return options;
}

rocksdb::ReadOptions read_once() {
    rocksdb::ReadOptions once;
    once.readahead_size = std::size_t{2} << 20;
    once.fill_cache = false;
    return once;
}

result<sized_policy> policy_of_size(filter_kind kind, double bits_per_key, std::uint64_t keys) {
    constexpr int tries = 12;
    constexpr double largest = 100;  // what RocksDB takes as larger
    const std::unique_ptr<rocksdb::Env> memory{rocksdb::NewMemEnv(rocksdb::Env::Default())};
    const std::uint64_t sample = std::clamp<std::uint64_t>(keys, 1, 100'000);
    double low = 1, high = std::min(largest, bits_per_key * (kind == filter_kind::rocksdb_ribbon ? 2 : 1));
    if (kind == filter_kind::rocksdb_bloom) low = high;
    sized_policy best;
    for (int i = 0; i < tries; ++i) {
        const double middle = i == 0 ? high : (low + high) / 2;
        filter_policy policy = make_policy(kind, middle);
        const auto bits = measured_bits(policy, sample, *memory);
        if (!bits) return bits.error();
        if (best.policy == nullptr || std::abs(*bits - bits_per_key) < std::abs(best.bits_per_key - bits_per_key)) {
            best = {std::move(policy), *bits};
        }
        if (low >= high || (i == 0 && *bits <= bits_per_key)) break;
        (*bits > bits_per_key ? high : low) = middle;
    }
    return best;
}

result<std::uint64_t> filter_bytes(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family) {
    rocksdb::TablePropertiesCollection all;
    const auto read = db.GetPropertiesOfAllTables(&family, &all);
    if (!read.ok()) return rocks::to_error(read, "read the properties of table files");
    std::uint64_t bytes = 0;
    for (const auto& [file, properties] : all) bytes += properties->filter_size;
    return bytes;
}

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
