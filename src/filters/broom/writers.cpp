// The rare half of writers.hpp: a thread becomes the owner, or the filter becomes shared.
#include "filters/broom/writers.hpp"

#include <chrono>
#include <thread>

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {
namespace {

// Addresses that are no thread's.
const char sharing_mark = 0;
const char shared_mark = 0;
const void* const sharing = &sharing_mark;
const void* const shared = &shared_mark;

#if defined(__SANITIZE_THREAD__)
constexpr bool sanitizer_watches = true;  // it cannot see the kernel's barrier
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool sanitizer_watches = true;
#else
constexpr bool sanitizer_watches = false;
#endif
#else
constexpr bool sanitizer_watches = false;
#endif

// Runs a full barrier on every running thread of this process. False: the kernel cannot do that.
bool barrier_everywhere() noexcept {
#if defined(__linux__) && defined(SYS_membarrier)
    if (::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0) return false;
    return ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
#else
    return false;
#endif
}

bool kernel_has_barrier() noexcept {
    static const bool has = !sanitizer_watches && barrier_everywhere();
    return has;
}

}  // namespace

writers::writers() noexcept {
    if (!kernel_has_barrier()) owner_.store(shared, std::memory_order_relaxed);
}

bool writers::enter_slowly() noexcept {
    const void* seen = owner_.load(std::memory_order_acquire);
    if (seen == shared) [[likely]]
        return false;
    if (seen == nullptr && owner_.compare_exchange_strong(seen, me(), std::memory_order_acq_rel)) {
        first_.store(me(), std::memory_order_relaxed);
        return enter();
    }
    // The owner is inside already and goes on: a thread that objects waits for it.
    if (first_.load(std::memory_order_relaxed) == me() && busy_.load(std::memory_order_relaxed) != 0) {
        busy_.store(busy_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        return true;
    }
    share();
    return false;
}

void writers::share() noexcept {
    const std::lock_guard one{objecting_};
    if (owner_.load(std::memory_order_relaxed) == shared) return;
    owner_.store(sharing, std::memory_order_seq_cst);
    if (!barrier_everywhere()) {
        // The barrier worked when this filter was made and is forbidden now. A store leaves the
        // processor's buffer within microseconds; there is no better way left.
        std::this_thread::sleep_for(std::chrono::milliseconds{100});
    }
    // Either the owner's next check sees the objection, or this thread sees that the owner is at
    // work.
    while (busy_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
    owner_.store(shared, std::memory_order_release);
}

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
