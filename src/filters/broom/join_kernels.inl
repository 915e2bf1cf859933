// The usual insert, complete: nine keys in ten find a free slot in their half, no key with their
// base or tag, and no extension that would have to follow the slots that move. And the usual second
// half of an erase whose caller guarantees that the key is present: the slot with the key's base is
// its own, and its bin already has tombstones, but not too many (epoch.hpp). In every other case
// the answer is `no`, and nothing has changed.
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
    static bool leave_tombstone(const state&, const digest&, const broom_epoch_mark&) noexcept { return false; }
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
        std::uint64_t keys = 0;
        if (!under_lock<&broom_joins::join_locked, 1>(s, d, keys)) return broom_joined::no;
        return keys > s.grow_at ? broom_joined::yes_and_grow : broom_joined::yes;
    }

    static bool leave_tombstone(const state& s, const digest& d, const broom_epoch_mark& when) noexcept {
        std::uint64_t keys = 0;
        if (!s.leaves_tombstones || when.table != s.lines) return false;
        return under_lock<&broom_joins::leave_tombstone_locked, ~std::uint64_t{0}>(s, d, keys, when);
    }

    static broom_joined_many join_many(const state& s, const digest* digests, std::size_t count) noexcept {
        for (std::size_t i = 0; i < count && i < ahead; ++i) s.prefetch_to_change(digests[i].position);
        if (s.writer_counters->back_off.load(std::memory_order_relaxed) == 0 && s.writer_counters->all.enter())
            return join_many_alone(s, digests, count);
        for (std::size_t i = 0; i < count; ++i) {
            if (i + ahead < count) s.prefetch_to_change(digests[i + ahead].position);
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

    // A writer that is alone enters and counts once for the whole batch. Batches are short, so
    // other writers do not wait for long.
    static broom_joined_many join_many_alone(const state& s, const digest* digests, std::size_t count) noexcept {
        const std::uint64_t before = s.writer_counters->keys.load(std::memory_order_relaxed);
        const std::uint64_t room = before < s.grow_at ? s.grow_at - before : 0;
        const std::size_t most = room < count ? static_cast<std::size_t>(room) + 1 : count;
        std::size_t joined = 0;
        for (; joined < most; ++joined) {
            if (joined + ahead < count) s.prefetch_to_change(digests[joined + ahead].position);
            if (!join_locked(s, digests[joined], scale(digests[joined].position, s.bins))) break;
        }
        s.writer_counters->keys.store(before + joined, std::memory_order_relaxed);
        s.writer_counters->all.leave();
        return {joined, joined > room};
    }

    // Runs Change() under the lock of the key's stripe, or without it if this thread writes alone;
    // a success adds `More` to the count of keys.
    template <auto Change, std::uint64_t More, class... Rest>
    [[gnu::always_inline]] static bool under_lock(const state& s, const digest& d, std::uint64_t& keys,
                                                  const Rest&... rest) noexcept {
        const std::uint64_t bin = scale(d.position, s.bins);
        if (s.writer_counters->back_off.load(std::memory_order_relaxed) != 0) [[unlikely]]
            return false;
        if (s.writer_counters->all.enter()) [[likely]] {
            const bool done = Change(s, d, bin, rest...);
            keys = s.writer_counters->keys.load(std::memory_order_relaxed) + (done ? More : 0);
            s.writer_counters->keys.store(keys, std::memory_order_relaxed);
            s.writer_counters->all.leave();
            return done;
        }
        broom_lock& lock = s.locks[bin >> (s.stripe_shift % broom::word_bits)];
        while (lock.exchange(1, std::memory_order_acquire) != 0) {
            while (lock.load(std::memory_order_relaxed) != 0) _mm_pause();
        }
        const bool done = Change(s, d, bin, rest...);
        if (done) keys = s.writer_counters->keys.fetch_add(More, std::memory_order_relaxed) + More;
        lock.store(0, std::memory_order_release);
        return done;
    }

    // What a cluster's block says about a bin.
    struct side_view {
        bool has_extensions;
        std::uint64_t tombstones_at;  // the bit where its tombstones begin; 0 if it has none
        std::uint64_t* words;
    };
    [[gnu::noinline]] static side_view view_side(const state& s, std::uint64_t bin, std::uint32_t handle) noexcept {
        auto* const words = const_cast<std::uint64_t*>(Policy::block_of_handle(s, handle));
        const broom::side_block block{words, broom::shape{s.tail_bits}};
        const auto here = static_cast<unsigned>(bin % broom::bins_per_cluster);
        return {block.has_extensions_of(here), block.tombstones_at(here), words};
    }

    // The bin under the lock, and the key's place in it.
    struct standing {
        std::byte* line;
        broom::mixed words;
        std::uint64_t mirrored;
        std::uint32_t hits;
        unsigned used_a;
        unsigned used_b;
    };
    [[gnu::always_inline]] static bool look_up(const state& s, const digest& d, std::uint64_t bin,
                                               standing& found) noexcept {
        found.line = s.lines_to_change + line_layout::bytes * bin;
        const auto code = static_cast<std::uint8_t>(found.line[line_layout::salt_byte]);
        if (code == broom::long_salt) [[unlikely]]
            return false;
        found.words = Policy::mixed_under(s, d, code);
        const std::uint64_t word = found.words.first;
        found.mirrored = mixed_layout::mirrored.of(word);
        found.hits = Policy::alike(found.line, word) & Policy::slots_of_run(found.line, word);
        found.used_a = used_upright(load_le64(found.line));
        found.used_b = used_mirrored(load_le64(found.line + line_layout::half_b_byte));
        return true;
    }
    [[gnu::always_inline]] static bool tag_is_taken(const state& s, const standing& at, std::uint64_t bin,
                                                    std::uint32_t handle) noexcept {
        return at.line[line_layout::overflow_byte] != std::byte{0} &&
               Policy::in_backyard(bin, at.words.second, Policy::block_of_handle(s, handle)) != verdict::no;
    }

    // While one exists, readers start over: from before the first store until after the last.
    class change {
      public:
        [[gnu::always_inline]] change(std::atomic<std::uint32_t>& version, std::uint32_t before) noexcept
            : version_{version}, before_{before} {
            version.store(before | broom_writing, std::memory_order_relaxed);
            std::atomic_signal_fence(std::memory_order_seq_cst);
        }
        change(const change&) = delete;
        change& operator=(const change&) = delete;
        [[gnu::always_inline]] ~change() {
            std::atomic_signal_fence(std::memory_order_seq_cst);
            version_.store(before_ + broom_change, std::memory_order_release);
        }

      private:
        std::atomic<std::uint32_t>& version_;
        std::uint32_t before_;
    };

    [[gnu::always_inline]] static bool join_locked(const state& s, const digest& d, std::uint64_t bin) noexcept {
        std::atomic<std::uint32_t>& version = s.changes[bin >> (s.stripe_shift % broom::word_bits)];
        const std::uint32_t before = version.load(std::memory_order_relaxed);
        standing at;
        if ((before & broom_leaving) != 0 || !look_up(s, d, bin, at)) [[unlikely]]
            return false;
        const unsigned used = chosen(at.mirrored, at.used_a, at.used_b);
        const std::uint32_t handle = Policy::handle_of(s, bin);
        // This knows less than the bin holds (fits.hpp): any slot with the key's quotient and
        // remainder counts as one with its base, and any entry with the low bits of its tag, or a
        // long backyard, as one with its tag.
        static_assert(Policy::tags_in_vector < broom::backyard_per_bin, "a full backyard is a long one");
        const broom::place by_line =
            broom::place_by_line(at.hits != 0, broom::half_has_room(used, at.used_a + at.used_b));
        if (by_line != broom::place::slot) return false;
        if (broom::place_beside_entries(by_line, tag_is_taken(s, at, bin, handle)) != broom::place::slot) return false;
        side_view side{};
        if ((handle & broom::side_has_slot_data) != 0) {
            side = view_side(s, bin, handle);
            if (side.has_extensions) return false;
        }
        const change raised{version, before};
        const std::uint64_t word = at.words.first;
        const unsigned place = insert(at.line, at.mirrored, mixed_layout::quotient_in_half.number(word), used,
                                      static_cast<std::uint8_t>(mixed_layout::remainder.number(word)));
        if constexpr (Policy::has_tails) insert_tail(s, bin, word, used, place);
        if (side.tombstones_at != 0) {
            broom::slot_set tombstones{broom::bits_at(side.words, side.tombstones_at, broom::slots_per_bin)};
            tombstones.move_ranks(at.mirrored != 0, at.mirrored != 0 ? line_layout::last_in_window - place : place,
                                  used, true);
            broom::set_bits_at(side.words, side.tombstones_at, broom::slots_per_bin, tombstones.bits);
        }
        return true;
    }

    // The tails above the new slot's move by one place, as its remainders did.
    [[gnu::always_inline]] static void insert_tail(const state& s, std::uint64_t bin, std::uint64_t word, unsigned used,
                                                   unsigned place) noexcept {
        const unsigned width = s.tail_bits;
        const std::uint64_t own = Policy::tail_of(s, word);
        if (mixed_layout::mirrored.of(word) != 0) {
            const std::uint64_t begin = broom::tail_at(bin, broom::slots_per_bin - used, width);
            const std::uint64_t end = broom::tail_at(bin, line_layout::window_step + place + 1, width);
            bits::insert_moving_down(s.tails_to_change, begin, end, width, own);
        } else {
            const std::uint64_t begin = broom::tail_at(bin, place, width);
            bits::insert_moving_up(s.tails_to_change, begin, broom::tail_at(bin, used, width), width, own);
        }
    }
    // The slot of the lowest of these places in the window of the key's half.
    [[gnu::always_inline]] static unsigned slot_of(const standing& at, std::uint32_t places) noexcept {
        return static_cast<unsigned>(_tzcnt_u32(places) + line_layout::window_step * at.mirrored);
    }
    // Of the slots with the key's quotient and remainder, those with its tail.
    [[gnu::always_inline]] static std::uint32_t with_tail(const state& s, const standing& at,
                                                          std::uint64_t bin) noexcept {
        if constexpr (!Policy::has_tails) return at.hits;
        std::uint32_t same = 0;
        const std::uint64_t own = Policy::tail_of(s, at.words.first);
        for (std::uint32_t left = at.hits; left != 0; left &= left - 1) {
            if (Policy::has_tail(s, bin, slot_of(at, left), own)) same |= left & (0 - left);
        }
        return same;
    }

    [[gnu::always_inline]] static bool leave_tombstone_locked(const state& s, const digest& d, std::uint64_t bin,
                                                              const broom_epoch_mark& when) noexcept {
        std::atomic<std::uint32_t>& version = s.changes[bin >> (s.stripe_shift % broom::word_bits)];
        const std::uint32_t before = version.load(std::memory_order_relaxed);
        standing at;
        if ((before & broom_leaving) != 0 || !look_up(s, d, bin, at)) [[unlikely]]
            return false;
        const bool full = broom::is_full(at.used_a, at.used_b);
        const std::uint32_t handle = Policy::handle_of(s, bin);
        at.hits = with_tail(s, at, bin);
        if (at.hits == 0 || (handle & broom::side_has_slot_data) == 0 || s.mark_of_locked(bin) != when) return false;
        if (tag_is_taken(s, at, bin, handle)) return false;
        const side_view side = view_side(s, bin, handle);
        if (side.has_extensions || side.tombstones_at == 0) return false;
        broom::slot_set tombstones{broom::bits_at(side.words, side.tombstones_at, broom::slots_per_bin)};
        const unsigned slot = slot_of(at, at.hits);
        if (tombstones.has(slot) || (full && tombstones.size() >= broom::tombstones_in_full_bin)) return false;
        tombstones.add(slot);
        const change raised{version, before};
        broom::set_bits_at(side.words, side.tombstones_at, broom::slots_per_bin, tombstones.bits);
        return true;
    }

    // Slots in use: the last of the half's marks stands as many bits above the place that it has in
    // an empty half; in the mirror as many below.
    static constexpr unsigned last_mark_upright = broom::quotients_per_half - 1;
    static constexpr unsigned last_mark_mirrored = broom::word_bits - broom::quotients_per_half;
    [[gnu::always_inline]] static unsigned used_upright(std::uint64_t header) noexcept {
        return Policy::select(header, last_mark_upright) - last_mark_upright;
    }
    [[gnu::always_inline]] static unsigned used_mirrored(std::uint64_t header) noexcept {
        return last_mark_mirrored - Policy::select(header, Policy::marks_of_half_a_in(header));
    }

    // One of two values, without a branch: a key is in either half with equal chance.
    template <class Number>
    [[gnu::always_inline]] static Number chosen(std::uint64_t mirrored, Number upright, Number in_mirror) noexcept {
        return static_cast<Number>(upright ^ ((upright ^ in_mirror) & static_cast<Number>(0 - mirrored)));
    }

    // Inserts a zero at the run's mark: the mark and all bits beyond it move one bit on, upward
    // or in the mirror downward; so do the remainders beyond the new one. Returns the place of the
    // new slot in the window of its half.
    [[gnu::always_inline]] static unsigned insert(std::byte* line, std::uint64_t mirrored, unsigned quotient,
                                                  unsigned used, std::uint8_t remainder) noexcept {
        std::byte* const at = line + line_layout::half_b_byte * mirrored;
        const std::uint64_t header = load_le64(at);
        const std::uint64_t foreign = Policy::marks_of_half_a_in(header);
        const std::uint64_t number = chosen<std::uint64_t>(mirrored, quotient, foreign + last_mark_upright - quotient);
        const std::uint64_t mark = _pdep_u64(std::uint64_t{1} << (number % broom::word_bits), header);
        // The bits to move: upright from the mark to the first free zero; in the mirror from the
        // last own mark, which stands above the first free zero, to the mark.
        const std::uint64_t above = chosen(mirrored, std::uint64_t{1} << (last_mark_upright + 1 + used), 2 * mark);
        const std::uint64_t below = chosen(mirrored, mark, std::uint64_t{1} << (last_mark_mirrored - used));
        const std::uint64_t moving = header & (above - below);
        constexpr std::uint64_t one_up = 1, one_down = broom::word_bits - 1;  // as rotations
        const std::uint64_t turned = std::rotl(moving, static_cast<int>(one_up + (one_down - one_up) * mirrored));
        const std::uint64_t made = (header ^ moving) | turned;
        std::memcpy(at, &made, sizeof made);
        // The bit of the mark, less the marks on the way to it.
        const unsigned place =
            static_cast<unsigned>(_tzcnt_u64(mark)) + chosen(mirrored, 0 - quotient, quotient - last_mark_mirrored);
        std::byte* const window = line + line_layout::remainders_byte + line_layout::window_step * mirrored;
        shift(window, window - 1 + 2 * mirrored, chosen(mirrored, place + 1, line_layout::last_in_window - used),
              chosen(mirrored, used, place - 1));
        window[place] = std::byte{remainder};
        return place;
    }

    // Copies bytes [first, last] of `from` to `to`; none if last < first.
    [[gnu::always_inline]] static void shift(std::byte* to, const std::byte* from, unsigned first,
                                             unsigned last) noexcept {
#if GENISTA_ISA_LEVEL == 2
        const std::uint32_t moving = _bzhi_u32(~std::uint32_t{0}, last + 1) & ~_bzhi_u32(~std::uint32_t{0}, first);
        const __m256i moved = _mm256_maskz_loadu_epi8(moving, from);
        _mm256_mask_storeu_epi8(to, moving, moved);
#else
        const __m256i places = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
                                                20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
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
