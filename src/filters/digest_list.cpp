// The table of digest_list: find, grow, insert, erase and load. See digest_list.hpp.
#include "filters/digest_list.hpp"

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

result<digest_list::room> digest_list::room_for(const digest& d) const noexcept {
    const std::uint64_t entries = size() + 1;
    if (table_ && !is_crowded(entries, quotients()) && table_->has_room(place_in(quotients(), d).quotient))
        return room{.found = true};
    // Crowded: grow by an eighth. No place despite free slots: double, which soon makes the table
    // sparse.
    const std::uint64_t most = std::max(first_quotients, sparse * entries);
    for (std::uint64_t wanted = next_larger(quotients()); wanted <= most; wanted *= 2) {
        auto made = quotient_table::make(shape_for(wanted));
        if (!made) return made.error();
        bool fits = true;
        each([&](const digest& old) { return fits = insert_into(*made, old); });
        if (fits && made->has_room(place_in(wanted, d).quotient)) return room{true, *std::move(made)};
    }
    return room{};
}

void digest_list::insert(const digest& d, room& there) noexcept {
    assert(there.found && !contains(d));
    if (there.larger) std::swap(table_, there.larger);
    [[maybe_unused]] const bool inserted = insert_into(*table_, d);
    assert(inserted);
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

result<digest_list> digest_list::from_bytes(std::uint64_t quotients, std::span<const std::byte> bytes) noexcept {
    digest_list made;
    if (quotients == 0 && bytes.empty()) return made;
    // Each quotient takes more than 8 bytes: an impossible size is refused here.
    if (quotients < first_quotients || quotients > bytes.size() / 8)
        return error::make(error_code::corrupt, "list of digests: %zu bytes for %llu quotients", bytes.size(),
                           static_cast<unsigned long long>(quotients));
    auto table = quotient_table::from_bytes(shape_for(quotients), bytes);
    if (!table) return table.error();
    made.table_.emplace(*std::move(table));
    // Each entry must be a digest of its quotient, and no digest may be there twice, or an erase
    // would leave one behind.
    for (std::uint64_t q = made.table_->next_occupied(0); q < quotients; q = made.table_->next_occupied(q + 1)) {
        const quotient_table::run run = made.table_->run_of(q);
        const position_range range = range_of_bin(q, quotients);
        for (std::uint64_t slot = run.first; slot < run.last; ++slot) {
            const std::uint64_t rest = (*made.table_)[slot];
            const bool belongs = rest <= range.last - range.first;
            if (!belongs || *made.find(digest{range.first + rest, made.table_->more(slot)}) != slot)
                return error::make(error_code::corrupt, "list of digests: an entry of quotient %llu that cannot be",
                                   static_cast<unsigned long long>(q));
        }
    }
    return made;
}

}  // namespace genista
