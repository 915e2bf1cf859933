// budget: the bytes that a filter takes, and its limit (broom_options::memory_limit). An allocation
// either fits the limit of its class or fails before anything has changed.
//
// Growth makes and drops tables, and pays in advance for the most that it will take; side memory
// pays page by page. The class of an allocation decides how far it may go:
//
//     inserts     up to the limit less a 64th and two pages, so that an adapt or an erase at the
//                 limit still has room
//     extensions  up to the limit: what an adapt or an erase would like to write. Without room the
//                 bin is renewed, which removes its extensions and tombstones
//     upkeep      always. A growth that has begun must finish, and a renewal has to happen
//                 [law L4]; it needs room only for keys that the filter holds anyway
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>

#include "genista/detail/filters/broom/faults.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

enum class budget_class : std::uint8_t { inserts, extensions, upkeep };

// Thrown in place of std::bad_alloc: memory is available, but the limit forbids taking it.
class limit_reached : public std::bad_alloc {};

class budget {
  public:
    static constexpr std::uint64_t no_limit = ~std::uint64_t{0};

    [[nodiscard]] std::uint64_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }
    void set_limit(std::uint64_t bytes) noexcept { limit_.store(bytes, std::memory_order_relaxed); }
    // A growth under way counts with all that it may take.
    [[nodiscard]] std::uint64_t spent() const noexcept { return spent_.load(std::memory_order_relaxed); }

    [[nodiscard]] static constexpr std::uint64_t reserve_of(std::uint64_t limit) noexcept {
        return std::min(limit, limit / 64 + 8192);
    }

    [[nodiscard]] bool allows(std::uint64_t bytes, budget_class of) const noexcept {
        return allows(spent(), bytes, of);
    }
    // False: the limit forbids it, and nothing was taken.
    [[nodiscard]] bool take(std::uint64_t bytes, budget_class of) noexcept {
        std::uint64_t before = spent();
        do {
            if (!allows(before, bytes, of)) return false;
        } while (!spent_.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
        return true;
    }
    void correct(std::uint64_t counted, std::uint64_t actual) noexcept {
        spent_.fetch_add(actual - counted, std::memory_order_relaxed);
    }
    void give_back(std::uint64_t bytes) noexcept { spent_.fetch_sub(bytes, std::memory_order_relaxed); }

  private:
    [[nodiscard]] bool allows(std::uint64_t before, std::uint64_t bytes, budget_class of) const noexcept {
        const std::uint64_t all = limit();
        if (of == budget_class::upkeep || all == no_limit) return true;
        const std::uint64_t usable = of == budget_class::inserts ? all - reserve_of(all) : all;
        return before <= usable && bytes <= usable - before;
    }

    std::atomic<std::uint64_t> spent_ = 0;
    std::atomic<std::uint64_t> limit_ = no_limit;
};

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
