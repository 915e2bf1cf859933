// Blocked Bloom look-ups and inserts of one instruction set: build the key's mask, compare it with
// its block.
#include "filters/filter_kernels.inl"

namespace genista::GENISTA_ISA {

// The key's block, and the words from which its lanes take their bits.
struct block_target {
    std::byte* block;
    std::uint64_t seed;
    std::uint64_t fraction;
};

template <std::size_t BlockBytes>
struct block_policy {
    using state = blocked_bloom_state;
    using target = block_target;

    static target aim(const state& s, const digest& d) noexcept {
        const uint128 product = static_cast<uint128>(d.position) * s.blocks;
        return {s.bytes + BlockBytes * static_cast<std::uint64_t>(product >> 64), d.seed,
                static_cast<std::uint64_t>(product)};
    }
    static void prefetch(const state&, const target& t) noexcept { __builtin_prefetch(t.block); }
};

#if GENISTA_ISA_LEVEL == 0

template <class Lane>
inline Lane load_lane(const std::byte* block, std::size_t lane) noexcept {
    Lane word;
    std::memcpy(&word, block + lane * sizeof(Lane), sizeof word);
    return word;
}

inline std::uint64_t lane_bit64(std::uint64_t seed, std::size_t lane) noexcept {
    return std::uint64_t{1} << (seed >> (6 * lane) & 63);
}

// Lanes 0..5 from the low half of the seed, 6..11 from the high half, 12..15 from the fraction's
// high half.
inline std::uint32_t lane_bit32(const block_target& t, std::size_t lane) noexcept {
    const auto low = static_cast<std::uint32_t>(t.seed);
    const auto high = static_cast<std::uint32_t>(t.seed >> 32);
    const auto extra = static_cast<std::uint32_t>(t.fraction >> 32);
    const std::uint32_t source = lane < 6 ? low : lane < 12 ? high : extra;
    return std::uint32_t{1} << (source >> (5 * (lane % 6)) & 31);
}

template <std::size_t Lanes>
struct wide_lanes : block_policy<8 * Lanes> {
    static bool test(const blocked_bloom_state&, const block_target& t) noexcept {
        std::uint64_t missing = 0;
        for (std::size_t i = 0; i < Lanes; ++i)
            missing |= lane_bit64(t.seed, i) & ~load_lane<std::uint64_t>(t.block, i);
        return missing == 0;
    }
    static bool set(const block_target& t) noexcept {
        std::uint64_t missing = 0;
        for (std::size_t i = 0; i < Lanes; ++i) {
            const auto before = load_lane<std::uint64_t>(t.block, i);
            const std::uint64_t after = before | lane_bit64(t.seed, i);
            missing |= before ^ after;
            std::memcpy(t.block + 8 * i, &after, sizeof after);
        }
        return missing != 0;
    }
};
struct quad : wide_lanes<4> {};
struct octet : wide_lanes<8> {};

struct sixteen : block_policy<64> {
    static bool test(const blocked_bloom_state&, const block_target& t) noexcept {
        std::uint32_t missing = 0;
        for (std::size_t i = 0; i < 16; ++i) missing |= lane_bit32(t, i) & ~load_lane<std::uint32_t>(t.block, i);
        return missing == 0;
    }
    static bool set(const block_target& t) noexcept {
        std::uint32_t missing = 0;
        for (std::size_t i = 0; i < 16; ++i) {
            const auto before = load_lane<std::uint32_t>(t.block, i);
            const std::uint32_t after = before | lane_bit32(t, i);
            missing |= before ^ after;
            std::memcpy(t.block + 4 * i, &after, sizeof after);
        }
        return missing != 0;
    }
};

#else  // AVX2 and up

inline __m256i* half(std::byte* block, std::size_t index) noexcept {
    return reinterpret_cast<__m256i*>(block + 32 * index);
}

// One bit in each of four 64-bit lanes, from bits [first, first + 24) of the seed.
inline __m256i mask_of_four(std::uint64_t seed, long long first) noexcept {
    const __m256i shifts = _mm256_set_epi64x(first + 18, first + 12, first + 6, first);
    const __m256i which = _mm256_srlv_epi64(_mm256_set1_epi64x(static_cast<long long>(seed)), shifts);
    return _mm256_sllv_epi64(_mm256_set1_epi64x(1), _mm256_and_si256(which, _mm256_set1_epi64x(63)));
}

inline bool set_half(std::byte* block, std::size_t index, __m256i mask) noexcept {
    const __m256i before = _mm256_load_si256(half(block, index));
    _mm256_store_si256(half(block, index), _mm256_or_si256(before, mask));
    return _mm256_testc_si256(before, mask) == 0;
}

struct quad : block_policy<32> {
    static bool test(const blocked_bloom_state&, const block_target& t) noexcept {
        return _mm256_testc_si256(_mm256_load_si256(half(t.block, 0)), mask_of_four(t.seed, 0)) != 0;
    }
    static bool set(const block_target& t) noexcept { return set_half(t.block, 0, mask_of_four(t.seed, 0)); }
};

#if GENISTA_ISA_LEVEL == 1

struct octet : block_policy<64> {
    static bool test(const blocked_bloom_state&, const block_target& t) noexcept {
        const __m256i missing =
            _mm256_or_si256(_mm256_andnot_si256(_mm256_load_si256(half(t.block, 0)), mask_of_four(t.seed, 0)),
                            _mm256_andnot_si256(_mm256_load_si256(half(t.block, 1)), mask_of_four(t.seed, 24)));
        return _mm256_testz_si256(missing, missing) != 0;
    }
    static bool set(const block_target& t) noexcept {
        const bool first = set_half(t.block, 0, mask_of_four(t.seed, 0));
        const bool second = set_half(t.block, 1, mask_of_four(t.seed, 24));
        return first || second;
    }
};

struct sixteen : block_policy<64> {
    static __m256i bits_at(__m256i words, __m256i shifts) noexcept {
        const __m256i which = _mm256_and_si256(_mm256_srlv_epi32(words, shifts), _mm256_set1_epi32(31));
        return _mm256_sllv_epi32(_mm256_set1_epi32(1), which);
    }
    static __m256i low_mask(const block_target& t) noexcept {
        const int low = static_cast<int>(t.seed);
        const int high = static_cast<int>(t.seed >> 32);
        return bits_at(_mm256_set_epi32(high, high, low, low, low, low, low, low),
                       _mm256_set_epi32(5, 0, 25, 20, 15, 10, 5, 0));
    }
    static __m256i high_mask(const block_target& t) noexcept {
        const int high = static_cast<int>(t.seed >> 32);
        const int extra = static_cast<int>(t.fraction >> 32);
        return bits_at(_mm256_set_epi32(extra, extra, extra, extra, high, high, high, high),
                       _mm256_set_epi32(15, 10, 5, 0, 25, 20, 15, 10));
    }
    static bool test(const blocked_bloom_state&, const block_target& t) noexcept {
        const __m256i missing = _mm256_or_si256(_mm256_andnot_si256(_mm256_load_si256(half(t.block, 0)), low_mask(t)),
                                                _mm256_andnot_si256(_mm256_load_si256(half(t.block, 1)), high_mask(t)));
        return _mm256_testz_si256(missing, missing) != 0;
    }
    static bool set(const block_target& t) noexcept {
        const bool first = set_half(t.block, 0, low_mask(t));
        const bool second = set_half(t.block, 1, high_mask(t));
        return first || second;
    }
};

#else  // AVX-512: a block is one register

template <class Mask>
struct one_register : block_policy<64> {
    static bool test(const blocked_bloom_state&, const block_target& t) noexcept {
        const __m512i missing = _mm512_andnot_si512(_mm512_load_si512(t.block), Mask::of(t));
        return _mm512_test_epi64_mask(missing, missing) == 0;
    }
    static bool set(const block_target& t) noexcept {
        const __m512i before = _mm512_load_si512(t.block);
        const __m512i after = _mm512_or_si512(before, Mask::of(t));
        _mm512_store_si512(t.block, after);
        return _mm512_cmpneq_epi64_mask(before, after) != 0;
    }
};

struct octet_mask {
    static __m512i of(const block_target& t) noexcept {
        const __m512i shifts = _mm512_set_epi64(42, 36, 30, 24, 18, 12, 6, 0);
        const __m512i which = _mm512_srlv_epi64(_mm512_set1_epi64(static_cast<long long>(t.seed)), shifts);
        return _mm512_sllv_epi64(_mm512_set1_epi64(1), _mm512_and_si512(which, _mm512_set1_epi64(63)));
    }
};
struct octet : one_register<octet_mask> {};

struct sixteen_mask {
    static __m512i of(const block_target& t) noexcept {
        const __m512i shifts = _mm512_set_epi32(15, 10, 5, 0, 25, 20, 15, 10, 5, 0, 25, 20, 15, 10, 5, 0);
        __m512i words = _mm512_set1_epi32(static_cast<int>(t.seed));
        words = _mm512_mask_set1_epi32(words, 0x0fc0, static_cast<int>(t.seed >> 32));
        words = _mm512_mask_set1_epi32(words, 0xf000, static_cast<int>(t.fraction >> 32));
        const __m512i which = _mm512_and_si512(_mm512_srlv_epi32(words, shifts), _mm512_set1_epi32(31));
        return _mm512_sllv_epi32(_mm512_set1_epi32(1), which);
    }
};
struct sixteen : one_register<sixteen_mask> {};

#endif
#endif

template <class Policy>
struct blocked_bloom_inserts : Policy {
    static insert_outcome insert(const blocked_bloom_state&, const block_target& t) noexcept {
        return Policy::set(t) ? insert_outcome::inserted : insert_outcome::already_present;
    }
};

template <class Policy>
struct blocked_bloom_entry {
    static bool insert_digest(blocked_bloom_state& s, const digest& d) noexcept {
        return Policy::set(Policy::aim(s, d));
    }
    static bool insert_integer(blocked_bloom_state& s, const hash_state& h, std::uint64_t key) noexcept {
        return Policy::set(Policy::aim(s, digest_of(h, key)));
    }
    static constexpr blocked_bloom_kernels table = {lookups<Policy>::table, &insert_integer, &insert_digest,
                                                    inserts<blocked_bloom_inserts<Policy>>::table};
};

inline constexpr const blocked_bloom_kernels& quad_kernels = blocked_bloom_entry<quad>::table;
inline constexpr const blocked_bloom_kernels& octet_kernels = blocked_bloom_entry<octet>::table;
inline constexpr const blocked_bloom_kernels& sixteen_kernels = blocked_bloom_entry<sixteen>::table;

}  // namespace genista::GENISTA_ISA
