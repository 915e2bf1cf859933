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

#include "genista/detail/filters/counted_table.hpp"
#include "genista/filters/filter.hpp"

namespace genista {

struct bloom_state {
    std::byte* bytes = nullptr;
    std::uint64_t bits = 0;
    std::uint32_t probes = 0;
};

using bloom_kernels = adding_kernels<bloom_state>;

class bloom_filter : public counted_table<bloom_filter, bloom_state, bloom_kernels, insert_outcome::already_present> {
  public:
    static constexpr std::string_view name = "bloom";
    static constexpr std::uint32_t max_probes = 64;
    static constexpr double min_false_positive_rate = 0x1p-64;  // max_probes probes

    // Allocates the whole table. Keys past the capacity are accepted: the rate then exceeds the
    // promise, slowly, and no key is lost.
    [[nodiscard]] static result<bloom_filter> make(const filter_options& options = {}) noexcept;

    // Inserts of one key and of many, clear(), stats() and hash(): counted_table.hpp. No insert is
    // `full`.

    // Afterwards this filter holds the keys of both. Both must have the same table size, probes and
    // hash key. The key count becomes an upper bound: keys in both are counted twice.
    [[nodiscard]] result<void> merge(const bloom_filter& other) noexcept;

    [[nodiscard]] result<void> save(sink& out) const noexcept;
    [[nodiscard]] static result<bloom_filter> load(std::span<const std::byte> bytes) noexcept;

    [[nodiscard]] std::uint32_t probes() const noexcept { return state_.probes; }

    [[nodiscard]] static result<std::uint64_t> bits_for(std::uint64_t capacity, double rate) noexcept;
    [[nodiscard]] static double fpr_for(std::uint64_t capacity, std::uint64_t bits) noexcept;
    [[nodiscard]] static result<std::uint64_t> keys_for_bits(std::uint64_t bits, double rate) noexcept;

  private:
    bloom_filter(const filter_options& options, const hasher& hash, std::uint32_t probes, buffer table) noexcept;

    [[nodiscard]] static result<bloom_filter> make_with(const filter_options& options, std::uint64_t bits,
                                                        std::uint32_t probes) noexcept;
};

}  // namespace genista
