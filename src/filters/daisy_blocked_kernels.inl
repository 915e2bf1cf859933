// Blocked daisy Bloom look-ups and inserts of one instruction set: the lanes of
// blocked_bloom_filter, of which a key uses as many as its class, from a first lane of its own.
//
//     present   bit i: lane i holds the key's bit there      (the vector part, for all classes)
//     lanes     bit i: lane i is one of the key's            (a rotated run of ones)
//
// The answer is "maybe" if every bit of `lanes` is set in `present`. Class 0 has no lanes, and
// always passes.
#include "filters/blocked_bloom_kernels.inl"
#include "filters/class_kernels.inl"

namespace genista::GENISTA_ISA {

struct daisy_block_target {
    block_target at;
    std::uint32_t lanes;
};

// A run of `length` ones among `Lanes` bits, rotated to the left by `first` < Lanes.
template <unsigned Lanes>
inline std::uint32_t lanes_from(std::uint32_t first, std::uint32_t length) noexcept {
    const std::uint32_t run = ((std::uint32_t{1} << length) - 1) << first;
    return (run | run >> Lanes) & ((std::uint32_t{1} << Lanes) - 1);
}

struct daisy_octet_shape {
    static constexpr unsigned lanes = 8;
    using lane = std::uint64_t;
    // The lanes take 48 bits of the seed; these are three others.
    static std::uint32_t first_lane(const block_target& t) noexcept { return static_cast<std::uint32_t>(t.seed >> 61); }
    static lane bit(const block_target& t, unsigned i) noexcept { return std::uint64_t{1} << (t.seed >> (6 * i) & 63); }

#if GENISTA_ISA_LEVEL == 1
    static unsigned half_present(std::byte* block, std::size_t index, __m256i mask) noexcept {
        const __m256i held = _mm256_and_si256(_mm256_load_si256(half(block, index)), mask);
        return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(held, mask))));
    }
    static std::uint32_t present(const block_target& t) noexcept {
        return half_present(t.block, 0, mask_of_four(t.seed, 0)) | half_present(t.block, 1, mask_of_four(t.seed, 24))
                                                                       << 4;
    }
#elif GENISTA_ISA_LEVEL == 2
    static std::uint32_t present(const block_target& t) noexcept {
        return _mm512_test_epi64_mask(_mm512_load_si512(t.block), octet_mask::of(t));
    }
#endif
};

struct daisy_sixteen_shape {
    static constexpr unsigned lanes = 16;
    using lane = std::uint32_t;
    // The lanes take bits 32 to 51 of the fraction; these are its highest four.
    static std::uint32_t first_lane(const block_target& t) noexcept {
        return static_cast<std::uint32_t>(t.fraction >> 60);
    }
    static lane bit(const block_target& t, unsigned i) noexcept {
        const std::uint64_t source = i < 6 ? t.seed : i < 12 ? t.seed >> 32 : t.fraction >> 32;
        return std::uint32_t{1} << (source >> (5 * (i % 6)) & 31);
    }

#if GENISTA_ISA_LEVEL == 1
    static unsigned half_present(std::byte* block, std::size_t index, __m256i mask) noexcept {
        const __m256i held = _mm256_and_si256(_mm256_load_si256(half(block, index)), mask);
        return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(held, mask))));
    }
    static std::uint32_t present(const block_target& t) noexcept {
        return half_present(t.block, 0, sixteen::low_mask(t)) | half_present(t.block, 1, sixteen::high_mask(t)) << 8;
    }
#elif GENISTA_ISA_LEVEL == 2
    static std::uint32_t present(const block_target& t) noexcept {
        return _mm512_test_epi32_mask(_mm512_load_si512(t.block), sixteen_mask::of(t));
    }
#endif
};

template <class Shape>
struct daisy_block {
    using state = daisy_bloom_state;
    using target = daisy_block_target;
    using lane = typename Shape::lane;

    static target aim(const state& s, const digest& d, unsigned its_class) noexcept {
        const block_target at = block_policy<64>::aim({s.bytes, s.places}, d);
        const std::uint32_t length = its_class < s.largest ? its_class : s.largest;
        return {at, lanes_from<Shape::lanes>(Shape::first_lane(at), length)};
    }
    static void prefetch(const state&, const target& t) noexcept { __builtin_prefetch(t.at.block); }

#if GENISTA_ISA_LEVEL == 0
    static bool test(const state&, const target& t) noexcept {
        lane missing = 0;
        for (unsigned i = 0; i < Shape::lanes; ++i) {
            const lane asked = (t.lanes >> i & 1) != 0 ? Shape::bit(t.at, i) : lane{0};
            missing |= asked & ~load_lane<lane>(t.at.block, i);
        }
        return missing == 0;
    }
#else
    static bool test(const state&, const target& t) noexcept {
        return (t.lanes & ~Shape::present(t.at)) == 0;
    }
#endif

    // The same code for every instruction set. It goes through all lanes, with an empty mask in
    // those that are not the key's: a loop over the key's own lanes would have a random start and
    // length, and mispredict more than it saves.
    static unsigned insert(state& s, const digest& d, unsigned its_class) noexcept {
        const target t = aim(s, d, its_class);
        unsigned fresh = 0;
        for (unsigned i = 0; i < Shape::lanes; ++i) {
            std::byte* const at = t.at.block + i * sizeof(lane);
            lane word;
            std::memcpy(&word, at, sizeof word);
            const lane bit = Shape::bit(t.at, i) & (lane{0} - static_cast<lane>(t.lanes >> i & 1));
            fresh += (bit & ~word) != 0 ? 1u : 0u;
            word |= bit;
            std::memcpy(at, &word, sizeof word);
        }
        return fresh;
    }

    static constexpr daisy_bloom_kernels table = {
        &class_lookups<daisy_block>::contains_integer,
        &class_lookups<daisy_block>::contains_key,
        &class_lookups<daisy_block>::contains_digest,
        &class_lookups<daisy_block>::template contains_many<std::uint64_t>,
        &class_lookups<daisy_block>::template contains_many<key_view>,
        &class_lookups<daisy_block>::template contains_many<digest>,
        &insert,
    };
};

inline constexpr const daisy_bloom_kernels& daisy_octet_kernels = daisy_block<daisy_octet_shape>::table;
inline constexpr const daisy_bloom_kernels& daisy_sixteen_kernels = daisy_block<daisy_sixteen_shape>::table;

}  // namespace genista::GENISTA_ISA
