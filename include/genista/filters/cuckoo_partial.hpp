// cuckoo_partial_filter: the well-known partial-key cuckoo filter (Fan, Andersen, Kaminsky,
// Mitzenmacher 2014) with buckets of four tags of 12 or 16 bits. It deletes, it needs no remote
// map, and it is what most people compare with.
//
//     12 bits: a bucket is 6 bytes         | tag 0 | tag 1 | tag 2 | tag 3 |   0 = free slot, tags are 1..2^bits - 1
//     16 bits: a bucket is 8 bytes         buckets lie end to end; 2 to 7 zero bytes follow the
//                                          last, for word loads
//
// A key's tag lies in one of two buckets, b and other(b) = (H(tag) - b) mod buckets. Subtracting is
// its own inverse for every number of buckets, so that the table need not be a power of two; a tag
// can be moved knowing only where it is. A look-up compares both buckets; a false positive needs
// one of at most 8 tags to agree: rate ≤ 8/(2^bits - 1).
//
//   I1  Every inserted key's tag is in one of its two buckets, once for each insert (it holds a
//       multiset).
//   I2  An insert looks for a chain of moves that ends in a free slot before it moves anything. No
//       victim is ever dropped: `full` means nothing has changed.
//
// erase() takes one matching tag away. Erase only what was inserted: an absent key with a stored
// key's tag takes it along, which is this filter's weakness and one reason for the broom filter.
//
// Many threads may query at once; an insert or erase excludes everything else, as with a standard
// container.
#pragma once

#include <cstdint>
#include <string_view>

#include "genista/detail/filters/counted_table.hpp"
#include "genista/filters/filter.hpp"

namespace genista {

struct cuckoo_partial_state {
    std::byte* bytes = nullptr;
    std::uint64_t buckets = 0;
};

struct cuckoo_partial_kernels : adding_kernels<cuckoo_partial_state> {
    bool (*erase_integer)(cuckoo_partial_state&, const hash_state&, std::uint64_t) noexcept;  // false: absent
    bool (*erase_digest)(cuckoo_partial_state&, const digest&) noexcept;
};

class cuckoo_partial_filter
    : public counted_table<cuckoo_partial_filter, cuckoo_partial_state, cuckoo_partial_kernels, insert_outcome::full> {
  public:
    static constexpr std::string_view name = "cuckoo_partial";
    static constexpr double min_false_positive_rate = 8.0 / 65535;  // 16-bit tags in two full buckets

    // 12-bit tags where they keep the rate, else 16-bit ones. Sized for at most 95 % of the slots
    // in use (less in small tables), where inserts up to the capacity succeed; beyond it they go on
    // until one reports `full`. The rate holds even in a table without a free slot.
    [[nodiscard]] static result<cuckoo_partial_filter> make(const filter_options& options = {}) noexcept;

    // Inserts of one key and of many, clear(), stats() and hash(): counted_table.hpp.
    erase_outcome erase(integer_key key) noexcept {
        return uncount(kernels_->erase_integer(state_, hash_.state(), key.value()));
    }
    erase_outcome erase(key_view key) noexcept { return erase(hash_(key)); }
    erase_outcome erase(const digest& d) noexcept { return uncount(kernels_->erase_digest(state_, d)); }

    [[nodiscard]] result<void> save(sink& out) const noexcept;
    [[nodiscard]] static result<cuckoo_partial_filter> load(std::span<const std::byte> bytes) noexcept;

    [[nodiscard]] unsigned tag_bits() const noexcept { return tag_bits_; }
    [[nodiscard]] std::uint64_t slots() const noexcept { return 4 * state_.buckets; }

    [[nodiscard]] static result<std::uint64_t> bits_for(std::uint64_t capacity, double rate) noexcept;
    [[nodiscard]] static double fpr_for(std::uint64_t capacity, std::uint64_t bits) noexcept;
    [[nodiscard]] static result<std::uint64_t> keys_for_bits(std::uint64_t bits, double rate) noexcept;

  private:
    cuckoo_partial_filter(const filter_options& options, const hasher& hash, unsigned tag_bits, std::uint64_t buckets,
                          buffer table) noexcept;

    [[nodiscard]] static result<cuckoo_partial_filter> make_with(const filter_options& options, unsigned tag_bits,
                                                                 std::uint64_t buckets) noexcept;
    erase_outcome uncount(bool done) noexcept {
        keys_ -= done ? 1 : 0;
        return done ? erase_outcome::erased : erase_outcome::absent;
    }

    unsigned tag_bits_;
};

}  // namespace genista
