// k-mers: every piece of k letters of a DNA sequence, as a number, in canonical form.
//
//     letter     A 0, C 1, G 2, T 3; small letters too
//     number     2 bits a letter, the first one highest, so that numbers are in the order of their
//                texts
//     canonical  the smaller of a k-mer and its reverse complement: a sequencer does not report
//                which strand it reads
//
// A sequence file has letters only, on one line or many that belong together, plain or gzip. Any
// other letter (N too) is an error that names line and place: there is no k-mer over a hole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "genista/base/result.hpp"

namespace genista::lab {

inline constexpr unsigned longest_kmer = 32;

// All k-mers in their order in the sequence, repeats too. REQUIRES: k is 1..longest_kmer, and the
// sequence has at least k letters.
[[nodiscard]] result<std::vector<std::uint64_t>> read_kmers(const std::string& path, unsigned k);

// The same piece read from the other strand, and its letters.
[[nodiscard]] std::uint64_t reverse_complement(std::uint64_t kmer, unsigned k) noexcept;
[[nodiscard]] std::string kmer_text(std::uint64_t kmer, unsigned k);

}  // namespace genista::lab
