// guard_reopen_bench: how long a guarded database takes to open: from a snapshot of its filter, and
// with the filter rebuilt, beside a bare scan of the same records. One process, the three in turn,
// medians.
//
//     build/release/bin/guard_reopen_bench --keys 1e7
//
// Times of opening include RocksDB's own part, which is also shown separately. TMPDIR says where
// the databases are made.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "genista/stores/rocksdb/clustered_db.hpp"
#include "genista/stores/rocksdb/guarded_db.hpp"
#include "lab/experiment.hpp"
#include "lab/workloads/scratch_folder.hpp"

namespace {

using namespace genista;
namespace fs = std::filesystem;

struct request {
    double keys = 1e7;
    std::size_t value_bytes = 100;
    unsigned rounds = 5;
};

using lab::must;
void must(const rocksdb::Status& got) {
    if (!got.ok()) throw std::runtime_error{got.ToString()};
}

template <class Body>
double seconds_of(Body body) {
    const auto begin = std::chrono::steady_clock::now();
    body();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> of) {
    std::sort(of.begin(), of.end());
    return of[of.size() / 2];
}

std::string key_of(std::uint64_t i) {
    return fmt::format("user{:012}", i);
}

struct clustered {
    static constexpr std::string_view name = "clustered";
    using db = rocks::clustered_db;
    static std::unique_ptr<db> open(const std::string& path) {
        rocks::clustered_db_options how;
        how.snapshotter = {.every = std::chrono::milliseconds{0}, .on_close = false};
        return must(db::open(path, how));
    }
    static void put(db& to, const std::string& key, const std::string& value) { must(to.put(key, value)); }
    static void close(db& it) { must(it.close()); }
};

struct indexed {
    static constexpr std::string_view name = "indexed";
    using db = rocks::guarded_db;
    static std::unique_ptr<db> open(const std::string& path) {
        rocks::guarded_db_options how;
        how.snapshotter = {.every = std::chrono::milliseconds{0}, .on_close = false};
        return must(db::open(path, how));
    }
    static void put(db& to, const std::string& key, const std::string& value) { must(to.Put({}, key, value)); }
    static void close(db& it) { must(it.Close()); }
};

// Reads the records that the filter is built from, with RocksDB alone.
std::uint64_t bare_scan(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family) {
    rocksdb::ReadOptions how;
    how.total_order_seek = true;
    how.fill_cache = false;
    how.readahead_size = std::size_t{2} << 20;
    const std::unique_ptr<rocksdb::Iterator> at{db.NewIterator(how, &family)};
    std::uint64_t records = 0;
    for (at->SeekToFirst(); at->Valid(); at->Next()) ++records;
    must(at->status());
    return records;
}

double open_bare(const std::string& path) {
    std::vector<std::string> names;
    must(rocksdb::DB::ListColumnFamilies({}, path, &names));
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const std::string& name : names) families.emplace_back(name, rocksdb::ColumnFamilyOptions{});
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* db = nullptr;
    const double taken = seconds_of(
        [&] { must(rocksdb::DB::OpenForReadOnly(rocks::default_rocksdb_options(), path, families, &handles, &db)); });
    const std::unique_ptr<rocksdb::DB> owner{db};
    for (rocksdb::ColumnFamilyHandle* handle : handles) must(db->DestroyColumnFamilyHandle(handle));
    return taken;
}

template <class Layout>
void measure(const request& asked, const fs::path& folder) {
    const auto keys = static_cast<std::uint64_t>(asked.keys);
    const std::string path = (folder / Layout::name).string();
    const fs::path snapshots = fs::path{path} / "genista", aside = folder / "aside";
    {
        const auto db = Layout::open(path);
        const std::string value(asked.value_bytes, 'v');
        for (std::uint64_t i = 0; i < keys; ++i) Layout::put(*db, key_of(i), value);
        must(db->snapshotter().save());
        Layout::close(*db);
    }
    std::vector<double> bare, loaded, rebuilt, scanned;
    std::uint64_t lost = 0;
    for (unsigned round = 0; round < asked.rounds; ++round) {
        bare.push_back(open_bare(path));
        {
            std::unique_ptr<typename Layout::db> db;
            loaded.push_back(seconds_of([&] { db = Layout::open(path); }));
            if (db->origin() != rocks::filter_origin::snapshot) throw std::runtime_error{"the snapshot was not used"};
            for (std::uint64_t i = 0; i < keys; i += 97) lost += db->may_contain(key_of(i)) ? 0u : 1u;
            Layout::close(*db);
        }
        fs::rename(snapshots, aside);
        {
            std::unique_ptr<typename Layout::db> db;
            rebuilt.push_back(seconds_of([&] { db = Layout::open(path); }));
            if (db->origin() != rocks::filter_origin::rebuilt) throw std::runtime_error{"the filter was not rebuilt"};
            for (std::uint64_t i = 0; i < keys; i += 97) lost += db->may_contain(key_of(i)) ? 0u : 1u;
            std::uint64_t records = 0;
            scanned.push_back(seconds_of([&] { records = bare_scan(db->base(), db->records().family()); }));
            if (records != keys) throw std::runtime_error{fmt::format("{} records of {}", records, keys)};
            Layout::close(*db);
        }
        fs::remove_all(snapshots);
        fs::rename(aside, snapshots);
    }
    fmt::print("{:<10} {:>11} {:>10.2f} {:>11.2f} {:>11.2f} {:>8.2f} {:>14.2f} {:>7}\n", Layout::name, keys,
               median(bare), median(loaded), median(rebuilt), median(scanned), median(scanned) / median(rebuilt), lost);
    std::fflush(stdout);
    if (lost != 0) throw std::runtime_error{"a stored key was denied"};
}

}  // namespace

int main(int argc, char** argv) {
    request asked;
    CLI::App app{"how long a guarded database takes to open"};
    app.add_option("--keys", asked.keys, "keys to store")->check(CLI::Range(1e3, 1e9))->capture_default_str();
    app.add_option("--value-bytes", asked.value_bytes, "size of each value")
        ->check(CLI::Range(0, 1 << 20))
        ->capture_default_str();
    app.add_option("--rounds", asked.rounds, "the median of so many")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    try {
        const lab::scratch_folder folder;
        fmt::print("{:<10} {:>11} {:>10} {:>11} {:>11} {:>8} {:>14} {:>7}\n", "layout", "keys", "rocksdb", "snapshot",
                   "rebuilt", "scan", "scan:rebuilt", "lost");
        measure<clustered>(asked, folder.path());
        measure<indexed>(asked, folder.path());
    } catch (const std::exception& failure) {
        fmt::print(stderr, "guard_reopen_bench: {}\n", failure.what());
        return 1;
    }
    return 0;
}
