// guarded: a store behind a filter. Absent keys cost no read, and the read that exposes a false
// positive repairs it.
// Most people want clustered_db (stores/rocksdb) and meet this class inside it.
//
//     genista::guarded users{std::move(filter), store};
//     users.put("ada", "1815");
//     users.get("ada");          // the store is read
//     users.get("bob");          // absent: answered from RAM; if not, the filter learns from the
//                                // wasted read
//
// A key put twice is one key. An error is the store's; failures of the filter never reach the
// caller: they cost reads and show in counters() (guard_core.hpp,
// range_states.hpp). Threads: any number.
#pragma once

#include <chrono>
#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "genista/base/result.hpp"
#include "genista/detail/base/fail_point.hpp"
#include "genista/detail/guard/guard_core.hpp"
#include "genista/hash/hasher.hpp"
#include "genista/remote/remote.hpp"

namespace genista {

// What a guard asks of the slow dictionary behind it.
//
// A store keeps values under keys and, in the same commit, the record of each key in R
// (remote/remote.hpp), which teaches the filter. It has the hash that orders R, because that order
// is on disk and must not change.
//   write    value and record of R in one atomic step; idempotent. On an error it may or may not
//            have happened.
//   remove   the same the other way; of an absent key it is no error.
//   read     false: there is no such key; `value` is then unspecified.
// Any number of threads at once. What is committed when a call returns is seen by every call that
// begins afterwards.
//
//   memory_store.hpp                      in RAM: tests and examples
//   stores/rocksdb, clustered_store.hpp   RocksDB
template <class S>
concept guarded_store = requires(S& store, const S& constant, const digest& where, key_view key, std::string_view value,
                                 std::string& out) {
    { store.read(where, key, out) } -> std::same_as<result<bool>>;
    { store.write(where, key, value) } -> std::same_as<result<void>>;
    { store.remove(where, key) } -> std::same_as<result<void>>;
    { constant.hash() } -> std::same_as<const hasher&>;
    requires remote_map<std::remove_reference_t<decltype(store.remote())>>;
};

template <guarded_store Store>
using remote_of = std::remove_reference_t<decltype(std::declval<Store&>().remote())>;

template <class Filter, guarded_store Store>
class guarded {
  public:
    using core_type = guard_core<Filter, remote_of<Store>>;

    // REQUIRES: the filter has the store's hash and holds the store's keys: it is new and the store
    // is empty, or it was built from the store's R. The store outlives the guard.
    guarded(Filter filter, Store& store, const guard_options& options = {})
        : store_{&store}, core_{std::make_unique<core_type>(std::move(filter), store.remote(), options)} {}

    // The value, or nothing if there is no such key.
    [[nodiscard]] result<std::optional<std::string>> get(key_view key) {
        live_guard_counters& counts = core_->live_counters();
        const bool timed = live_guard_counters::is_timed();
        const auto begin = timed ? clock::now() : clock::time_point{};
        counts.count(live_guard_counters::query);
        auto answer = ask({core_->hash(), key});
        if (timed) counts.query_times.record(since(begin));
        return answer;
    }
    [[nodiscard]] result<std::optional<std::string>> get(integer_key key) { return get(key.view()); }

    result<void> put(key_view key, std::string_view value) {
        const hashed_key hashed{core_->hash(), key};
        typename core_type::entering in{*core_, hashed};
        fail_point("guard.entered");
        const auto written = store_->write(hashed.where(), key, value);
        fail_point("store.committed");
        in.on_committed(hashed);  // after an error too: it may have happened
        fail_point("guard.inserted");
        return written;
    }
    result<void> put(integer_key key, std::string_view value) { return put(key.view(), value); }

    // Of an absent key it is no error.
    result<void> erase(key_view key) {
        const hashed_key hashed{core_->hash(), key};
        if (!core_->may_contain(hashed)) return {};
        if (const auto gone = store_->remove(hashed.where(), key); !gone) return gone;
        fail_point("store.removed");
        core_->on_erased(hashed);
        fail_point("guard.forgotten");
        return {};
    }
    result<void> erase(integer_key key) { return erase(key.view()); }

    [[nodiscard]] bool may_contain(key_view key) const noexcept { return core_->may_contain({core_->hash(), key}); }
    [[nodiscard]] bool may_contain(integer_key key) const noexcept { return may_contain(key.view()); }

    // Retries what failed: brings in the keys of ranges that need repair.
    result<void> repair() noexcept { return core_->repair(); }

    [[nodiscard]] guard_counters counters() const noexcept { return core_->counters(); }
    // In the text format that Prometheus scrapes; `labels`, for example {{"store", "users"}}, go
    // with every sample. Several stores: one metrics_page, and add_metrics() of each.
    [[nodiscard]] result<std::string> metrics_text(const metric_labels& labels = {}) const {
        return genista::metrics_text(counters(), core_->live_counters(), labels);
    }
    [[nodiscard]] result<void> add_metrics(metrics_page& page, const metric_labels& labels) const {
        return genista::add_metrics(page, counters(), core_->live_counters(), labels);
    }
    [[nodiscard]] Filter& filter() noexcept { return core_->filter(); }
    [[nodiscard]] core_type& core() noexcept { return *core_; }

  private:
    using clock = std::chrono::steady_clock;
    static std::uint64_t since(clock::time_point begin) noexcept {
        return static_cast<std::uint64_t>(std::chrono::nanoseconds{clock::now() - begin}.count());
    }

    result<std::optional<std::string>> ask(const hashed_key& key) {
        live_guard_counters& counts = core_->live_counters();
        if (!core_->may_contain(key)) {
            counts.count(live_guard_counters::local_negative);
            return std::optional<std::string>{};
        }
        std::string value;
        const auto begin = clock::now();
        const auto found = store_->read(key.where(), key.view(), value);
        counts.read_times.record(since(begin));
        counts.count(live_guard_counters::read);
        if (!found) {
            counts.count(live_guard_counters::failed_read);
            return found.error();
        }
        if (*found) return std::optional{std::move(value)};
        core_->on_false_positive(key);
        return std::optional<std::string>{};
    }

    Store* store_;
    std::unique_ptr<core_type> core_;
};

}  // namespace genista
