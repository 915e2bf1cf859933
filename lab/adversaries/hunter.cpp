// See attacks.hpp.
#include "lab/adversaries/attacks.hpp"

#include <algorithm>

namespace genista::lab {

hunter::hunter(arena& where, const budget& may_spend)
    : at{where}, may_spend_{may_spend}, effort_before_{effort()}, chance_{may_spend.seed} {
    members.resize(at.size());
    for (std::size_t i = 0; i < members.size(); ++i) members[i] = i;
}

std::uint64_t hunter::effort() const noexcept {
    const score& seen = at.counted();
    return seen.negatives + change_effort * (seen.operations - seen.negatives);
}

bool hunter::spent() {
    const std::uint64_t used = effort() - effort_before_;
    if (used >= next_report_) {
        next_report_ = used + may_spend_.queries / 16;
        may_spend_.progress(static_cast<double>(used) / static_cast<double>(may_spend_.queries + 1));
    }
    return used >= may_spend_.queries;
}

bool hunter::spent(double share) const noexcept {
    return static_cast<double>(effort() - effort_before_) >= share * static_cast<double>(may_spend_.queries);
}

std::optional<std::uint64_t> hunter::catch_one(std::uint64_t most) {
    constexpr std::uint64_t run = 256;  // between two looks at the budget
    while (most > 0 && !spent()) {
        const arena::hunt seen = at.query_run(next_absent_key_, std::min(most, run));
        next_absent_key_ += seen.asked;
        most -= seen.asked;
        if (seen.caught) return next_absent_key_ - 1;
    }
    return std::nullopt;
}

std::vector<std::uint64_t> hunter::catch_some(std::size_t count, std::uint64_t most) {
    std::vector<std::uint64_t> caught;
    const std::uint64_t end = most > ~next_absent_key_ ? ~std::uint64_t{0} : next_absent_key_ + most;
    while (caught.size() < count) {
        const auto x = catch_one(end - next_absent_key_);
        if (!x) break;
        caught.push_back(*x);
    }
    return caught;
}

void hunter::insert_all(const std::vector<std::uint64_t>& keys) {
    for (const std::uint64_t key : keys) at.insert(key);
}

void hunter::erase_all(const std::vector<std::uint64_t>& keys) {
    for (const std::uint64_t key : keys) at.erase(key);
}

void hunter::toggle(std::uint64_t member) {
    at.erase(member);
    at.insert(member);
}

void hunter::shrink_to(std::size_t count) {
    while (members.size() > count) {
        at.erase(members.back());
        members.pop_back();
    }
    for (const std::uint64_t member : members) toggle(member);
}

}  // namespace genista::lab
