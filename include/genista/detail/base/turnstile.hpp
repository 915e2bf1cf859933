// turnstile: a lock for many shared holders or one exclusive holder. A thread that wants to be
// exclusive closes the turnstile first: threads inside finish, new ones wait. So it waits no longer
// than the slowest thread inside, and a steady stream of others cannot starve it.
//
//     state    closed, 1 bit | threads inside, 31 bits
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <mutex>

namespace genista {

class turnstile {
  public:
    class shared {
      public:
        explicit shared(turnstile& lock) noexcept : lock_{lock} { lock_.enter(); }
        shared(const shared&) = delete;
        shared& operator=(const shared&) = delete;
        ~shared() { lock_.leave(); }

      private:
        turnstile& lock_;
    };

    class exclusive {
      public:
        explicit exclusive(turnstile& lock) : lock_{lock}, alone_{lock.one_at_a_time_} { lock_.close(); }
        exclusive(const exclusive&) = delete;
        exclusive& operator=(const exclusive&) = delete;
        ~exclusive() {
            if (alone_.owns_lock())
                lock_.open(0);
            else
                lock_.leave();
        }
        // Opens the turnstile and stays inside like a `shared`: no other thread was exclusive in
        // between.
        void share() noexcept {
            assert(alone_.owns_lock());
            lock_.open(1);
            alone_.unlock();
        }

      private:
        turnstile& lock_;
        std::unique_lock<std::mutex> alone_;
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
        if (before == (closed | 1)) state_.notify_all();  // the last thread to leave
    }
    void close() noexcept {
        std::uint32_t seen = state_.fetch_or(closed, std::memory_order_acquire) | closed;
        while (seen != closed) {
            state_.wait(seen, std::memory_order_relaxed);
            seen = state_.load(std::memory_order_acquire);
        }
    }
    void open(std::uint32_t inside) noexcept {
        state_.store(inside, std::memory_order_release);
        state_.notify_all();
    }

    std::atomic<std::uint32_t> state_{0};
    std::mutex one_at_a_time_;
};

}  // namespace genista
