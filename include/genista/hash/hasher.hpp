// hasher: key → digest, the one function between a filter's user and its bits.
//
// `keyed` (the default) is a pseudo-random function under a secret key, so that no attacker can
// choose keys that collide: published key sets collide under *every* seed of MurmurHash64A, and
// there is a pair of 1 KiB keys that collides in all 128 bits of XXH3-128 under one seed in 64
// (tests/hash/collisions_test.cpp shows both). One AES-128 block covers keys of up to 15 bytes:
//
//     byte 0 ......... size-1   size ......... 14   15
//     [ key bytes              | zeros            | size ]   → AES-128 → position (bytes 0..7), seed (bytes 8..15)
//
// The last byte makes the padding injective, so a digest collision below 16 bytes is impossible
// (AES permutes blocks). Longer keys take SipHash-1-3 with 128 bits of output. The bytes are the
// same on every processor, with or without AES instructions, because R's order on disk depends on
// them.
//
// `trusted` is XXH3-128 under a random seed: an explicit choice for keys that no adversary picks. A
// caller that can pick long keys can make pairs that collide under far too many seeds; keeping the
// seed secret does not help.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "genista/base/result.hpp"
#include "genista/hash/key.hpp"

namespace genista {

// The ids are written into snapshots: never renumber.
enum class hash_kind : std::uint16_t {
    custom = 0,   // a function of the caller's, for tests and controls; cannot be saved
    keyed = 1,    // AES-128 up to 15 bytes, SipHash-1-3-128 beyond: for keys that an attacker may choose
    trusted = 2,  // XXH3-128 with a random seed: faster on long keys, for keys that no attacker chooses
};

// An expanded hash key, the plain data that the hashing kernels read.
struct alignas(16) hash_state {
    std::array<std::array<std::uint8_t, 16>, 11> round_keys{};  // AES-128, encryption order
    std::uint64_t sip_key[2] = {0, 0};
    std::uint64_t trusted_seed = 0;
    hash_kind kind = hash_kind::keyed;
    digest (*custom)(const void* context, key_view key) noexcept = nullptr;
    const void* context = nullptr;
};

// The secret of a filter. Without it no key can be aimed at the filter's bits.
struct hash_key {
    std::array<std::uint8_t, 32> bytes{};  // 0..15 the AES-128 key, 16..31 the SipHash key

    // From the operating system's generator; the default of every filter.
    [[nodiscard]] static result<hash_key> random() noexcept;

    // The same key for the same seed on every machine: for tests and for experiments that must
    // repeat. Not secret.
    [[nodiscard]] static hash_key from_seed(std::uint64_t seed) noexcept;

    // Names the key without giving it away: 64 bits of a keyed function of a constant.
    [[nodiscard]] std::uint64_t id() const noexcept;

    friend bool operator==(const hash_key&, const hash_key&) noexcept = default;
};

class hasher {
  public:
    explicit hasher(const hash_key& key, hash_kind kind = hash_kind::keyed) noexcept;

    // A hash of the caller's own, for controls and tests. A filter that uses one cannot be saved.
    [[nodiscard]] static hasher custom(digest (*function)(const void* context, key_view key) noexcept,
                                       const void* context) noexcept;

    [[nodiscard]] digest operator()(key_view key) const noexcept { return one_(state_, key); }
    [[nodiscard]] digest operator()(integer_key key) const noexcept { return one_integer_(state_, key.value()); }
    // out.size() ≥ keys.size(). Several times faster than one by one where the processor has wide
    // AES.
    void operator()(std::span<const std::uint64_t> keys, std::span<digest> out) const noexcept;

    // One raw AES-128 block under the key, whatever the kind: what fingerprints are renewed with.
    [[nodiscard]] digest encrypt(std::uint64_t low, std::uint64_t high) const noexcept {
        return block_(state_, low, high);
    }
    // Many of them, each in its place: low and high half in, position and seed out.
    void encrypt(std::span<digest> blocks) const noexcept { blocks_(state_, blocks.data(), blocks.size()); }

    [[nodiscard]] hash_kind kind() const noexcept { return state_.kind; }
    [[nodiscard]] const hash_key& key() const noexcept { return key_; }
    [[nodiscard]] const hash_state& state() const noexcept { return state_; }

    // Same function, so that two filters may be merged.
    [[nodiscard]] friend bool operator==(const hasher& a, const hasher& b) noexcept {
        return a.kind() == b.kind() && a.key_ == b.key_ && a.state_.custom == b.state_.custom &&
               a.state_.context == b.state_.context;
    }

  private:
    hasher() noexcept;
    void pick_kernels() noexcept;

    hash_state state_;
    hash_key key_;
    digest (*one_)(const hash_state&, key_view) noexcept = nullptr;
    digest (*one_integer_)(const hash_state&, std::uint64_t) noexcept = nullptr;
    digest (*block_)(const hash_state&, std::uint64_t, std::uint64_t) noexcept = nullptr;
    void (*blocks_)(const hash_state&, digest*, std::size_t) noexcept = nullptr;
    void (*batch_)(const hash_state&, const std::uint64_t*, std::size_t, digest*) noexcept = nullptr;
};

}  // namespace genista
