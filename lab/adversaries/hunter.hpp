// hunter: what most adversaries have in common. It keeps the budget, hands out absent keys that
// were not queried before, hunts for false positives among them, and has the moves that renew a
// bin.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "lab/adversaries/adversary.hpp"

namespace genista::lab {

class hunter {
  public:
    hunter(arena& where, const budget& may_spend);

    arena& at;
    std::vector<std::uint64_t> members;  // that it wants stored; at first those that the arena began with

    // True once the budget is used up. Also reports the progress.
    [[nodiscard]] bool spent();
    // True once `share` of the budget is used up.
    [[nodiscard]] bool spent(double share) const noexcept;

    // An absent key that was not queried before.
    [[nodiscard]] std::uint64_t absent_key() noexcept { return next_absent_key_++; }
    [[nodiscard]] std::uint64_t below(std::uint64_t bound) {
        return std::uniform_int_distribution{std::uint64_t{0}, bound - 1}(chance_);
    }
    [[nodiscard]] std::uint64_t some_member() { return members[below(members.size())]; }

    // Asks absent keys until one is a false positive, or `most` were asked, or the budget is spent.
    [[nodiscard]] std::optional<std::uint64_t> catch_one(std::uint64_t most = ~std::uint64_t{0});
    // Up to `count` false positives, with the same ends.
    [[nodiscard]] std::vector<std::uint64_t> catch_some(std::size_t count, std::uint64_t most = ~std::uint64_t{0});

    void insert_all(const std::vector<std::uint64_t>& keys);
    void erase_all(const std::vector<std::uint64_t>& keys);
    // Erases and inserts again. Under the epoch law its bin is renewed: a buried key that is
    // inserted again meets its own tombstone, and an erase in a full bin renews at once.
    void toggle(std::uint64_t member);
    // Erases all but `count` keys and toggles those, so that nothing is left of the others.
    void shrink_to(std::size_t count);

  private:
    [[nodiscard]] std::uint64_t effort() const noexcept;

    budget may_spend_;
    std::uint64_t effort_before_;
    std::uint64_t next_absent_key_ = std::uint64_t{1} << 40;
    std::uint64_t next_report_ = 0;
    std::mt19937_64 chance_;
};

}  // namespace genista::lab
