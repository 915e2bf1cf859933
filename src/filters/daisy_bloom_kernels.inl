// Scattered daisy Bloom look-ups and inserts of one instruction set: those of bloom_filter with as
// many probes as the key's class. Three probes reject most absent keys there, and here if the class
// has as many, so the batch has the same two stages.
#include "filters/bloom_kernels.inl"
#include "filters/class_kernels.inl"

namespace genista::GENISTA_ISA {

struct daisy_scattered {
    using state = daisy_bloom_state;
    struct target {
        digest d;
        std::uint32_t probes;
    };

    static target aim(const state& s, const digest& d, unsigned its_class) noexcept {
        return {d, its_class < s.largest ? its_class : s.largest};
    }
    // A bloom_filter in which all keys are of this class.
    static bloom_state as_bloom(const state& s, std::uint32_t probes) noexcept { return {s.bytes, s.places, probes}; }

    static bool test(const state& s, const target& t) noexcept {
        return bloom_policy::test(as_bloom(s, t.probes), t.d);
    }
    static unsigned insert(state& s, const digest& d, unsigned its_class) noexcept {
        const target t = aim(s, d, its_class);
        const bloom_state bits = as_bloom(s, t.probes);
        unsigned fresh = 0;
        for (std::uint32_t probe = 0; probe < t.probes; ++probe) {
            const std::uint64_t bit = bloom_policy::bit_of(bits, d, probe);
            fresh += bloom_policy::bit_at(bits, bit) ^ 1;
            s.bytes[bit / 8] |= std::byte{1} << (bit % 8);
        }
        return fresh;
    }
};

// As bloom_batch: `pending` are the keys whose first probes held ones and whose other lines are
// prefetched.
struct daisy_scattered_batch {
    using state = daisy_bloom_state;
    using target = daisy_scattered::target;
    static constexpr std::uint32_t early = bloom_batch::early;
    static constexpr std::size_t pending_ring = bloom_batch::pending_ring;

    struct pending {
        target t;
        std::size_t index;
    };

    static void prefetch(const bloom_state& bits, const target& t, std::uint32_t first, std::uint32_t end) noexcept {
        for (std::uint32_t probe = first; probe < end && probe < t.probes; ++probe)
            __builtin_prefetch(bloom_policy::byte_of(bits, bloom_policy::bit_of(bits, t.d, probe)));
    }
    static void finish(const state& s, const pending& p, std::uint64_t* out_bits) noexcept {
        const bloom_state bits = daisy_scattered::as_bloom(s, p.t.probes);
        if (bloom_policy::test_from(bits, p.t.d, early)) out_bits[p.index / 64] |= std::uint64_t{1} << (p.index % 64);
    }

    template <class Key>
    static void aim_chunk(const state& s, const hash_state& h, const Key* keys, const std::uint8_t* classes,
                          std::size_t from, std::size_t count, target* ring) noexcept {
        digest ready[hash_width];
        const std::size_t here = count - from < hash_width ? count - from : hash_width;
        if (here == hash_width) {
            digest8(h, keys + from, ready);
        } else {
            for (std::size_t i = 0; i < here; ++i) ready[i] = digest_of(h, keys[from + i]);
        }
        for (std::size_t i = 0; i < here; ++i) {
            target& aimed = ring[(from + i) % prefetch_ring];
            aimed = daisy_scattered::aim(s, ready[i], classes[from + i]);
            prefetch(daisy_scattered::as_bloom(s, aimed.probes), aimed, 0, early);
        }
    }

    template <class Key>
    static void contains_many(const state& s, const hash_state& h, const Key* keys, const std::uint8_t* classes,
                              std::size_t count, std::uint64_t* out_bits) noexcept {
        for (std::size_t word = 0; word < (count + 63) / 64; ++word) out_bits[word] = 0;
        target ring[prefetch_ring];
        pending waiting[pending_ring];
        std::size_t waiting_first = 0;
        std::size_t waiting_end = 0;
        std::size_t aimed = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (aimed < count && aimed < i + prefetch_ahead) {
                aim_chunk(s, h, keys, classes, aimed, count, ring);
                aimed += hash_width;
            }
            const target& t = ring[i % prefetch_ring];
            const bloom_state bits = daisy_scattered::as_bloom(s, t.probes);
            unsigned alive = 1;
            for (std::uint32_t probe = 0; probe < early && probe < t.probes; ++probe)
                alive &= bloom_policy::bit_at(bits, bloom_policy::bit_of(bits, t.d, probe));
            if (alive == 0) continue;
            prefetch(bits, t, early, t.probes);
            if (waiting_end - waiting_first == pending_ring)
                finish(s, waiting[waiting_first++ % pending_ring], out_bits);
            waiting[waiting_end++ % pending_ring] = {t, i};
        }
        for (; waiting_first < waiting_end; ++waiting_first) finish(s, waiting[waiting_first % pending_ring], out_bits);
    }
};

inline constexpr daisy_bloom_kernels daisy_scattered_kernels = {
    &class_lookups<daisy_scattered>::contains_integer,
    &class_lookups<daisy_scattered>::contains_key,
    &class_lookups<daisy_scattered>::contains_digest,
    &daisy_scattered_batch::contains_many<std::uint64_t>,
    &daisy_scattered_batch::contains_many<key_view>,
    &daisy_scattered_batch::contains_many<digest>,
    &daisy_scattered::insert,
};

}  // namespace genista::GENISTA_ISA
