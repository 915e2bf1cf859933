// salts: the salt of a bin, in one byte of its line; no bin has the same salt twice [law L1].
//
// Every epoch of a bin has a *salt number*; a bin's numbers only rise. The salt itself is a 64-bit
// word, a pseudo-random function of the number and of the generation in which the number was first
// handed out. A generation is drawn at random for every table and every life of the process, so
// that restored copies and cloned machines do not repeat each other's words.
//
//     line byte 0..254    a *code*: the book below says which number and word it stands for
//     line byte 255       a *long salt*: the number (44 bits) stands in the bin's side block
//
// Codes are shared by all bins. A renewal takes a number that the book has and that is newer than
// the bin's own, halfway to the newest, so that bins which lag behind catch up. If there is none, a
// code that no bin uses gets a new number; if there is no such code, the bin gets a long salt of
// its own. Then tidy() (table.hpp) gives long salts to the bins whose codes few other bins have,
// which frees those codes.
//
//   I1  A code changes its number only while no bin has it: users(code) == 0 under the lock.
//   I2  numbers of one life are below next_number(); a loaded book hands out only numbers from its
//       own generation.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "genista/base/result.hpp"
#include "genista/detail/filters/broom/faults.hpp"
#include "genista/detail/filters/broom/layout.hpp"
#include "genista/hash/hasher.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

inline constexpr unsigned salt_number_bits = block_layout::salt_number.width;

struct salt {
    std::uint64_t number = 0;
    std::uint64_t word = 0;
    std::uint8_t code = 0;
};

class salt_book {
  public:
    struct generation {
        std::uint64_t first_number;
        std::uint64_t secret;
    };

    // REQUIRES: `secret` was never used with this key before. All bins start with code 0, number 0;
    // if that is the unsalted epoch (mix.hpp), code 0 stands for it for ever.
    salt_book(const hash_key& key, std::uint64_t secret, std::uint64_t bins, bool unsalted_first);

    [[nodiscard]] bool is_unsalted(const salt& s) const noexcept { return unsalted_first_ && s.number == 0; }
    // Was this salt drawn before this book was restored from a snapshot?
    [[nodiscard]] bool is_of_former_life(const salt& s) const noexcept {
        return s.number < first_own_number_ && !faults.load_keeps_salts;
    }
    [[nodiscard]] bool unsalted_first() const noexcept { return unsalted_first_; }
    [[nodiscard]] const std::uint64_t* words() const noexcept { return words_.data(); }
    [[nodiscard]] const std::atomic<std::uint64_t>* numbers() const noexcept { return numbers_.data(); }
    [[nodiscard]] salt of_code(std::uint8_t code) const noexcept {
        return {numbers_[code].load(std::memory_order_relaxed), __atomic_load_n(&words_[code], __ATOMIC_ACQUIRE), code};
    }
    [[nodiscard]] salt of_number(std::uint64_t number) const noexcept { return {number, word(number), long_salt}; }

    // Returns a salt newer than `last`, and counts the bin as its user. `draw` counts the attempts
    // of one renewal: late attempts take long salts, so that a bin that no salt suits does not use
    // up the book.
    [[nodiscard]] salt next(std::uint64_t last, unsigned draw) noexcept;
    // The bin no longer has this salt, or never came to use it.
    void leave(std::uint8_t code) noexcept {
        if (code != long_salt) users_[code].fetch_sub(1, std::memory_order_relaxed);
    }
    // Since the last call of choose_leaving(), some renewal had to take a long salt for want of
    // codes.
    [[nodiscard]] bool is_crowded() const noexcept { return crowded_.load(std::memory_order_relaxed); }
    // Chooses the quarter of the codes that the fewest bins have: those bins are to take long salts
    // (table::tidy). The code that most bins have stays, however old it is. So does the code of the
    // unsalted epoch, which is never free.
    void choose_leaving() noexcept;
    [[nodiscard]] bool is_leaving(std::uint8_t code) const noexcept {
        return leaving_[code].load(std::memory_order_relaxed);
    }
    // No code can get a new number any more.
    [[nodiscard]] bool is_used_up() const noexcept;
    void relieved() noexcept { crowded_.store(false, std::memory_order_relaxed); }

    [[nodiscard]] std::uint64_t local_bytes() const noexcept { return generations_.capacity() * sizeof(generation); }

    // While a freezer lives no code changes its number: the book at the end explains every line
    // read meanwhile. Codes that never had a number may get one; when these are used up, renewals
    // take long salts.
    class freezer {
      public:
        explicit freezer(salt_book& book) noexcept : book_{book} { book_.freeze(1); }
        freezer(const freezer&) = delete;
        freezer& operator=(const freezer&) = delete;
        ~freezer() { book_.freeze(-1); }

      private:
        salt_book& book_;
    };

    // The contents for a snapshot. Restoring begins a new generation.
    struct image {
        std::array<std::uint64_t, salt_codes> numbers{};
        std::uint64_t next_number = 0;
        std::vector<generation> generations;
    };
    [[nodiscard]] image save() const;
    [[nodiscard]] result<void> restore(const image& saved, std::span<const std::uint32_t> users, std::uint64_t secret);

  private:
    static constexpr std::uint64_t unassigned = ~std::uint64_t{0};  // the number of a code never assigned

    [[nodiscard]] std::uint64_t word(std::uint64_t number) const noexcept;
    // REQUIRES: the number is the newest so far, except while a book is restored, which sorts
    // afterwards.
    void assign(unsigned code, std::uint64_t number) noexcept;
    [[nodiscard]] std::uint64_t number_of(unsigned code) const noexcept {
        return numbers_[code].load(std::memory_order_relaxed);
    }
    void freeze(int by) noexcept {
        const std::lock_guard guard{lock_};
        frozen_ += by;
    }

    hasher cipher_;
    bool unsalted_first_;
    mutable std::mutex lock_;
    int frozen_ = 0;
    std::uint64_t next_number_ = 1;
    std::uint64_t first_own_number_ = 0;  // the first number of this life
    std::vector<generation> generations_;
    std::array<std::atomic<std::uint64_t>, salt_codes> numbers_;
    std::array<std::uint8_t, salt_codes> by_number_{};  // codes that have a number, the oldest first
    unsigned numbered_ = 0;                             // how many they are
    alignas(64) std::array<std::uint64_t, salt_codes + 1> words_{};
    std::array<std::atomic<std::uint32_t>, salt_codes> users_{};
    std::array<std::atomic<bool>, salt_codes> leaving_{};
    std::atomic<bool> crowded_ = false;
};

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
