// owned_blocks: determines which heap blocks an object owns, by destroying it. For tests of exact
// accounting.
//
//     owned_blocks ledger;
//     {
//         const owned_blocks::recording on{ledger};  // blocks allocated here are recorded
//         thing = make();
//     }
//     const std::uint64_t bytes = ledger.freed_by([&] { thing.reset(); });
//
// Other blocks allocated meanwhile (memory that threads keep, for example) do not count, because
// `thing` does not free them. Needs failing_allocator.hpp in one file of the executable: its
// operators new and delete report every block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace genista::test {

class owned_blocks {
  public:
    owned_blocks() : blocks_{std::make_unique<std::array<block, places>>()} {}
    owned_blocks(const owned_blocks&) = delete;
    owned_blocks& operator=(const owned_blocks&) = delete;
    ~owned_blocks() = default;

    // While it lives, this thread's allocations and frees are recorded.
    class recording {
      public:
        explicit recording(owned_blocks& in) noexcept { now = &in; }
        recording(const recording&) = delete;
        recording& operator=(const recording&) = delete;
        ~recording() { now = nullptr; }
    };

    template <class Destroy>
    [[nodiscard]] std::uint64_t freed_by(Destroy&& destroy) {
        const std::uint64_t before = live_bytes_;
        const recording on{*this};
        destroy();
        return before - live_bytes_;
    }
    // True if there were more blocks at a time than it has room for.
    [[nodiscard]] bool overflowed() const noexcept { return overflowed_; }

    static void made(const void* at, std::size_t bytes) noexcept {
        if (now != nullptr) now->add(at, bytes);
    }
    static void freed(const void* at) noexcept {
        if (now != nullptr && at != nullptr) now->remove(at);
    }

  private:
    static constexpr std::size_t places = 1u << 12;
    struct block {
        const void* at;
        std::size_t bytes;
    };
    static inline thread_local constinit owned_blocks* now = nullptr;

    void add(const void* at, std::size_t bytes) noexcept {
        for (block& each : *blocks_) {
            if (each.at != nullptr) continue;
            each = {at, bytes};
            live_bytes_ += bytes;
            return;
        }
        overflowed_ = true;
    }
    void remove(const void* at) noexcept {
        for (block& each : *blocks_) {
            if (each.at != at) continue;
            live_bytes_ -= each.bytes;
            each = {};
            return;
        }
    }

    std::unique_ptr<std::array<block, places>> blocks_;
    std::uint64_t live_bytes_ = 0;
    bool overflowed_ = false;
};

}  // namespace genista::test
