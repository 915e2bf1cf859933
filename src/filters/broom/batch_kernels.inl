// Broom look-ups in batches: rounds of 64 keys, a bit of a word for each, in passes without a
// branch that the processor could mispredict. A batch answers what single look-ups answer, and
// overlaps their cache misses.
//
//     aim       hash, and prefetch the lines of the keys ahead
//     glance    does a remainder agree, are keys of the class outside?       all keys
//     match     the runs of the remainders that agree                        one negative in nine
//     slots     extensions of matching slots; prefetch side blocks           positives, ε negatives
//     backyard  the tags in those blocks                                     one in ten or twenty
//
// The rare cases (a bin that changes, a long salt, a slot with an extension) go to the scalar
// version.
#if !defined(GENISTA_BROOM_PLAIN)

namespace genista::GENISTA_ISA {

template <class Policy>
struct broom_batches {
    using state = typename Policy::state;

    // Keys in flight: hashed, their lines prefetched. A ring; its end never splits a chunk of
    // hash_width keys.
    static constexpr std::size_t round = broom::word_bits;
    static constexpr std::size_t ahead = round;
    static constexpr std::size_t places = 2 * round;
    struct ring {
        alignas(64) digest digests[places];
        alignas(64) std::uint64_t offsets[places];  // of the lines, in bytes
        // Filled by glance() for the keys of a round:
        alignas(64) std::uint64_t words[round];   // first words of the fingerprints
        alignas(64) std::uint32_t alike[round];   // bit masks: remainders that agree
        alignas(64) std::uint32_t before[round];  // versions of the bins before the read
    };
    // Sets of keys of a round, one bit a key.
    struct glimpse {
        std::uint64_t outside = 0;
        std::uint64_t rare = 0;
    };

    [[gnu::always_inline]] static std::uint64_t bin_at(const ring& r, std::size_t key) noexcept {
        return r.offsets[key % places] / line_layout::bytes;
    }

    template <class Key>
    [[gnu::always_inline]] static void aim(const state& s, const hash_state& h, const Key* keys, std::size_t from,
                                           std::size_t count, ring& r) noexcept {
        digest* const digests = r.digests + from % places;
        std::uint64_t* const offsets = r.offsets + from % places;
        if (count - from >= hash_width) [[likely]] {
            digest8(h, keys + from, digests);
        } else {
            for (std::size_t i = 0; i < hash_width; ++i) {
                digests[i] = i < count - from ? digest_of(h, keys[from + i]) : digest{};
            }
        }
        for (std::size_t i = 0; i < hash_width; ++i) {
            offsets[i] = line_layout::bytes * scale(digests[i].position, s.bins);
            __builtin_prefetch(s.lines + offsets[i]);
        }
    }

#if GENISTA_ISA_LEVEL == 2

    // The fingerprints' first words under the salts with these codes.
    [[gnu::noinline]] static __m512i salted_words(const state& s, const digest* digests, __m256i codes) noexcept {
        const __m512i d0 = _mm512_loadu_si512(digests);
        const __m512i d1 = _mm512_loadu_si512(digests + 4);
        const __m512i salts = _mm512_i32gather_epi64(codes, s.salt_words, 8);
        // Blocks are (seed, position ^ salt): swap the halves of a digest and xor the salt into the
        // upper half.
        const __m512i low = _mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0);
        const __m512i high = _mm512_set_epi64(7, 7, 6, 6, 5, 5, 4, 4);
        const __m512i swapped0 = _mm512_shuffle_epi32(d0, _MM_PERM_BADC);
        const __m512i swapped1 = _mm512_shuffle_epi32(d1, _MM_PERM_BADC);
        __m512i a = _mm512_mask_xor_epi64(swapped0, 0xaa, swapped0, _mm512_permutexvar_epi64(low, salts));
        __m512i b = _mm512_mask_xor_epi64(swapped1, 0xaa, swapped1, _mm512_permutexvar_epi64(high, salts));
        encrypt_in_registers(*s.mix, a, b);
        const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
        const __m512i odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
        const __m512i words = _mm512_permutex2var_epi64(a, even, b);
        if (!s.common_is_unsalted) return words;
        return _mm512_mask_mov_epi64(words, _mm256_testn_epi32_mask(codes, codes),
                                     _mm512_permutex2var_epi64(d0, odd, d1));
    }

    [[gnu::always_inline]] static void glance(const state& s, std::size_t from, ring& r, glimpse& seen) noexcept {
        const std::size_t at = from % round;
        const digest* const digests = r.digests + from % places;
        const __m512i offsets = _mm512_load_si512(r.offsets + from % places);
        const __m128i shift = _mm_cvtsi64_si128(static_cast<long long>(s.stripe_shift + line_layout::bytes_shift));
        const __m512i stripes = _mm512_srl_epi64(offsets, shift);
        const __m256i before = _mm512_i64gather_epi32(stripes, s.versions, 4);
        _mm256_store_si256(reinterpret_cast<__m256i*>(r.before + at), before);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        // The salt's code and the overflow classes, in the upper half of the four bytes that they
        // end.
        const __m256i tops = _mm512_i64gather_epi32(offsets, s.lines + line_layout::top_byte, 1);
        const __m256i codes = _mm256_and_si256(_mm256_srli_epi32(tops, line_layout::salt_in_top.at),
                                               _mm256_set1_epi32(static_cast<int>(line_layout::salt_in_top.most())));
        __m512i words;
        if (s.common_is_unsalted && _mm256_testz_si256(codes, codes)) {
            const __m512i odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
            words = _mm512_permutex2var_epi64(_mm512_load_si512(digests), odd, _mm512_load_si512(digests + 4));
        } else {
            words = salted_words(s, digests, codes);
        }
        alignas(64) std::uint64_t remainders[8];
        alignas(64) std::uint64_t windows[8];
        const __m512i half = _mm512_and_si512(_mm512_srli_epi64(words, mixed_layout::window_shift),
                                              _mm512_set1_epi64(line_layout::window_step));
        _mm512_store_si512(r.words + at, words);
        _mm512_store_si512(remainders, _mm512_srli_epi64(words, mixed_layout::remainder.at));
        _mm512_store_si512(windows, _mm512_add_epi64(offsets, half));
        for (std::size_t i = 0; i < 8; ++i) {
            const auto* const window =
                reinterpret_cast<const __m256i*>(s.lines + line_layout::remainders_byte + windows[i]);
            const __m256i wanted = _mm256_set1_epi8(static_cast<char>(remainders[i]));
            r.alike[at + i] = _mm256_cmpeq_epi8_mask(wanted, _mm256_loadu_si256(window));
        }
        const __m256i classes =
            _mm256_and_si256(_mm512_cvtepi64_epi32(_mm512_srli_epi64(words, mixed_layout::overflow_class.at)),
                             _mm256_set1_epi32(static_cast<int>(mixed_layout::overflow_class.most())));
        const __m256i overflow = _mm256_srlv_epi32(_mm256_srli_epi32(tops, line_layout::overflow_in_top.at), classes);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        const __m256i after = _mm512_i64gather_epi32(stripes, s.versions, 4);
        const unsigned rare = _mm256_cmpeq_epi32_mask(codes, _mm256_set1_epi32(broom::long_salt)) |
                              _mm256_cmpneq_epi32_mask(before, after) |
                              _mm256_test_epi32_mask(before, _mm256_set1_epi32(broom_writing | broom_leaving));
        seen.outside |= std::uint64_t{_mm256_test_epi32_mask(overflow, _mm256_set1_epi32(1))} << at;
        seen.rare |= std::uint64_t{rare} << at;
    }

#else

    [[gnu::always_inline]] static void glance(const state& s, std::size_t from, ring& r, glimpse& seen) noexcept {
        for (std::size_t i = from; i < from + hash_width; ++i) {
            const std::size_t at = i % round;
            const std::uint64_t bin = r.offsets[i % places] / line_layout::bytes;
            r.before[at] = Policy::version_of(s, bin).load(std::memory_order_acquire);
            const std::byte* const line = Policy::line_of(s, bin);
            const auto code = static_cast<std::uint8_t>(line[line_layout::salt_byte]);
            r.words[at] = Policy::mixed_under(s, r.digests[i % places], code).first;
            r.alike[at] = Policy::alike(line, r.words[at]);
            seen.outside |= std::uint64_t{Policy::overflowed(line, r.words[at])} << at;
            const bool stands = Policy::stands(r.before[at], Policy::version_of(s, bin));
            seen.rare |= std::uint64_t{code == broom::long_salt || !stands} << at;
        }
    }

#endif

    // Keys of the round with a remainder that agrees. A separate pass after glance(): loading as
    // one vector what was just stored in eight pieces would stall.
    [[gnu::always_inline]] static std::uint64_t those_alike(const ring& r) noexcept {
        std::uint64_t some = 0;
#if GENISTA_ISA_LEVEL == 2
        for (std::size_t i = 0; i < round; i += sizeof(__m512i) / sizeof r.alike[0]) {
            const __m512i alike = _mm512_load_si512(r.alike + i);
            some |= std::uint64_t{_mm512_test_epi32_mask(alike, alike)} << i;
        }
#else
        for (std::size_t i = 0; i < round; ++i) some |= std::uint64_t{r.alike[i] != 0} << i;
#endif
        return some;
    }

    // Answers for the keys of a round, from `first` on.
    [[gnu::noinline]] static std::uint64_t confirm_round(const state& s, ring& r, std::size_t first, std::uint64_t keys,
                                                         glimpse seen) noexcept {
        std::uint64_t matched = 0;
        std::uint64_t rare = seen.rare & keys;
        for (std::uint64_t left = those_alike(r) & keys; left != 0; left &= left - 1) {
            const auto i = static_cast<std::size_t>(_tzcnt_u64(left));
            const std::uint64_t offset = r.offsets[(first + i) % places];
            const std::uint32_t hits = r.alike[i] & Policy::slots_of_run(s.lines + offset, r.words[i]);
            const bool stands = Policy::stands(r.before[i], Policy::version_of(s, offset / line_layout::bytes));
            matched |= std::uint64_t{hits != 0} << i;
            rare |= std::uint64_t{!stands} << i;
            r.alike[i] = hits;
        }
        std::uint64_t yes = 0;
        std::uint64_t with_data = 0;
        for (std::uint64_t left = matched & ~rare; left != 0; left &= left - 1) {
            const auto i = static_cast<std::size_t>(_tzcnt_u64(left));
            const std::uint64_t bin = bin_at(r, first + i);
            const std::uint32_t handle = Policy::handle_of(s, bin);
            // With tails, a match of quotient and remainder is not yet a match of the base.
            const bool stands = Policy::stands(r.before[i], Policy::version_of(s, bin)) && !Policy::has_tails;
            const bool has_extensions = (handle & broom::side_has_slot_data) != 0;
            if (has_extensions) __builtin_prefetch(Policy::block_of_handle(s, handle));
            yes |= std::uint64_t{stands && !has_extensions} << i;
            with_data |= std::uint64_t{stands && has_extensions} << i;
            rare |= std::uint64_t{!stands} << i;
        }
        for (std::uint64_t left = with_data; left != 0; left &= left - 1) {
            const auto i = static_cast<std::size_t>(_tzcnt_u64(left));
            const std::uint64_t bin = bin_at(r, first + i);
            // Without tails one slot matches, if any.
            const unsigned slot = Policy::slot_at(_tzcnt_u32(r.alike[i]), r.words[i]);
            const bool alive = Policy::slot_verdict(s, bin, slot, Policy::handle_of(s, bin)) == Policy::verdict::yes &&
                               Policy::stands(r.before[i], Policy::version_of(s, bin));
            yes |= std::uint64_t{alive} << i;
            rare |= std::uint64_t{!alive} << i;
        }
        const std::uint64_t outside = seen.outside & keys & ~(matched | rare);
        for (std::uint64_t left = outside; left != 0; left &= left - 1) {
            const auto i = static_cast<std::size_t>(_tzcnt_u64(left));
            const std::uint32_t handle = Policy::handle_of(s, bin_at(r, first + i));
            constexpr std::size_t words_in_cache_line = 64 / sizeof(std::uint64_t);
            __builtin_prefetch(Policy::block_of_handle(s, handle));
            __builtin_prefetch(Policy::block_of_handle(s, handle) + words_in_cache_line);
        }
        for (std::uint64_t left = outside | rare; left != 0; left &= left - 1) {
            const auto i = static_cast<std::size_t>(_tzcnt_u64(left));
            const std::size_t at = (first + i) % places;
            yes |= std::uint64_t{Policy::confirm(s, Policy::pack(r.digests[at]), bin_at(r, at))} << i;
        }
        return yes;
    }

    template <class Key>
    static void contains_many(const state& s, const hash_state& h, const Key* keys, std::size_t count,
                              std::uint64_t* out_bits) noexcept {
        ring r;
        std::size_t aimed = 0;
        for (; aimed < ahead && aimed < count; aimed += hash_width) aim(s, h, keys, aimed, count, r);
        for (std::size_t first = 0; first < count; first += round) {
            const std::size_t end = count - first < round ? count : first + round;
            glimpse seen;
            for (std::size_t from = first; from < end; from += hash_width) {
                glance(s, from, r, seen);
                if (aimed < count) {
                    aim(s, h, keys, aimed, count, r);
                    aimed += hash_width;
                }
            }
            out_bits[first / round] =
                confirm_round(s, r, first, _bzhi_u64(~std::uint64_t{0}, static_cast<unsigned>(end - first)), seen);
        }
    }
};

}  // namespace genista::GENISTA_ISA

#endif
