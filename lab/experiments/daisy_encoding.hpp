// The code in the proof of [daisy Thm 6]: with the filter's bits given, draws are written in fewer
// bits than without, and no code writes them in fewer than their entropy. So a filter has at least
// the bits that it saves. daisy-lb runs it; it is a header of its own, so that a test can plant a
// defect.
//
// All keys of the universe are listed, so it is for small universes. A draw x is written as two
// bits for its part of the universe and Shannon's code word within that part:
//
//     U_0, U_1      ⌈log 1/p_x⌉ bits                     all keys of it; the filter does not help
//     U_2           ⌈log Σ q_y / q_x⌉                    y of U_2 that pass the filter
//     U_3           ⌈log Σ p_y / p_x⌉                    y of U_3 that pass
//     U_4           ⌈log |Z_4|⌉                          Z_4: those of U_4 that pass
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "genista/oracles/daisy_plan.hpp"

namespace genista::lab {

// Which of the four rules, 0 to 3, and the bits that the proof allows a draw in expectation.
[[nodiscard]] inline unsigned encoding_part(const key_odds& odds, const daisy_terms& terms) noexcept {
    const double n = terms.draws, rate = terms.rate;
    if (odds.asked <= rate * odds.stored || odds.stored > 1 / n) return 0;  // U_0, U_1
    if (odds.asked <= std::min(odds.stored, rate / n)) return 1;            // U_2
    if (odds.asked > odds.stored && odds.stored <= rate / n) return 2;      // U_3
    return 3;                                                               // U_4
}
[[nodiscard]] inline double granted_bits(const key_odds& odds, const daisy_terms& terms) noexcept {
    switch (encoding_part(odds, terms)) {
        case 0:
            return 3 - std::log2(odds.stored);
        case 1:
            return 4 + std::log2(terms.rate / odds.asked);
        case 2:
            return 4 + std::log2(terms.rate / odds.stored);
        default:
            return 4 + std::log2(terms.draws);
    }
}

// Bits one behind the other.
class bit_line {
  public:
    void put(std::uint64_t value, unsigned count) {
        for (unsigned i = count; i-- > 0;) bits_.push_back((value >> i & 1) != 0);
    }
    [[nodiscard]] std::uint64_t take(unsigned count) {
        std::uint64_t value = 0;
        for (unsigned i = 0; i < count; ++i) value = value << 1 | bit(at_++);
        return value;
    }
    [[nodiscard]] std::uint64_t peek(unsigned count) const {
        std::uint64_t value = 0;
        for (unsigned i = 0; i < count; ++i) value = value << 1 | bit(at_ + i);
        return value;
    }
    [[nodiscard]] std::uint64_t size() const noexcept { return bits_.size(); }

  private:
    [[nodiscard]] std::uint64_t bit(std::size_t at) const { return at < bits_.size() && bits_[at] ? 1u : 0u; }
    std::vector<bool> bits_{};
    std::size_t at_ = 0;
};

// Shannon's code: words of ⌈log(total / weight)⌉ bits, the first bits of the sum of all larger
// weights.
class shannon_code {
  public:
    void add(std::uint64_t key, double weight) { words_.push_back({key, weight, 0, 0}); }
    void close(double total) {
        std::stable_sort(words_.begin(), words_.end(),
                         [](const word& a, const word& b) { return a.weight > b.weight; });
        double sum = 0;
        for (word& each : words_) {
            each.length = static_cast<unsigned>(std::max(0.0, std::ceil(std::log2(total / each.weight) - 1e-9)));
            each.bits = static_cast<std::uint64_t>(std::ldexp(sum / total, longest));
            each.bits &= ~((std::uint64_t{1} << (longest - static_cast<int>(each.length))) - 1);
            sum += each.weight;
            by_key_.emplace_back(each.key, by_key_.size());
        }
        std::sort(by_key_.begin(), by_key_.end());
    }
    // False if the code has no word for this key.
    [[nodiscard]] bool write(bit_line& to, std::uint64_t key) const {
        const auto found = std::lower_bound(by_key_.begin(), by_key_.end(), std::pair{key, std::size_t{0}});
        if (found == by_key_.end() || found->first != key) return false;
        const word& it = words_[found->second];
        to.put(it.bits >> (longest - static_cast<int>(it.length)), it.length);
        return true;
    }
    [[nodiscard]] std::uint64_t read(bit_line& from) const {
        const std::uint64_t ahead = from.peek(longest);
        const auto behind = std::upper_bound(words_.begin(), words_.end(), ahead,
                                             [](std::uint64_t value, const word& each) { return value < each.bits; });
        const word& it = *(behind == words_.begin() ? behind : behind - 1);
        static_cast<void>(from.take(it.length));
        return it.key;
    }
    [[nodiscard]] bool empty() const noexcept { return words_.empty(); }

  private:
    static constexpr int longest = 48;
    struct word {
        std::uint64_t key;
        double weight;
        std::uint64_t bits;  // of `longest`
        unsigned length;
    };
    std::vector<word> words_{};
    std::vector<std::pair<std::uint64_t, std::size_t>> by_key_{};
};

struct encoding_seen {
    double draws = 0, filter_bits = 0, code_bits = 0, entropy_bits = 0, granted = 0;  // of all draws together
    bool read_back = false;                                                           // the draws, from filter and code

    // No code is shorter than the entropy: these are at least 0 in expectation, however good the
    // filter.
    [[nodiscard]] double bits_above_entropy() const { return filter_bits + 1 + code_bits - entropy_bits; }
};

// odds(key) of keys 0 .. universe - 1; passes(key) is the filter's answer, filter_bits its size.
template <class Odds, class Passes>
encoding_seen encode_draws(std::uint64_t universe, const daisy_terms& terms, const std::vector<std::uint64_t>& draws,
                           const Odds& odds, const Passes& passes, double filter_bits) {
    std::vector<shannon_code> parts(4);
    std::vector<double> totals(4, 0.0);
    for (std::uint64_t key = 0; key < universe; ++key) {
        const key_odds its = odds(key);
        const unsigned part = encoding_part(its, terms);
        if (part != 0 && !passes(key)) continue;
        const double weight = part == 3 ? 1 : part == 1 ? its.asked : its.stored;
        if (weight <= 0) continue;
        parts[part].add(key, weight);
        totals[part] += weight;
    }
    totals[0] = 1;  // p itself
    for (unsigned part = 0; part < 4; ++part) parts[part].close(totals[part]);
    encoding_seen seen{.draws = static_cast<double>(draws.size()), .filter_bits = filter_bits};
    bit_line line;
    seen.read_back = true;
    for (const std::uint64_t key : draws) {
        const key_odds its = odds(key);
        const unsigned part = encoding_part(its, terms);
        line.put(part, 2);
        seen.read_back = seen.read_back && parts[part].write(line, key);
        seen.entropy_bits -= std::log2(its.stored);
        seen.granted += granted_bits(its, terms);
    }
    seen.code_bits = static_cast<double>(line.size());
    for (std::size_t i = 0; seen.read_back && i < draws.size(); ++i) {
        const auto part = static_cast<unsigned>(line.take(2));
        seen.read_back = !parts[part].empty() && parts[part].read(line) == draws[i];
    }
    return seen;
}

}  // namespace genista::lab
