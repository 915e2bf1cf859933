// Reads: ask the filter, read the store, adapt the filter. One key or many. See guarded_db.hpp.
#include <chrono>
#include <utility>

#include "genista/detail/base/fail_point.hpp"
#include "genista/stores/rocksdb/guarded_db.hpp"

namespace genista::rocks {
namespace {

using clock = std::chrono::steady_clock;

std::uint64_t since(clock::time_point begin) noexcept {
    return static_cast<std::uint64_t>(std::chrono::nanoseconds{clock::now() - begin}.count());
}

// The filter holds the latest state of the whole store. It cannot answer reads of another moment,
// or of a part of the store.
bool is_of_the_present(const rocksdb::ReadOptions& options) noexcept {
    return options.snapshot == nullptr && options.timestamp == nullptr && options.iter_start_ts == nullptr &&
           !options.ignore_range_deletions &&
           (options.read_tier == rocksdb::kReadAllTier || options.read_tier == rocksdb::kBlockCacheTier);
}

// Adapting reads the store, so a caller that must not wait for the disk does not adapt.
bool may_learn(const rocksdb::ReadOptions& options) noexcept {
    return options.read_tier == rocksdb::kReadAllTier;
}

void clear(rocksdb::PinnableSlice& value) noexcept {
    value.Reset();
}
void clear(std::string& value) noexcept {
    value.clear();
}

// Bytes that are not pinned go into the string that the caller may have given with its slice.
void hand_over(rocksdb::PinnableSlice&& from, rocksdb::PinnableSlice& to) {
    if (from.IsPinned()) {
        to = std::move(from);
    } else {
        to.Reset();
        to.PinSelf(from);
    }
}
void hand_over(std::string&& from, std::string& to) noexcept {
    to = std::move(from);
}

}  // namespace

bool guarded_db::may_contain(const Slice& key) const noexcept {
    return core_->may_contain({core_->hash(), to_key(key)});
}

void guarded_db::learn(const rocksdb::ReadOptions& options, const hashed_key& key) {
    fail_point("read.missed");
    const read_limits limits{.deadline = options.deadline, .io_timeout = options.io_timeout};
    if (!limits.any()) return core_->on_false_positive(key);
    hurried_records within{records_, limits};
    core_->on_false_positive(key, within);
}

template <class Read>
rocksdb::Status guarded_db::ask(const rocksdb::ReadOptions& options, const Slice& key, Read&& read) {
    live_guard_counters& counts = core_->live_counters();
    const bool timed = live_guard_counters::is_timed();
    const auto begin = timed ? clock::now() : clock::time_point{};
    counts.count(live_guard_counters::query);
    const hashed_key hashed{core_->hash(), to_key(key)};
    Status answer;
    if (!core_->may_contain(hashed)) {
        counts.count(live_guard_counters::local_negative);
        answer = Status::NotFound();
    } else {
        const auto read_begin = clock::now();
        answer = read();
        counts.read_times.record(since(read_begin));
        counts.count(live_guard_counters::read);
        if (answer.IsNotFound()) {
            if (may_learn(options)) learn(options, hashed);
        } else if (!answer.ok() && !answer.IsIncomplete()) {
            counts.count(live_guard_counters::failed_read);
        }
    }
    if (timed) counts.query_times.record(since(begin));
    return answer;
}

rocksdb::Status guarded_db::Get(const rocksdb::ReadOptions& options, Family* family, const Slice& key,
                                rocksdb::PinnableSlice* value) {
    if (!is_guarded(family) || !is_of_the_present(options)) return db_->Get(options, family, key, value);
    value->Reset();
    return ask(options, key, [&] { return db_->Get(options, family, key, value); });
}

rocksdb::Status guarded_db::Get(const rocksdb::ReadOptions& options, Family* family, const Slice& key,
                                rocksdb::PinnableSlice* value, std::string* timestamp) {
    if (!is_guarded(family) || !is_of_the_present(options)) return db_->Get(options, family, key, value, timestamp);
    value->Reset();
    return ask(options, key, [&] { return db_->Get(options, family, key, value, timestamp); });
}

rocksdb::Status guarded_db::GetEntity(const rocksdb::ReadOptions& options, Family* family, const Slice& key,
                                      rocksdb::PinnableWideColumns* columns) {
    if (!is_guarded(family) || !is_of_the_present(options) || columns == nullptr)
        return db_->GetEntity(options, family, key, columns);
    columns->Reset();
    return ask(options, key, [&] { return db_->GetEntity(options, family, key, columns); });
}

rocksdb::Status guarded_db::GetMergeOperands(const rocksdb::ReadOptions& options, Family* family, const Slice& key,
                                             rocksdb::PinnableSlice* operands, rocksdb::GetMergeOperandsOptions* how,
                                             int* number_of_operands) {
    const auto read = [&] { return db_->GetMergeOperands(options, family, key, operands, how, number_of_operands); };
    if (!is_guarded(family) || !is_of_the_present(options) || number_of_operands == nullptr) return read();
    *number_of_operands = 0;
    return ask(options, key, read);
}

bool guarded_db::is_denied(const rocksdb::ReadOptions& options, const Family* family, const Slice& key) {
    return is_guarded(family) && is_of_the_present(options) && !may_contain(key);
}

bool guarded_db::KeyMayExist(const rocksdb::ReadOptions& options, Family* family, const Slice& key, std::string* value,
                             bool* value_found) {
    if (!is_denied(options, family, key)) return db_->KeyMayExist(options, family, key, value, value_found);
    if (value_found != nullptr) *value_found = false;
    return false;
}

bool guarded_db::KeyMayExist(const rocksdb::ReadOptions& options, Family* family, const Slice& key, std::string* value,
                             std::string* timestamp, bool* value_found) {
    if (!is_denied(options, family, key)) return db_->KeyMayExist(options, family, key, value, timestamp, value_found);
    if (value_found != nullptr) *value_found = false;
    return false;
}

// The filter's answers for many keys.
struct guarded_db::sieve {
    struct question {
        std::size_t index;
        hashed_key key;       // of the caller's bytes
        std::uint32_t clock;  // of the key's range, read before the filter was asked
        bool denied;
    };
    std::vector<question> asked;  // the keys of guarded families
    std::size_t denied = 0;

    // No put of a denied key has begun since the denial, so the key was absent all the time.
    [[nodiscard]] bool holds(const put_clock& clock) const noexcept {
        for (const question& each : asked) {
            if (each.denied && clock.of(each.key.where()) != each.clock) return false;
        }
        return true;
    }
};

// `read(families, keys, values, timestamps, statuses)` reads a subset, given as vectors, or all
// keys, given as the caller's arrays. MultiGet shows one moment of the database. The filter's
// denials belong to that moment if they stay valid during the reading.
template <class Value, class Read>
void guarded_db::ask_many(const rocksdb::ReadOptions& options, std::size_t count, Family* const* families,
                          Family* family, const Slice* keys, Value* values, std::string* timestamps, Status* statuses,
                          const Read& read) {
    live_guard_counters& counts = core_->live_counters();
    sieve by_filter;
    std::vector<bool> is_denied(count);
    for (std::size_t i = 0; is_of_the_present(options) && i < count; ++i) {
        if (!is_guarded(families == nullptr ? family : families[i])) continue;
        counts.count(live_guard_counters::query);
        const hashed_key hashed{core_->hash(), to_key(keys[i])};
        const std::uint32_t clock = clock_.of(hashed.where());
        is_denied[i] = !core_->may_contain(hashed);
        by_filter.denied += is_denied[i] ? 1u : 0u;
        by_filter.asked.push_back({.index = i, .key = hashed, .clock = clock, .denied = is_denied[i]});
    }

    fail_point("read.sieved");

    const auto begin = clock::now();
    bool read_all = by_filter.denied == 0;
    if (!read_all && by_filter.denied < count) {
        const std::size_t rest = count - by_filter.denied;
        std::vector<Family*> some_families;
        std::vector<Slice> some_keys;
        std::vector<Value> some_values(rest);
        std::vector<std::string> some_timestamps(timestamps != nullptr ? rest : 0);
        std::vector<Status> some_statuses(rest);
        for (std::size_t i = 0; i < count; ++i) {
            if (is_denied[i]) continue;
            some_families.push_back(families == nullptr ? family : families[i]);
            some_keys.push_back(keys[i]);
        }
        read(rest, some_families.data(), some_keys.data(), some_values.data(),
             timestamps != nullptr ? some_timestamps.data() : nullptr, some_statuses.data());
        for (std::size_t i = 0, next = 0; i < count; ++i) {
            if (is_denied[i]) continue;
            hand_over(std::move(some_values[next]), values[i]);
            if (timestamps != nullptr) timestamps[i] = std::move(some_timestamps[next]);
            statuses[i] = std::move(some_statuses[next++]);
        }
    }
    // A put in the range of a denied key has begun meanwhile, and it may be a put of that key. Then
    // only a read of all keys from the store shows one moment.
    if (!read_all && !by_filter.holds(clock_)) read_all = true;
    if (read_all && count > 0) {
        std::vector<Family*> all_families(count, family);
        if (families != nullptr) all_families.assign(families, families + count);
        read(count, all_families.data(), keys, values, timestamps, statuses);
    }

    bool was_read = false;
    for (const sieve::question& each : by_filter.asked) {
        Status& status = statuses[each.index];
        if (each.denied && !read_all) {
            counts.count(live_guard_counters::local_negative);
            clear(values[each.index]);
            if (timestamps != nullptr) timestamps[each.index].clear();
            status = Status::NotFound();
            continue;
        }
        was_read = true;
        counts.count(live_guard_counters::read);
        if (status.IsNotFound()) {
            if (may_learn(options)) learn(options, each.key);
        } else if (!status.ok() && !status.IsIncomplete()) {
            counts.count(live_guard_counters::failed_read);
        }
    }
    if (was_read) counts.read_times.record(since(begin));
}

void guarded_db::MultiGet(const rocksdb::ReadOptions& options, Family* family, std::size_t count, const Slice* keys,
                          rocksdb::PinnableSlice* values, Status* statuses, bool sorted) {
    ask_many(options, count, nullptr, family, keys, values, nullptr, statuses,
             [&](std::size_t rest, Family**, const Slice* some_keys, rocksdb::PinnableSlice* some_values, std::string*,
                 Status* some_statuses) {
                 db_->MultiGet(options, family, rest, some_keys, some_values, some_statuses, sorted);
             });
}

void guarded_db::MultiGet(const rocksdb::ReadOptions& options, Family* family, std::size_t count, const Slice* keys,
                          rocksdb::PinnableSlice* values, std::string* timestamps, Status* statuses, bool sorted) {
    ask_many(options, count, nullptr, family, keys, values, timestamps, statuses,
             [&](std::size_t rest, Family**, const Slice* some_keys, rocksdb::PinnableSlice* some_values,
                 std::string* some_timestamps, Status* some_statuses) {
                 db_->MultiGet(options, family, rest, some_keys, some_values, some_timestamps, some_statuses, sorted);
             });
}

void guarded_db::MultiGet(const rocksdb::ReadOptions& options, std::size_t count, Family** families, const Slice* keys,
                          rocksdb::PinnableSlice* values, Status* statuses, bool sorted) {
    ask_many(options, count, families, nullptr, keys, values, nullptr, statuses,
             [&](std::size_t rest, Family** some_families, const Slice* some_keys, rocksdb::PinnableSlice* some_values,
                 std::string*, Status* some_statuses) {
                 db_->MultiGet(options, rest, some_families, some_keys, some_values, some_statuses, sorted);
             });
}

void guarded_db::MultiGet(const rocksdb::ReadOptions& options, std::size_t count, Family** families, const Slice* keys,
                          rocksdb::PinnableSlice* values, std::string* timestamps, Status* statuses, bool sorted) {
    ask_many(options, count, families, nullptr, keys, values, timestamps, statuses,
             [&](std::size_t rest, Family** some_families, const Slice* some_keys, rocksdb::PinnableSlice* some_values,
                 std::string* some_timestamps, Status* some_statuses) {
                 db_->MultiGet(options, rest, some_families, some_keys, some_values, some_timestamps, some_statuses,
                               sorted);
             });
}

std::vector<rocksdb::Status> guarded_db::MultiGet(const rocksdb::ReadOptions& options,
                                                  const std::vector<Family*>& families, const std::vector<Slice>& keys,
                                                  std::vector<std::string>* values) {
    return MultiGet(options, families, keys, values, nullptr);
}

std::vector<rocksdb::Status> guarded_db::MultiGet(const rocksdb::ReadOptions& options,
                                                  const std::vector<Family*>& families, const std::vector<Slice>& keys,
                                                  std::vector<std::string>* values,
                                                  std::vector<std::string>* timestamps) {
    std::vector<Status> statuses(keys.size());
    values->resize(keys.size());
    if (timestamps != nullptr) timestamps->resize(keys.size());
    ask_many(options, keys.size(), families.data(), nullptr, keys.data(), values->data(),
             timestamps != nullptr ? timestamps->data() : nullptr, statuses.data(),
             [&](std::size_t rest, Family** some_families, const Slice* some_keys, std::string* some_values,
                 std::string* some_timestamps, Status* some_statuses) {
                 std::vector<std::string> texts, stamps;
                 auto got = timestamps == nullptr ? db_->MultiGet(options, {some_families, some_families + rest},
                                                                  {some_keys, some_keys + rest}, &texts)
                                                  : db_->MultiGet(options, {some_families, some_families + rest},
                                                                  {some_keys, some_keys + rest}, &texts, &stamps);
                 std::ranges::move(texts, some_values);
                 if (some_timestamps != nullptr) std::ranges::move(stamps, some_timestamps);
                 std::ranges::move(got, some_statuses);
             });
    return statuses;
}

}  // namespace genista::rocks
