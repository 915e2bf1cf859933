// Look-ups of `hashed` (hashed.hpp) for one instruction set. With PDEP, select is one instruction.
#include "filters/filter_kernels.inl"

namespace genista::GENISTA_ISA {

#if GENISTA_ISA_LEVEL == 0
using succinct_words = bits::portable_words;
#else
using succinct_words = bits::bmi2_words;
#endif

struct hashed_policy {
    using state = succinct::hashed;
    using target = succinct::probe::target;
    static constexpr std::uint64_t symbols = succinct::counted::symbols;

    [[gnu::always_inline]] static target aim(const state& s, const digest& d) noexcept {
        return s.first().aim(s.value_of(d));
    }
    [[gnu::always_inline]] static bool test(const state& s, target who) noexcept {
        s.first().fetch(who);
        // The place of the low bits is known only after the upper bits are read: prefetch a guess
        // at once.
        __builtin_prefetch(succinct::probe::lows_of(who, symbols));
        return succinct::probe::holds<succinct_words>(who, symbols);
    }
};

// A batch, eight keys at a time. A look-up reads three lines or more in sequence: the address, the
// block's first words, the low bits. Each eight keys prefetch their next line while three other
// eights wait for theirs.
struct hashed_batch {
    using policy = hashed_policy;
    using target = policy::target;
    static constexpr std::size_t steps = 4;

    template <class Key>
    [[gnu::always_inline]] static void aim(const succinct::hashed& s, const hash_state& h, const Key* keys,
                                           target* group) noexcept {
        digest ready[hash_width];
        digest8(h, keys, ready);
        for (std::size_t i = 0; i < hash_width; ++i) {
            group[i] = policy::aim(s, ready[i]);
            __builtin_prefetch(group[i].at);
        }
    }
    [[gnu::always_inline]] static void fetch(const succinct::hashed& s, target* group) noexcept {
        for (std::size_t i = 0; i < hash_width; ++i) {
            s.first().fetch(group[i]);
            __builtin_prefetch(group[i].block);
            __builtin_prefetch(group[i].block + 7);
        }
    }
    [[gnu::always_inline]] static void fetch_lows(target* group) noexcept {
        for (std::size_t i = 0; i < hash_width; ++i)
            __builtin_prefetch(succinct::probe::lows_of(group[i], policy::symbols));
    }
    [[gnu::always_inline]] static std::uint64_t test(const target* group) noexcept {
        std::uint64_t answers = 0;
        for (std::size_t i = 0; i < hash_width; ++i)
            answers |= std::uint64_t{succinct::probe::holds<succinct_words>(group[i], policy::symbols)} << i;
        return answers;
    }

    template <class Key>
    static void contains_many(const succinct::hashed& s, const hash_state& h, const Key* keys, std::size_t count,
                              std::uint64_t* out_bits) noexcept {
        target ring[steps][hash_width];
        const std::size_t groups = count / hash_width;
        std::uint64_t word = 0;
        for (std::size_t now = 0; now < groups + steps - 1; ++now) {
            if (now < groups) aim(s, h, keys + now * hash_width, ring[now % steps]);
            if (now >= 1 && now - 1 < groups) fetch(s, ring[(now - 1) % steps]);
            if (now >= 2 && now - 2 < groups) fetch_lows(ring[(now - 2) % steps]);
            if (now < steps - 1) continue;
            const std::size_t done = now - (steps - 1), shift = done * hash_width % 64;
            word |= test(ring[done % steps]) << shift;
            if (shift != 64 - hash_width) continue;
            out_bits[done * hash_width / 64] = word;
            word = 0;
        }
        for (std::size_t i = groups * hash_width; i < count; ++i)
            word |= std::uint64_t{policy::test(s, policy::aim(s, digest_of(h, keys[i])))} << i % 64;
        if (count % 64 != 0) out_bits[count / 64] = word;
    }
};

inline constexpr succinct::hashed_kernels succinct_hashed_kernels = {
    &lookups<hashed_policy>::contains_integer, &lookups<hashed_policy>::contains_key,
    &lookups<hashed_policy>::contains_digest,  &hashed_batch::contains_many<std::uint64_t>,
    &hashed_batch::contains_many<key_view>,    &hashed_batch::contains_many<digest>,
};

}  // namespace genista::GENISTA_ISA
