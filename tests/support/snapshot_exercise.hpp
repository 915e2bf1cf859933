// Loads bytes that may be forged into one kind of filter and uses the filter that results.
//
// Shared by tests/filters/snapshot_test.cpp and fuzz/snapshot_fuzz.cpp. It uses no test framework:
// a broken promise is returned as a text, and sanitizers find anything worse.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "genista/detail/format/fields.hpp"
#include "genista/detail/format/snapshot.hpp"
#include "genista/filters/filter.hpp"
#include "genista/hash/hasher.hpp"
#include "tests/support/fix_checksums.hpp"

namespace genista::test {

// Where the parameter block holds the hash key (docs/format.md): after capacity, rate and keys; at
// its begin in kinds 13 and 14, which have none of these.
inline std::size_t hash_key_at(std::span<const std::byte> bytes) {
    const unsigned kind = load_little_endian<std::uint16_t>(&bytes[10]);
    return kind == 13 || kind == 14 ? 192 : 192 + 24;
}

// Makes the key id match the key, so that files in which either was changed get past that check.
inline void fix_key_id(std::span<std::byte> bytes) {
    hash_key key;
    if (bytes.size() < 192 + 24 + key.bytes.size()) return;
    const std::size_t at = hash_key_at(bytes);
    for (std::size_t i = 0; i < key.bytes.size(); ++i) key.bytes[i] = std::to_integer<std::uint8_t>(bytes[at + i]);
    put_little_endian(bytes, 16, 8, key.id());
}

// Makes the parts add up again after a resize: whole lines, and the last section gets what the
// others leave.
inline void fit_lengths(std::vector<std::byte>& bytes) {
    if (bytes.size() < 256) return;
    bytes.resize(bytes.size() / 64 * 64);
    const auto lines = [](std::uint64_t length) { return length / 64 + (length % 64 != 0 ? 1 : 0); };
    const std::uint64_t count = load_little_endian<std::uint32_t>(&bytes[60]);
    const std::size_t at = lengths_header_at(bytes);
    std::uint64_t left = bytes.size() / 64 - (at == 0 ? 3 : 6);
    const std::uint64_t parameters = lines(load_little_endian<std::uint32_t>(&bytes[56]));
    if (count == 0 || count > 8 || parameters > left) return;
    left -= parameters;
    for (std::size_t i = 0; i + 1 < count; ++i) {
        const std::uint64_t taken = lines(load_little_endian<std::uint64_t>(&bytes[at + 64 + 8 * i]));
        if (taken > left) return;
        left -= taken;
    }
    const std::size_t last = at + 64 + 8 * (count - 1);
    if (lines(load_little_endian<std::uint64_t>(&bytes[last])) != left) put_little_endian(bytes, last, 8, 64 * left);
}

struct exercise_outcome {
    bool loaded = false;
    const char* broken = nullptr;  // the promise that did not hold
};

// Queries, inserts and erases; returns the broken promise, or nullptr.
template <class Filter>
const char* use_filter(Filter& filter) {
    constexpr std::uint64_t first = 0x5eed;
    constexpr std::size_t count = 9;
    std::array<std::uint64_t, count> keys{};
    std::array<bool, count> inserted{};
    for (std::size_t i = 0; i < count; ++i) {
        keys[i] = first + i;
        static_cast<void>(filter.may_contain(keys[i]));
        inserted[i] = filter.insert(keys[i]) != insert_outcome::full;
    }
    const bool text_inserted = filter.insert(key_view{"a text of more than fifteen bytes"}) != insert_outcome::full;
    std::array<std::uint64_t, words_for(count)> answers{};
    filter.may_contain(std::span<const std::uint64_t>{keys}, answers);
    for (std::size_t i = 0; i < count; ++i) {
        if (inserted[i] && !filter.may_contain(keys[i])) return "a false negative";
        if (((answers[0] >> i & 1) != 0) != filter.may_contain(keys[i])) return "a batch gives other answers";
    }
    if (text_inserted && !filter.may_contain(key_view{"a text of more than fifteen bytes"})) return "a false negative";
    if constexpr (locally_erasable_filter<Filter>) {
        if (inserted[0] && filter.erase(keys[0]) != erase_outcome::erased) return "a stored key that cannot be erased";
        for (std::size_t i = 1; i < count; ++i) {
            if (inserted[i] && !filter.may_contain(keys[i])) return "a false negative after an erase";
        }
    }
    return nullptr;
}

// Equal but for the field of the store, which a filter without a store does not keep.
inline bool same_contents(std::span<const std::byte> a, std::span<const std::byte> b) {
    const result<snapshot_view> first = open_snapshot(a), second = open_snapshot(b);
    if (!first || !second || first->section_count != second->section_count) return false;
    bool same = first->info.kind == second->info.kind && first->info.kind_version == second->info.kind_version &&
                first->info.hash_id == second->info.hash_id && first->info.key_id == second->info.key_id &&
                std::ranges::equal(first->parameters, second->parameters);
    for (std::size_t i = 0; i < first->section_count; ++i) {
        same = same && std::ranges::equal(first->sections[i], second->sections[i]);
    }
    return same;
}

// How large a loaded filter may be: so many times its bytes, and so much more.
struct size_bound {
    std::uint64_t times = 2, more = 4096;
};

// For a filter just loaded: size, and saving it again; returns the broken promise, or nullptr.
template <class Filter>
const char* check_as_loaded(const Filter& filter, std::span<const std::byte> bytes, const size_bound& bound) {
    vector_sink first;
    if (!filter.save(first)) return "the loaded filter cannot be saved";
    if (!same_contents(first.bytes(), bytes)) return "the saved bytes differ from the loaded ones";
    if (filter.stats().local_bytes > bound.times * bytes.size() + bound.more)
        return "the filter is much larger than its snapshot";
    return nullptr;
}

// Saves and loads once more, after use; answer(filter, key) is its answer for a key.
template <class Filter, class Answer>
const char* check_saved_again(const Filter& filter, const Answer& answer) {
    vector_sink out;
    if (!filter.save(out)) return "the filter cannot be saved after use";
    const result<Filter> again = Filter::load(out.bytes());
    if (!again) return "the snapshot does not load after use";
    for (std::uint64_t key = 0x5eed; key < 0x5eed + 90; ++key) {
        if (answer(filter, key) != answer(*again, key)) return "the answers changed by saving and loading";
    }
    return nullptr;
}

inline constexpr auto plain_answer = [](const auto& filter, std::uint64_t key) { return filter.may_contain(key); };

// use(filter) returns the broken promise, or nullptr.
template <class Filter, class Use, class Answer>
exercise_outcome exercise_with(std::span<const std::byte> bytes, const size_bound& bound, const Use& use,
                               const Answer& answer) {
    result<Filter> filter = Filter::load(bytes);
    if (!filter) return {.broken = filter.error().message().empty() ? "an error without a message" : nullptr};
    const char* broken = check_as_loaded(*filter, bytes, bound);
    if (broken == nullptr) broken = use(*filter);
    if (broken == nullptr) broken = check_saved_again(*filter, answer);
    return {.loaded = true, .broken = broken};
}

template <class Filter>
exercise_outcome exercise_snapshot(std::span<const std::byte> bytes) {
    return exercise_with<Filter>(bytes, {}, use_filter<Filter>, plain_answer);
}

}  // namespace genista::test
