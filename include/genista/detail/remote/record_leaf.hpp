// record_leaf: a sorted run of records (digest, key) in one block of memory; the leaves of
// record_tree.hpp.
//
// Structure of arrays, because a search reads positions only: 64 of them are eight cache lines, of
// which a binary search touches three. A record with a key of up to 8 bytes costs 25 bytes and no
// allocation of its own.
//
//     next      -> the leaf of the following records, or null
//     count     records held
//     positions [p0 p1 p2 ...]     ascending
//     seeds     [s0 s1 s2 ...]
//     words     [w0 w1 w2 ...]     the key's bytes if sizes[i] <= 8, else the address of a long_key
//     sizes     [n0 n1 n2 ...]     key length, or `long_size`
//
//     long_key: | size, 8 bytes | the key's bytes ... |     one allocation, owned by the slot
//
// Slots are moved between leaves as plain bytes: ownership of a long_key goes with its word.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>

#include "genista/hash/key.hpp"

namespace genista {

// Lexicographic by unsigned bytes; a proper prefix comes first.
[[nodiscard]] inline std::strong_ordering compare_keys(key_view a, key_view b) noexcept {
    const std::size_t common = std::min(a.size, b.size);
    const int bytes = common == 0 ? 0 : std::memcmp(a.data, b.data, common);
    if (bytes != 0) return bytes < 0 ? std::strong_ordering::less : std::strong_ordering::greater;
    return a.size <=> b.size;
}

// A key as a leaf stores it: 8 bytes and a length byte. It is not an owner: see make() and
// release().
struct stored_key {
    static constexpr std::size_t inline_bytes = sizeof(std::uint64_t);
    static constexpr std::uint8_t long_size = 0xff;

    std::uint64_t word = 0;
    std::uint8_t size = 0;

    // Throws std::bad_alloc, also for a length that no allocation can have.
    [[nodiscard]] static stored_key make(key_view key) {
        assert(key.size == 0 || key.data != nullptr);
        stored_key made;
        if (key.size <= inline_bytes) {
            if (key.size != 0) std::memcpy(&made.word, key.data, key.size);
            made.size = static_cast<std::uint8_t>(key.size);
            return made;
        }
        if (key.size > std::numeric_limits<std::ptrdiff_t>::max() - sizeof(std::size_t)) throw std::bad_alloc{};
        auto* block = static_cast<std::byte*>(::operator new(sizeof(std::size_t) + key.size));
        std::memcpy(block, &key.size, sizeof(std::size_t));
        std::memcpy(block + sizeof(std::size_t), key.data, key.size);
        std::memcpy(&made.word, &block, sizeof block);
        made.size = long_size;
        return made;
    }
    static_assert(sizeof(std::byte*) <= sizeof(std::uint64_t));

    [[nodiscard]] static std::byte* block_of(std::uint64_t word) noexcept {
        std::byte* block = nullptr;
        std::memcpy(&block, &word, sizeof block);
        return block;
    }

    // Bytes requested from the allocator for this key.
    [[nodiscard]] std::size_t allocated_bytes() const noexcept {
        if (size != long_size) return 0;
        std::size_t length = 0;
        std::memcpy(&length, block_of(word), sizeof length);
        return sizeof length + length;
    }

    void release() const noexcept {
        if (size == long_size) ::operator delete(block_of(word));
    }
};

template <std::size_t Records>
struct record_leaf {
    static_assert(Records >= 2, "a full leaf is split into two that are not empty");

    record_leaf* next = nullptr;
    std::uint32_t count = 0;
    std::array<std::uint64_t, Records> positions;  // slots at and after `count` hold no values
    std::array<std::uint64_t, Records> seeds;
    std::array<std::uint64_t, Records> words;
    std::array<std::uint8_t, Records> sizes;

    [[nodiscard]] digest digest_at(std::size_t slot) const noexcept {
        assert(slot < count);
        return digest{positions[slot], seeds[slot]};
    }

    // Points into this leaf or into the slot's long_key: valid until the tree changes.
    [[nodiscard]] key_view key_at(std::size_t slot) const noexcept {
        assert(slot < count);
        if (sizes[slot] != stored_key::long_size) {
            return key_view{reinterpret_cast<const std::byte*>(&words[slot]), sizes[slot]};
        }
        const std::byte* block = stored_key::block_of(words[slot]);
        std::size_t length = 0;
        std::memcpy(&length, block, sizeof length);
        return key_view{block + sizeof length, length};
    }

    // The record at `slot` against (where, key), in the order of R.
    [[nodiscard]] std::strong_ordering compare(std::size_t slot, const digest& where, key_view key) const noexcept {
        // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the zero of an ordering for a pointer
        if (const auto order = digest_at(slot) <=> where; order != 0) return order;
        return compare_keys(key_at(slot), key);
    }

    // The first slot whose record is not before (where, key); `count` if there is none.
    [[nodiscard]] std::size_t lower_bound(const digest& where, key_view key) const noexcept {
        std::size_t low = 0;
        std::size_t high = count;
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the zero of an ordering for a pointer
            if (compare(middle, where, key) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    // The first slot whose position is at least `position`; `count` if there is none.
    [[nodiscard]] std::size_t lower_bound(std::uint64_t position) const noexcept {
        const auto begin = positions.begin();
        return static_cast<std::size_t>(std::lower_bound(begin, begin + count, position) - begin);
    }

    [[nodiscard]] bool holds(std::size_t slot, const digest& where, key_view key) const noexcept {
        // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the zero of an ordering for a pointer
        return slot < count && compare(slot, where, key) == 0;
    }

    void insert(std::size_t slot, const digest& where, const stored_key& key) noexcept {
        assert(count < Records && slot <= count);
        move_within(slot, slot + 1, count - slot);
        positions[slot] = where.position;
        seeds[slot] = where.seed;
        words[slot] = key.word;
        sizes[slot] = key.size;
        ++count;
    }

    // Takes the record out and hands over its key.
    [[nodiscard]] stored_key remove(std::size_t slot) noexcept {
        assert(slot < count);
        const stored_key key = stored_at(slot);
        move_within(slot + 1, slot, count - slot - 1);
        --count;
        return key;
    }

    [[nodiscard]] stored_key stored_at(std::size_t slot) const noexcept {
        return {.word = words[slot], .size = sizes[slot]};
    }

    // The last `moved` records go to the front of `right`, which follows this leaf.
    void give_tail(record_leaf& right, std::size_t moved) noexcept {
        assert(moved <= count && right.count + moved <= Records);
        right.move_within(0, moved, right.count);
        copy_slots(*this, count - moved, right, 0, moved);
        count -= static_cast<std::uint32_t>(moved);
        right.count += static_cast<std::uint32_t>(moved);
    }

    // The first `moved` records of `right`, which follows this leaf, go to the end of this one.
    void take_head(record_leaf& right, std::size_t moved) noexcept {
        assert(moved <= right.count && count + moved <= Records);
        copy_slots(right, 0, *this, count, moved);
        right.move_within(moved, 0, right.count - moved);
        right.count -= static_cast<std::uint32_t>(moved);
        count += static_cast<std::uint32_t>(moved);
    }

  private:
    // Overlap is allowed (memmove), so one routine serves shifts and transfers.
    static void copy_slots(const record_leaf& source, std::size_t from, record_leaf& target, std::size_t to,
                           std::size_t slots) noexcept {
        if (slots == 0) return;
        std::memmove(&target.positions[to], &source.positions[from], slots * sizeof source.positions[0]);
        std::memmove(&target.seeds[to], &source.seeds[from], slots * sizeof source.seeds[0]);
        std::memmove(&target.words[to], &source.words[from], slots * sizeof source.words[0]);
        std::memmove(&target.sizes[to], &source.sizes[from], slots * sizeof source.sizes[0]);
    }

    void move_within(std::size_t from, std::size_t to, std::size_t slots) noexcept {
        copy_slots(*this, from, *this, to, slots);
    }
};

}  // namespace genista
