// writers_lock: many writers, or one who needs that nobody writes: a scan of a range to delete, files to take in, the
// moment in which a snapshot of the filter notes how far the store has come.
//
// A writer is inside from before its commit until the filter has all of it. Whoever wants to be alone closes the
// turnstile first: writers inside finish, new ones wait, so that he waits for the slowest writer and no longer.
//
//     state    closed, 1 bit | writers inside, 31 bits
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <mutex>

namespace genista::rocks {

class writers_lock {
  public:
    class shared {
      public:
        explicit shared(writers_lock& lock) noexcept : lock_{lock} { lock_.enter(); }
        shared(const shared&) = delete;
        shared& operator=(const shared&) = delete;
        ~shared() { lock_.leave(); }

      private:
        writers_lock& lock_;
    };

    class exclusive {
      public:
        explicit exclusive(writers_lock& lock) : lock_{lock}, alone_{lock.one_at_a_time_} { lock_.close(); }
        exclusive(const exclusive&) = delete;
        exclusive& operator=(const exclusive&) = delete;
        ~exclusive() { lock_.open(); }

      private:
        writers_lock& lock_;
        std::lock_guard<std::mutex> alone_;
    };

  private:
    static constexpr std::uint32_t closed = 0x8000'0000;

    void enter() noexcept {
        std::uint32_t seen = state_.load(std::memory_order_relaxed);
        while (true) {
            if ((seen & closed) != 0) {
                state_.wait(seen, std::memory_order_relaxed);
                seen = state_.load(std::memory_order_relaxed);
            } else if (state_.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire,
                                                    std::memory_order_relaxed)) {
                return;
            }
        }
    }
    void leave() noexcept {
        [[maybe_unused]] const std::uint32_t before = state_.fetch_sub(1, std::memory_order_release);
        assert((before & ~closed) != 0);
        if (before == (closed | 1)) state_.notify_all();  // the last one out
    }
    void close() noexcept {
        std::uint32_t seen = state_.fetch_or(closed, std::memory_order_acquire) | closed;
        while (seen != closed) {
            state_.wait(seen, std::memory_order_relaxed);
            seen = state_.load(std::memory_order_acquire);
        }
    }
    void open() noexcept {
        state_.store(0, std::memory_order_release);
        state_.notify_all();
    }

    std::atomic<std::uint32_t> state_{0};
    std::mutex one_at_a_time_;
};

}  // namespace genista::rocks
