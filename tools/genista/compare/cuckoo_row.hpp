// Rows of the cuckoo family: a filter of the run's size, built from the records, with its index in
// a database of its own in the scratch folder. The store itself is only read. Index and store share
// one block cache, so that no row has more than the others.
#pragma once

#include <rocksdb/options.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "compare/databases.hpp"
#include "compare/rows.hpp"
#include "genista/filters/cuckooing.hpp"
#include "papers/cuckoo_family.hpp"
#include "stores/rocksdb/index_records.hpp"
#include "support/guard/indexed_store.hpp"

namespace genista::tool::compare {

// The filter with the largest fingerprints that fits the budget together with its guard.
template <class Filter>
[[nodiscard]] result<Filter> make_cuckoo(const setting& of, const budget& sizes, std::uint64_t guard_bytes,
                                         const hasher& hash) {
    constexpr unsigned least_bits = 2, most_bits = 32;
    const auto keys = static_cast<double>(of.work.stored);
    std::optional<Filter> best;
    for (unsigned bits = least_bits; bits <= most_bits; ++bits) {
        cuckoo_options options;
        options.capacity = of.work.stored;
        options.fingerprint_bits = bits;
        options.hash = hash;
        if (of.asked.store_path.empty()) options.random = repeatable(of.asked.seed);
        auto made = Filter::make(options);
        if (!made) return made;
        const double needed = 8.0 * static_cast<double>(made->stats().local_bytes + guard_bytes) / keys;
        if (needed <= sizes.bits_per_key) {
            best.emplace(*std::move(made));
            continue;
        }
        if (best) break;
        return error::make(error_code::invalid_argument,
                           "%.2f bits a key are too little for a %s filter of %zu keys, which needs %.2f",
                           sizes.bits_per_key, Filter::name.data(), of.work.stored, needed);
    }
    return *std::move(best);
}

// `all` is R to build from, `options` how the index is opened. The store is moved at the end only:
// after an error `all`, which may read from it, is still valid.
template <class Filter, guarded_store Store, remote_map Records>
[[nodiscard]] result<std::unique_ptr<contender>> make_cuckoo_row(filter_kind kind, const setting& of,
                                                                 const budget& sizes, std::unique_ptr<Store>&& store,
                                                                 Records& all, const rocksdb::Options& options) {
    using row = guarded_row<Filter, indexed_store<Store, rocks::index_records>>;
    auto filter = make_cuckoo<Filter>(of, sizes, row::overhead_bytes(), store->hash());
    if (!filter) return filter.error();
    auto index = rocks::index_records::open(of.room / std::string{"index-"}.append(to_string(kind)), {options});
    if (!index) return index.error();
    with_index remote{all, **index};
    if (const auto built = filter->rebuild(remote); !built) return built.error();
    // In table files, as if there were more slots than memory: a look into the index in RAM would
    // be free.
    if (const auto flushed = (*index)->flush(); !flushed) return flushed.error();
    guard_options how;
    how.adapt = learns(kind) ? adapting::on_read : adapting::off;
    auto both = std::make_unique<indexed_store<Store, rocks::index_records>>(std::move(store), *std::move(index));
    return std::unique_ptr<contender>{std::make_unique<row>(kind, *std::move(filter), std::move(both), how)};
}

// call(std::type_identity<Filter>{}) with the filter that `kind` names; is_of_cuckoo_family(kind).
template <class Call>
[[nodiscard]] result<std::unique_ptr<contender>> with_cuckoo_filter(filter_kind kind, const Call& call) {
    switch (kind) {
        case filter_kind::cuckooing:
            return call(std::type_identity<cuckooing_filter>{});
        case filter_kind::cyclic1:
            return call(std::type_identity<cyclic_filter<1>>{});
        case filter_kind::cyclic2:
            return call(std::type_identity<cyclic_filter<2>>{});
        case filter_kind::cyclic3:
            return call(std::type_identity<cyclic_filter<3>>{});
        case filter_kind::swapping:
            return call(std::type_identity<swapping_filter>{});
        default:
            return call(std::type_identity<cuckoo_filter>{});
    }
}

}  // namespace genista::tool::compare
