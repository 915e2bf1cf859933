// The indexed layout: keys in their own order, and for broom an index beside them. See
// databases.hpp.
//
// All rows stand on databases in the scratch folder: `plain`, a copy of it for each of RocksDB's
// own filters, and for broom a copy made of links, which guarded_db indexes when it opens it. A
// store that was given is read once, and filled if keys were given too; so a RocksDB database
// without a guard can be tried and does not change.
#include <rocksdb/statistics.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/cuckoo_row.hpp"
#include "compare/daisy_row.hpp"
#include "compare/databases.hpp"
#include "compare/rocksdb_files.hpp"
#include "compare/rows.hpp"
#include "genista/detail/stores/rocksdb/database.hpp"
#include "genista/detail/stores/rocksdb/record_key.hpp"
#include "genista/detail/stores/rocksdb/status.hpp"
#include "genista/filters/broom.hpp"
#include "genista/hash/hasher.hpp"
#include "genista/remote/remote.hpp"
#include "genista/stores/rocksdb/guarded_db.hpp"

namespace genista::tool::compare {
namespace {

// guarded_db opens its database itself; reads are counted by RocksDB, in the thread of the read.
class read_watch final : public rocksdb::Statistics {
  public:
    const char* Name() const override { return "genista_read_watch"; }
    std::uint64_t getTickerCount(std::uint32_t) const override { return 0; }
    void histogramData(std::uint32_t, rocksdb::HistogramData*) const override {}
    void recordTick(std::uint32_t what, std::uint64_t count) override {
        if (what == rocksdb::NUMBER_KEYS_READ) store_reads += count;
    }
    void setTickerCount(std::uint32_t, std::uint64_t) override {}
    std::uint64_t getAndResetTickerCount(std::uint32_t) override { return 0; }
    void recordInHistogram(std::uint32_t, std::uint64_t) override {}
    bool HistEnabledForType(std::uint32_t) const override { return false; }
};

// plain_store: a database with plain keys, opened to read: the store of all rows of the indexed
// layout but broom's.
//
// A guarded_store whose R answers single keys only: keys in their own order have no ranges of
// digests. The Bloom filter reads no R. The cuckoo family needs ranges only when a filter is built;
// sorted_keys has them in RAM for that time.

[[nodiscard]] error only_reads() noexcept {
    return error::make(error_code::unsupported, "this database is opened to read");
}

// Is this key in the database? Any number of threads.
class plain_members {
  public:
    explicit plain_members(rocksdb::DB& db) noexcept : db_{&db} {}

    [[nodiscard]] result<bool> put(const digest&, key_view) { return only_reads(); }
    [[nodiscard]] result<bool> erase(const digest&, key_view) { return only_reads(); }
    [[nodiscard]] result<bool> contains(const digest&, key_view key) {
        rocksdb::PinnableSlice value;
        return answer(db_->Get({}, db_->DefaultColumnFamily(), rocks::to_slice(key), &value));
    }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t, std::uint64_t, Visit&&) {
        return error::make(error_code::unsupported, "keys in their own order have no ranges of digests");
    }
    [[nodiscard]] static result<bool> answer(const rocksdb::Status& got) {
        if (got.ok()) return true;
        if (got.IsNotFound()) return false;
        return rocks::to_error(got, "read a value");
    }

  private:
    rocksdb::DB* db_;
};

class plain_store {
  public:
    plain_store(rocks::database db, const hasher& hash) : db_{std::move(db)}, hash_{hash}, members_{db_.base()} {}

    [[nodiscard]] result<bool> read(key_view key, std::string& value) {
        return plain_members::answer(db_.base().Get({}, rocks::to_slice(key), &value));
    }
    [[nodiscard]] result<bool> read(const digest&, key_view key, std::string& value) { return read(key, value); }
    [[nodiscard]] result<void> write(const digest&, key_view, std::string_view) { return only_reads(); }
    [[nodiscard]] result<void> remove(const digest&, key_view) { return only_reads(); }
    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }
    [[nodiscard]] plain_members& remote() noexcept { return members_; }
    [[nodiscard]] rocksdb::DB& db() noexcept { return db_.base(); }

  private:
    rocks::database db_;
    hasher hash_;
    plain_members members_;
};

// The first `stored` keys of a table as R, for one thread: only ranges.
class sorted_keys {
  public:
    sorted_keys(const key_table& keys, std::size_t stored, const hasher& hash)
        : keys_{keys}, order_{in_digest_order(keys, stored, hash)} {}

    [[nodiscard]] result<bool> put(const digest&, key_view) { return only_reads(); }
    [[nodiscard]] result<bool> erase(const digest&, key_view) { return only_reads(); }
    [[nodiscard]] result<bool> contains(const digest&, key_view key) { return keys_.find(key.text()).has_value(); }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        auto at = std::partition_point(order_.begin(), order_.end(),
                                       [&](const auto& each) { return each.first.position < first; });
        for (; at != order_.end() && at->first.position <= last; ++at) {
            if (!visit(at->first, key_view{keys_[at->second]})) break;
        }
        return {};
    }

  private:
    const key_table& keys_;
    digest_order order_;
};

class guarded_db_row final : public contender {
  public:
    guarded_db_row(filter_kind kind, std::unique_ptr<rocks::guarded_db> db) noexcept
        : contender{kind}, db_{std::move(db)} {}

    [[nodiscard]] result<answer> ask(key_view key) override {
        thread_local std::string value;
        const std::uint64_t before = store_reads;
        rocksdb::DB& db = *db_;
        const auto got = db.Get({}, rocks::to_slice(key), &value);
        if (!got.ok() && !got.IsNotFound()) return rocks::to_error(got, "read a value");
        return answer{.found = got.ok(), .let_through = store_reads != before};
    }
    [[nodiscard]] std::uint64_t local_bytes() const override { return db_->counters().local_bytes; }
    [[nodiscard]] std::optional<guard_counters> counters() const override { return db_->counters(); }

  private:
    std::unique_ptr<rocks::guarded_db> db_;
};

using indexed_bloom_row = guarded_row<bloom_filter, plain_store>;

class indexed_databases final : public databases {
  public:
    explicit indexed_databases(const setting& of) : of_{of}, hash_{of.key().value_or(hash_key::from_seed(1))} {}

    [[nodiscard]] result<void> open() override;
    [[nodiscard]] result<void> fill() override;
    [[nodiscard]] result<contenders> field() override;
    [[nodiscard]] budget sizes() const override { return sizes_; }

  private:
    [[nodiscard]] double keys() const noexcept { return static_cast<double>(of_.work.stored); }
    [[nodiscard]] std::string plain_path() const { return of_.room / "plain"; }
    [[nodiscard]] result<rocks::database> open_plain(const std::string& path, bool writes, bool direct,
                                                     const filter_policy& policy = {}) const;
    [[nodiscard]] result<void> take_keys(rocksdb::DB& from);
    [[nodiscard]] result<void> check_given(rocks::database& given) const;
    [[nodiscard]] result<void> add_missing();
    [[nodiscard]] result<void> make_database(const std::string& path, const filter_policy& policy) const;
    [[nodiscard]] result<void> copy_store(sorted_files& into) const;
    [[nodiscard]] result<void> copy_keys(sorted_files& into) const;
    [[nodiscard]] result<std::unique_ptr<rocks::guarded_db>> open_guarded(filter_kind kind, double rate) const;
    [[nodiscard]] result<std::unique_ptr<contender>> make_cuckoo(filter_kind kind,
                                                                 std::unique_ptr<plain_store> store) const;
    [[nodiscard]] result<std::unique_ptr<contender>> make(filter_kind kind) const;

    const setting& of_;
    hasher hash_;  // of the rows that need one and have no index
    std::unique_ptr<rocks::guarded_db> given_;
    budget sizes_;
};

result<rocks::database> indexed_databases::open_plain(const std::string& path, bool writes, bool direct,
                                                      const filter_policy& policy) const {
    return rocks::database::open(path, {.options = rocksdb_options(of_.asked, direct, policy),
                                        .families = {},
                                        .create_if_missing = writes,
                                        .read_only = !writes});
}

result<void> indexed_databases::take_keys(rocksdb::DB& from) {
    const std::unique_ptr<rocksdb::Iterator> at{from.NewIterator(read_once())};
    for (at->SeekToFirst(); at->Valid(); at->Next()) {
        if (!of_.work.keys.add({at->key().data(), at->key().size()}))
            return error::make(error_code::invalid_argument, "the store has too many keys for this command");
    }
    if (!at->status().ok()) return rocks::to_error(at->status(), "read the store");
    return {};
}

// A store of genista must be of this layout; any other RocksDB database is allowed.
result<void> indexed_databases::check_given(rocks::database& given) const {
    rocksdb::ColumnFamilyHandle* const family = given.family(rocks::meta_family_name);
    if (family == nullptr) return {};
    const auto meta = rocks::read_meta(given.base(), *family, of_.path());
    if (!meta) return meta.error();
    return meta->has_value() ? rocks::check_layout(**meta, rocks::layout::indexed, of_.path()) : result<void>{};
}

result<void> indexed_databases::open() {
    if (of_.asked.store_path.empty()) return {};
    if (of_.only_reads()) {
        auto given = open_plain(of_.path(), false, false);
        if (!given) return given.error();
        if (const auto fits = check_given(*given); !fits) return fits;
        return take_keys(given->base());
    }
    rocks::guarded_db_options options;
    options.rocksdb = rocksdb_options(of_.asked, false);
    auto opened = rocks::guarded_db::open(of_.path(), std::move(options));
    if (!opened) return opened.error();
    given_ = std::move(*opened);
    return take_keys(*given_);
}

result<void> indexed_databases::fill() {
    if (const auto some = check_not_empty(of_); !some) return some;
    if (given_ != nullptr) {
        if (const auto added = add_missing(); !added) return added;
    }
    return make_database(plain_path(), {});
}

// Through the guard, like any program. Known keys are written once more with the same values.
result<void> indexed_databases::add_missing() {
    constexpr std::size_t keys_a_batch = 500;
    rocksdb::DB& db = *given_;
    rocksdb::WriteBatch batch;
    std::string unused;
    for (std::size_t i = 0; i < of_.work.stored; ++i) {
        const auto number = static_cast<key_number>(i);
        const rocksdb::Slice key{of_.work.keys[number].data(), of_.work.keys[number].size()};
        if (!db.Get({}, key, &unused).ok()) batch.Put(key, value_of(number, of_.asked.value_bytes));
        if (batch.Count() < keys_a_batch && i + 1 < of_.work.stored) continue;
        if (const auto put = db.Write({}, &batch); !put.ok()) return rocks::to_error(put, "add keys to the store");
        batch.Clear();
        of_.tell(static_cast<double>(i) / keys(), "adding keys");
    }
    const auto closed = given_->Close();
    given_.reset();
    if (!closed.ok()) return rocks::to_error(closed, "close the store");
    return {};
}

result<void> indexed_databases::make_database(const std::string& path, const filter_policy& policy) const {
    auto made = open_plain(path, true, false, policy);
    if (!made) return made.error();
    sorted_files files{rocksdb_options(of_.asked, false, policy), path + loading_folder};
    const auto copied = of_.asked.store_path.empty() ? copy_keys(files) : copy_store(files);
    if (!copied) return copied;
    return files.move_into(made->base(), *made->base().DefaultColumnFamily());
}

result<void> indexed_databases::copy_store(sorted_files& into) const {
    const auto given = open_plain(of_.path(), false, false);
    if (!given) return given.error();
    return copy_records(of_, given->base(), *given->base().DefaultColumnFamily(), into, "copying the store");
}

result<void> indexed_databases::copy_keys(sorted_files& into) const {
    std::vector<key_number> order(of_.work.stored);
    std::iota(order.begin(), order.end(), key_number{0});
    std::sort(order.begin(), order.end(),
              [&](key_number a, key_number b) { return of_.work.keys[a] < of_.work.keys[b]; });
    for (std::size_t i = 0; i < order.size(); ++i) {
        const std::string_view key = of_.work.keys[order[i]];
        const auto added = into.add({key.data(), key.size()}, value_of(order[i], of_.asked.value_bytes));
        if (!added) return added;
        if (i % 4096 == 0) of_.tell(static_cast<double>(i) / keys(), "loading keys");
    }
    return {};
}

// Tables are linked, because they never change; the few other files are copied.
result<void> link_database(const std::string& from, const std::string& to) {
    std::error_code failure;
    std::filesystem::create_directory(to, failure);
    for (const auto& each : std::filesystem::directory_iterator{from, failure}) {
        const auto target = std::filesystem::path{to} / each.path().filename();
        if (each.path().extension() == ".sst")
            std::filesystem::create_hard_link(each.path(), target, failure);
        else if (each.is_regular_file())
            std::filesystem::copy_file(each.path(), target, failure);
        if (failure) break;
    }
    if (!failure) return {};
    return error::make(error_code::io, "'%.100s' cannot be linked to '%.60s': %.60s", from.c_str(), to.c_str(),
                       failure.message().c_str());
}

result<std::unique_ptr<rocks::guarded_db>> indexed_databases::open_guarded(filter_kind kind, double rate) const {
    const std::string path = of_.room / std::string{to_string(kind)};
    if (!std::filesystem::exists(path)) {
        if (const auto linked = link_database(plain_path(), path); !linked) return linked.error();
    }
    rocks::guarded_db_options options;
    options.rocksdb = rocksdb_options(of_.asked, of_.direct_reads);
    options.rocksdb.statistics = std::make_shared<read_watch>();
    options.filter.capacity = of_.work.stored;
    options.filter.false_positive_rate = rate;
    if (of_.asked.store_path.empty()) options.filter.random = repeatable(of_.asked.seed);
    options.guard.adapt = kind == filter_kind::broom_static ? adapting::off : adapting::on_read;
    options.snapshotter = {.every = std::chrono::milliseconds{0}, .on_close = false};
    options.key = of_.key();
    options.progress = [this](rocks::opening_stage stage, std::uint64_t done, std::uint64_t all) {
        of_.tell(static_cast<double>(done) / static_cast<double>(std::max<std::uint64_t>(all, 1)),
                 stage == rocks::opening_stage::indexing ? "building the index" : "building the filter");
    };
    auto opened = rocks::guarded_db::open(path, std::move(options));
    if (!opened) return opened;
    const auto flushed = (*opened)->base().Flush({}, &(*opened)->records().family());
    if (!flushed.ok()) return rocks::to_error(flushed, "flush the index");
    return opened;
}

result<std::unique_ptr<contender>> indexed_databases::make_cuckoo(filter_kind kind,
                                                                  std::unique_ptr<plain_store> store) const {
    rocksdb::Options options = rocksdb_options(of_.asked, of_.direct_reads);
    options.table_factory = store->db().GetOptions().table_factory;
    sorted_keys all{of_.work.keys, of_.work.stored, hash_};
    return with_cuckoo_filter(kind, [&]<class Filter>(std::type_identity<Filter>) {
        return make_cuckoo_row<Filter>(kind, of_, sizes_, std::move(store), all, options);
    });
}

result<std::unique_ptr<contender>> indexed_databases::make(filter_kind kind) const {
    if (kind == filter_kind::broom || kind == filter_kind::broom_static) {
        auto db = open_guarded(kind, sizes_.broom_rate);
        if (!db) return db.error();
        return std::unique_ptr<contender>{std::make_unique<guarded_db_row>(kind, std::move(*db))};
    }
    sized_policy sized;
    std::string path = plain_path();
    if (is_rocksdbs_own(kind)) {
        auto found = policy_of_size(kind, sizes_.bits_per_key, of_.work.stored);
        if (!found) return found.error();
        sized = std::move(*found);
        path = of_.room / std::string{to_string(kind)};
        if (const auto made = make_database(path, sized.policy); !made) return made.error();
    }
    auto opened = open_plain(path, false, of_.direct_reads, sized.policy);
    if (!opened) return opened.error();
    plain_store store{std::move(*opened), hash_};
    if (is_of_cuckoo_family(kind)) return make_cuckoo(kind, std::make_unique<plain_store>(std::move(store)));
    if (kind == filter_kind::daisy_bloom) {
        sorted_keys all{of_.work.keys, of_.work.stored, hash_};
        return make_daisy_bloom_row(of_, sizes_, std::make_unique<plain_store>(std::move(store)), all);
    }
    if (kind == filter_kind::bloom) {
        auto filter = make_bloom(of_, sizes_, indexed_bloom_row::overhead_bytes(), hash_);
        if (!filter) return filter.error();
        for (key_number i = 0; i < of_.work.stored; ++i) (void)filter->insert(hash_(of_.work.keys[i]));
        return std::unique_ptr<contender>{std::make_unique<indexed_bloom_row>(
            kind, std::move(*filter), std::make_unique<plain_store>(std::move(store)), guard_options{})};
    }
    const auto bytes = filter_bytes(store.db(), *store.db().DefaultColumnFamily());
    if (!bytes) return bytes.error();
    return std::unique_ptr<contender>{std::make_unique<plain_row<plain_store>>(kind, std::move(store), *bytes)};
}

result<contenders> indexed_databases::field() {
    constexpr std::uint64_t beside =
        sizeof(rocks::rocks_guard_core) - sizeof(broom_filter) + rocks::rocks_guard_core::side_bytes();
    const auto sizes = choose_budget(of_, beside, [this](double rate) -> result<std::uint64_t> {
        const auto db = open_guarded(filter_kind::broom, rate);
        if (!db) return db.error();
        return (*db)->counters().local_bytes;
    });
    if (!sizes) return sizes.error();
    sizes_ = *sizes;
    return make_field(of_, [this](filter_kind kind) { return make(kind); });
}

}  // namespace

std::unique_ptr<databases> make_indexed_databases(const setting& of) {
    return std::make_unique<indexed_databases>(of);
}

}  // namespace genista::tool::compare
