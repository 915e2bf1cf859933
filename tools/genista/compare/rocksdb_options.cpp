// Options, policies and the size of RocksDB's own filters. See rocksdb_options.hpp.
#include "compare/rocksdb_options.hpp"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/table_properties.h>

#include <algorithm>
#include <cmath>
#include <memory>

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

}  // namespace genista::tool::compare
