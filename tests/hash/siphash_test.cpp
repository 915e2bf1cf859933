// SipHash compared with the published outputs, with libsodium, and with its own definition written
// in the slow way.
#include "hash/siphash.hpp"

#include <gtest/gtest.h>
#include <sodium.h>

#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

namespace genista::siphash_test {
namespace {

std::uint64_t little_endian(const unsigned char* bytes) {
    std::uint64_t word = 0;
    for (int i = 7; i >= 0; --i) word = (word << 8) | bytes[i];
    return word;
}

// The key 00 01 .. 0f and the input 00 01 .. (size - 1) of the paper and of the reference vectors.
constexpr std::uint64_t paper_k0 = 0x0706050403020100, paper_k1 = 0x0f0e0d0c0b0a0908;

std::vector<std::byte> counting_bytes(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i);
    return bytes;
}

TEST(siphash, gives_the_published_outputs_of_2_4) {
    const auto of = [](std::size_t size) {
        return siphash_64<2, 4>(paper_k0, paper_k1, counting_bytes(size).data(), size);
    };
    EXPECT_EQ(of(15), 0xa129ca6149be45e5u);  // Appendix A of the paper
    EXPECT_EQ(of(0), 0x726fdb47dd0e0e31u);   // reference vectors
    EXPECT_EQ(of(1), 0x74f839c593dc67fdu);
    EXPECT_EQ(of(8), 0x93f5f5799a932462u);
}

TEST(siphash, gives_the_published_outputs_of_2_4_with_128_bits) {
    const std::array<std::uint64_t, 2> expected{0xe6a825ba047f81a3u, 0x930255c71472f66du};
    EXPECT_EQ((siphash_128<2, 4>(paper_k0, paper_k1, nullptr, 0)), expected);
}

TEST(siphash, gives_the_known_outputs_of_1_3) {
    // The first two of the vectors that Rust's standard library keeps for its SipHash-1-3.
    EXPECT_EQ((siphash_64<1, 3>(paper_k0, paper_k1, nullptr, 0)), 0xabac0158050fc4dcu);
    EXPECT_EQ((siphash_64<1, 3>(paper_k0, paper_k1, counting_bytes(1).data(), 1)), 0xc9f49bf37d57ca93u);
}

TEST(siphash, agrees_with_libsodium_at_every_length_up_to_600_under_random_keys) {
    ASSERT_GE(sodium_init(), 0);
    std::mt19937_64 random{7};
    for (std::size_t size = 0; size <= 600; ++size) {
        for (int round = 0; round < 4; ++round) {
            std::array<unsigned char, 16> key;
            for (auto& byte : key) byte = static_cast<unsigned char>(random());
            // An allocation of exactly `size` bytes: the address sanitizer detects any read beyond
            // it (I3).
            const auto data = std::make_unique<unsigned char[]>(size);
            for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<unsigned char>(random());
            const auto* bytes = reinterpret_cast<const std::byte*>(data.get());
            const std::uint64_t k0 = little_endian(key.data()), k1 = little_endian(key.data() + 8);

            std::array<unsigned char, crypto_shorthash_siphash24_BYTES> out_64;
            crypto_shorthash_siphash24(out_64.data(), data.get(), size, key.data());
            EXPECT_EQ((siphash_64<2, 4>(k0, k1, bytes, size)), little_endian(out_64.data())) << "size " << size;

            std::array<unsigned char, crypto_shorthash_siphashx24_BYTES> out_128;
            crypto_shorthash_siphashx24(out_128.data(), data.get(), size, key.data());
            const std::array<std::uint64_t, 2> expected{little_endian(out_128.data()),
                                                        little_endian(out_128.data() + 8)};
            EXPECT_EQ((siphash_128<2, 4>(k0, k1, bytes, size)), expected) << "size " << size;
        }
    }
}

// The definition with the numbers of rounds as run-time arguments, byte by byte: the reference for
// every instance.
std::array<std::uint64_t, 2> slow_siphash(int c, int d, bool wide, std::uint64_t k0, std::uint64_t k1,
                                          const std::vector<std::byte>& data) {
    std::uint64_t a = k0 ^ 0x736f6d6570736575, b = k1 ^ 0x646f72616e646f6d ^ (wide ? 0xeeu : 0u),
                  e = k0 ^ 0x6c7967656e657261, f = k1 ^ 0x7465646279746573;
    const auto rounds = [&](int count) {
        while (count-- > 0) {
            a += b, b = std::rotl(b, 13), b ^= a, a = std::rotl(a, 32);
            e += f, f = std::rotl(f, 16), f ^= e;
            a += f, f = std::rotl(f, 21), f ^= a;
            e += b, b = std::rotl(b, 17), b ^= e, e = std::rotl(e, 32);
        }
    };
    auto padded = data;
    while (padded.size() % 8 != 7) padded.push_back(std::byte{0});
    padded.push_back(static_cast<std::byte>(data.size()));
    for (std::size_t at = 0; at < padded.size(); at += 8) {
        std::uint64_t word = 0;
        for (std::size_t i = 0; i < 8; ++i) word |= std::to_integer<std::uint64_t>(padded[at + i]) << (8 * i);
        f ^= word;
        rounds(c);
        a ^= word;
    }
    e ^= wide ? 0xeeu : 0xffu;
    rounds(d);
    const std::uint64_t first = a ^ b ^ e ^ f;
    b ^= 0xdd;
    rounds(d);
    return {first, a ^ b ^ e ^ f};
}

template <int C, int D>
void expect_equal_to_the_definition() {
    std::mt19937_64 random{11};
    for (std::size_t size = 0; size <= 100; ++size) {
        std::vector<std::byte> data(size);
        for (auto& byte : data) byte = static_cast<std::byte>(random());
        const std::uint64_t k0 = random(), k1 = random();
        EXPECT_EQ((siphash_64<C, D>(k0, k1, data.data(), size)), slow_siphash(C, D, false, k0, k1, data)[0]);
        EXPECT_EQ((siphash_128<C, D>(k0, k1, data.data(), size)), slow_siphash(C, D, true, k0, k1, data));
    }
}

TEST(siphash, of_every_number_of_rounds_agrees_with_the_definition) {
    expect_equal_to_the_definition<1, 3>();
    expect_equal_to_the_definition<2, 4>();
    expect_equal_to_the_definition<4, 8>();
}

TEST(siphash, distinguishes_inputs_that_differ_only_in_trailing_zeros) {
    const std::vector<std::byte> zeros(64);
    std::vector<std::uint64_t> seen;
    for (std::size_t size = 0; size <= zeros.size(); ++size) {
        const std::uint64_t now = siphash_64<1, 3>(1, 2, zeros.data(), size);
        for (const std::uint64_t before : seen) EXPECT_NE(now, before);
        seen.push_back(now);
    }
}

TEST(siphash, does_not_depend_on_the_alignment_of_its_input) {
    std::array<std::byte, 96> buffer;
    const auto source = counting_bytes(64);
    for (std::size_t offset = 0; offset < 16; ++offset) {
        std::memcpy(buffer.data() + offset, source.data(), 61);
        EXPECT_EQ((siphash_64<1, 3>(3, 4, buffer.data() + offset, 61)), (siphash_64<1, 3>(3, 4, source.data(), 61)));
    }
}

}  // namespace
}  // namespace genista::siphash_test
