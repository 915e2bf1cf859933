// Cuckoo look-ups, inserts and erases of one instruction set. Only the hash depends on it; buckets
// are plain words.
#include "filters/filter_kernels.inl"

namespace genista::GENISTA_ISA {

template <unsigned TagBits>
struct cuckoo_policy {
    using bucket_of = cuckoo_bucket<TagBits>;
    using state = cuckoo_partial_state;
    struct target {
        std::uint64_t first;
        std::uint64_t second;
        std::uint64_t tag;
    };

    static target aim(const state& s, const digest& d) noexcept {
        const std::uint64_t tag = bucket_of::tag_of(d);
        const std::uint64_t first = scale(d.position, s.buckets);
        return {first, bucket_of::other(s.buckets, first, tag), tag};
    }
    static void prefetch(const state& s, const target& t) noexcept {
        __builtin_prefetch(s.bytes + bucket_of::size_bytes * t.first);
        __builtin_prefetch(s.bytes + bucket_of::size_bytes * t.second);
    }
    // Reads both buckets without a branch between them, so that the two cache misses overlap.
    static bool test(const state& s, const target& t) noexcept {
        const std::uint64_t first = bucket_of::matches(bucket_of::load(s.bytes, t.first), t.tag);
        const std::uint64_t second = bucket_of::matches(bucket_of::load(s.bytes, t.second), t.tag);
        return (first | second) != 0;
    }

    static bool insert(const state& s, const target& t) noexcept {
        const std::uint64_t free_first = bucket_of::zero_lanes(bucket_of::load(s.bytes, t.first));
        if (free_first != 0) {
            bucket_of::set(s.bytes, t.first, bucket_of::first_lane(free_first), t.tag);
            return true;
        }
        const std::uint64_t free_second = bucket_of::zero_lanes(bucket_of::load(s.bytes, t.second));
        if (free_second != 0) {
            bucket_of::set(s.bytes, t.second, bucket_of::first_lane(free_second), t.tag);
            return true;
        }
        return cuckoo_path<TagBits>::insert(s, t.first, t.second, t.tag);
    }
    static bool erase(const state& s, const target& t) noexcept {
        const std::uint64_t first = bucket_of::matches(bucket_of::load(s.bytes, t.first), t.tag);
        const std::uint64_t second = bucket_of::matches(bucket_of::load(s.bytes, t.second), t.tag);
        if ((first | second) == 0) return false;
        const std::uint64_t bucket = first != 0 ? t.first : t.second;
        bucket_of::set(s.bytes, bucket, bucket_of::first_lane(first != 0 ? first : second), 0);
        return true;
    }
};

template <unsigned TagBits>
struct cuckoo_inserts : cuckoo_policy<TagBits> {
    using policy = cuckoo_policy<TagBits>;
    static insert_outcome insert(const cuckoo_partial_state& s, const typename policy::target& t) noexcept {
        return policy::insert(s, t) ? insert_outcome::inserted : insert_outcome::full;
    }
};

template <unsigned TagBits>
struct cuckoo_entry {
    using policy = cuckoo_policy<TagBits>;
    using state = cuckoo_partial_state;

    static bool insert_integer(state& s, const hash_state& h, std::uint64_t key) noexcept {
        return policy::insert(s, policy::aim(s, digest_of(h, key)));
    }
    static bool insert_digest(state& s, const digest& d) noexcept { return policy::insert(s, policy::aim(s, d)); }
    static bool erase_integer(state& s, const hash_state& h, std::uint64_t key) noexcept {
        return policy::erase(s, policy::aim(s, digest_of(h, key)));
    }
    static bool erase_digest(state& s, const digest& d) noexcept { return policy::erase(s, policy::aim(s, d)); }

    static constexpr cuckoo_partial_kernels table = {
        {lookups<policy>::table, &insert_integer, &insert_digest, inserts<cuckoo_inserts<TagBits>>::table},
        &erase_integer,
        &erase_digest};
};

inline constexpr const cuckoo_partial_kernels& cuckoo12_kernels = cuckoo_entry<12>::table;
inline constexpr const cuckoo_partial_kernels& cuckoo16_kernels = cuckoo_entry<16>::table;

}  // namespace genista::GENISTA_ISA
