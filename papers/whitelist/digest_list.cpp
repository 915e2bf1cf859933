// The table of digest_list: find, grow, insert and erase. See digest_list.hpp.
#include "papers/whitelist/digest_list.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "genista/remote/remote.hpp"

namespace genista {
namespace {

constexpr std::uint64_t first_quotients = 64;
// Once in 10^7 tables at full load an entry would move further than this, by the tail of linear
// probing, (7/8) e^(1/8) to the power of the window; a table that refuses an entry grows a little
// earlier.
constexpr unsigned window = 2048;
// If a table this empty has no place for an entry, growing will not help: the positions do not come
// from a hash function.
constexpr std::uint64_t sparse = 16;

std::uint64_t next_larger(std::uint64_t quotients) noexcept {
    if (quotients == 0) return first_quotients;
    return (quotients + quotients / 8 + 63) / 64 * 64;
}
bool is_crowded(std::uint64_t entries, std::uint64_t quotients) noexcept {
    return entries > quotients - quotients / 8;
}

}  // namespace

quotient_shape digest_list::shape_for(std::uint64_t quotients) noexcept {
    return {.quotients = quotients,
            .bits = 65 - static_cast<unsigned>(std::bit_width(quotients)),
            .more_bits = 64,
            .window = window};
}

digest_list::place digest_list::place_in(std::uint64_t quotients, const digest& d) noexcept {
    const std::uint64_t quotient = scale(d.position, quotients);
    return {quotient, d.position - range_of_bin(quotient, quotients).first};
}

std::optional<std::uint64_t> digest_list::find(const digest& d) const noexcept {
    const place at = place_in(table_->quotients(), d);
    const quotient_table::run run = table_->run_of(at.quotient);
    for (std::uint64_t slot = run.first; slot < run.last; ++slot) {
        if ((*table_)[slot] == at.rest && table_->more(slot) == d.seed) return slot;
    }
    return std::nullopt;
}

bool digest_list::insert_into(quotient_table& table, const digest& d) noexcept {
    const place at = place_in(table.quotients(), d);
    return table.insert(at.quotient, at.rest, d.seed).has_value();
}

template <class Take>
void digest_list::each(Take take) const {
    if (!table_) return;
    const std::uint64_t quotients = table_->quotients();
    for (std::uint64_t q = table_->next_occupied(0); q < quotients; q = table_->next_occupied(q + 1)) {
        const quotient_table::run run = table_->run_of(q);
        const std::uint64_t first = range_of_bin(q, quotients).first;
        for (std::uint64_t slot = run.first; slot < run.last; ++slot) {
            if (!take(digest{first + (*table_)[slot], table_->more(slot)})) return;
        }
    }
}

// Crowded: grow by an eighth. No place despite free slots: double, which soon makes the table
// sparse.
result<std::optional<quotient_table>> digest_list::larger_table(const digest& d) const noexcept {
    const std::uint64_t most = std::max(first_quotients, sparse * (size() + 1));
    for (std::uint64_t wanted = next_larger(quotients()); wanted <= most; wanted *= 2) {
        auto made = quotient_table::make(shape_for(wanted));
        if (!made) return made.error();
        bool fits = true;
        each([&](const digest& old) { return fits = insert_into(*made, old); });
        if (fits && made->has_room(place_in(wanted, d).quotient)) return std::optional{*std::move(made)};
    }
    return std::optional<quotient_table>{};
}

result<bool> digest_list::insert(const digest& d) noexcept {
    assert(!contains(d));
    if (!table_ || is_crowded(size() + 1, quotients()) || !table_->has_room(place_in(quotients(), d).quotient)) {
        auto larger = larger_table(d);
        if (!larger) return larger.error();
        if (!*larger) return false;
        table_ = *std::move(larger);
    }
    [[maybe_unused]] const bool inserted = insert_into(*table_, d);
    assert(inserted);
    return true;
}

bool digest_list::erase(const digest& d) noexcept {
    if (!table_) return false;
    const auto slot = find(d);
    if (!slot) return false;
    table_->erase(place_in(table_->quotients(), d).quotient, *slot);
    return true;
}

std::uint64_t digest_list::bytes_for(std::uint64_t entries) noexcept {
    if (entries == 0) return 0;
    std::uint64_t quotients = first_quotients;
    while (is_crowded(entries, quotients)) quotients = next_larger(quotients);
    return quotient_table::bytes_for(shape_for(quotients));
}

}  // namespace genista
