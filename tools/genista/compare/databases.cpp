// What both layouts share. See databases.hpp.
#include "compare/databases.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "genista/detail/stores/rocksdb/status.hpp"
#include "genista/filters/broom.hpp"
#include "lab/workloads/random.hpp"
#include "machine.hpp"

namespace genista::tool::compare {

std::string value_of(key_number number, std::uint64_t bytes) {
    lab::random_stream chance{number};
    std::string value(bytes, '\0');
    for (std::size_t at = 0; at < value.size(); at += 8) {
        const std::uint64_t word = chance();
        std::memcpy(value.data() + at, &word, std::min<std::size_t>(8, value.size() - at));
    }
    return value;
}

namespace {

// Measured, by attacks on 2*10^4 to 10^6 keys (genista compare --attack --number-of-keys N): 24 to
// 26 bits for a false positive learnt, and at most 1.7 bits a key, because bins that learnt much
// are renewed.
constexpr double bits_a_lesson = 26, most_lessons_bits_per_key = 1.75;

bool has_broom(const request& asked) {
    return std::any_of(asked.filters.begin(), asked.filters.end(), [](filter_kind kind) {
        return kind == filter_kind::broom || kind == filter_kind::broom_static;
    });
}

}  // namespace

double bits_for_lessons(const setting& of) {
    if (!of.asked.attack) return 0;
    return std::min(most_lessons_bits_per_key,
                    bits_a_lesson * static_cast<double>(of.asked.pool) / static_cast<double>(of.work.stored));
}

result<budget> choose_budget(const setting& of, std::uint64_t guard_bytes, const measure_guard& measure) {
    const auto keys = static_cast<double>(of.work.stored);
    if (!of.asked.bits_per_key) {
        const auto bytes = measure(of.asked.error_rate);
        if (!bytes) return bytes.error();
        return budget{.bits_per_key = 8.0 * static_cast<double>(*bytes) / keys + bits_for_lessons(of),
                      .broom_rate = of.asked.error_rate};
    }
    // The smallest rate that fits, by trials: the size of a filter beside its slots depends on the
    // keys.
    const double bits = *of.asked.bits_per_key;
    const double beside = 8.0 * static_cast<double>(guard_bytes) + bits_for_lessons(of) * keys;
    const auto left = static_cast<std::uint64_t>(std::max(bits * keys - beside, 0.0));
    double rate = broom_filter::fpr_for(of.work.stored, left);
    double needed = beside / keys;
    for (; rate <= broom_filter::max_rate_served && has_broom(of.asked); rate *= 2) {
        const auto bytes = measure(rate);
        if (!bytes) return bytes.error();
        needed = 8.0 * static_cast<double>(*bytes) / keys + bits_for_lessons(of);
        if (needed <= bits) break;
    }
    if (rate <= broom_filter::max_rate_served || !has_broom(of.asked))
        return budget{.bits_per_key = bits, .broom_rate = std::min(rate, broom_filter::max_rate_served)};
    if (const auto least = broom_filter::bits_for(of.work.stored, broom_filter::max_rate_served); least) {
        needed = std::max(needed, (static_cast<double>(*least) + beside) / keys);
    }
    return error::make(error_code::invalid_argument,
                       "--bits-per-key %.2f is too little for a broom filter of %zu keys, which needs %.2f", bits,
                       of.work.stored, needed);
}

result<bloom_filter> make_bloom(const setting& of, const budget& sizes, std::uint64_t guard_bytes, const hasher& hash) {
    const double bytes = sizes.bits_per_key * static_cast<double>(of.work.stored) / 8;
    const auto beside = static_cast<double>(guard_bytes + sizeof(bloom_filter));
    // The filter gets at least a tenth: below a few thousand keys a guard is mostly ranges and
    // counters.
    const auto bits = static_cast<std::uint64_t>(8 * std::max(bytes - beside, bytes / 10));
    return bloom_filter::make(
        {.capacity = of.work.stored,
         .false_positive_rate = std::clamp(bloom_filter::fpr_for(of.work.stored, bits),
                                           bloom_filter::min_false_positive_rate, max_false_positive_rate),
         .hash = hash});
}

digest_order in_digest_order(const key_table& keys, std::size_t stored, const hasher& hash) {
    digest_order order;
    order.reserve(stored);
    for (key_number number = 0; number < stored; ++number) order.emplace_back(hash(keys[number]), number);
    std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : keys[a.second] < keys[b.second];
    });
    return order;
}

result<void> copy_records(const setting& of, rocksdb::DB& from, rocksdb::ColumnFamilyHandle& family, sorted_files& into,
                          std::string_view stage) {
    const std::unique_ptr<rocksdb::Iterator> at{from.NewIterator(read_once(), &family)};
    std::uint64_t copied = 0;
    for (at->SeekToFirst(); at->Valid(); at->Next()) {
        if (const auto added = into.add(at->key(), at->value()); !added) return added;
        if (copied++ % 4096 == 0) of.tell(static_cast<double>(copied) / static_cast<double>(of.work.stored), stage);
    }
    if (!at->status().ok()) return rocks::to_error(at->status(), "copy the store");
    return {};
}

result<void> check_not_empty(const setting& of) {
    if (of.work.stored != 0) return {};
    return error::make(error_code::invalid_argument, "the store '%.120s' is empty: there is nothing to guard",
                       of.path().c_str());
}

result<contenders> make_field(const setting& of,
                              const std::function<result<std::unique_ptr<contender>>(filter_kind)>& make) {
    contenders made;
    for (const filter_kind kind : of.asked.filters) {
        of.tell(static_cast<double>(made.size()) / static_cast<double>(of.asked.filters.size()),
                std::string{"building "}.append(to_string(kind)));
        auto one = make(kind);
        if (!one) return one.error();
        made.push_back(std::move(*one));
    }
    return made;
}

result<void> check_room(const setting& of, std::size_t copies) {
    constexpr std::uint64_t beside = 40;  // digest, lengths, RocksDB's numbers, a share of index and filter
    const key_table& keys = of.work.keys;
    const auto slots = static_cast<std::uint64_t>(
        std::count_if(of.asked.filters.begin(), of.asked.filters.end(), is_of_cuckoo_family));
    const std::uint64_t needed =
        (keys.key_bytes() + keys.size() * (of.asked.value_bytes + beside)) * static_cast<std::uint64_t>(copies) +
        (keys.key_bytes() + keys.size() * beside) * slots;
    const std::uint64_t there = free_bytes(of.room.path());
    if (there == 0 || needed <= there) return {};
    return error::make(error_code::invalid_argument,
                       "%zu copies of %zu keys with values of %" PRIu64 " bytes need about %" PRIu64
                       " MB; '%.60s' has %" PRIu64 " MB left",
                       copies, keys.size(), of.asked.value_bytes, needed >> 20, of.room.path().c_str(), there >> 20);
}

}  // namespace genista::tool::compare
