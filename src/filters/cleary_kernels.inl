// Look-ups and inserts of cleary_filter for one instruction set. Where there is PDEP, select is one instruction.
#include "filters/filter_kernels.inl"

namespace genista::GENISTA_ISA {

#if GENISTA_ISA_LEVEL == 0
using cleary_words = bits::portable_words;
#else
using cleary_words = bits::bmi2_words;
#endif

template <unsigned Bits>
struct cleary_policy {
    using state = cleary_state;
    using target = cleary::target;

    static target aim(const state& s, const digest& d) noexcept { return cleary::aim(s, d); }
    // The block, and where the remainder lies if nobody before it has slid far.
    static void prefetch(const state& s, const target& t) noexcept {
        __builtin_prefetch(s.blocks + t.block);
        prefetch_home(s, t);
    }
    static void prefetch_home(const state& s, const target& t) noexcept {
        const std::uint64_t number = t.block * cleary::block_cells + t.index;
        __builtin_prefetch(s.remainders + number * (Bits != 0 ? Bits : s.bits) / 8);
    }

    // Set bit number k, or 60 if there is none.
    static std::uint64_t select(std::uint64_t word, std::uint64_t k) noexcept {
#if GENISTA_ISA_LEVEL == 0
        if (k >= bits::portable_words::popcount(word)) return cleary::block_cells;
        return std::min<std::uint64_t>(bits::portable_words::select(word, k), cleary::block_cells);
#else
        constexpr std::uint64_t none = std::uint64_t{1} << cleary::block_cells;
        return static_cast<std::uint64_t>(
            __builtin_ctzll(bits::bmi2_words::deposit(std::uint64_t{1} << k, word) | none));
#endif
    }

    // Most runs lie in the block of their home. `starts` has a bit where the runs of earlier blocks are over and one behind every end:
    // bit number k is where the run behind k others may begin.
    static bool test(const state& s, const target& t) noexcept {
        prefetch_home(s, t);
        const cleary_block here = s.blocks[t.block];
        if ((here.occupied >> t.index & 1) == 0) return false;
        const std::uint64_t offset = cleary::offset_of(here), ends = cleary::ends_of(here);
        if (offset < cleary::block_cells) [[likely]] {
            const auto others = static_cast<std::uint64_t>(
                __builtin_popcountll(here.occupied & ((std::uint64_t{1} << t.index) - 1)));
            const std::uint64_t starts = (ends >> offset << 1 | 1) << offset;
            const std::uint64_t start = std::max(t.index, select(starts, others));
            const std::uint64_t rest = ends >> start;
            if (rest != 0) [[likely]] {
                const auto length = static_cast<std::uint64_t>(__builtin_ctzll(rest)) + 1;
                return cleary::any_equal<Bits>(s, t.block * cleary::block_cells + start, length, t.remainder);
            }
        }
        return test_far(s, t);
    }
    [[gnu::noinline]] static bool test_far(const state& s, const target& t) noexcept {
        return cleary::in_run<cleary_words, Bits>(s, t);
    }
};

template <unsigned Bits>
struct cleary_entry {
    using policy = cleary_policy<Bits>;

    static insert_outcome insert_integer(cleary_state& s, const hash_state& h, std::uint64_t key) noexcept {
        return cleary::insert<cleary_words>(s, cleary::aim(s, digest_of(h, key)));
    }
    static insert_outcome insert_digest(cleary_state& s, const digest& d) noexcept {
        return cleary::insert<cleary_words>(s, cleary::aim(s, d));
    }
    static constexpr cleary_kernels table = {lookups<policy>::table, &insert_integer, &insert_digest};
};

inline constexpr const cleary_kernels& cleary8_kernels = cleary_entry<8>::table;
inline constexpr const cleary_kernels& cleary12_kernels = cleary_entry<12>::table;
inline constexpr const cleary_kernels& cleary16_kernels = cleary_entry<16>::table;
inline constexpr const cleary_kernels& cleary_any_kernels = cleary_entry<0>::table;

}  // namespace genista::GENISTA_ISA
