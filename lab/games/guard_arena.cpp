// The two kinds of stores under attack. See guard_arena.hpp.
#include "lab/games/guard_arena.hpp"

#include <rocksdb/cache.h>
#include <rocksdb/table.h>

#include "genista/filters/bloom.hpp"
#include "lab/experiment.hpp"

namespace genista::lab {
namespace {

constexpr std::size_t value_bytes = 400;
constexpr std::size_t cache_bytes = 256 << 10;

const std::string& any_value() {
    static const std::string value(value_bytes, 'v');
    return value;
}

class broom_behind final : public attacked_store {
  public:
    explicit broom_behind(const attacked_store_options& options) : options_{options} { open(true); }

    bool holds(key_view key) override { return must(db_->get(key)).has_value(); }
    void put(key_view key) override { must(db_->put(key, any_value())); }
    void erase(key_view key) override { must(db_->erase(key)); }
    void flush() override { must(db_->store().flush()); }
    std::uint64_t point_reads() const override { return db_->core().live_counters().sum(live_guard_counters::read); }
    std::uint64_t range_reads() const override { return db_->core().filter().stats().remote_reads; }
    std::uint64_t bins() const override { return db_->core().filter().details().bins; }
    void grow() override { must(db_->core().filter().grow(db_->records())); }
    void save() override { must(db_->snapshotter().save()); }
    void restart() override {
        db_.reset();
        open(false);
    }

  private:
    void open(bool is_new) {
        rocks::clustered_db_options how;
        how.filter = {.capacity = options_.capacity,
                      .false_positive_rate = options_.rate,
                      .grows = options_.grows,
                      .random = is_new ? random_source{repeatable(options_.seed)} : random_source{}};
        how.guard.adapt = options_.adapt;
        how.snapshotter = {.every = std::chrono::milliseconds{0}, .on_close = false};
        for (const bool direct : {true, false}) {  // some file systems do not have direct reads
            how.store = slow_store_options(direct);
            how.store.key = hash_key::from_seed(options_.seed);
            auto opened = rocks::clustered_db::open(folder_.path(), how);
            if (!opened && direct) continue;
            db_ = must(std::move(opened));
            return;
        }
    }

    attacked_store_options options_;
    scratch_folder folder_;
    std::unique_ptr<rocks::clustered_db> db_;
};

class bloom_before final : public attacked_store {
  public:
    explicit bloom_before(const attacked_store_options& options) {
        auto how = slow_store_options(true);
        how.key = hash_key::from_seed(options.seed);
        auto opened = rocks::clustered_store::open(folder_.path(), how);
        if (!opened) {
            how = slow_store_options(false);
            how.key = hash_key::from_seed(options.seed);
            opened = rocks::clustered_store::open(folder_.path(), how);
        }
        store_ = must(std::move(opened));
        guard_ = std::make_unique<guarded<bloom_filter, rocks::clustered_store>>(
            must(bloom_filter::make(
                {.capacity = options.capacity, .false_positive_rate = options.rate, .hash = store_->hash()})),
            *store_);
    }

    bool holds(key_view key) override { return must(guard_->get(key)).has_value(); }
    void put(key_view key) override { must(guard_->put(key, any_value())); }
    void erase(key_view key) override { must(guard_->erase(key)); }
    void flush() override { must(store_->flush()); }
    std::uint64_t point_reads() const override { return guard_->core().live_counters().sum(live_guard_counters::read); }
    std::uint64_t range_reads() const override { return 0; }
    std::uint64_t bins() const override { return 0; }
    void grow() override { throw std::runtime_error{"a Bloom filter does not grow"}; }
    void save() override { throw std::runtime_error{"not played"}; }
    void restart() override { throw std::runtime_error{"not played"}; }

  private:
    scratch_folder folder_;
    std::unique_ptr<rocks::clustered_store> store_;
    std::unique_ptr<guarded<bloom_filter, rocks::clustered_store>> guard_;
};

}  // namespace

rocks::clustered_options slow_store_options(bool direct_reads) {
    rocks::clustered_options made;
    made.rocksdb.use_direct_reads = direct_reads;
    made.rocksdb.compression = rocksdb::kNoCompression;
    rocksdb::BlockBasedTableOptions table;
    table.block_size = 4096;
    table.block_cache = rocksdb::NewLRUCache(cache_bytes);
    made.rocksdb.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    return made;
}

std::unique_ptr<attacked_store> broom_store(const attacked_store_options& options) {
    return std::make_unique<broom_behind>(options);
}

std::unique_ptr<attacked_store> bloom_store(const attacked_store_options& options) {
    return std::make_unique<bloom_before>(options);
}

}  // namespace genista::lab
