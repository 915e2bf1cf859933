// repairs_beside: a thread beside the readers and writers of a store. It makes ranges need repair
// and repairs them, completes R, takes snapshots, and looks for writes past the guard.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "genista/detail/base/fail_point.hpp"
#include "tests/crash/either_store.hpp"
#include "tests/crash/ledger.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test {

// An answer that is no failure: keys wait for the filter, or writes went past the guard. The task
// is left for later.
[[nodiscard]] inline bool is_only_early(const error& why) {
    return why.code() == error_code::mismatch || why.message().find("keys wait") != std::string_view::npos ||
           why.message().find("R lacks keys") != std::string_view::npos;
}

// One task of an operator, or of the snapshotter's thread. Completing R is rare, because it makes
// all ranges "maybe" for a while.
[[nodiscard]] inline result<void> look_after(either_store& store, splitmix& chance, std::uint32_t keys) {
    const auto dice = chance.below(100);
    if (dice < 1) return store.reindex();
    if (dice < 15) return store.look();
    if (dice < 45) return store.save();
    for (int i = 0; i < 6; ++i) store.need_repair(ledger::name_of(static_cast<std::uint32_t>(chance.below(keys))));
    return store.repair();
}

class repairs_beside {
  public:
    repairs_beside(either_store& store, std::uint64_t seed, std::uint32_t keys)
        : store_{store}, chance_{seed}, keys_{keys}, thread_{[this] { run(); }} {
        at_fail_point.store(&throw_after_commit);  // for put_without_filter()
    }
    repairs_beside(const repairs_beside&) = delete;
    repairs_beside& operator=(const repairs_beside&) = delete;
    ~repairs_beside() {
        {
            const std::lock_guard held{mutex_};
            ends_ = true;
        }
        changed_.notify_all();
        thread_.join();
        at_fail_point.store(nullptr);
    }

    // Starts one task beside what the caller does next, after the task before has ended.
    void next() {
        rest();
        {
            const std::lock_guard held{mutex_};
            is_asked_ = true;
        }
        changed_.notify_all();
    }
    // Waits until no task is running.
    void rest() {
        std::unique_lock held{mutex_};
        changed_.wait(held, [this] { return !is_asked_; });
    }
    [[nodiscard]] std::uint64_t tasks() const noexcept { return tasks_.load(); }
    // The first error that is_only_early does not explain.
    [[nodiscard]] std::optional<std::string> failure() const {
        const std::lock_guard held{mutex_};
        return failure_;
    }

  private:
    void run() {
        std::unique_lock held{mutex_};
        while (true) {
            changed_.wait(held, [this] { return is_asked_ || ends_; });
            if (ends_) return;
            held.unlock();
            const auto done = look_after(store_, chance_, keys_);
            tasks_.fetch_add(1);
            held.lock();
            if (!done && !is_only_early(done.error()) && !failure_) failure_ = std::string{done.error().message()};
            is_asked_ = false;
            changed_.notify_all();
        }
    }

    either_store& store_;
    splitmix chance_;
    std::uint32_t keys_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool is_asked_ = false, ends_ = false;
    std::optional<std::string> failure_;
    std::atomic<std::uint64_t> tasks_{0};
    std::thread thread_;  // last: it uses the others
};

}  // namespace genista::test
