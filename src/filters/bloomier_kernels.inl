// Look-ups of bloomier_filter for one instruction set. A look-up reads two places, the second known
// only after the first: a batch therefore prefetches records far ahead and entries half as far.
#include "filters/filter_kernels.inl"

namespace genista::GENISTA_ISA {

struct bloomier_policy {
    using state = bloomier_state;
    struct target {
        minimal_perfect_view::place place;
        std::uint64_t check;
        std::uint64_t bit;  // where the entry begins, once located
    };

    // A filter without keys has no record to aim at.
    static target aim(const state& s, const digest& d) noexcept {
        if (s.keys == 0) [[unlikely]]
            return {};
        return {s.perfect.aim(d), s.check(d.seed), 0};
    }
    static void prefetch(const state&, const target& t) noexcept {
        __builtin_prefetch(t.place.record);
        __builtin_prefetch(t.place.seed_at);
    }
    static void locate(const state& s, target& t) noexcept {
        if (s.keys == 0) [[unlikely]]
            return;
        t.bit = minimal_perfect_view::number(t.place) * s.entry_bits;
        __builtin_prefetch(s.entries + t.bit / 64);
    }
    // May read the word after the last entry, and does not use it.
    static std::uint64_t read(const state& s, std::uint64_t bit, std::uint32_t width) noexcept {
        const std::uint64_t* const at = s.entries + bit / 64;
        const std::uint64_t both = at[0] >> bit % 64 | at[1] << 1 << (63 - bit % 64);
        return width == 64 ? both : both & ((std::uint64_t{1} << width) - 1);
    }
    static bloomier_found look(const state& s, const target& t) noexcept {
        if (s.keys == 0) [[unlikely]]
            return {false, 0};
        const std::uint32_t check_bits = s.entry_bits - s.value_bits;
        if (read(s, t.bit, check_bits) != t.check) return {false, 0};
        return {true, s.value_bits == 0 ? 0 : read(s, t.bit + check_bits, s.value_bits)};
    }
    static bool test(const state& s, target t) noexcept {
        locate(s, t);
        return look(s, t).is_present;
    }
};

// How a batch stores its answers.
struct bloomier_bits {
    std::uint64_t* bits;
    void take(std::size_t i, const bloomier_found& found) const noexcept {
        bits[i / 64] |= std::uint64_t{found.is_present} << i % 64;
    }
};
struct bloomier_values {
    std::uint64_t* bits;
    std::uint64_t* values;
    void take(std::size_t i, const bloomier_found& found) const noexcept {
        bits[i / 64] |= std::uint64_t{found.is_present} << i % 64;
        values[i] = found.value;
    }
};

struct bloomier_entry {
    static bloomier_found find_digest(const bloomier_state& s, const digest& d) noexcept {
        bloomier_policy::target t = bloomier_policy::aim(s, d);
        bloomier_policy::locate(s, t);
        return bloomier_policy::look(s, t);
    }
    static bloomier_found find_integer(const bloomier_state& s, const hash_state& h, std::uint64_t key) noexcept {
        return find_digest(s, digest_of(h, key));
    }

    static constexpr std::size_t locate_ahead = prefetch_ahead / 2;

    template <class Key, class Answers>
    static void find_many(const bloomier_state& s, const hash_state& h, const Key* keys, std::size_t count,
                          const Answers& answers) noexcept {
        for (std::size_t word = 0; word < (count + 63) / 64; ++word) answers.bits[word] = 0;
        bloomier_policy::target ring[prefetch_ring];
        std::size_t aimed = 0, located = 0;
        for (std::size_t i = 0; i < count; ++i) {
            for (; aimed < count && aimed < i + prefetch_ahead; aimed += hash_width)
                lookups<bloomier_policy>::aim_chunk(s, h, keys, aimed, count, ring);
            for (; located < count && located < i + locate_ahead; ++located)
                bloomier_policy::locate(s, ring[located % prefetch_ring]);
            answers.take(i, bloomier_policy::look(s, ring[i % prefetch_ring]));
        }
    }
    template <class Key>
    static void contains_many(const bloomier_state& s, const hash_state& h, const Key* keys, std::size_t count,
                              std::uint64_t* out_bits) noexcept {
        find_many(s, h, keys, count, bloomier_bits{out_bits});
    }
    template <class Key>
    static void values_of_many(const bloomier_state& s, const hash_state& h, const Key* keys, std::size_t count,
                               std::uint64_t* values, std::uint64_t* out_bits) noexcept {
        find_many(s, h, keys, count, bloomier_values{out_bits, values});
    }
};

inline constexpr bloomier_kernels bloomier_table = {
    {&lookups<bloomier_policy>::contains_integer, &lookups<bloomier_policy>::contains_key,
     &lookups<bloomier_policy>::contains_digest, &bloomier_entry::contains_many<std::uint64_t>,
     &bloomier_entry::contains_many<key_view>, &bloomier_entry::contains_many<digest>},
    &bloomier_entry::find_integer,
    &bloomier_entry::find_digest,
    &bloomier_entry::values_of_many<std::uint64_t>,
    &bloomier_entry::values_of_many<key_view>,
    &bloomier_entry::values_of_many<digest>};

}  // namespace genista::GENISTA_ISA
