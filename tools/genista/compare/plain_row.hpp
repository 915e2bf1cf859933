// No filter of genista: the store's answer, with or without RocksDB's own filter in it.
#pragma once

#include <rocksdb/perf_context.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "compare/contender.hpp"

namespace genista::tool::compare {

// Store: read(key, value) -> result<bool>.
template <class Store>
class plain_row final : public contender {
  public:
    plain_row(filter_kind kind, Store store, std::uint64_t filter_bytes) noexcept
        : contender{kind}, store_{std::move(store)}, filter_bytes_{filter_bytes} {}

    [[nodiscard]] result<answer> ask(key_view key) override {
        thread_local std::string value;
        const std::uint64_t before = rocksdb::get_perf_context()->bloom_sst_hit_count;
        const auto found = store_.read(key, value);
        if (!found) return found.error();
        const bool passed = kind() == filter_kind::none || rocksdb::get_perf_context()->bloom_sst_hit_count != before;
        return answer{.found = *found, .let_through = passed};
    }
    [[nodiscard]] std::uint64_t local_bytes() const override { return filter_bytes_; }

  private:
    Store store_;
    std::uint64_t filter_bytes_;
};

}  // namespace genista::tool::compare
