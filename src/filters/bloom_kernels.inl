// Bloom look-ups and inserts of one instruction set. Half of the bits are zero, so three probes
// reject seven absent keys of eight. A batch therefore prefetches three lines, and the others only
// if all three probes held ones.
#include "filters/filter_kernels.inl"

namespace genista::GENISTA_ISA {

struct bloom_policy {
    using state = bloom_state;
    using target = digest;

    static target aim(const state&, const digest& d) noexcept { return d; }

    static std::uint64_t bit_of(const state& s, const target& t, std::uint32_t probe) noexcept {
        std::uint64_t x = t.position + probe * t.seed;
        x = (x ^ (x >> 32)) * 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio; scale() reads the high bits
        return scale(x, s.bits);
    }
    static const std::byte* byte_of(const state& s, std::uint64_t bit) noexcept { return s.bytes + bit / 8; }
    static unsigned bit_at(const state& s, std::uint64_t bit) noexcept {
        return std::to_integer<unsigned>(*byte_of(s, bit)) >> (bit % 8) & 1;
    }
    // Probes in threes without a branch inside: one probe says no half of the time, three say no
    // seven times in eight, and a mispredicted branch costs more than the two loads that it might
    // have saved.
    static bool test_from(const state& s, const target& t, std::uint32_t first) noexcept {
        std::uint32_t probe = first;
        for (; probe + 3 <= s.probes; probe += 3) {
            unsigned all = bit_at(s, bit_of(s, t, probe));
            all &= bit_at(s, bit_of(s, t, probe + 1));
            all &= bit_at(s, bit_of(s, t, probe + 2));
            if (all == 0) return false;
        }
        for (; probe < s.probes; ++probe) {
            if (bit_at(s, bit_of(s, t, probe)) == 0) return false;
        }
        return true;
    }
    static bool test(const state& s, const target& t) noexcept { return test_from(s, t, 0); }
    static bool set(const state& s, const digest& d) noexcept {
        unsigned missing = 0;
        for (std::uint32_t probe = 0; probe < s.probes; ++probe) {
            const std::uint64_t bit = bit_of(s, d, probe);
            std::byte& here = s.bytes[bit / 8];
            const auto one = std::byte{1} << (bit % 8);
            missing |= std::to_integer<unsigned>(~here & one);
            here |= one;
        }
        return missing != 0;
    }
};

// A batch in two stages. `pending` are the keys whose first probes held ones and whose other lines
// are prefetched.
struct bloom_batch {
    static constexpr std::uint32_t early = 3;
    static constexpr std::size_t pending_ring = 32;

    struct pending {
        digest d;
        std::size_t index;
    };

    static void finish(const bloom_state& s, const pending& p, std::uint64_t* out_bits) noexcept {
        if (bloom_policy::test_from(s, p.d, early)) out_bits[p.index / 64] |= std::uint64_t{1} << (p.index % 64);
    }

    template <class Key>
    static void aim_chunk(const bloom_state& s, const hash_state& h, const Key* keys, std::size_t from,
                          std::size_t count, digest* ring) noexcept {
        digest ready[hash_width];
        const std::size_t here = count - from < hash_width ? count - from : hash_width;
        if (here == hash_width) {
            digest8(h, keys + from, ready);
        } else {
            for (std::size_t i = 0; i < here; ++i) ready[i] = digest_of(h, keys[from + i]);
        }
        for (std::size_t i = 0; i < here; ++i) {
            ring[(from + i) % prefetch_ring] = ready[i];
            for (std::uint32_t probe = 0; probe < early && probe < s.probes; ++probe) {
                __builtin_prefetch(bloom_policy::byte_of(s, bloom_policy::bit_of(s, ready[i], probe)));
            }
        }
    }

    template <class Key>
    static void contains_many(const bloom_state& s, const hash_state& h, const Key* keys, std::size_t count,
                              std::uint64_t* out_bits) noexcept {
        for (std::size_t word = 0; word < (count + 63) / 64; ++word) out_bits[word] = 0;
        digest ring[prefetch_ring];
        pending waiting[pending_ring];
        std::size_t waiting_first = 0;
        std::size_t waiting_end = 0;
        std::size_t aimed = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (aimed < count && aimed < i + prefetch_ahead) {
                aim_chunk(s, h, keys, aimed, count, ring);
                aimed += hash_width;
            }
            const digest& d = ring[i % prefetch_ring];
            unsigned alive = 1;
            for (std::uint32_t probe = 0; probe < early && probe < s.probes; ++probe) {
                alive &= bloom_policy::bit_at(s, bloom_policy::bit_of(s, d, probe));
            }
            if (alive == 0) continue;
            for (std::uint32_t probe = early; probe < s.probes; ++probe) {
                __builtin_prefetch(bloom_policy::byte_of(s, bloom_policy::bit_of(s, d, probe)));
            }
            if (waiting_end - waiting_first == pending_ring)
                finish(s, waiting[waiting_first++ % pending_ring], out_bits);
            waiting[waiting_end++ % pending_ring] = {d, i};
        }
        for (; waiting_first < waiting_end; ++waiting_first) finish(s, waiting[waiting_first % pending_ring], out_bits);
    }
};

// All lines of a key are asked for, and so fewer keys ahead.
struct bloom_inserts : bloom_policy {
    static constexpr std::size_t ahead = 8;

    static void prefetch(const state& s, const target& t) noexcept {
        for (std::uint32_t probe = 0; probe < s.probes; ++probe) __builtin_prefetch(byte_of(s, bit_of(s, t, probe)));
    }
    static insert_outcome insert(const state& s, const target& t) noexcept {
        return set(s, t) ? insert_outcome::inserted : insert_outcome::already_present;
    }
};

struct bloom_entry {
    static bool insert_digest(bloom_state& s, const digest& d) noexcept { return bloom_policy::set(s, d); }
    static bool insert_integer(bloom_state& s, const hash_state& h, std::uint64_t key) noexcept {
        return bloom_policy::set(s, digest_of(h, key));
    }
};

inline constexpr bloom_kernels bloom_table = {
    {&lookups<bloom_policy>::contains_integer, &lookups<bloom_policy>::contains_key,
     &lookups<bloom_policy>::contains_digest, &bloom_batch::contains_many<std::uint64_t>,
     &bloom_batch::contains_many<key_view>, &bloom_batch::contains_many<digest>},
    &bloom_entry::insert_integer,
    &bloom_entry::insert_digest,
    inserts<bloom_inserts, bloom_inserts::ahead>::table};

}  // namespace genista::GENISTA_ISA
