// A broom filter whose hash function is public: CRC-32C of the key, spread over 128 bits, as many
// tables hash their integers.
//
// All rules hold, and yet the game is lost twice, both times by computing instead of asking.
//   Equal digests. A CRC is linear: m ^ d has the CRC of m for 2^32 differences d, which can be
//     solved for. Such a key has the digest of the stored key m, so that no renewal and no
//     extension can separate them: a permanent false positive, found without a query.
//   Flood. Positions are public too: after 113 keys of one bin, and of no other, the filter must
//     refuse the last one though it is nearly empty. (The rate would still be kept: it comes from
//     the capacity of a bin.)
#include <stdexcept>

#include "genista/filters/broom.hpp"
#include "lab/adversaries/adversary.hpp"
#include "lab/controls/controls.hpp"
#include "lab/games/learning_arena.hpp"

namespace genista::lab {
namespace {

constexpr std::uint64_t spread(std::uint64_t x) noexcept {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

constexpr std::uint32_t crc32c(std::uint64_t key) noexcept {
    std::uint32_t crc = ~std::uint32_t{0};
    for (int bit = 0; bit < 64; ++bit, key >>= 1) {
        const bool odd = ((crc ^ key) & 1) != 0;
        crc = crc >> 1 ^ (odd ? 0x82f63b78u : 0);  // the Castagnoli polynomial, reflected
    }
    return ~crc;
}

constexpr digest public_digest(std::uint64_t key) noexcept {
    const std::uint64_t crc = crc32c(key);
    return digest{spread(crc), spread(crc + 0x9e3779b97f4a7c15u)};
}

digest public_hash(const void* /*context*/, key_view key) noexcept {
    std::uint64_t integer = 0;
    for (std::size_t i = key.size; i-- > 0;) integer = integer << 8 | std::to_integer<std::uint64_t>(key.data[i]);
    return public_digest(integer);
}

// Differences that do not change the CRC, all of them at least 2^40: Gaussian elimination over the
// effects of single bits.
std::vector<std::uint64_t> blind_differences() {
    struct row {
        std::uint32_t effect;
        std::uint64_t difference;
    };
    std::vector<row> basis;
    std::vector<std::uint64_t> blind;
    for (unsigned bit = 0; bit < 64; ++bit) {
        row now{crc32c(std::uint64_t{1} << bit) ^ crc32c(0), std::uint64_t{1} << bit};
        for (const row& each : basis) {
            if ((now.effect ^ each.effect) < now.effect)
                now = {now.effect ^ each.effect, now.difference ^ each.difference};
        }
        if (now.effect != 0) {
            basis.push_back(now);
        } else if (now.difference >> 40 != 0) {
            blind.push_back(now.difference);
        }
    }
    return blind;
}

broom_options public_options(std::uint64_t seed) {
    broom_options options;
    options.capacity = few_bins.capacity;
    options.hash = hasher::custom(public_hash, nullptr);
    options.random = repeatable(seed);
    return options;
}

control_outcome guess_equal_digests(const control_plan& plan) {
    control_outcome out{.name = "unkeyed hash", .attack = "equal digests: keys with a stored key's digest"};
    broom_arena<broom_filter> at{public_options(plan.seed)};
    fill(at, few_bins.keys);
    const auto differences = blind_differences();
    for (std::uint64_t member = 0; member < few_bins.keys; ++member)
        at.guess(member ^ differences[member % differences.size()]);
    out.rate = at.rate();
    out.played = at.counted();
    judge(out);
    return out;
}

control_outcome flood_one_bin(const control_plan& plan) {
    constexpr std::uint64_t target = std::uint64_t{1}
                                     << 52;  // positions below it: one bin, and still one after some growth
    control_outcome out{.name = "unkeyed hash", .attack = "flood: inserts into one bin until one is refused"};
    broom_options options = public_options(plan.seed);
    options.capacity = many_bins.capacity;
    broom_arena<broom_filter> at{options};
    out.rate = at.rate();
    std::uint64_t joined = 0;
    try {
        for (std::uint64_t key = 0; joined < options.capacity / 16; ++key) {
            if (public_digest(key).position >= target) continue;
            at.insert(key);
            ++joined;
        }
    } catch (const std::runtime_error&) {
        out.won = true;
    }
    out.played = at.counted();
    out.note = (out.won ? "refused the key after " : "took ") + std::to_string(joined) + " of " +
               std::to_string(options.capacity) + " keys";
    return out;
}

}  // namespace

std::vector<control_outcome> play_unkeyed_hash(const control_plan& plan) {
    std::vector<control_outcome> played;
    if (plan.only.empty() || plan.only == "unkeyed hash") played = {guess_equal_digests(plan), flood_one_bin(plan)};
    plan.progress(1);
    return played;
}

}  // namespace genista::lab
