// A window over letters, kept forwards and backwards at once. See kmers.hpp.
#include "lab/workloads/kmers.hpp"

#include <algorithm>
#include <cinttypes>

#include "lab/workloads/lines.hpp"

namespace genista::lab {
namespace {

constexpr std::size_t longest_sequence_line = std::size_t{1} << 30;  // the longest chromosome of a human has 2.5 * 10^8
constexpr unsigned no_base = 4;

constexpr unsigned base_of(char letter) noexcept {
    switch (letter) {
        case 'A':
        case 'a':
            return 0;
        case 'C':
        case 'c':
            return 1;
        case 'G':
        case 'g':
            return 2;
        case 'T':
        case 't':
            return 3;
        default:
            return no_base;
    }
}

constexpr std::uint64_t mask_of(unsigned k) noexcept {
    return k == longest_kmer ? ~std::uint64_t{0} : (std::uint64_t{1} << (2 * k)) - 1;
}

class window {
  public:
    explicit window(unsigned k) noexcept : k_{k} {}

    void add(unsigned base, std::vector<std::uint64_t>& into) {
        forwards_ = ((forwards_ << 2) | base) & mask_of(k_);
        backwards_ = (backwards_ >> 2) | (std::uint64_t{3 - base} << (2 * (k_ - 1)));
        if (++letters_ >= k_) into.push_back(std::min(forwards_, backwards_));
    }
    [[nodiscard]] std::uint64_t letters() const noexcept { return letters_; }

  private:
    unsigned k_;
    std::uint64_t forwards_ = 0;
    std::uint64_t backwards_ = 0;  // the reverse complement
    std::uint64_t letters_ = 0;
};

}  // namespace

result<std::vector<std::uint64_t>> read_kmers(const std::string& path, unsigned k) {
    if (k < 1 || k > longest_kmer) {
        return error::make(error_code::invalid_argument, "k-mers of %u letters: 1..%u are possible", k, longest_kmer);
    }
    const std::string file = shown_path(path);
    window letters{k};
    std::vector<std::uint64_t> made;
    const auto take = [&](std::string_view line, std::uint64_t number) -> result<void> {
        for (std::size_t i = 0; i < line.size(); ++i) {
            const unsigned base = base_of(line[i]);
            if (base == no_base) {
                const auto code = static_cast<unsigned char>(line[i]);
                return error::make(error_code::invalid_argument,
                                   "%s, line %" PRIu64 ", place %zu: byte 0x%02x ('%c') is no base; A, C, G, T are",
                                   file.c_str(), number, i + 1, code, code >= ' ' && code < 0x7f ? line[i] : '?');
            }
            letters.add(base, made);
        }
        return {};
    };
    if (const auto read = read_lines(path, take, longest_sequence_line); !read) return read.error();
    if (made.empty()) {
        return error::make(error_code::invalid_argument, "%s holds %" PRIu64 " bases: no k-mer of %u letters",
                           file.c_str(), letters.letters(), k);
    }
    return made;
}

std::uint64_t reverse_complement(std::uint64_t kmer, unsigned k) noexcept {
    std::uint64_t turned = 0;
    for (unsigned i = 0; i < k; ++i, kmer >>= 2) turned = (turned << 2) | (3 - (kmer & 3));
    return turned;
}

std::string kmer_text(std::uint64_t kmer, unsigned k) {
    std::string text(k, ' ');
    for (unsigned i = k; i > 0; --i, kmer >>= 2) text[i - 1] = "ACGT"[kmer & 3];
    return text;
}

}  // namespace genista::lab
