// fault_plan: names, validation and the choice of a fault. See fault_plan.hpp.
#include "support/remote/fault_plan.hpp"

namespace genista {
namespace {

// A finaliser in the manner of splitmix64: two multiplications and three shifts turn counters into
// uniform words.
[[nodiscard]] std::uint64_t draw(std::uint64_t seed, std::uint64_t call_number, std::uint64_t purpose) noexcept {
    std::uint64_t x = seed + 0x9e3779b97f4a7c15u * (2 * call_number + purpose + 1);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// In [0, 1), 53 bits.
[[nodiscard]] double unit(std::uint64_t word) noexcept {
    return static_cast<double>(word >> 11) * 0x1p-53;
}

}  // namespace

std::string_view to_string(fault_kind kind) noexcept {
    switch (kind) {
        case fault_kind::error_before:
            return "error_before";
        case fault_kind::error_after:
            return "error_after";
        case fault_kind::error_midway:
            return "error_midway";
        case fault_kind::stale:
            return "stale";
        case fault_kind::wrong_key:
            return "wrong_key";
        case fault_kind::wrong_seed:
            return "wrong_seed";
        case fault_kind::out_of_range:
            return "out_of_range";
        case fault_kind::duplicate:
            return "duplicate";
        case fault_kind::hang_before:
            return "hang_before";
        case fault_kind::hang_after:
            return "hang_after";
        case fault_kind::missing:
            return "missing";
        case fault_kind::throws:
            return "throws";
    }
    return "unknown fault";
}

std::string_view to_string(remote_call call) noexcept {
    switch (call) {
        case remote_call::put:
            return "put";
        case remote_call::erase:
            return "erase";
        case remote_call::contains:
            return "contains";
        case remote_call::for_each:
            return "for_each";
        case remote_call::apply:
            return "apply";
        case remote_call::erase_range:
            return "erase_range";
    }
    return "unknown call";
}

bool fits(fault_kind kind, remote_call call) noexcept {
    switch (kind) {
        case fault_kind::error_before:
        case fault_kind::error_after:
        case fault_kind::hang_before:
        case fault_kind::hang_after:
        case fault_kind::throws:
            return true;
        case fault_kind::stale:
            return call == remote_call::contains || call == remote_call::for_each;
        case fault_kind::error_midway:
            return call == remote_call::for_each || call == remote_call::erase_range;
        case fault_kind::wrong_key:
        case fault_kind::wrong_seed:
        case fault_kind::out_of_range:
        case fault_kind::duplicate:
        case fault_kind::missing:
            return call == remote_call::for_each;
    }
    return false;
}

bool in_scope(fault_scope scope, remote_call call) noexcept {
    switch (scope) {
        case fault_scope::every_call:
            return true;
        case fault_scope::reads:
            return call == remote_call::contains || call == remote_call::for_each;
        case fault_scope::writes:
            return call != remote_call::contains && call != remote_call::for_each;
        case fault_scope::ranges:
            return call == remote_call::for_each;
    }
    return false;
}

result<void> validate(const fault_plan& plan) noexcept {
    const auto known = [](fault_kind kind) { return static_cast<std::size_t>(kind) < fault_kind_count; };
    for (const fault_rule& rule : plan.rules) {
        if (!known(rule.kind)) {
            return error::make(error_code::invalid_argument, "fault_plan: a rule has kind %u, allowed are 0 to %zu",
                               static_cast<unsigned>(rule.kind), fault_kind_count - 1);
        }
        if (static_cast<std::size_t>(rule.scope) >= call_numbers{}.in.size()) {
            return error::make(error_code::invalid_argument, "fault_plan: a rule has scope %u, allowed are 0 to %zu",
                               static_cast<unsigned>(rule.scope), call_numbers{}.in.size() - 1);
        }
        if (rule.first_call > rule.last_call) {
            return error::make(
                error_code::invalid_argument, "fault_plan: a rule begins at call %llu and ends before it, at call %llu",
                static_cast<unsigned long long>(rule.first_call), static_cast<unsigned long long>(rule.last_call));
        }
    }
    double sum = 0;
    for (const fault_rate& each : plan.rates) {
        if (!known(each.kind)) {
            return error::make(error_code::invalid_argument, "fault_plan: a rate has kind %u, allowed are 0 to %zu",
                               static_cast<unsigned>(each.kind), fault_kind_count - 1);
        }
        if (!(each.rate >= 0 && each.rate <= 1)) {
            return error::make(error_code::invalid_argument, "fault_plan: the rate %g of %s is outside [0, 1]",
                               each.rate, to_string(each.kind).data());
        }
        sum += each.rate;
    }
    if (sum > 1) {
        return error::make(error_code::invalid_argument, "fault_plan: the rates add up to %g, at most 1 is allowed",
                           sum);
    }
    if (plan.random_record_below == 0) {
        return error::make(error_code::invalid_argument, "fault_plan: random_record_below is 0, at least 1 is allowed");
    }
    if (plan.hang < std::chrono::nanoseconds::zero()) {
        return error::make(error_code::invalid_argument, "fault_plan: a hang of %lld ns is negative",
                           static_cast<long long>(plan.hang.count()));
    }
    return {};
}

std::optional<chosen_fault> choose_fault(const fault_plan& plan, remote_call call,
                                         const call_numbers& numbers) noexcept {
    for (const fault_rule& rule : plan.rules) {
        const std::uint64_t number = numbers.in[static_cast<std::size_t>(rule.scope)];
        if (in_scope(rule.scope, call) && fits(rule.kind, call) && rule.first_call <= number &&
            number <= rule.last_call) {
            return chosen_fault{.kind = rule.kind, .record = rule.record};
        }
    }
    // One random number is compared with the cumulative rates of the kinds that fit: each strikes
    // at exactly its own rate.
    double left = unit(draw(plan.seed, numbers.overall(), 0));
    for (const fault_rate& each : plan.rates) {
        if (!fits(each.kind, call)) continue;
        if (left < each.rate) {
            return chosen_fault{.kind = each.kind,
                                .record = draw(plan.seed, numbers.overall(), 1) % plan.random_record_below};
        }
        left -= each.rate;
    }
    return std::nullopt;
}

}  // namespace genista
