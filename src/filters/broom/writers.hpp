// writers: which threads may change bins. Until a second thread writes, the first one writes alone
// and takes no lock.
//
// An atomic read-modify-write takes as long as a whole insert and, worse, keeps the processor from
// working on the next insert meanwhile. So the first thread that writes owns the filter: it
// announces its work with a plain store and checks whether another thread objects. A second writer
// objects once, has the kernel run a barrier on every thread of the process (membarrier), and waits
// until the owner is not at work. From then on all writers take the locks of stripes. Readers are
// not affected: they check versions, which both kinds of writers raise.
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

    // True: the caller writes alone until leave(). False: it has to take a lock. Calls may nest.
    [[nodiscard]] bool enter() noexcept {
        if (owner_.load(std::memory_order_relaxed) == me()) [[likely]] {
            const std::uint32_t depth = busy_.load(std::memory_order_relaxed);
            busy_.store(depth + 1, std::memory_order_relaxed);
            std::atomic_signal_fence(std::memory_order_seq_cst);  // the barrier in share() orders the processor
            if (owner_.load(std::memory_order_acquire) == me()) [[likely]]
                return true;
            if (depth != 0) return true;  // already inside: a thread that objects waits for this one
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

    std::atomic<const void*> owner_ = nullptr;  // a thread; null: no thread yet; `sharing`; `shared`
    std::atomic<std::uint32_t> busy_ = 0;       // nested calls of the owner
    std::atomic<const void*> first_ = nullptr;  // the thread that owned it, also afterwards
    std::mutex objecting_;
};

// What all writers of a filter share, whatever table they change.
struct writer_counters {
    writers all;
    std::atomic<std::uint64_t> keys = 0;
    // Operations that ask writers to hold back (attempts.hpp): before they begin, writers wait a
    // little, but never for long, so that none is blocked for good.
    std::atomic<unsigned> back_off = 0;
    std::array<std::atomic<std::uint32_t>, broom_claim_counters> claims{};  // raised under the lock of the bin's stripe
};

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
