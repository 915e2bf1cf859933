// Broom look-ups of one instruction set. What is rare (a long salt, a slot with notes, growth) goes to the plain twin,
// core::contains; so does everything where there are no vectors, where a sanitizer watches, and where faults are planted.
#include "filters/filter_kernels.inl"

#if defined(__SANITIZE_THREAD__) || defined(GENISTA_BROOM_FAULTS) || GENISTA_ISA_LEVEL == 0
#define GENISTA_BROOM_PLAIN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GENISTA_BROOM_PLAIN 1
#endif
#endif

namespace genista::GENISTA_ISA {

// State is broom_lookup_state of this variant: named, so that kernels of two variants are two symbols.
template <class State, bool Tails>
struct broom_policy {
    using state = State;
    struct target {
        digest of;
        std::uint64_t bin;
    };

    static target aim(const state& s, const digest& d) noexcept { return {d, scale(d.position, s.bins)}; }
    static void prefetch(const state& s, const target& t) noexcept { __builtin_prefetch(s.lines + 64 * t.bin); }

#if defined(GENISTA_BROOM_PLAIN)

    static bool test(const state& s, const target& t) noexcept {
        return s.core->contains(t.of);
    }

#else

    // Position of the one with `rank` ones below it; 64 if there is none.
    static unsigned select(std::uint64_t word, std::uint64_t rank) noexcept {
        return static_cast<unsigned>(_tzcnt_u64(_pdep_u64(std::uint64_t{1} << (rank & 63), word)));
    }

    // What `alike`, a mask over the 32-byte window of a half, leaves inside a group. Half A counts its slots from bit 0 up,
    // half B from bit 31 down, and so do their marks in the header word. In arithmetic, not in branches: a group is in
    // either half at random, and a branch on it would be guessed wrong every other time.
    static std::uint32_t within_group(const std::byte* line, std::uint64_t group, std::uint32_t alike) noexcept {
        const std::uint64_t mirrored = group >> 5;
        const std::uint64_t upright = mirrored ^ 1;
        const std::uint64_t all_if_mirrored = 0 - mirrored;
        const std::uint64_t header = load_le64(line + 6 * mirrored);
        const std::uint64_t g = group & 31;
        const auto ones = static_cast<std::uint64_t>(_mm_popcnt_u64(header));
        // Half A: from behind the mark before to the own mark. Half B: the same, counted from above.
        const std::uint64_t rank = g ^ ((g ^ (ones - 1 - g)) & all_if_mirrored);
        const std::uint64_t offset = (0 - g) ^ (((0 - g) ^ (g - 31)) & all_if_mirrored);
        const auto low = static_cast<unsigned>(select(header << upright | upright, rank) + offset);
        const auto high = static_cast<unsigned>(select(header, rank + mirrored) + offset - mirrored);
        return _bzhi_u32(alike, high) & ~_bzhi_u32(~std::uint32_t{0}, low);
    }

    // What a line alone can say: do remainders of the right half agree, are keys of this class outside?
    struct glance {
        std::uint32_t alike;
        bool overflowed;
    };
    [[gnu::always_inline]] static glance look_at(const std::byte* line, std::uint64_t second,
                                                 std::uint64_t first_word) noexcept {
        const __m256i remainders =
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(line + 16 + (first_word >> 1 & 16)));
        const __m256i wanted = _mm256_set1_epi8(static_cast<char>(first_word >> 6));
        return {static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(remainders, wanted))),
                (second >> (56 + (first_word >> 30 & 7)) & 1) != 0};
    }
    [[gnu::always_inline]] static const std::atomic<std::uint32_t>& version_of(const state& s,
                                                                               std::uint64_t bin) noexcept {
        return s.versions[bin / broom::bins_per_group & s.stripe_mask];
    }
    // Zero if what was read between the two versions stands.
    [[gnu::always_inline]] static std::uint32_t moved(std::uint32_t before, std::uint32_t after) noexcept {
        return ((before ^ after) & ~broom_locked) | (after & (broom_writing | broom_leaving));
    }

    // One in five negatives (some remainder agrees, or some key of the class is outside) needs more than a glance.
    [[gnu::always_inline]] static bool test(const state& s, const target& t) noexcept {
        const std::atomic<std::uint32_t>& version = version_of(s, t.bin);
        const std::uint32_t before = version.load(std::memory_order_acquire);
        const std::byte* const line = s.lines + 64 * t.bin;
        const std::uint64_t second = load_le64(line + 8);
        const auto code = static_cast<unsigned>(second >> 48 & 255);
        // In the first epoch the seed is the fingerprint (mix.hpp); the branch is taken by nearly all bins, or by none.
        digest mixed{t.of.seed, t.of.seed >> 33};
        if (code != s.unsalted_code) {
            if (code == broom::long_salt) [[unlikely]]
                return ask(s, t);
            mixed = encrypt(*s.mix, {t.of.seed, t.of.position ^ s.salt_words[code]});
        }
        const glance seen = look_at(line, second, mixed.position);
        bool maybe = false;
        if (seen.alike != 0 || seen.overflowed) {
            const verdict found = decide(s, t, mixed, seen);
            if (found == verdict::ask) return ask(s, t);
            maybe = found == verdict::yes;
        }
        std::atomic_signal_fence(std::memory_order_seq_cst);  // what was read above was read before what follows
        if (moved(before, version.load(std::memory_order_acquire)) != 0) [[unlikely]]
            return ask(s, t);
        return maybe;
    }

    // The plain twin's turn. Not inlined: it would crowd the registers of those who need none of it.
    [[gnu::noinline]] static bool ask(const state& s, const target& t) noexcept {
        return s.core->contains(t.of);
    }

    enum class verdict { no, yes, ask };

    [[gnu::noinline]] static verdict decide(const state& s, const target& t, const digest& mixed,
                                            glance seen) noexcept {
        const std::byte* const line = s.lines + 64 * t.bin;
        const std::uint32_t hits = within_group(line, mixed.position & 63, seen.alike);
        if (hits == 0 && !seen.overflowed) return verdict::no;
        const std::uint32_t handle = __atomic_load_n(s.sides + t.bin / broom::bins_per_group, __ATOMIC_ACQUIRE);
        for (std::uint32_t left = hits; left != 0; left &= left - 1) {
            if constexpr (Tails) {
                const unsigned slot =
                    static_cast<unsigned>(_tzcnt_u32(left)) + static_cast<unsigned>(mixed.position >> 1 & 16);
                const std::uint64_t at = (t.bin * broom::slots_per_bin + slot) * s.tail_bits;
                const std::uint64_t own = mixed.position >> 14 & ((std::uint64_t{1} << s.tail_bits) - 1);
                if (broom::bits_at(s.tails, at, s.tail_bits) != own) continue;
            }
            // The base is the key's own. Without notes in the group it has no bits to compare and is not dead.
            return (handle & broom::side_has_notes) == 0 ? verdict::yes : verdict::ask;
        }
        if (!seen.overflowed || handle == 0) return verdict::no;
        return in_backyard(t, mixed.seed, s.side_words + (handle & ~broom::side_has_notes));
    }

    // side_block::backyard_of and its tags, for blocks whose marks end within two words and bins with up to 16 entries:
    // nearly all.
    static verdict in_backyard(const target& t, std::uint64_t second_word, const std::uint64_t* words) noexcept {
        const std::uint64_t head = broom::load_word(words);
        const auto entries = static_cast<unsigned>(head & 2047);
        const std::uint64_t marks = head >> 32 | broom::load_word(words + 1) << 32;
        const auto bin = static_cast<unsigned>(t.bin % broom::bins_per_group);
        const unsigned first = select(marks << 1 | 1, bin) - bin;
        const unsigned count = select(marks, bin) - bin - first;
        if (entries > 48 || count > 16) [[unlikely]]
            return verdict::ask;
        const auto* const tags =
            reinterpret_cast<const std::byte*>(words) + broom::side_block::low_tags_at(entries) / 8 + 2 * first;
        const __m256i wanted = _mm256_set1_epi16(static_cast<short>(second_word));
        const __m256i there = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(tags));
        // Two mask bits a tag.
        const auto alike = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi16(there, wanted)));
        const std::uint32_t hits = _bzhi_u32(alike, 2 * count);
        if constexpr (!Tails) return hits != 0 ? verdict::yes : verdict::no;
        return hits != 0 ? verdict::ask : verdict::no;
    }

#endif
};

template <class State>
inline constexpr const kernel_table<State>& broom_kernels = lookups<broom_policy<State, false>>::table;
template <class State>
inline constexpr const kernel_table<State>& broom_kernels_with_tails = lookups<broom_policy<State, true>>::table;

}  // namespace genista::GENISTA_ISA

#undef GENISTA_BROOM_PLAIN
