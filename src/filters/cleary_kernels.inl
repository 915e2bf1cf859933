// Look-ups and inserts of cleary_filter for one instruction set. With PDEP, select is one
// instruction.

#include "filters/filter_kernels.inl"

namespace genista::GENISTA_ISA {

#if GENISTA_ISA_LEVEL == 0
using cleary_words = bits::portable_words;
#else
using cleary_words = bits::bmi2_words;
#endif

// Is the remainder in the run from a cell on, up to and including the first cell whose bit in
// `ends` is set? REQUIRES: that cell is one of `cells`.
template <unsigned Bits>
struct cleary_compare {
    static std::uint64_t cells(const cleary_state& s) noexcept { return cleary::lanes_in<Bits>(s).count; }
    static bool found(const cleary_state& s, std::uint64_t cell, std::uint64_t ends, std::uint64_t remainder) noexcept {
#if GENISTA_ISA_LEVEL == 0
        const auto length = static_cast<std::uint64_t>(std::countr_zero(ends)) + 1;
        return cleary::equal_in_word<Bits>(s, cell, std::min(length, cells(s)), remainder);
#else
        return (cleary::equal_lanes<Bits>(s, cell, remainder) &
                bits::bmi2_words::deposit(ends ^ (ends - 1), cleary::lanes_in<Bits>(s).tops())) != 0;
#endif
    }
};

#if GENISTA_ISA_LEVEL > 0
// Remainders that are whole bytes: compares sixteen bytes at once, a bit for each.
template <>
struct cleary_compare<8> {
    static constexpr std::uint64_t cells(const cleary_state&) noexcept { return 16; }
    static bool found(const cleary_state& s, std::uint64_t cell, std::uint64_t ends, std::uint64_t remainder) noexcept {
        const __m128i here = _mm_loadu_si128(reinterpret_cast<const __m128i*>(s.remainders + cell));
        const __m128i equal = _mm_cmpeq_epi8(here, _mm_set1_epi8(static_cast<char>(remainder)));
        return (static_cast<unsigned>(_mm_movemask_epi8(equal)) & (ends ^ (ends - 1))) != 0;
    }
};
template <>
struct cleary_compare<16> {
    static constexpr std::uint64_t cells(const cleary_state&) noexcept { return 8; }
    static bool found(const cleary_state& s, std::uint64_t cell, std::uint64_t ends, std::uint64_t remainder) noexcept {
        const __m128i here = _mm_loadu_si128(reinterpret_cast<const __m128i*>(s.remainders + 2 * cell));
        const __m128i equal = _mm_cmpeq_epi16(here, _mm_set1_epi16(static_cast<short>(remainder)));
        const __m128i bytes = _mm_packs_epi16(equal, _mm_setzero_si128());
        return (static_cast<unsigned>(_mm_movemask_epi8(bytes)) & (ends ^ (ends - 1))) != 0;
    }
};
#endif

template <unsigned Bits>
struct cleary_policy {
    using state = cleary_state;
    using target = cleary::target;

    static target aim(const state& s, const digest& d) noexcept { return cleary::aim<Bits>(s, d); }
    // Prefetches the block, and the remainder's place if no earlier run has moved it far.
    static void prefetch(const state& s, const target& t) noexcept {
        __builtin_prefetch(s.blocks + t.block);
        const std::uint64_t number = t.block * cleary::block_cells + t.index;
        __builtin_prefetch(s.remainders + number * (Bits != 0 ? Bits : s.bits) / 8);
    }

    // The position of set bit number k, or 63 if there is none.
    static std::uint64_t select(std::uint64_t word, std::uint64_t k) noexcept {
#if GENISTA_ISA_LEVEL == 0
        return k < bits::portable_words::popcount(word) ? bits::portable_words::select(word, k) : 63;
#else
        constexpr std::uint64_t none = std::uint64_t{1} << 63;
        return static_cast<std::uint64_t>(
            __builtin_ctzll(bits::bmi2_words::deposit(std::uint64_t{1} << k, word) | none));
#endif
    }

    // Nearly all runs lie within 63 cells behind the runs of earlier blocks, and can be compared at
    // once: `ends` are the ends of those cells, of this block and the next one (none behind the
    // table's last). The run with k runs before it begins behind end number k - 1, or at its home.
    // No branch depends on random data: whether a home is occupied is a coin toss, and a
    // mispredicted branch delays the next look-ups, which costs more than a second line read for
    // nothing.
    [[gnu::always_inline]] static bool test(const state& s, const target& t) noexcept {
        constexpr std::uint64_t width = 63,
                                most_skipped = width - 6;  // beyond, the next block's offset would be inside the window
        const cleary_block here = s.blocks[t.block];
        const std::uint64_t after = s.blocks[t.block + 1].ends;
        const std::uint64_t occupied = here.occupied >> t.index & 1;
        const std::uint64_t offset = cleary::offset_of(here), skip = offset % 64;
        const std::uint64_t ends = (cleary::ends_of(here) >> skip | after << (cleary::block_cells - skip) % 64) &
                                   ((std::uint64_t{1} << width) - 1);
        const auto others =
            static_cast<std::uint64_t>(__builtin_popcountll(here.occupied & ((std::uint64_t{1} << t.index) - 1)));
        const std::uint64_t start = std::max(t.index, skip + select(ends << 1 | 1, others));
        const std::uint64_t ends_from_start = ends >> (start - skip);
        const std::uint64_t reached = ends_from_start & ((std::uint64_t{1} << cleary_compare<Bits>::cells(s)) - 1);
        const std::uint64_t is_near = std::uint64_t{offset <= most_skipped} & std::uint64_t{reached != 0};
        if ((occupied & ~is_near) != 0) [[unlikely]]
            return test_far(s, t.block, t.index, t.remainder);
        const std::uint64_t cell = t.block * cleary::block_cells + start;
        const bool found = cleary_compare<Bits>::found(s, cell, ends_from_start, t.remainder);
        return (occupied & std::uint64_t{found}) != 0;
    }
    // A separate function, with arguments by value, so that the common path keeps everything in
    // registers.
    [[gnu::noinline]] static bool test_far(const state& s, std::uint64_t block, std::uint64_t index,
                                           std::uint64_t remainder) noexcept {
        return cleary::in_run<cleary_words, Bits>(s, {block, index, remainder});
    }
};

template <unsigned Bits>
struct cleary_inserts : cleary_policy<Bits> {
    static insert_outcome insert(cleary_state& s, const cleary::target& t) noexcept {
        return cleary::insert<cleary_words>(s, t);
    }
};

template <unsigned Bits>
struct cleary_entry {
    using policy = cleary_policy<Bits>;

    static insert_outcome insert_integer(cleary_state& s, const hash_state& h, std::uint64_t key) noexcept {
        return cleary::insert<cleary_words>(s, policy::aim(s, digest_of(h, key)));
    }
    static insert_outcome insert_digest(cleary_state& s, const digest& d) noexcept {
        return cleary::insert<cleary_words>(s, policy::aim(s, d));
    }
    static insert_outcome insert_near(cleary_state& s, const digest& d, std::uint64_t most_cells) noexcept {
        return cleary::insert<cleary_words>(s, policy::aim(s, d), most_cells);
    }
    static constexpr cleary_kernels table = {lookups<policy>::table, &insert_integer, &insert_digest, &insert_near,
                                             inserts<cleary_inserts<Bits>>::table};
};

inline constexpr const cleary_kernels& cleary8_kernels = cleary_entry<8>::table;
inline constexpr const cleary_kernels& cleary12_kernels = cleary_entry<12>::table;
inline constexpr const cleary_kernels& cleary16_kernels = cleary_entry<16>::table;
inline constexpr const cleary_kernels& cleary_any_kernels = cleary_entry<0>::table;

}  // namespace genista::GENISTA_ISA
