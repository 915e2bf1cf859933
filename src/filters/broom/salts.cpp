// The book of salts: hands out salts so that no bin sees one twice. See salts.hpp.
#include "filters/broom/salts.hpp"

#include <algorithm>
#include <utility>

#include "filters/broom/derive_key.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

salt_book::salt_book(const hash_key& key, std::uint64_t secret, std::uint64_t bins, bool unsalted_first)
    : cipher_{derive_key(key, derived_use::salting)}, unsalted_first_{unsalted_first}, generations_{{0, secret}} {
    for (auto& number : numbers_) number.store(unassigned, std::memory_order_relaxed);
    assign(0, 0);
    users_[0].store(static_cast<std::uint32_t>(bins), std::memory_order_relaxed);
}

std::uint64_t salt_book::word(std::uint64_t number) const noexcept {
    if (faults.salts_wrap) number &= 255;
    const auto after = std::upper_bound(generations_.begin(), generations_.end(), number,
                                        [](std::uint64_t n, const generation& g) { return n < g.first_number; });
    const std::uint64_t made = cipher_.encrypt(number, std::prev(after)->secret).position;
    return faults.salts_of_16_bits ? made & 0xffff : made;
}

void salt_book::assign(unsigned code, std::uint64_t number) noexcept {
    auto* const end = by_number_.data() + numbered_;
    if (auto* const had = std::find(by_number_.data(), end, code); had != end) {
        std::rotate(had, had + 1, end);
    } else {
        by_number_[numbered_++] = static_cast<std::uint8_t>(code);
    }
    numbers_[code].store(number, std::memory_order_relaxed);
    __atomic_store_n(&words_[code], word(number), __ATOMIC_RELEASE);
}

salt salt_book::next(std::uint64_t last, unsigned draw) noexcept {
    constexpr unsigned early_draws = 8;
    const std::lock_guard guard{lock_};
    last = std::max(last, first_own_number_ == 0 ? 0 : first_own_number_ - 1);
    const std::uint64_t newest = numbered_ == 0 ? 0 : number_of(by_number_[numbered_ - 1]);
    unsigned chosen = long_salt;
    if (newest > last) {
        const std::uint64_t halfway = last + (newest - last + 1) / 2;
        chosen = *std::partition_point(by_number_.begin(), by_number_.begin() + numbered_,
                                       [&](std::uint8_t code) { return number_of(code) < halfway; });
    } else if (draw < early_draws) {
        std::uint64_t oldest = unassigned;
        for (unsigned code = unsalted_first_ ? 1 : 0; code < salt_codes; ++code) {
            if (users_[code].load(std::memory_order_relaxed) != 0) continue;
            const std::uint64_t n = numbers_[code].load(std::memory_order_relaxed);
            if (n != unassigned && frozen_ != 0) continue;
            if (n == unassigned || n <= oldest) {
                chosen = code;
                oldest = n;
            }
            if (n == unassigned) break;
        }
        if (chosen != long_salt) {
            assign(chosen, next_number_++);
        } else if (frozen_ == 0) {
            crowded_.store(true, std::memory_order_relaxed);
        }
    }
    if (chosen == long_salt) return of_number(next_number_++);
    users_[chosen].fetch_add(1, std::memory_order_relaxed);
    return of_code(static_cast<std::uint8_t>(chosen));
}

void salt_book::choose_leaving() noexcept {
    const std::lock_guard guard{lock_};
    std::array<std::pair<std::uint32_t, unsigned>, salt_codes> by_users{};
    unsigned used = 0;
    for (unsigned code = 0; code < salt_codes; ++code) {
        leaving_[code].store(false, std::memory_order_relaxed);
        const std::uint32_t users = users_[code].load(std::memory_order_relaxed);
        if (users != 0 && !(unsalted_first_ && code == 0)) by_users[used++] = {users, code};
    }
    std::sort(by_users.begin(), by_users.begin() + used);
    for (unsigned i = 0; i < used / 4; ++i) leaving_[by_users[i].second].store(true, std::memory_order_relaxed);
}

bool salt_book::is_used_up() const noexcept {
    const std::lock_guard guard{lock_};
    for (unsigned code = unsalted_first_ ? 1 : 0; code < salt_codes; ++code) {
        if (users_[code].load(std::memory_order_relaxed) == 0) return false;
    }
    return true;
}

salt_book::image salt_book::save() const {
    const std::lock_guard guard{lock_};
    image saved;
    for (unsigned code = 0; code < salt_codes; ++code) {
        saved.numbers[code] = numbers_[code].load(std::memory_order_relaxed);
    }
    saved.next_number = next_number_;
    saved.generations = generations_;
    return saved;
}

result<void> salt_book::restore(const image& saved, std::span<const std::uint32_t> users, std::uint64_t secret) {
    const auto broken = [](const char* what) {
        return error::make(error_code::corrupt, "broom snapshot: salts: %s", what);
    };
    if (saved.next_number == 0 || saved.next_number >> salt_number_bits != 0)
        return broken("the next number is out of range");
    if (saved.generations.empty() || saved.generations[0].first_number != 0) return broken("no first generation");
    for (std::size_t i = 1; i < saved.generations.size(); ++i) {
        if (saved.generations[i - 1].first_number >= saved.generations[i].first_number ||
            saved.generations[i].first_number > saved.next_number) {
            return broken("generations out of order");
        }
    }
    if (unsalted_first_ && saved.numbers[0] != 0) return broken("code 0 is not the unsalted epoch");
    for (unsigned code = 0; code < salt_codes; ++code) {
        if (saved.numbers[code] == unassigned ? users[code] != 0 : saved.numbers[code] >= saved.next_number) {
            return broken("a code without a number");
        }
    }
    generations_ = saved.generations;
    // The last life of the process may have drawn no salt at all.
    if (generations_.size() > 1 && generations_.back().first_number == saved.next_number) generations_.pop_back();
    generations_.push_back({saved.next_number, secret});
    if (faults.load_keeps_salts) generations_.pop_back();
    first_own_number_ = saved.next_number;
    next_number_ = saved.next_number;
    numbered_ = 0;
    for (unsigned code = 0; code < salt_codes; ++code) {
        users_[code].store(users[code], std::memory_order_relaxed);
        if (saved.numbers[code] == unassigned) {
            numbers_[code].store(unassigned, std::memory_order_relaxed);
        } else {
            assign(code, saved.numbers[code]);
        }
    }
    std::sort(by_number_.begin(), by_number_.begin() + numbered_,
              [&](std::uint8_t a, std::uint8_t b) { return number_of(a) < number_of(b); });
    return {};
}

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
