// Look-ups of a filter of classes, built from a Policy that aims and tests: filter_kernels.inl with
// a class beside each key. Include it after that file:
//
//     using state;                                                 the table
//     struct target;                                               what a digest and a class become
//     static target aim(const state&, const digest&, unsigned)     no memory access
//     static void prefetch(const state&, const target&)            prefetches the line(s)
//     static bool test(const state&, const target&)                reads them

namespace genista::GENISTA_ISA {

template <class Policy>
struct class_lookups {
    using state = typename Policy::state;
    using target = typename Policy::target;

    static bool contains_integer(const state& s, const hash_state& h, std::uint64_t key, unsigned its_class) noexcept {
        if (h.kind != hash_kind::keyed) [[unlikely]]
            return contains_digest(s, digest_of(h, key), its_class);
        return Policy::test(s, Policy::aim(s, encrypt(h, block_of(key)), its_class));
    }
    static bool contains_key(const state& s, const hash_state& h, key_view key, unsigned its_class) noexcept {
        return Policy::test(s, Policy::aim(s, digest_of(h, key), its_class));
    }
    [[gnu::noinline]] static bool contains_digest(const state& s, const digest& d, unsigned its_class) noexcept {
        return Policy::test(s, Policy::aim(s, d, its_class));
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
            aimed = Policy::aim(s, ready[i], classes[from + i]);
            Policy::prefetch(s, aimed);
        }
    }

    template <class Key>
    static void contains_many(const state& s, const hash_state& h, const Key* keys, const std::uint8_t* classes,
                              std::size_t count, std::uint64_t* out_bits) noexcept {
        target ring[prefetch_ring];
        std::size_t aimed = 0;
        for (; aimed < prefetch_ahead && aimed < count; aimed += hash_width)
            aim_chunk(s, h, keys, classes, aimed, count, ring);
        for (std::size_t first = 0; first < count; first += 64) {
            std::uint64_t word = 0;
            const std::size_t end = count - first < 64 ? count : first + 64;
            for (std::size_t from = first; from < end; from += hash_width) {
                if (aimed < count) {
                    aim_chunk(s, h, keys, classes, aimed, count, ring);
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
};

}  // namespace genista::GENISTA_ISA
