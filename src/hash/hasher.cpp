// hasher: key schedules, kernel choice and random keys. See hasher.hpp.
#include "genista/hash/hasher.hpp"

#include <sys/random.h>

#include <cassert>
#include <cerrno>
#include <cstring>

#include "base/cpu.hpp"
#include "hash/digest_kernels_includes.hpp"

namespace genista {

// The entry points of one instruction set (hasher_kernels.inl).
struct hasher_table {
    digest (*one)(const hash_state&, key_view) noexcept;
    digest (*integer)(const hash_state&, std::uint64_t) noexcept;
    void (*batch)(const hash_state&, const std::uint64_t*, std::size_t, digest*) noexcept;
    digest (*block)(const hash_state&, std::uint64_t, std::uint64_t) noexcept;
    void (*blocks)(const hash_state&, digest*, std::size_t) noexcept;
};

}  // namespace genista

#define GENISTA_KERNELS "hash/hasher_kernels.inl"
#include "base/foreach_isa.hpp"

namespace genista {

result<hash_key> hash_key::random() noexcept {
    hash_key key;
    std::size_t filled = 0;
    while (filled < key.bytes.size()) {
        const ssize_t got = ::getrandom(key.bytes.data() + filled, key.bytes.size() - filled, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            return error::make(error_code::io, "no random bytes from the operating system: %s", std::strerror(errno));
        }
        filled += static_cast<std::size_t>(got);
    }
    return key;
}

hash_key hash_key::from_seed(std::uint64_t seed) noexcept {
    hash_key key;
    for (std::uint64_t word = 0; word < 4; ++word) {
        const std::array<std::uint64_t, 2> counter = {seed, word};
        std::array<std::byte, 16> text{};
        for (std::size_t i = 0; i < 16; ++i) text[i] = static_cast<std::byte>(counter[i / 8] >> (8 * (i % 8)));
        const std::uint64_t drawn =
            siphash_64<2, 4>(0x67656e6973746120u, 0x73656564206b6579u, text.data(), text.size());
        for (std::size_t i = 0; i < 8; ++i) key.bytes[8 * word + i] = static_cast<std::uint8_t>(drawn >> (8 * i));
    }
    return key;
}

std::uint64_t hash_key::id() const noexcept {
    // Depends on both halves; two nested keyed hashes of a constant reveal neither.
    std::array<std::uint64_t, 4> words{};
    for (std::size_t i = 0; i < 32; ++i) words[i / 8] |= std::uint64_t{bytes[i]} << (8 * (i % 8));
    constexpr std::array<std::byte, 8> label = {std::byte{'k'}, std::byte{'e'}, std::byte{'y'}, std::byte{' '},
                                                std::byte{'i'}, std::byte{'d'}, std::byte{'.'}, std::byte{'1'}};
    const std::uint64_t inner = siphash_64<2, 4>(words[0], words[1], label.data(), label.size());
    return siphash_64<2, 4>(words[2] ^ inner, words[3], label.data(), label.size());
}

hasher::hasher() noexcept = default;

hasher::hasher(const hash_key& key, hash_kind kind) noexcept : key_{key} {
    assert(kind != hash_kind::custom && "use hasher::custom");
    aes::block aes_key;
    std::memcpy(aes_key.data(), key.bytes.data(), aes_key.size());
    state_.round_keys = aes::expand_key(aes_key);
    for (std::size_t i = 0; i < 16; ++i) state_.sip_key[i / 8] |= std::uint64_t{key.bytes[16 + i]} << (8 * (i % 8));
    state_.trusted_seed = state_.sip_key[0];
    state_.kind = kind;
    pick_kernels();
}

hasher hasher::custom(digest (*function)(const void* context, key_view key) noexcept, const void* context) noexcept {
    hasher made;
    made.state_.kind = hash_kind::custom;
    made.state_.custom = function;
    made.state_.context = context;
    made.pick_kernels();
    return made;
}

void hasher::pick_kernels() noexcept {
    const hasher_table& picked = *GENISTA_PICK(hasher_entries);
    one_ = picked.one;
    one_integer_ = picked.integer;
    batch_ = picked.batch;
    block_ = picked.block;
    blocks_ = picked.blocks;
}

void hasher::operator()(std::span<const std::uint64_t> keys, std::span<digest> out) const noexcept {
    assert(out.size() >= keys.size());
    batch_(state_, keys.data(), keys.size(), out.data());
}

}  // namespace genista
