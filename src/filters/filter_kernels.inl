// Look-ups of any structure, built from a Policy that aims and tests:
//
//     using state;                                        the table
//     struct target;                                      what a digest becomes: an address and
//                                                         what to look for there
//     static target aim(const state&, const digest&)      no memory access
//     static void prefetch(const state&, const target&)   prefetches the line(s)
//     static bool test(const state&, const target&)       reads them
//
// One line for each look-up is the floor (docs/benchmarks.md); a batch prefetches the lines of
// later keys while earlier keys are tested.
//
// Inserts of many keys need one function more of the Policy:
//
//     static insert_outcome insert(state&, const target&)
#include "hash/digest_kernels.inl"

namespace genista::GENISTA_ISA {

// How many keys the prefetches run ahead. Believed, not measured: twice the misses that a core
// keeps in flight (12-16 lines).
inline constexpr std::size_t prefetch_ahead = 32;
inline constexpr std::size_t prefetch_ring = 64;
static_assert(prefetch_ahead + hash_width <= prefetch_ring);

template <class Policy>
struct lookups {
    using state = typename Policy::state;
    using target = typename Policy::target;

    static bool contains_integer(const state& s, const hash_state& h, std::uint64_t key) noexcept {
        if (h.kind != hash_kind::keyed) [[unlikely]]
            return contains_unkeyed(s, h, key);
        return Policy::test(s, Policy::aim(s, encrypt(h, block_of(key))));
    }
    // A separate function, so that the keyed look-up saves no registers across a call and needs no
    // stack.
    [[gnu::noinline]] static bool contains_unkeyed(const state& s, const hash_state& h, std::uint64_t key) noexcept {
        return Policy::test(s, Policy::aim(s, digest_of(h, key)));
    }
    static bool contains_key(const state& s, const hash_state& h, key_view key) noexcept {
        return Policy::test(s, Policy::aim(s, digest_of(h, key)));
    }
    static bool contains_digest(const state& s, const digest& d) noexcept { return Policy::test(s, Policy::aim(s, d)); }

    // Aims at keys [from, from + hash_width) and prefetches their lines; a short tail goes one by
    // one.
    template <class Key>
    static void aim_chunk(const state& s, const hash_state& h, const Key* keys, std::size_t from, std::size_t count,
                          target* ring) noexcept {
        digest ready[hash_width];
        const std::size_t here = count - from < hash_width ? count - from : hash_width;
        if (here == hash_width) {
            digest8(h, keys + from, ready);
        } else {
            for (std::size_t i = 0; i < here; ++i) ready[i] = digest_of(h, keys[from + i]);
        }
        for (std::size_t i = 0; i < here; ++i) {
            target& aimed = ring[(from + i) % prefetch_ring];
            aimed = Policy::aim(s, ready[i]);
            Policy::prefetch(s, aimed);
        }
    }

    template <class Key>
    static void contains_many(const state& s, const hash_state& h, const Key* keys, std::size_t count,
                              std::uint64_t* out_bits) noexcept {
        target ring[prefetch_ring];
        std::size_t aimed = 0;
        for (; aimed < prefetch_ahead && aimed < count; aimed += hash_width) aim_chunk(s, h, keys, aimed, count, ring);
        for (std::size_t first = 0; first < count; first += 64) {
            std::uint64_t word = 0;
            const std::size_t end = count - first < 64 ? count : first + 64;
            for (std::size_t from = first; from < end; from += hash_width) {
                if (aimed < count) {
                    aim_chunk(s, h, keys, aimed, count, ring);
                    aimed += hash_width;
                }
                const std::size_t stop = end - from < hash_width ? end : from + hash_width;
                for (std::size_t i = from; i < stop; ++i) {
                    word |= std::uint64_t{Policy::test(s, ring[i % prefetch_ring])} << (i % 64);
                }
            }
            out_bits[first / 64] = word;
        }
    }

    static constexpr kernel_table<state> table = {
        &contains_integer,        &contains_key,          &contains_digest, &contains_many<std::uint64_t>,
        &contains_many<key_view>, &contains_many<digest>,
    };
};

// A target must not depend on what earlier inserts changed: keys behind are aimed at before.
template <class Policy, std::size_t Ahead = prefetch_ahead>
struct inserts {
    using state = typename Policy::state;
    using target = typename Policy::target;
    static_assert(Ahead % hash_width == 0 && Ahead + hash_width <= prefetch_ring);

    template <class Key>
    static many_inserted insert_many(state& s, const hash_state& h, const Key* keys, std::size_t count) noexcept {
        target ring[prefetch_ring];
        std::uint64_t fresh = 0;
        std::size_t aimed = 0;
        for (; aimed < Ahead && aimed < count; aimed += hash_width)
            lookups<Policy>::aim_chunk(s, h, keys, aimed, count, ring);
        for (std::size_t from = 0; from < count; from += hash_width) {
            if (aimed < count) {
                lookups<Policy>::aim_chunk(s, h, keys, aimed, count, ring);
                aimed += hash_width;
            }
            const std::size_t stop = count - from < hash_width ? count : from + hash_width;
            for (std::size_t i = from; i < stop; ++i) {
                const insert_outcome outcome = Policy::insert(s, ring[i % prefetch_ring]);
                if (outcome == insert_outcome::full) [[unlikely]]
                    return {i, fresh};
                fresh += outcome == insert_outcome::inserted ? 1 : 0;
            }
        }
        return {count, fresh};
    }

    static constexpr insert_table<state> table = {&insert_many<std::uint64_t>, &insert_many<key_view>,
                                                  &insert_many<digest>};
};

}  // namespace genista::GENISTA_ISA
