// The options of `genista compare`: one field an option, with its default.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "genista/detail/stores/rocksdb/meta.hpp"

namespace genista::tool::compare {

enum class filter_kind : unsigned char {
    none,            // every query is a read
    rocksdb_bloom,   // RocksDB's own, made with its files
    rocksdb_ribbon,  // the same
    bloom,           // before the store
    cuckoo,          // an index in R, no learning: the control of the next five
    cuckooing,       // learns by moving keys
    cyclic1,         // learns by turning selectors of 1, 2, 3 bits
    cyclic2,
    cyclic3,
    swapping,      // learns by swapping keys within a bin
    broom,         // learns
    broom_static,  // broom with learning switched off: the control
    daisy_bloom,   // with an oracle; no learning
    daisy_broom,   // with an oracle, learns
};

struct filter_name {
    std::string_view name;
    filter_kind kind;
};
inline constexpr filter_name filter_names[] = {
    {"none", filter_kind::none},
    {"rocksdb_bloom", filter_kind::rocksdb_bloom},
    {"rocksdb_ribbon", filter_kind::rocksdb_ribbon},
    {"bloom", filter_kind::bloom},
    {"cuckoo", filter_kind::cuckoo},
    {"cuckooing", filter_kind::cuckooing},
    {"cyclic1", filter_kind::cyclic1},
    {"cyclic2", filter_kind::cyclic2},
    {"cyclic3", filter_kind::cyclic3},
    {"swapping", filter_kind::swapping},
    {"broom", filter_kind::broom},
    {"broom_static", filter_kind::broom_static},
    {"daisy_bloom", filter_kind::daisy_bloom},
    {"daisy_broom", filter_kind::daisy_broom},
};

[[nodiscard]] constexpr std::string_view to_string(filter_kind kind) noexcept {
    for (const filter_name& each : filter_names) {
        if (each.kind == kind) return each.name;
    }
    return "?";
}
[[nodiscard]] constexpr bool is_rocksdbs_own(filter_kind kind) noexcept {
    return kind == filter_kind::rocksdb_bloom || kind == filter_kind::rocksdb_ribbon;
}

// Those whose R needs an index in batches.
[[nodiscard]] constexpr bool is_of_cuckoo_family(filter_kind kind) noexcept {
    return kind >= filter_kind::cuckoo && kind <= filter_kind::swapping;
}
[[nodiscard]] constexpr bool has_oracle(filter_kind kind) noexcept {
    return kind == filter_kind::daisy_bloom || kind == filter_kind::daisy_broom;
}
[[nodiscard]] constexpr bool learns(filter_kind kind) noexcept {
    return kind == filter_kind::broom || kind == filter_kind::daisy_broom ||
           (is_of_cuckoo_family(kind) && kind != filter_kind::cuckoo);
}

inline constexpr double most_bits_per_key = 100;

struct request {
    std::string keys_path;     // empty: generated keys, or those of the store
    std::string queries_path;  // empty: generated queries
    std::string store_path;    // empty: a temporary database
    std::string oracle_path;   // the model of the daisy filters; empty: no such filter
    rocks::layout layout = rocks::layout::clustered;
    std::vector<filter_kind> filters{filter_kind::none, filter_kind::rocksdb_bloom, filter_kind::rocksdb_ribbon,
                                     filter_kind::bloom, filter_kind::broom};
    double error_rate = 1.0 / 256;
    std::optional<double> bits_per_key = std::nullopt;  // instead of error_rate
    std::uint64_t cache_mb = 16;
    std::uint64_t value_bytes = 400;
    bool attack = false;
    std::uint64_t pool = 20'000;                            // false positives that the adversary collects, ...
    std::uint64_t most_questions = std::uint64_t{1} << 27;  // ... with at most so many queries
    std::uint64_t threads = 1;
    std::uint64_t own_keys = 1'000'000;
    std::uint64_t own_queries = 100'000;  // of each phase
    std::uint64_t seed = 1;
    std::string json_path;
    std::string report_path;

    [[nodiscard]] bool makes_keys() const noexcept { return keys_path.empty() && store_path.empty(); }
};

}  // namespace genista::tool::compare
