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

    static bool test(const state& s, const target& t) noexcept { return s.core->contains(t.of); }

#else

    // Position of the one with `rank` ones below it.
    static unsigned select(std::uint64_t word, unsigned rank) noexcept {
        return static_cast<unsigned>(_tzcnt_u64(_pdep_u64(std::uint64_t{1} << (rank & 63), word)));
    }

    // Bits of the 32-byte window that belong to the group: half A counts its slots from bit 0, half B from bit 31 down.
    static std::uint32_t window_of(std::uint64_t header, unsigned group, bool mirrored) noexcept {
        unsigned first = 0;
        unsigned end = 0;
        if (!mirrored) {
            end = select(header, group) - group;
            if (group != 0) first = select(header, group - 1) + 1 - group;
        } else {
            const auto ones = static_cast<unsigned>(_mm_popcnt_u64(header));
            end = 63 - select(header, ones - 1 - group) - group;
            if (group != 0) first = 63 - select(header, ones - group) + 1 - group;
        }
        const std::uint64_t ranks = (std::uint64_t{1} << (end & 63)) - (std::uint64_t{1} << (first & 63));
        const auto window = static_cast<std::uint32_t>(ranks);
        return mirrored ? reverse_bits(window) : window;
    }
    static std::uint32_t reverse_bits(std::uint32_t x) noexcept {
        x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
        x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
        x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
        return __builtin_bswap32(x);
    }

    static bool test(const state& s, const target& t) noexcept {
        const std::uint64_t group_of_bins = t.bin / broom::bins_per_group;
        const std::atomic<std::uint32_t>& version = s.versions[group_of_bins & s.stripe_mask];
        const std::uint32_t before = version.load(std::memory_order_acquire);
        const std::byte* const line = s.lines + 64 * t.bin;
        const std::uint64_t second = load_le64(line + 8);
        const auto code = static_cast<unsigned>(second >> 48 & 255);
        if (!s.one_table || (before & 2) != 0 || code == broom::long_salt) [[unlikely]]
            return s.core->contains(t.of);

        const digest mixed = encrypt(*s.mix, {t.of.seed, t.of.position ^ s.salt_words[code]});
        const auto group = static_cast<unsigned>(mixed.position & 63);
        const bool mirrored = group >= broom::groups_per_half;
        const __m256i remainders =
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(line + (mirrored ? 32 : 16)));
        const __m256i wanted = _mm256_set1_epi8(static_cast<char>(mixed.position >> 6));
        const auto alike = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(remainders, wanted)));
        const bool overflowed = (second >> (56 + (mixed.position >> 30 & 7)) & 1) != 0;
        bool maybe = false;
        if (alike != 0 || overflowed) [[unlikely]] {
            const verdict found = decide(s, t, line, mixed, mirrored, alike, overflowed);
            if (found == verdict::ask) return s.core->contains(t.of);
            maybe = found == verdict::yes;
        }
        std::atomic_signal_fence(std::memory_order_seq_cst);  // what was read above was read before what follows
        if ((version.load(std::memory_order_acquire) | 1) != (before | 1) ||
            s.present->load(std::memory_order_acquire) != s.own) [[unlikely]] {
            return s.core->contains(t.of);
        }
        return maybe;
    }

    enum class verdict { no, yes, ask };

    // Some remainder of the half agrees, or keys of this class lie in the backyard.
    static verdict decide(const state& s, const target& t, const std::byte* line, const digest& mixed, bool mirrored,
                          std::uint32_t alike, bool overflowed) noexcept {
        const std::uint64_t header = load_le64(line + (mirrored ? 6 : 0));
        const std::uint32_t hits = alike & window_of(header, mixed.position & 31, mirrored);
        const std::uint32_t block =
            hits != 0 || overflowed ? __atomic_load_n(s.sides + t.bin / broom::bins_per_group, __ATOMIC_ACQUIRE) : 0;
        for (std::uint32_t left = hits; left != 0; left &= left - 1) {
            if constexpr (Tails) {
                const auto bit = static_cast<unsigned>(_tzcnt_u32(left));
                const unsigned slot = mirrored ? 16 + bit : bit;
                const std::uint64_t at = (t.bin * broom::slots_per_bin + slot) * s.tail_bits;
                const std::uint64_t own = mixed.position >> 14 & ((std::uint64_t{1} << s.tail_bits) - 1);
                if (broom::bits_at(s.tails, at, s.tail_bits) != own) continue;
            }
            // The base is the key's own. Without notes in the group it has no bits to compare and is not dead.
            if (block == 0) return verdict::yes;
            if ((broom::load_word(s.side_words + block) >> 11 & 2047) == 0) return verdict::yes;
            return verdict::ask;
        }
        if (!overflowed || block == 0) return verdict::no;
        const broom::shape form{s.tail_bits};
        const broom::side_block side{s.side_words + block, form};
        const auto range = side.backyard_of(static_cast<unsigned>(t.bin % broom::bins_per_group));
        const auto tag = static_cast<std::uint32_t>(mixed.seed & ((std::uint64_t{1} << form.tag_bits()) - 1));
        for (unsigned i = range.first; i < range.end; ++i) {
            if (side.tag(i) == tag) return verdict::yes;
        }
        return verdict::no;
    }

#endif
};

template <class State>
inline constexpr const kernel_table<State>& broom_kernels = lookups<broom_policy<State, false>>::table;
template <class State>
inline constexpr const kernel_table<State>& broom_kernels_with_tails = lookups<broom_policy<State, true>>::table;

}  // namespace genista::GENISTA_ISA

#undef GENISTA_BROOM_PLAIN
