// guarded: a store behind a filter. Absent keys cost no read, and the mistakes that remain are made once.
//
//     genista::guarded users{std::move(filter), store};
//     users.put("ada", "1815");
//     users.get("ada");          // the store is read
//     users.get("nobody");       // answered from RAM; if not, the filter learns from the wasted read
//
// Set semantics: a key put twice is one key. An error is the store's; the filter's own troubles never reach the caller, they
// cost reads and show in counters() (gate.hpp, doors.hpp). Threads: any number.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "genista/detail/base/fail_point.hpp"
#include "genista/detail/guard/gate.hpp"
#include "genista/guard/store.hpp"

namespace genista {

template <class Filter, guarded_store Store>
class guarded {
  public:
    using gate_type = gate<Filter, remote_of<Store>>;

    // The filter hashes as the store does and knows what the store holds: it is new and the store is empty, or it was built
    // from the store's R. The store outlives the guard.
    guarded(Filter filter, Store& store, const guard_options& options = {})
        : store_{&store}, gate_{std::make_unique<gate_type>(std::move(filter), store.remote(), options)} {}

    // The value, or nothing if there is no such key.
    [[nodiscard]] result<std::optional<std::string>> get(key_view key) {
        guard_tally& tally = gate_->tally();
        const bool timed = guard_tally::is_timed();
        const auto begin = timed ? clock::now() : clock::time_point{};
        tally.count(guard_tally::query);
        auto answer = ask(key);
        if (timed) tally.query_times.record(since(begin));
        return answer;
    }

    result<void> put(key_view key, std::string_view value) {
        const digest d = gate_->hash()(key);
        typename gate_type::entering in{*gate_, d};
        fail_point("guard.entered");
        const auto written = store_->write(d, key, value);
        fail_point("store.committed");
        in.settle(key);  // after an error too: it may have happened
        fail_point("guard.settled");
        return written;
    }

    // Of an absent key it is no error.
    result<void> erase(key_view key) {
        const digest d = gate_->hash()(key);
        if (!gate_->may_contain(key, d)) return {};
        if (const auto gone = store_->remove(d, key); !gone) return gone;
        fail_point("store.removed");
        gate_->forget(key);
        fail_point("guard.forgotten");
        return {};
    }

    [[nodiscard]] bool may_contain(key_view key) const noexcept { return gate_->may_contain(key, gate_->hash()(key)); }

    // Retries what failed: brings in the keys of jammed doors.
    result<void> repair() noexcept { return gate_->repair(); }

    [[nodiscard]] guard_counters counters() const noexcept { return gate_->counters(); }
    // In the text format that Prometheus scrapes; `labels`, for example {{"store", "users"}}, go with every sample.
    // Several stores: one metrics_page, and add_metrics() of each.
    [[nodiscard]] result<std::string> metrics_text(const metric_labels& labels = {}) const {
        return genista::metrics_text(counters(), gate_->tally(), labels);
    }
    [[nodiscard]] result<void> add_metrics(metrics_page& page, const metric_labels& labels) const {
        return genista::add_metrics(page, counters(), gate_->tally(), labels);
    }
    [[nodiscard]] Filter& filter() noexcept { return gate_->filter(); }
    [[nodiscard]] gate_type& inner_gate() noexcept { return *gate_; }

  private:
    using clock = std::chrono::steady_clock;
    static std::uint64_t since(clock::time_point begin) noexcept {
        return static_cast<std::uint64_t>(std::chrono::nanoseconds{clock::now() - begin}.count());
    }

    result<std::optional<std::string>> ask(key_view key) {
        guard_tally& tally = gate_->tally();
        const digest d = gate_->hash()(key);
        if (!gate_->may_contain(key, d)) {
            tally.count(guard_tally::local_negative);
            return std::optional<std::string>{};
        }
        std::string value;
        const auto begin = clock::now();
        const auto found = store_->read(d, key, value);
        tally.read_times.record(since(begin));
        tally.count(guard_tally::read);
        if (!found) {
            tally.count(guard_tally::failed_read);
            return found.error();
        }
        if (*found) return std::optional{std::move(value)};
        gate_->missed(d, key);
        return std::optional<std::string>{};
    }

    Store* store_;
    std::unique_ptr<gate_type> gate_;
};

}  // namespace genista
