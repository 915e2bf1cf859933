// Broom look-ups of one instruction set. Rare cases (a long salt, a slot with an extension, growth)
// go to the scalar version, core::contains. So do all look-ups where there are no vectors, under a
// sanitizer, and with planted faults.
#include "filters/filter_kernels.inl"

#if defined(__SANITIZE_THREAD__) || defined(GENISTA_BROOM_FAULTS) || GENISTA_ISA_LEVEL == 0
#define GENISTA_BROOM_PLAIN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GENISTA_BROOM_PLAIN 1
#endif
#endif

namespace genista::GENISTA_ISA {

// The names of all bits (layout.hpp).
namespace line_layout = broom::line_layout;
namespace mixed_layout = broom::mixed_layout;
namespace block_layout = broom::block_layout;

// State is broom_lookup_state of this variant: a template parameter, so that the kernels of two
// variants are two symbols.
template <class State, bool Tails>
struct broom_policy {
    using state = State;
    static constexpr bool has_tails = Tails;

#if defined(GENISTA_BROOM_PLAIN)

    struct target {
        digest of;
        std::uint64_t bin;
    };
    static target aim(const state& s, const digest& d) noexcept {
        return {d, scale(d.position, s.bins)};
    }
    static void prefetch(const state& s, const target& t) noexcept {
        __builtin_prefetch(s.lines + line_layout::bytes * t.bin);
    }
    static bool test(const state& s, const target& t) noexcept {
        return s.core->contains(t.of);
    }

#else

    [[gnu::always_inline]] static const std::byte* line_of(const state& s, std::uint64_t bin) noexcept {
        return s.lines + line_layout::bytes * bin;
    }
    [[gnu::always_inline]] static const std::atomic<std::uint32_t>& version_of(const state& s,
                                                                               std::uint64_t bin) noexcept {
        return s.versions[bin >> (s.stripe_shift % broom::word_bits)];
    }
    // Is what was read since `before` valid?
    [[gnu::always_inline]] static bool stands(std::uint32_t before,
                                              const std::atomic<std::uint32_t>& version) noexcept {
        std::atomic_signal_fence(std::memory_order_seq_cst);  // what was read above was read before what follows
        return version.load(std::memory_order_acquire) == before && (before & (broom_writing | broom_leaving)) == 0;
    }

    static_assert(sizeof(__m256i) == line_layout::window_bytes, "a vector holds the window of a half");
    [[gnu::always_inline]] static const __m256i_u* window_of(const std::byte* line, std::uint64_t word) noexcept {
        return reinterpret_cast<const __m256i_u*>(line + line_layout::remainders_byte + mixed_layout::window_of(word));
    }

    // `word` is the first word of a fingerprint from here on.
    //
    // The remainders that agree, as bits of the window of the half.
    [[gnu::always_inline]] static std::uint32_t alike(const std::byte* line, std::uint64_t word) noexcept {
        const __m256i wanted = _mm256_set1_epi8(static_cast<char>(mixed_layout::remainder.uncut(word)));
        const __m256i there = _mm256_loadu_si256(window_of(line, word));
        return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(there, wanted)));
    }
    // Does any remainder agree?
    [[gnu::always_inline]] static bool agrees(const std::byte* line, std::uint64_t word) noexcept {
#if GENISTA_ISA_LEVEL == 2
        // In registers that only AVX-512 has: otherwise the compiler would clean the lower sixteen
        // for the caller (vzeroupper) at every look-up, and align the stack for them.
        bool any;
        __asm__("vpbroadcastb %1, %%ymm16\n\tvpcmpeqb %2, %%ymm16, %%k1\n\tkortestd %%k1, %%k1"
                : "=@ccne"(any)
                : "r"(static_cast<std::uint32_t>(mixed_layout::remainder.uncut(word))), "m"(*window_of(line, word))
                : "xmm16", "k1");
        return any;
#else
        return alike(line, word) != 0;
#endif
    }
    // Are keys of this class in the backyard?
    [[gnu::always_inline]] static bool overflowed(const std::byte* line, std::uint64_t word) noexcept {
        const auto own = static_cast<std::uint8_t>(1u << mixed_layout::overflow_class.of(word));
        return (static_cast<std::uint8_t>(line[line_layout::overflow_byte]) & own) != 0;
    }

    // The slots of the quotient's run, as bits of the window of its half. By arithmetic and
    // not by branches: a run is in either half with equal chance, and a branch on it would be
    // mispredicted every other time.
    //
    // Seen from the bottom of its header word, a run's zeros lie between two marks, numbers i and
    // i + 1. For this, half A is given one more mark below its first run; half B counts its runs
    // downward, and may have marks of half A (foreign ones) below its own.
    [[gnu::always_inline]] static std::uint32_t slots_of_run(const std::byte* line, std::uint64_t word) noexcept {
        const std::uint64_t mirrored = mixed_layout::mirrored.of(word);
        const std::uint64_t all_if_mirrored = 0 - mirrored;
        const std::uint64_t header = load_le64(line + line_layout::half_b_byte * mirrored);
        const std::uint64_t foreign = marks_of_half_a_in(header) & all_if_mirrored;
        const std::uint64_t marks = header << (mirrored ^ 1) | (mirrored ^ 1);
        const std::uint64_t number = foreign + mixed_layout::quotient_in_half.of(word ^ all_if_mirrored);
        constexpr std::uint64_t two_marks = 0b11;
        const std::uint64_t both = _pdep_u64(two_marks << (number % broom::word_bits), marks);
        // From the lower mark up to the upper one, or to the top if the upper one lies beyond it.
        const std::uint64_t between = both - 2 * (both & (0 - both));
        return static_cast<std::uint32_t>(_pext_u64(between, ~marks) << (foreign % broom::word_bits));
    }
    // In the word of half B.
    [[gnu::always_inline]] static std::uint64_t marks_of_half_a_in(std::uint64_t header) noexcept {
        return static_cast<std::uint64_t>(_mm_popcnt_u64(header)) - broom::quotients_per_half;
    }

    // A digest, or its mixed words, travel in a vector register to the few look-ups that go beyond
    // the common case.
    using packed = __m128i;
    [[gnu::always_inline]] static packed pack(const digest& d) noexcept {
        return _mm_set_epi64x(static_cast<long long>(d.seed), static_cast<long long>(d.position));
    }
    [[gnu::always_inline]] static packed pack_mixed(const broom::mixed& m) noexcept {
        return _mm_set_epi64x(static_cast<long long>(m.second), static_cast<long long>(m.first));
    }
    [[gnu::always_inline]] static broom::mixed mixed_from(packed p) noexcept {
        return broom::mixer::from_block(digest_from(p));
    }

    // The words of the fingerprint under the salt with this code.
    [[gnu::always_inline]] static broom::mixed mixed_under(const state& s, const digest& d, unsigned code) noexcept {
        if (code == 0 && s.common_is_unsalted) return broom::mixer::unsalted_without_stream(d);
        return broom::mixer::from_block(encrypt(*s.mix, {d.seed, d.position ^ s.salt_words[code]}));
    }

    // All bins of a table begin with code 0, and most keep it until the filter is attacked or its
    // keys have been replaced. In a table that has not grown, code 0 stands for no salt: the
    // fingerprint is then ready while the line is still on its way. Code that has to wait for the
    // line is kept short, because the number of waiting instructions limits how many look-ups are
    // in flight.
    [[gnu::always_inline]] static bool test(const state& s, packed p) noexcept {
        const digest d = digest_from(p);
        const std::uint64_t bin = scale(d.position, s.bins);
        const std::uint32_t before = version_of(s, bin).load(std::memory_order_acquire);
        const std::byte* const line = line_of(s, bin);
        if (!s.common_is_unsalted) return test_salted(s, p, bin);
        if (static_cast<std::uint8_t>(line[line_layout::salt_byte]) != 0) return test_salted(s, p, bin);
        const std::uint64_t word = broom::mixer::unsalted_without_stream(d).first;
        if (agrees(line, word) || overflowed(line, word)) return confirm(s, p, bin);
        if (!stands(before, version_of(s, bin))) return ask(s, p);
        return false;
    }

    [[gnu::noinline]] static bool test_salted(const state& s, packed p, std::uint64_t bin) noexcept {
        const std::uint32_t before = version_of(s, bin).load(std::memory_order_acquire);
        const std::byte* const line = line_of(s, bin);
        const auto code = static_cast<std::uint8_t>(line[line_layout::salt_byte]);
        if (code == broom::long_salt) [[unlikely]]
            return ask(s, p);
        const broom::mixed both = mixed_under(s, digest_from(p), code);
        const std::uint64_t word = both.first;
        if (agrees(line, word) || overflowed(line, word)) return confirm_mixed(s, p, bin, pack_mixed(both), before);
        if (!stands(before, version_of(s, bin))) return ask(s, p);
        return false;
    }

    // The closer look, if some remainder agrees (one negative in nine) or keys of its class are
    // outside the line.
    [[gnu::noinline]] static bool confirm(const state& s, packed p, std::uint64_t bin) noexcept {
        const verdict found = look(s, p, bin);
        return found == verdict::ask ? ask(s, p) : found == verdict::yes;
    }

    // The same for a caller that has already computed the cipher, under the version `before`.
    [[gnu::noinline]] static bool confirm_mixed(const state& s, packed p, std::uint64_t bin, packed words,
                                                std::uint32_t before) noexcept {
        const std::byte* const line = line_of(s, bin);
        const verdict found = exactly(s, mixed_from(words), bin, line);
        return found == verdict::ask || !stands(before, version_of(s, bin)) ? ask(s, p) : found == verdict::yes;
    }

    enum class verdict : std::uint8_t { no, yes, ask };

    [[gnu::always_inline]] static verdict look(const state& s, packed p, std::uint64_t bin) noexcept {
        const std::uint32_t before = version_of(s, bin).load(std::memory_order_acquire);
        const std::byte* const line = line_of(s, bin);
        const auto code = static_cast<std::uint8_t>(line[line_layout::salt_byte]);
        verdict found = verdict::ask;
        if (code != broom::long_salt) [[likely]] {
            found = exactly(s, mixed_under(s, digest_from(p), code), bin, line);
        }
        return stands(before, version_of(s, bin)) ? found : verdict::ask;
    }
    [[gnu::always_inline]] static verdict exactly(const state& s, const broom::mixed& words, std::uint64_t bin,
                                                  const std::byte* line) noexcept {
        return decide(s, words, bin, line, alike(line, words.first) & slots_of_run(line, words.first));
    }

    // Asks the scalar version.
    [[gnu::noinline]] static bool ask(const state& s, packed p) noexcept {
        return s.core->contains(digest_from(p));
    }

    // Position of the set bit with `rank` set bits below it; word_bits if there is none.
    static unsigned select(std::uint64_t word, std::uint64_t rank) noexcept {
        return static_cast<unsigned>(_tzcnt_u64(_pdep_u64(std::uint64_t{1} << (rank % broom::word_bits), word)));
    }
    // The slot at this place in the window of the key's half.
    [[gnu::always_inline]] static unsigned slot_at(unsigned place, std::uint64_t word) noexcept {
        return place + static_cast<unsigned>(mixed_layout::window_of(word));
    }
    // The key's tail, from the first word.
    [[gnu::always_inline]] static std::uint64_t tail_of(const state& s, std::uint64_t word) noexcept {
        return mixed_layout::tail.uncut(word) & ((std::uint64_t{1} << s.tail_bits) - 1);
    }
    [[gnu::always_inline]] static bool has_tail(const state& s, std::uint64_t bin, unsigned slot,
                                                std::uint64_t tail) noexcept {
        return broom::bits_at(s.tails, broom::tail_at(bin, slot, s.tail_bits), s.tail_bits) == tail;
    }

    // What the cluster's block says about a slot. no: it is a tombstone; yes: it is not, and has no
    // adaptivity bits; ask: it has some, which the scalar version compares.
    [[gnu::noinline]] static verdict slot_verdict(const state& s, std::uint64_t bin, unsigned slot,
                                                  std::uint32_t handle) noexcept {
        const broom::side_block block{block_of_handle(s, handle), broom::shape{s.tail_bits}};
        const auto here = static_cast<unsigned>(bin % broom::bins_per_cluster);
        if (block.tombstones_of(here).has(slot)) return verdict::no;
        return block.has_extensions_of(here) ? verdict::ask : verdict::yes;
    }
    [[gnu::always_inline]] static std::uint32_t handle_of(const state& s, std::uint64_t bin) noexcept {
        return __atomic_load_n(s.sides + bin / broom::bins_per_cluster, __ATOMIC_ACQUIRE);
    }
    [[gnu::always_inline]] static const std::uint64_t* block_of_handle(const state& s, std::uint32_t handle) noexcept {
        return s.side_words + (handle & ~broom::side_has_slot_data);
    }

    [[gnu::always_inline]] static verdict decide(const state& s, const broom::mixed& words, std::uint64_t bin,
                                                 const std::byte* line, std::uint32_t hits) noexcept {
        const bool outside = overflowed(line, words.first);
        if (hits == 0 && !outside) return verdict::no;
        const std::uint32_t handle = handle_of(s, bin);
        for (std::uint32_t left = hits; left != 0; left &= left - 1) {
            const unsigned slot = slot_at(static_cast<unsigned>(_tzcnt_u32(left)), words.first);
            if constexpr (Tails) {
                if (!has_tail(s, bin, slot, tail_of(s, words.first))) continue;
            }
            // The slot has the key's base, and at most one slot has it. If no slot of the cluster
            // has bits in the block, this one is no tombstone and has no adaptivity bits to
            // compare.
            if ((handle & broom::side_has_slot_data) == 0) return verdict::yes;
            const verdict with_data = slot_verdict(s, bin, slot, handle);
            if (with_data != verdict::no) return with_data;
            break;
        }
        if (!outside || handle == 0) return verdict::no;
        const verdict there = in_backyard(bin, words.second, block_of_handle(s, handle));
        return there == verdict::ask ? in_long_backyard(s, bin, words.second, block_of_handle(s, handle)) : there;
    }

    // Long backyards, and tags that agree in their low halves: entry by entry.
    [[gnu::noinline]] static verdict in_long_backyard(const state& s, std::uint64_t bin, std::uint64_t second_word,
                                                      const std::uint64_t* words) noexcept {
        const broom::shape form{s.tail_bits};
        const broom::side_block block{words, form};
        const auto tag = static_cast<std::uint32_t>(second_word & ((std::uint64_t{1} << form.tag_bits()) - 1));
        const auto here = static_cast<unsigned>(bin % broom::bins_per_cluster);
        return block.has_tag(block.backyard_of(here), tag) ? verdict::yes : verdict::no;
    }

    // side_block::backyard_of and its tags, for blocks whose marks end within two words and bins
    // whose tags fill at most a vector: nearly all.
    static constexpr unsigned tags_in_vector = sizeof(__m256i) / block_layout::tag_low_bytes;
    static verdict in_backyard(std::uint64_t bin, std::uint64_t second_word, const std::uint64_t* words) noexcept {
        const std::uint64_t head = broom::load_word(words);
        const auto entries = block_layout::entries.number(head);
        const std::uint64_t marks = block_layout::marks_in_head.of(head) | broom::load_word(words + 1)
                                                                               << block_layout::marks_in_head.width;
        const auto here = static_cast<unsigned>(bin % broom::bins_per_cluster);
        const unsigned first = select(marks << 1 | 1, here) - here;
        const unsigned count = select(marks, here) - here - first;
        if (entries > block_layout::entries_of_short_marks || count > tags_in_vector) [[unlikely]]
            return verdict::ask;
        const auto* const tags = reinterpret_cast<const std::byte*>(words) +
                                 broom::side_block::low_tags_at(entries) / 8 + block_layout::tag_low_bytes * first;
        const __m256i wanted = _mm256_set1_epi16(static_cast<short>(second_word));
        const __m256i there = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(tags));
        static_assert(block_layout::tag_low_bytes == 2, "the vector compares words of 16 bits; a bit for each byte");
        const auto same = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi16(there, wanted)));
        const std::uint32_t hits = _bzhi_u32(same, block_layout::tag_low_bytes * count);
        if constexpr (!Tails) return hits != 0 ? verdict::yes : verdict::no;
        return hits != 0 ? verdict::ask : verdict::no;
    }

#endif
};

}  // namespace genista::GENISTA_ISA

#include "filters/broom/batch_kernels.inl"
#include "filters/broom/join_kernels.inl"

namespace genista::GENISTA_ISA {

#if defined(GENISTA_BROOM_PLAIN)

template <class Policy>
struct broom_lookups : lookups<Policy> {};

#else

template <class Policy>
struct broom_lookups {
    using state = typename Policy::state;
    using batches = broom_batches<Policy>;

    static bool contains_integer(const state& s, const hash_state& h, std::uint64_t key) noexcept {
        if (h.kind != hash_kind::keyed) [[unlikely]]
            return contains_unkeyed(s, h, key);
        return Policy::test(s, encrypt_in_register(h, block_of(key)));
    }
    [[gnu::noinline]] static bool contains_unkeyed(const state& s, const hash_state& h, std::uint64_t key) noexcept {
        return Policy::test(s, Policy::pack(digest_of(h, key)));
    }
    static bool contains_key(const state& s, const hash_state& h, key_view key) noexcept {
        return Policy::test(s, Policy::pack(digest_of(h, key)));
    }
    static bool contains_digest(const state& s, const digest& d) noexcept { return Policy::test(s, Policy::pack(d)); }

    static constexpr kernel_table<state> table = {&contains_integer,
                                                  &contains_key,
                                                  &contains_digest,
                                                  &batches::template contains_many<std::uint64_t>,
                                                  &batches::template contains_many<key_view>,
                                                  &batches::template contains_many<digest>};
};

#endif

template <class State, bool Tails>
inline constexpr broom_kernel_set<State> broom_kernels_of = {
    broom_lookups<broom_policy<State, Tails>>::table,
    &broom_joins<broom_policy<State, Tails>>::join_integer,
    &broom_joins<broom_policy<State, Tails>>::join,
    &broom_joins<broom_policy<State, Tails>>::join_many,
    &broom_joins<broom_policy<State, Tails>>::leave_tombstone,
};
template <class State>
inline constexpr const broom_kernel_set<State>& broom_kernels = broom_kernels_of<State, false>;
template <class State>
inline constexpr const broom_kernel_set<State>& broom_kernels_with_tails = broom_kernels_of<State, true>;

}  // namespace genista::GENISTA_ISA

#undef GENISTA_BROOM_PLAIN
