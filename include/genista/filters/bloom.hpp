// bloom_filter: the classic filter, 1.44·log2(1/ε) bits a key, k = log2(1/ε) probes. The
// baseline, and the smallest of the filters here that take any rate; blocked_bloom_filter is
// several times faster for a little more space.
//
//     | bit array of m bits, 64-byte lines                                   |
//         ↑ probe 1           ↑ probe 0              ↑ probe k-1                each anywhere
//
// Probe i is scale(mix(position + i·seed), m): double hashing drawn from 128 bits of digest, then
// mixed, because plain double hashing makes probes of one key evenly spaced, which costs rate in
// small tables. With k probes and n keys in m bits the rate is E[(share of ones)^k]; make() takes
// the k with the fewest bits for the wanted rate.
//
// Many threads may query at once; an insert excludes everything else, as with a standard container.
#pragma once

#include <cstdint>
#include <string_view>

#include "genista/detail/base/buffer.hpp"
#include "genista/detail/filters/insert_surface.hpp"
#include "genista/detail/filters/kernel_table.hpp"
#include "genista/filters/filter.hpp"

namespace genista {

struct bloom_state {
    std::byte* bytes = nullptr;
    std::uint64_t bits = 0;
    std::uint32_t probes = 0;
};

struct bloom_kernels {
    kernel_table<bloom_state> lookups;
    bool (*insert_integer)(bloom_state&, const hash_state&, std::uint64_t) noexcept;  // true: a bit was set
    bool (*insert_digest)(bloom_state&, const digest&) noexcept;
    insert_table<bloom_state> many;
};

class bloom_filter : public filter_surface<bloom_filter>, public insert_surface<bloom_filter> {
  public:
    static constexpr std::string_view name = "bloom";
    static constexpr std::uint32_t max_probes = 64;
    static constexpr double min_false_positive_rate = 0x1p-64;  // max_probes probes

    // Allocates the whole table. Keys past the capacity are accepted: the rate then exceeds the
    // promise, slowly, and no key is lost.
    [[nodiscard]] static result<bloom_filter> make(const filter_options& options = {}) noexcept;

    insert_outcome insert(integer_key key) noexcept {
        return count(kernels_->insert_integer(state_, hash_.state(), key.value()));
    }
    insert_outcome insert(key_view key) noexcept { return insert(hash_(key)); }
    insert_outcome insert(const digest& d) noexcept { return count(kernels_->insert_digest(state_, d)); }
    using insert_surface::insert;  // many keys; never `full`

    // Takes all keys out, as if it had just been made: same table, same hash.
    void clear() noexcept;

    // Afterwards this filter holds the keys of both. Both must have the same table size, probes and
    // hash key. The key count becomes an upper bound: keys in both are counted twice.
    [[nodiscard]] result<void> merge(const bloom_filter& other) noexcept;

    [[nodiscard]] result<void> save(sink& out) const noexcept;
    [[nodiscard]] static result<bloom_filter> load(std::span<const std::byte> bytes) noexcept;

    [[nodiscard]] filter_stats stats() const noexcept;
    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }
    [[nodiscard]] std::uint32_t probes() const noexcept { return state_.probes; }

    [[nodiscard]] static result<std::uint64_t> bits_for(std::uint64_t capacity, double rate) noexcept;
    [[nodiscard]] static double fpr_for(std::uint64_t capacity, std::uint64_t bits) noexcept;
    [[nodiscard]] static result<std::uint64_t> keys_for_bits(std::uint64_t bits, double rate) noexcept;

  private:
    friend filter_surface;
    friend insert_surface;
    bloom_filter(const filter_options& options, const hasher& hash, std::uint32_t probes, buffer table) noexcept;

    [[nodiscard]] static result<bloom_filter> make_with(const filter_options& options, std::uint64_t bits,
                                                        std::uint32_t probes) noexcept;
    [[nodiscard]] const kernel_table<bloom_state>& kernels() const noexcept { return kernels_->lookups; }
    [[nodiscard]] const bloom_state& state() const noexcept { return state_; }
    insert_outcome count(bool changed) noexcept {
        keys_ += changed ? 1 : 0;
        return changed ? insert_outcome::inserted : insert_outcome::already_present;
    }
    template <class Key>
    std::size_t insert_many(std::span<const Key> keys) noexcept {
        const many_inserted done = kernels_->many.insert(state_, hash_.state(), keys);
        keys_ += done.fresh;
        return done.taken;
    }

    const bloom_kernels* kernels_;
    bloom_state state_;
    hasher hash_;
    buffer table_;
    std::uint64_t keys_ = 0;
    std::uint64_t capacity_;
    double rate_;
};

}  // namespace genista
