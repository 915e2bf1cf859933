// The strings of groups of quotients, and their memory. See groups.hpp.
#include "papers/broom_paper/groups.hpp"

#include <algorithm>
#include <cassert>
#include <new>

namespace genista::broom_paper {

groups::groups(std::uint64_t quotients, unsigned remainder_bits)
    : in_group_{quotients_in_group(remainder_bits)}, handles_((quotients + in_group_ - 1) / in_group_, none) {}

//  ---- strings

groups::string groups::tagged(std::uint64_t tag, const adaptivity& bits) noexcept {
    return string::of(wide::of(tag) | (wide::of(bits.bits) << tag_bits), tag_bits + bits.length);
}

std::uint64_t groups::tag_at(const strings& all, std::size_t rank) noexcept {
    return (all.data() >> all.begin(rank)).words[0] & bits::low_mask(tag_bits);
}

adaptivity groups::bits_at(const strings& all, std::size_t rank) noexcept {
    const string found = all.at(rank);
    return {(found.bits >> tag_bits).words[0], static_cast<unsigned>(found.length - tag_bits)};
}

std::size_t groups::lower_bound(const strings& all, std::uint64_t tag) noexcept {
    std::size_t first = 0;
    for (std::size_t length = all.count(); length > 0;) {
        const std::size_t half = length / 2;
        if (tag_at(all, first + half) < tag) {
            first += half + 1;
            length -= half + 1;
        } else {
            length = half;
        }
    }
    return first;
}

//  ---- memory

groups::strings groups::load_group(std::uint64_t group) const noexcept {
    strings made;
    const std::uint32_t handle = handles_[group];
    if (handle == none) return made;
    const unsigned size_class = handle % classes;
    const std::uint64_t* const block = pools_[size_class].words.data() + handle / classes * block_words(size_class);
    wide data, ends;
    for (std::size_t i = 0; i < block_words(size_class) / 2; ++i) {
        data.words[i] = block[i];
        ends.words[i] = block[block_words(size_class) / 2 + i];
    }
    made.replace(data, ends);
    return made;
}

void groups::store_group(std::uint64_t group, const strings& all) {
    const std::size_t used = all.used_slots();
    unsigned size_class = 0;
    while (used > bits::word_bits * block_words(size_class) / 2) ++size_class;
    const std::uint32_t old = handles_[group];
    if (used == 0 || old == none || old % classes != size_class) {
        const std::uint32_t made = used == 0 ? none : take_block(size_class);
        if (old != none) give_block(old);
        handles_[group] = made;
    }
    if (used == 0) return;
    std::uint64_t* const block = pools_[size_class].words.data() + handles_[group] / classes * block_words(size_class);
    for (std::size_t i = 0; i < block_words(size_class) / 2; ++i) {
        block[i] = all.data().words[i];
        block[block_words(size_class) / 2 + i] = all.ends().words[i];
    }
}

std::uint32_t groups::take_block(unsigned size_class) {
    pool& from = pools_[size_class];
    const std::size_t words = block_words(size_class);
    if (from.free != none) {
        const std::uint32_t block = from.free;
        from.free = static_cast<std::uint32_t>(from.words[block * words]);
        return block * classes + size_class;
    }
    const std::size_t blocks = from.words.size() / words;
    if (blocks >= none / classes) throw std::bad_alloc{};
    // Grows by eighths: the unused part of the pool is local memory, too.
    if (from.words.capacity() < from.words.size() + words)
        from.words.reserve(from.words.size() + words * std::max<std::size_t>(16, blocks / 8));
    from.words.resize(from.words.size() + words);
    return static_cast<std::uint32_t>(blocks) * classes + size_class;
}

void groups::give_block(std::uint32_t handle) noexcept {
    pool& to = pools_[handle % classes];
    const std::uint32_t block = handle / classes;
    to.words[block * block_words(handle % classes)] = to.free;
    to.free = block;
}

std::uint64_t groups::allocated_bytes() const noexcept {
    std::uint64_t bytes = handles_.capacity() * sizeof(std::uint32_t);
    for (const pool& each : pools_) bytes += each.words.capacity() * sizeof(std::uint64_t);
    return bytes;
}

bool groups::has_room(std::uint64_t quotient, std::size_t more_bits, std::size_t more_strings) const noexcept {
    const strings all = load_group(quotient / in_group_);
    return more_bits + more_strings * (tag_bits + 1) <= all.free_slots();
}

//  ---- fingerprints

adaptivity groups::bits_of(const owner& who) const noexcept {
    if (handles_[who.quotient / in_group_] == none) return {};
    const strings all = load_group(who.quotient / in_group_);
    const std::uint64_t tag = tag_of(who.quotient, false, who.index);
    const std::size_t rank = lower_bound(all, tag);
    return rank < all.count() && tag_at(all, rank) == tag ? bits_at(all, rank) : adaptivity{};
}

bool groups::set_bits(const owner& who, const adaptivity& bits) {
    const std::uint64_t group = who.quotient / in_group_, tag = tag_of(who.quotient, false, who.index);
    strings all = load_group(group);
    const std::size_t rank = lower_bound(all, tag);
    if (rank < all.count() && tag_at(all, rank) == tag) all.erase(rank);
    if (bits.length > 0 && all.insert(rank, tagged(tag, bits)) == bits::edit::full) return false;
    store_group(group, all);
    return true;
}

void groups::forget(const owner& who) {
    const std::uint64_t group = who.quotient / in_group_;
    if (handles_[group] == none) return;
    strings all = load_group(group);
    const std::uint64_t tag = tag_of(who.quotient, false, who.index), past = tag_of(who.quotient, true, 0);
    std::size_t rank = lower_bound(all, tag);
    if (rank < all.count() && tag_at(all, rank) == tag) all.erase(rank);
    for (; rank < all.count() && tag_at(all, rank) < past; ++rank) {  // those behind it in the run
        const std::uint64_t moved = tag_at(all, rank) - 1;
        const adaptivity bits = bits_at(all, rank);
        all.erase(rank);
        (void)all.insert(rank, tagged(moved, bits));
    }
    store_group(group, all);
}

//  ---- ghosts

bool groups::add_ghost(std::uint64_t quotient, const adaptivity& bits) {
    assert(bits.length > 0);
    const std::uint64_t group = quotient / in_group_, tag = tag_of(quotient, true, 0);
    strings all = load_group(group);
    if (all.insert(lower_bound(all, tag), tagged(tag, bits)) == bits::edit::full) return false;
    store_group(group, all);
    return true;
}

bool groups::remove_ghost(std::uint64_t quotient, const adaptivity& bits) {
    const std::uint64_t group = quotient / in_group_, tag = tag_of(quotient, true, 0);
    strings all = load_group(group);
    for (std::size_t rank = lower_bound(all, tag); rank < all.count() && tag_at(all, rank) == tag; ++rank) {
        if (bits_at(all, rank) != bits) continue;
        all.erase(rank);
        store_group(group, all);
        return true;
    }
    return false;
}

unsigned groups::longest_ghost(std::uint64_t quotient, std::uint64_t stream) const noexcept {
    if (handles_[quotient / in_group_] == none) return 0;
    const strings all = load_group(quotient / in_group_);
    const string query = tagged(tag_of(quotient, true, 0), {stream, most_adaptivity_bits});
    unsigned longest = 0;
    wide matches = all.prefix_match(query);
    for (std::size_t rank; matches.any(); matches = matches.without(wide::bit(rank))) {
        rank = matches.select(0);
        longest = std::max(longest, static_cast<unsigned>(all.length(rank)) - tag_bits);
    }
    return longest;
}

unsigned groups::past_all_strings(std::uint64_t quotient, std::uint64_t stream) const noexcept {
    if (handles_[quotient / in_group_] == none) return 0;
    const strings all = load_group(quotient / in_group_);
    const std::uint64_t end = tag_of(quotient, true, 0) + 1;
    unsigned longest = 0;
    for (std::size_t rank = lower_bound(all, tag_of(quotient, false, 0)); rank < all.count() && tag_at(all, rank) < end;
         ++rank) {
        const adaptivity other = bits_at(all, rank);
        longest = std::max(longest, std::min(other.shared_with(stream) + 1, other.length));
    }
    return longest;
}

groups::contents groups::in_group(std::uint64_t group) const noexcept {
    const strings all = load_group(group);
    contents found;
    for (std::size_t rank = 0; rank < all.count(); ++rank) {
        const bool ghost = (tag_at(all, rank) >> 4 & 1) != 0;
        (ghost ? found.ghosts : found.fingerprints) += 1;
        (ghost ? found.ghost_bits : found.bits) += all.length(rank) - tag_bits;
    }
    return found;
}

}  // namespace genista::broom_paper
