// attempts: the loop of every operation that reads R without a lock. It takes the version of a bin,
// reads R, takes the lock, and starts over if a writer has changed the bin meanwhile.
//
//     for (attempts left{writers}; left.next();) {
//         ...
//     }
//     return left.used_up();
//
//   I1  There is a bound: next() is true so many times at most. Then the operation ends with an
//       error and has changed nothing more; no key is lost. A step of growth that an insert takes
//       in passing has a small bound of its own: it leaves the front where it is, and the next
//       insert tries again.
//   I2  After a few attempts writers are asked to hold back for a moment, until this loop ends. R
//       is never read under the lock of a stripe. (Growth and rebuilding read it under a lock of
//       their own: docs/filters/broom.md, "Threads".)
#pragma once

#include "filters/broom/writers.hpp"
#include "genista/base/result.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

inline constexpr int most_attempts = 1000;  // more changes of a bin meanwhile mean a bug or a livelock: report it
inline constexpr int most_attempts_in_passing = 16;  // of a step of growth, within an insert that has succeeded
inline constexpr int patient_attempts = 4;           // before writers are asked to hold back

static_assert(patient_attempts < most_attempts_in_passing && most_attempts_in_passing < most_attempts);

class attempts {
  public:
    explicit attempts(writer_counters& of, int most = most_attempts) noexcept : of_{of}, most_{most} {}
    attempts(const attempts&) = delete;
    attempts& operator=(const attempts&) = delete;
    ~attempts() { let_writers_work(); }

    // Begins the next attempt. False: the one before was the last.
    [[nodiscard]] bool next() noexcept {
        if (begun_ == most_) return false;
        if (begun_ == patient_attempts) {
            of_.back_off.fetch_add(1, std::memory_order_relaxed);
            quiet_ = true;
        }
        ++begun_;
        return true;
    }
    [[nodiscard]] bool is_first() const noexcept { return begun_ == 1; }
    // The last attempt has succeeded, and the next ones are at another bin.
    void succeeded() noexcept {
        let_writers_work();
        begun_ = 0;
    }
    [[nodiscard]] error used_up() const noexcept {
        return error::make(error_code::timeout, "broom: the bin changed during every one of %d attempts", most_);
    }

  private:
    void let_writers_work() noexcept {
        if (quiet_) of_.back_off.fetch_sub(1, std::memory_order_relaxed);
        quiet_ = false;
    }

    writer_counters& of_;
    int most_;
    int begun_ = 0;
    bool quiet_ = false;
};

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
