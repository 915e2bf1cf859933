// The usual insert, whole: nine in ten find a free slot in their half, nobody with their base or tag, and no note that would
// have to follow the slots that move. Whatever else may be the case, the answer is `no` and nothing has changed.
namespace genista::GENISTA_ISA {

#if defined(GENISTA_BROOM_PLAIN)

template <class Policy>
struct broom_joins {
    using state = typename Policy::state;
    static broom_joined join(const state&, const digest&) noexcept { return broom_joined::no; }
    static broom_joined join_integer(const state&, const hash_state&, std::uint64_t) noexcept {
        return broom_joined::no;
    }
    static broom_joined_many join_many(const state&, const digest*, std::size_t) noexcept { return {}; }
};

#else

template <class Policy>
struct broom_joins {
    using state = typename Policy::state;
    using verdict = typename Policy::verdict;

    static broom_joined join_integer(const state& s, const hash_state& h, std::uint64_t key) noexcept {
        return join(s, digest_of(h, key));
    }

    static broom_joined join(const state& s, const digest& d) noexcept {
        if constexpr (Policy::has_tails) return broom_joined::no;
        const std::uint64_t bin = scale(d.position, s.bins);
        if (s.tally->hold_back.load(std::memory_order_relaxed) != 0) [[unlikely]]
            return broom_joined::no;
        const bool alone = s.tally->all.enter();
        std::atomic<std::uint32_t>& lock = s.locks[bin >> (s.stripe_shift & 63)];
        if (!alone) {
            while (lock.exchange(1, std::memory_order_acquire) != 0) {
                while (lock.load(std::memory_order_relaxed) != 0) _mm_pause();
            }
        }
        const bool joined = join_locked(s, d, bin);
        std::uint64_t keys = 0;
        if (alone) {
            keys = s.tally->keys.load(std::memory_order_relaxed) + (joined ? 1 : 0);
            s.tally->keys.store(keys, std::memory_order_relaxed);
            s.tally->all.leave();
        } else {
            if (joined) keys = s.tally->keys.fetch_add(1, std::memory_order_relaxed) + 1;
            lock.store(0, std::memory_order_release);
        }
        if (!joined) return broom_joined::no;
        return keys > s.grow_at ? broom_joined::yes_and_grow : broom_joined::yes;
    }

    static broom_joined_many join_many(const state& s, const digest* digests, std::size_t count) noexcept {
        for (std::size_t i = 0; i < count && i < ahead; ++i) prefetch(s, digests[i]);
        if constexpr (!Policy::has_tails) {
            if (s.tally->hold_back.load(std::memory_order_relaxed) == 0 && s.tally->all.enter())
                return join_many_alone(s, digests, count);
        }
        for (std::size_t i = 0; i < count; ++i) {
            if (i + ahead < count) prefetch(s, digests[i + ahead]);
            switch (join(s, digests[i])) {
                case broom_joined::yes:
                    break;
                case broom_joined::no:
                    return {i, false};
                case broom_joined::yes_and_grow:
                    return {i + 1, true};
            }
        }
        return {count, false};
    }

  private:
    static constexpr std::size_t ahead = 16;

    // A writer that is alone says so once, and counts once. Batches are short: whoever waits does not wait for long.
    static broom_joined_many join_many_alone(const state& s, const digest* digests, std::size_t count) noexcept {
        const std::uint64_t before = s.tally->keys.load(std::memory_order_relaxed);
        const std::uint64_t room = before < s.grow_at ? s.grow_at - before : 0;
        const std::size_t most = room < count ? static_cast<std::size_t>(room) + 1 : count;
        std::size_t joined = 0;
        for (; joined < most; ++joined) {
            if (joined + ahead < count) prefetch(s, digests[joined + ahead]);
            if (!join_locked(s, digests[joined], scale(digests[joined].position, s.bins))) break;
        }
        s.tally->keys.store(before + joined, std::memory_order_relaxed);
        s.tally->all.leave();
        return {joined, joined > room};
    }

    static void prefetch(const state& s, const digest& d) noexcept {
        __builtin_prefetch(s.lines + 64 * scale(d.position, s.bins), 1);
    }

    [[gnu::always_inline]] static bool join_locked(const state& s, const digest& d, std::uint64_t bin) noexcept {
        std::atomic<std::uint32_t>& version = s.changes[bin >> (s.stripe_shift & 63)];
        const std::uint32_t before = version.load(std::memory_order_relaxed);
        if ((before & broom_leaving) != 0) [[unlikely]]
            return false;
        std::byte* const line = s.lines_to_change + 64 * bin;
        const auto code = static_cast<std::uint8_t>(line[14]);
        if (code == broom::long_salt) [[unlikely]]
            return false;
        const digest mixed = Policy::mixed_under(s, d, code);
        const std::uint64_t word = mixed.position;
        if ((Policy::alike(line, word) & Policy::slots_of_group(line, word)) != 0) return false;
        const unsigned used_a = used_upright(load_le64(line));
        const unsigned used_b = used_mirrored(load_le64(line + 6));
        const std::uint64_t mirrored = word >> 5 & 1;
        const unsigned used = chosen(mirrored, used_a, used_b);
        if (used >= broom::slots_per_half || used_a + used_b >= broom::slots_per_bin) return false;
        const std::uint32_t handle = Policy::handle_of(s, bin);
        if ((handle & broom::side_has_notes) != 0) return false;
        if (line[15] != std::byte{0} &&
            Policy::in_backyard(bin, mixed.seed, Policy::block_of_handle(s, handle)) != verdict::no) {
            return false;
        }
        version.store(before | broom_writing, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        insert(line, mirrored, static_cast<unsigned>(word & 31), used, static_cast<std::uint8_t>(word >> 6));
        std::atomic_signal_fence(std::memory_order_seq_cst);
        version.store(before + 4, std::memory_order_release);
        return true;
    }

    // The last of its 32 marks stands at bit 31 + slots; in the mirror at bit 32 - slots.
    [[gnu::always_inline]] static unsigned used_upright(std::uint64_t header) noexcept {
        return Policy::select(header, 31) - 31;
    }
    [[gnu::always_inline]] static unsigned used_mirrored(std::uint64_t header) noexcept {
        const auto foreign = static_cast<std::uint64_t>(_mm_popcnt_u64(header)) - 32;
        return 32 - Policy::select(header, foreign);
    }

    // Either of two values, without a branch: a key is in either half at random.
    template <class Number>
    [[gnu::always_inline]] static Number chosen(std::uint64_t mirrored, Number upright, Number in_mirror) noexcept {
        return static_cast<Number>(upright ^ ((upright ^ in_mirror) & static_cast<Number>(0 - mirrored)));
    }

    // The group's mark and all that is beyond it move one bit on, upward or in the mirror downward, and a zero takes the mark's
    // place; so do the remainders beyond the new one.
    [[gnu::always_inline]] static void insert(std::byte* line, std::uint64_t mirrored, unsigned group, unsigned used,
                                              std::uint8_t remainder) noexcept {
        std::byte* const at = line + 6 * mirrored;
        const std::uint64_t header = load_le64(at);
        const std::uint64_t foreign = static_cast<std::uint64_t>(_mm_popcnt_u64(header)) - 32;
        const std::uint64_t number = chosen<std::uint64_t>(mirrored, group, foreign + 31 - group);
        const std::uint64_t mark = _pdep_u64(std::uint64_t{1} << (number & 63), header);
        // From the mark to the first free zero, or from the last own mark, which stands above the first free zero, to it.
        const std::uint64_t above = chosen(mirrored, std::uint64_t{1} << (32 + used), 2 * mark);
        const std::uint64_t below = chosen(mirrored, mark, std::uint64_t{1} << (32 - used));
        const std::uint64_t moving = header & (above - below);
        const std::uint64_t made = (header ^ moving) | std::rotl(moving, static_cast<int>(1 + 62 * mirrored));
        std::memcpy(at, &made, sizeof made);
        // In the window of the half the slot with rank r is byte r, in the mirror byte 31 - r.
        const unsigned slot = static_cast<unsigned>(_tzcnt_u64(mark)) + chosen(mirrored, 0 - group, group - 32);
        std::byte* const window = line + 16 + 16 * mirrored;
        shift(window, window - 1 + 2 * mirrored, chosen(mirrored, slot + 1, 31 - used), chosen(mirrored, used, slot - 1));
        window[slot] = std::byte{remainder};
    }

    // Bytes [first, last] of `to` become those of `from`; none if last < first.
    [[gnu::always_inline]] static void shift(std::byte* to, const std::byte* from, unsigned first,
                                             unsigned last) noexcept {
#if GENISTA_ISA_LEVEL == 2
        const std::uint32_t moving = _bzhi_u32(~std::uint32_t{0}, last + 1) & ~_bzhi_u32(~std::uint32_t{0}, first);
        const __m256i moved = _mm256_maskz_loadu_epi8(moving, from);
        _mm256_mask_storeu_epi8(to, moving, moved);
#else
        const __m256i places = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                                                21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
        const __m256i not_before = _mm256_cmpgt_epi8(places, _mm256_set1_epi8(static_cast<char>(first) - 1));
        const __m256i beyond = _mm256_cmpgt_epi8(places, _mm256_set1_epi8(static_cast<char>(last)));
        const __m256i chosen = _mm256_andnot_si256(beyond, not_before);
        auto* const at = reinterpret_cast<__m256i*>(to);
        const __m256i moved = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
        _mm256_storeu_si256(at, _mm256_blendv_epi8(_mm256_loadu_si256(at), moved, chosen));
#endif
    }
};

#endif

}  // namespace genista::GENISTA_ISA
