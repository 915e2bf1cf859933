// Fingerprints of one level: find, insert, extend, erase and check. See level.hpp.
#include "papers/broom_paper/level.hpp"

#include <algorithm>
#include <cassert>

namespace genista::broom_paper {

std::optional<level::place> level::find(const whole_hash& h) const noexcept {
    std::optional<place> found;
    const std::uint64_t at = baseline(h), quotient = at >> remainder_bits();
    any_hard_collision(at, [&](std::uint64_t slot, unsigned index) {
        const adaptivity bits = strings_.bits_of({quotient, index});
        if (!bits.is_prefix_of(h.second)) return false;
        found = place{quotient, slot, index, bits};
        return true;
    });
    return found;
}

unsigned level::count_prefixes(const whole_hash& h) const noexcept {
    unsigned count = 0;
    const std::uint64_t at = baseline(h), quotient = at >> remainder_bits();
    any_hard_collision(at, [&](std::uint64_t, unsigned index) {
        count += strings_.bits_of({quotient, index}).is_prefix_of(h.second) ? 1u : 0u;
        return false;
    });
    return count;
}

std::uint64_t level::baseline_of(const place& at) const noexcept {
    const std::uint64_t remainder = table_[at.slot] << table_.shape().more_bits | table_.more(at.slot);
    return at.quotient << remainder_bits() | remainder;
}

bool level::has_partial_collision(const whole_hash& h) const noexcept {
    if (table_.shape().more_bits == 0) return false;
    const std::uint64_t at = baseline(h);
    const std::uint64_t signature = (at & bits::low_mask(remainder_bits())) >> table_.shape().more_bits;
    const quotient_table::run run = table_.run_of(at >> remainder_bits());
    for (std::uint64_t slot = run.first; slot < run.last; ++slot) {
        if (table_[slot] == signature) return true;
    }
    return false;
}

bool level::has_room(const whole_hash& h) const noexcept {
    return table_.run_of(quotient(h)).size() < groups::most_run && table_.has_room(quotient(h));
}

unsigned level::shortest(const whole_hash& h) const noexcept {
    unsigned length = 0;
    const std::uint64_t at = baseline(h), quotient = at >> remainder_bits();
    any_hard_collision(at, [&](std::uint64_t, unsigned index) {
        const adaptivity bits = strings_.bits_of({quotient, index});
        length = std::max(length, std::min(bits.shared_with(h.second) + 1, most_adaptivity_bits));
        return false;
    });
    return length;
}

void level::insert(const whole_hash& h, unsigned length) {
    const std::uint64_t at = baseline(h), remainder = at & bits::low_mask(remainder_bits());
    const std::uint64_t quotient = at >> remainder_bits();
    const groups::owner who{quotient, static_cast<unsigned>(table_.run_of(quotient).size())};
    const bool bits_fit = length == 0 || strings_.set_bits(who, adaptivity::of(h.second, length));
    assert(bits_fit);
    (void)bits_fit;
    const auto slot = table_.insert(quotient, remainder >> table_.shape().more_bits,
                                    remainder & bits::low_mask(table_.shape().more_bits));
    assert(slot);
    (void)slot;
}

result<void> level::check() const {
    if (const auto checked = table_.check(); !checked) return checked;
    const auto bad = [](const char* what, std::uint64_t where) {
        return error::make(error_code::corrupt, "broom_paper: %s at quotient %llu", what,
                           static_cast<unsigned long long>(where));
    };
    for (std::uint64_t q = table_.next_occupied(0); q < table_.quotients(); q = table_.next_occupied(q + 1)) {
        const quotient_table::run run = table_.run_of(q);
        if (run.size() > groups::most_run) return bad("a run that is too long", q);
        for (std::uint64_t slot = run.first; table_.shape().more_bits != 0 && slot < run.last; ++slot) {
            for (std::uint64_t other = run.first; other < slot; ++other) {
                if (table_[other] == table_[slot]) return bad("two signatures alike", q);
            }
        }
    }
    std::optional<std::uint64_t> ownerless;
    for (std::uint64_t group = 0; group < strings_.count() && !ownerless; ++group) {
        strings_.each_string(group, [&](std::uint64_t q, bool is_ghost, unsigned index, const adaptivity&) {
            if (!is_ghost && index >= table_.run_of(q).size()) ownerless = q;
        });
    }
    if (ownerless) return bad("adaptivity bits without an owner", *ownerless);
    return {};
}

bool level::extend(const place& at, std::uint64_t stream, unsigned length) {
    assert(at.bits.is_prefix_of(stream) && length > at.bits.length);
    return strings_.set_bits(at.owner(), adaptivity::of(stream, length));
}

void level::erase(const place& at) {
    strings_.forget(at.owner());
    table_.erase(at.quotient, at.slot);
}

}  // namespace genista::broom_paper
