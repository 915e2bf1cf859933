// The clustered layout: records in the order of their digests, in every row. See databases.hpp.
#include <algorithm>
#include <utility>

#include "compare/cuckoo_row.hpp"
#include "compare/daisy_row.hpp"
#include "compare/databases.hpp"
#include "compare/rocksdb_files.hpp"
#include "compare/rows.hpp"
#include "genista/detail/stores/rocksdb/clustered_store.hpp"
#include "genista/filters/broom.hpp"

namespace genista::tool::compare {
namespace {

using rocks::clustered_options;
using rocks::clustered_store;
using clustered_pointer = std::unique_ptr<clustered_store>;

// The digest is computed for each look-up, as a guard would.
struct hashed_reads {
    clustered_pointer store;
    [[nodiscard]] result<bool> read(key_view key, std::string& value) const {
        return store->read(store->hash()(key), key, value);
    }
};

using clustered_store_row = plain_row<hashed_reads>;
using clustered_bloom_row = guarded_row<bloom_filter, clustered_store>;
using clustered_broom_row = guarded_row<broom_filter, clustered_store>;

class clustered_databases final : public databases {
  public:
    explicit clustered_databases(const setting& of) : of_{of} {}

    [[nodiscard]] result<void> open() override;
    [[nodiscard]] result<void> fill() override;
    [[nodiscard]] result<contenders> field() override;
    [[nodiscard]] budget sizes() const override { return sizes_; }

  private:
    [[nodiscard]] double keys() const noexcept { return static_cast<double>(of_.work.stored); }
    [[nodiscard]] result<clustered_pointer> open_at(const std::string& path, bool writes,
                                                    const filter_policy& policy = {});
    [[nodiscard]] result<void> fill_new();
    [[nodiscard]] result<void> add_missing();
    [[nodiscard]] result<broom_filter> build_broom(clustered_store& store, double rate);
    [[nodiscard]] result<bloom_filter> build_bloom(clustered_store& store);
    [[nodiscard]] result<std::unique_ptr<contender>> make(filter_kind kind);
    [[nodiscard]] result<std::unique_ptr<contender>> make_copy(filter_kind kind);
    [[nodiscard]] result<std::unique_ptr<contender>> make_cuckoo(filter_kind kind, clustered_pointer store);
    [[nodiscard]] result<void> copy_into(clustered_store& to, const filter_policy& policy);

    const setting& of_;
    clustered_pointer store_;  // while it is filled
    std::size_t there_ = 0;    // keys that were in the store before
    budget sizes_;
};

result<clustered_pointer> clustered_databases::open_at(const std::string& path, bool writes,
                                                       const filter_policy& policy) {
    clustered_options options;
    options.create_if_missing = writes;
    options.read_only = !writes;
    options.rocksdb = rocksdb_options(of_.asked, of_.direct_reads && !writes, policy);
    options.key = of_.key();
    return clustered_store::open(path, options);
}

result<void> clustered_databases::open() {
    auto opened = open_at(of_.path(), !of_.only_reads());
    if (!opened) return opened.error();
    store_ = std::move(*opened);
    if (store_->is_new()) return {};
    if (!of_.only_reads()) remove_loading(of_.path());
    bool room = true;
    const auto read = store_->remote().for_each(0, ~std::uint64_t{0}, [&](const digest&, key_view key) {
        room = of_.work.keys.add(key.text()).has_value();
        return room;
    });
    if (!read) return read.error();
    if (!room) return error::make(error_code::invalid_argument, "the store has too many keys for this command");
    there_ = of_.work.keys.size();
    return {};
}

result<void> clustered_databases::fill() {
    if (const auto some = check_not_empty(of_); !some) return some;
    if (!of_.only_reads()) {
        const auto filled = store_->is_new() ? fill_new() : add_missing();
        if (!filled) return filled;
        if (const auto flushed = store_->flush(); !flushed) return flushed;
    }
    const auto closed = store_->close();
    store_.reset();
    return closed;
}

// In the order of the digests, which is the order on disk.
result<void> clustered_databases::fill_new() {
    const digest_order order = in_digest_order(of_.work.keys, of_.work.stored, store_->hash());
    sorted_files files{rocksdb_options(of_.asked, false), of_.path() + loading_folder};
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto& [where, number] = order[i];
        const std::string value = value_of(number, of_.asked.value_bytes);
        const auto added = files.add(rocks::record_key{where, of_.work.keys[number]}.slice(), value);
        if (!added) return added;
        if (i % 4096 == 0) of_.tell(static_cast<double>(i) / keys(), "loading keys");
    }
    return files.move_into(store_->db(), store_->family());
}

// Through the log: a snapshot of a filter may be stored beside this database.
result<void> clustered_databases::add_missing() {
    for (std::size_t i = there_; i < of_.work.stored; ++i) {
        const auto number = static_cast<key_number>(i);
        const std::string_view key = of_.work.keys[number];
        const auto put = store_->write(store_->hash()(key), key, value_of(number, of_.asked.value_bytes));
        if (!put) return put;
        if (i % 4096 == 0) of_.tell(static_cast<double>(i) / keys(), "adding keys");
    }
    return {};
}

result<broom_filter> clustered_databases::build_broom(clustered_store& store, double rate) {
    broom_options options;
    options.capacity = of_.work.stored;
    options.false_positive_rate = rate;
    options.hash = store.hash();
    if (of_.asked.store_path.empty()) options.random = repeatable(of_.asked.seed);
    rocks::sequential_records records{store.db(), store.family()};
    return broom_filter::build(options, records);
}

result<bloom_filter> clustered_databases::build_bloom(clustered_store& store) {
    auto made = make_bloom(of_, sizes_, clustered_bloom_row::overhead_bytes(), store.hash());
    if (!made) return made;
    const auto read = store.remote().for_each(0, ~std::uint64_t{0}, [&](const digest& d, key_view) {
        (void)made->insert(d);
        return true;
    });
    if (!read) return read.error();
    return made;
}

result<void> clustered_databases::copy_into(clustered_store& to, const filter_policy& policy) {
    const auto from = open_at(of_.path(), false);
    if (!from) return from.error();
    sorted_files files{rocksdb_options(of_.asked, false, policy), to.db().GetName() + loading_folder};
    const auto copied = copy_records(of_, (*from)->db(), (*from)->family(), files, "copying for RocksDB's filter");
    if (!copied) return copied;
    return files.move_into(to.db(), to.family());
}

result<std::unique_ptr<contender>> clustered_databases::make_copy(filter_kind kind) {
    const auto sized = policy_of_size(kind, sizes_.bits_per_key, of_.work.stored);
    if (!sized) return sized.error();
    const std::string path = of_.room / std::string{to_string(kind)};
    {
        const auto original = open_at(of_.path(), false);
        if (!original) return original.error();
        clustered_options options;
        options.rocksdb = rocksdb_options(of_.asked, false, sized->policy);
        options.key = (*original)->hash().key();
        const auto copy = clustered_store::open(path, options);
        if (!copy) return copy.error();
        if (const auto copied = copy_into(**copy, sized->policy); !copied) return copied.error();
        if (const auto closed = (*copy)->close(); !closed) return closed.error();
    }
    auto store = open_at(path, false, sized->policy);
    if (!store) return store.error();
    const auto bytes = filter_bytes((*store)->db(), (*store)->family());
    if (!bytes) return bytes.error();
    return std::unique_ptr<contender>{
        std::make_unique<clustered_store_row>(kind, hashed_reads{std::move(*store)}, *bytes)};
}

result<std::unique_ptr<contender>> clustered_databases::make_cuckoo(filter_kind kind, clustered_pointer store) {
    rocksdb::Options options = rocksdb_options(of_.asked, of_.direct_reads);
    options.table_factory = store->db().GetOptions(&store->family()).table_factory;
    rocks::sequential_records records{store->db(), store->family()};
    return with_cuckoo_filter(kind, [&]<class Filter>(std::type_identity<Filter>) {
        return make_cuckoo_row<Filter>(kind, of_, sizes_, std::move(store), records, options);
    });
}

result<std::unique_ptr<contender>> clustered_databases::make(filter_kind kind) {
    if (is_rocksdbs_own(kind)) return make_copy(kind);
    auto store = open_at(of_.path(), false);
    if (!store) return store.error();
    if (kind == filter_kind::none)
        return std::unique_ptr<contender>{
            std::make_unique<clustered_store_row>(kind, hashed_reads{std::move(*store)}, 0)};
    if (kind == filter_kind::bloom) {
        auto filter = build_bloom(**store);
        if (!filter) return filter.error();
        return std::unique_ptr<contender>{
            std::make_unique<clustered_bloom_row>(kind, std::move(*filter), std::move(*store), guard_options{})};
    }
    if (is_of_cuckoo_family(kind)) return make_cuckoo(kind, *std::move(store));
    if (has_oracle(kind)) {
        rocks::sequential_records records{(*store)->db(), (*store)->family()};
        return kind == filter_kind::daisy_broom ? make_daisy_broom_row(of_, sizes_, *std::move(store), records)
                                                : make_daisy_bloom_row(of_, sizes_, *std::move(store), records);
    }
    auto filter = build_broom(**store, sizes_.broom_rate);
    if (!filter) return filter.error();
    guard_options options;
    options.adapt = kind == filter_kind::broom ? adapting::on_read : adapting::off;
    return std::unique_ptr<contender>{
        std::make_unique<clustered_broom_row>(kind, std::move(*filter), std::move(*store), options)};
}

result<contenders> clustered_databases::field() {
    const auto bytes_at = [this](double rate) -> result<std::uint64_t> {
        const auto store = open_at(of_.path(), false);
        if (!store) return store.error();
        const auto filter = build_broom(**store, rate);
        if (!filter) return filter.error();
        return filter->stats().local_bytes + clustered_broom_row::overhead_bytes();
    };
    const auto sizes = choose_budget(of_, clustered_broom_row::overhead_bytes(), bytes_at);
    if (!sizes) return sizes.error();
    sizes_ = *sizes;
    // The same memory for every row, and enough for a filter that grows under attack.
    const auto& filters = of_.asked.filters;
    const bool has_daisy_broom = std::count(filters.begin(), filters.end(), filter_kind::daisy_broom) != 0;
    if (has_daisy_broom && of_.asked.attack && !of_.asked.bits_per_key) {
        const auto least = least_daisy_broom_bits_per_key(of_, clustered_broom_row::overhead_bytes());
        if (!least) return least.error();
        sizes_.bits_per_key = std::max(sizes_.bits_per_key, *least);
        while (sizes_.broom_rate / 2 >= broom_filter::min_false_positive_rate) {
            const auto bytes = bytes_at(sizes_.broom_rate / 2);
            if (!bytes) return bytes.error();
            if (8.0 * static_cast<double>(*bytes) / keys() + bits_for_lessons(of_) > sizes_.bits_per_key) break;
            sizes_.broom_rate /= 2;
        }
    }
    return make_field(of_, [this](filter_kind kind) { return make(kind); });
}

}  // namespace

std::unique_ptr<databases> make_clustered_databases(const setting& of) {
    return std::make_unique<clustered_databases>(of);
}

}  // namespace genista::tool::compare
