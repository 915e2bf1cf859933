// oracle_identity: the fixed keys and odds with which an oracle is probed, and their checksum. See
// oracle_identity.hpp.
#include "genista/detail/oracles/oracle_identity.hpp"

#include <bit>
#include <cmath>

#include "format/checksum.hpp"
#include "genista/detail/format/fields.hpp"

namespace genista {
namespace {

// Must never be changed: snapshots carry checksums that depend on it.
std::uint64_t mixed(std::uint64_t word) noexcept {
    word = (word + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    word = (word ^ word >> 27) * 0x94d049bb133111ebu;
    return word ^ word >> 31;
}

// A number in (0, 1), spread over some sixty powers of two.
double odds_number(std::uint64_t word) noexcept {
    const double mantissa = 1 + static_cast<double>(word >> 12) * 0x1p-52;
    return std::ldexp(mantissa, -1 - static_cast<int>(word % 61));
}

void add(detail::checksum128_stream& sum, double value) noexcept {
    std::array<std::byte, 8> bytes{};
    store_little_endian(bytes.data(), std::bit_cast<std::uint64_t>(value));
    sum.add(bytes);
}

}  // namespace

oracle_identity identity_of_bytes(std::span<const std::byte> bytes) noexcept {
    return {detail::checksum128_of(bytes)};
}

result<void> check_marks(std::string_view filter, const oracle_marks& saved, const oracle_marks& given) noexcept {
    const int length = static_cast<int>(filter.size());
    if (saved.identity != given.identity) {
        return error::make(error_code::mismatch, "%.*s: the snapshot was filled with another oracle than the one given",
                           length, filter.data());
    }
    if (saved.probe != given.probe) {
        return error::make(error_code::mismatch,
                           "%.*s: the oracle computes other odds here than where the snapshot was made", length,
                           filter.data());
    }
    return {};
}

namespace oracle_detail {

std::uint64_t probe_integer(std::size_t number) noexcept {
    if (number < probes / 3) return number;
    const std::uint64_t word = mixed(number);
    return word >> word % 64;
}

probe_text probe_text_of(std::size_t number) noexcept {
    constexpr std::string_view alphabet = "etaoinshrdlucmfwypvbgkjqxz0123456789.-_/:@ETAOIN";
    probe_text made;
    std::uint64_t word = mixed(number);
    made.size = 1 + word % made.letters.size();
    for (std::size_t i = 0; i < made.size; ++i) {
        word = mixed(word);
        made.letters[i] = alphabet[word % alphabet.size()];
    }
    return made;
}

oracle_identity mark_of(std::span<const key_odds> odds, const daisy_terms& terms) noexcept {
    detail::checksum128_stream sum;
    for (const key_odds& each : odds) {
        add(sum, each.stored);
        add(sum, each.asked);
        add(sum, daisy_class(each, terms));
    }
    constexpr std::uint64_t results = 1024;
    for (std::uint64_t i = 0; i < results; ++i) {
        const key_odds some{odds_number(mixed(2 * i)), odds_number(mixed(2 * i + 1))};
        add(sum, daisy_class(some, terms));
    }
    return {sum.value()};
}

}  // namespace oracle_detail
}  // namespace genista
