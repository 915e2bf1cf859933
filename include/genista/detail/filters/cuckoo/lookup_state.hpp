// cuckoo_state: what a look-up in a filter of the cuckoo family reads, and nothing else.
//
//     table    tables · bins · bin_slots slots without gaps:  table 0: bin 0, bin 1, … | table 1: …
//     slot     fingerprint_bits | selector_bits          fingerprint 0: the slot is empty
//
// The words change while other threads look up keys. A writer makes `version` odd, changes words
// and salts, and makes it even again. A look-up that found nothing is valid only if the version was
// even and has not changed. A look-up that found a match needs no check: "maybe" is always safe.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "genista/detail/filters/kernel_table.hpp"

namespace genista {

// How the filters of the family differ: how the fingerprint of a key is chosen, and what a false
// positive changes.
enum class cuckoo_rule : unsigned char {
    plain,      // one fingerprint for each key; does not learn
    cuckooing,  // by table: the key moves to its next table [acf §2.3]
    cyclic,     // by selector: the slot's selector goes up by one [acf §2.4]
    swapping,   // by slot: the key changes places within its bin [acf §2.5]
};

struct cuckoo_shape {
    cuckoo_rule rule = cuckoo_rule::plain;
    unsigned tables = 4;            // k
    unsigned bin_slots = 1;         // b
    unsigned fingerprint_bits = 8;  // f
    unsigned selector_bits = 0;     // s, for the cyclic rule
    std::uint64_t bins = 1;         // N, in each table

    [[nodiscard]] unsigned slot_bits() const noexcept { return fingerprint_bits + selector_bits; }
    [[nodiscard]] std::uint64_t slots() const noexcept { return bins * tables * bin_slots; }

    friend bool operator==(const cuckoo_shape&, const cuckoo_shape&) = default;
};

struct cuckoo_state {
    cuckoo_shape shape;
    std::uint64_t* words = nullptr;
    std::atomic<std::uint64_t> version{0};
    std::array<std::atomic<std::uint64_t>, 4> salts{};  // define the hash functions

    cuckoo_state(const cuckoo_shape& of, std::uint64_t* table) noexcept : shape{of}, words{table} {}
};

using cuckoo_kernels = kernel_table<cuckoo_state>;

}  // namespace genista
