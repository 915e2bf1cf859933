// writers: who may change bins. Until a second thread writes, the first one writes alone and pays
// for no lock.
//
// An atomic read-modify-write takes as long as a whole insert and, worse, keeps the processor from
// working on the next insert meanwhile. So the first thread that writes owns the filter: it says
// that it is at work in a plain store and looks whether anybody objects. A second writer objects
// once, has the kernel run a barrier on every thread of the process (membarrier), waits until the
// owner is not at work, and from then on all writers take the locks of stripes. Readers do not
// care: they look at versions, which both kinds of writers raise.
//
//   I1  Between enter() == true and leave() no other thread is between enter() and leave(), or
//       holds a stripe's lock.
//   I2  Once shared, always shared.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "genista/detail/filters/broom/faults.hpp"
#include "genista/detail/filters/broom/lookup_state.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

class writers {
  public:
    writers() noexcept;
    writers(const writers&) = delete;
    writers& operator=(const writers&) = delete;

    // True: the caller writes alone until leave(). False: it takes a lock. Nests.
    [[nodiscard]] bool enter() noexcept {
        if (owner_.load(std::memory_order_relaxed) == me()) [[likely]] {
            const std::uint32_t depth = busy_.load(std::memory_order_relaxed);
            busy_.store(depth + 1, std::memory_order_relaxed);
            std::atomic_signal_fence(std::memory_order_seq_cst);  // the processor's part is share()'s barrier
            if (owner_.load(std::memory_order_acquire) == me()) [[likely]]
                return true;
            if (depth != 0) return true;  // we are within: whoever objects waits for us
            busy_.store(0, std::memory_order_release);
        }
        return enter_slowly();
    }
    void leave() noexcept { busy_.store(busy_.load(std::memory_order_relaxed) - 1, std::memory_order_release); }

  private:
    [[nodiscard]] static const void* me() noexcept {
        static thread_local const char here = 0;
        return &here;
    }
    [[nodiscard]] bool enter_slowly() noexcept;
    void share() noexcept;

    std::atomic<const void*> owner_ = nullptr;  // a thread; nobody yet; `sharing`; `shared`
    std::atomic<std::uint32_t> busy_ = 0;       // how deep the owner is within
    std::atomic<const void*> first_ = nullptr;  // the thread that owned it, also afterwards
    std::mutex objecting_;
};

// What all writers of a filter touch, whatever table they work in.
struct writer_counters {
    writers all;
    std::atomic<std::uint64_t> keys = 0;
    std::atomic<unsigned> back_off = 0;  // operations that writers have kept from getting on
    std::array<std::atomic<std::uint32_t>, broom_claim_counters> claims{};  // raised under the lock of the bin's stripe
};

// While it lives writers wait a little before they begin; they never wait for long, so nobody can
// be locked out by it.
class backoff_scope {
  public:
    backoff_scope(writer_counters& of, bool wanted) noexcept : of_{of}, wanted_{wanted} {
        if (wanted_) of_.back_off.fetch_add(1, std::memory_order_relaxed);
    }
    backoff_scope(const backoff_scope&) = delete;
    backoff_scope& operator=(const backoff_scope&) = delete;
    ~backoff_scope() {
        if (wanted_) of_.back_off.fetch_sub(1, std::memory_order_relaxed);
    }

  private:
    writer_counters& of_;
    bool wanted_;
};

// If writers change a bin during so many readings of R, they are asked to hold back for a moment. R
// is never read under the lock of a stripe. (Growth and rebuilding read it under a lock of their
// own: docs/filters/broom.md, "Threads".)
inline constexpr int patient_attempts = 4;

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
