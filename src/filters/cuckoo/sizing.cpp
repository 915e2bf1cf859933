// Loads, rates and shapes. See slots.hpp.

#include <algorithm>
#include <cmath>

#include "filters/common.hpp"
#include "filters/cuckoo/slots.hpp"

namespace genista::cuckoo {
namespace {

// Pr[Poisson(mean) >= least].
double poisson_tail(double mean, unsigned least) noexcept {
    double term = std::exp(-mean), below = 0;
    for (unsigned i = 0; i < least; ++i) {
        below += term;
        term *= mean / (i + 1);
    }
    return 1 - below;
}

// The load beyond which random tables no longer have room for all keys: with x the solution of k b
// = x Q(x, b) / Q(x, b + 1), Q the Poisson tail, the load x / (k b Q(x, b)^(k-1)) is the threshold
// (Fountoulakis, Khosla, Panagiotou 2011). For two tables of single slots, the classic case, it is
// one half.
double threshold(unsigned tables, unsigned bin_slots) noexcept {
    if (tables == 2 && bin_slots == 1) return 0.5;
    const double wanted = tables * bin_slots;
    double low = 1e-3, high = 4 * wanted;
    for (int i = 0; i < 100; ++i) {
        const double x = (low + high) / 2;
        const double there = x * poisson_tail(x, bin_slots) / poisson_tail(x, bin_slots + 1);
        (there < wanted ? low : high) = x;
    }
    return low / (wanted * std::pow(poisson_tail(low, bin_slots), tables - 1));
}

error outside(std::string_view name, const char* what, double given, double least, double most) noexcept {
    return error::make(error_code::invalid_argument, "%.*s: %s %g is outside the range from %g to %g",
                       static_cast<int>(name.size()), name.data(), what, given, least, most);
}

std::uint64_t bins_for(const cuckoo_shape& shape, std::uint64_t capacity, double load) noexcept {
    const double bin_keys = load * shape.tables * shape.bin_slots;
    const auto least = [&](std::uint64_t keys) {
        return static_cast<std::uint64_t>(std::ceil(static_cast<double>(keys) / bin_keys));
    };
    // Small tables deviate more: what is likely for many keys is not for a handful. (Never fewer
    // slots for more keys.)
    constexpr std::uint64_t small = 64;
    return capacity < small ? std::min(least(capacity) + 2, least(small)) : least(capacity);
}

unsigned bits_for_rate(const cuckoo_shape& shape, double load, double rate) noexcept {
    cuckoo_shape with = shape;
    with.fingerprint_bits = least_fingerprint_bits;
    while (with.fingerprint_bits < most_fingerprint_bits && rate_of(with, load) > rate) ++with.fingerprint_bits;
    return with.fingerprint_bits;
}

cuckoo_options usual(std::uint64_t capacity, double rate) noexcept {
    cuckoo_options options;
    options.capacity = capacity;
    options.false_positive_rate = rate;
    return options;
}

}  // namespace

double most_load(unsigned tables, unsigned bin_slots) noexcept {
    if (tables == 2 && bin_slots == 1) return 0.5;  // the threshold; new hash functions help there [acf §3]
    constexpr double distance = 0.015;              // closer, searches grow too long, and many inserts rehash all keys
    return std::floor(1000 * (threshold(tables, bin_slots) - distance)) / 1000;
}

double rate_of(const cuckoo_shape& shape, double load) noexcept {
    const double values = std::ldexp(1.0, static_cast<int>(shape.fingerprint_bits)) - 1;
    return std::min(1.0, load * shape.tables * shape.bin_slots / values);
}

std::uint64_t table_bytes(const cuckoo_shape& shape) noexcept {
    return 8 * words_for(shape.slots(), shape.slot_bits());
}

result<cuckoo_shape> shape_for(const member_of_family& who, const cuckoo_options& options) noexcept {
    cuckoo_shape shape = who.usual;
    shape.tables = options.tables.value_or(shape.tables);
    shape.bin_slots = options.bin_slots.value_or(shape.bin_slots);
    if (shape.tables < least_tables || shape.tables > most_tables)
        return outside(who.name, "tables", shape.tables, least_tables, most_tables);
    const unsigned least_bin_slots =
        shape.rule == cuckoo_rule::swapping ? 2 : 1;  // swapping needs a second slot in the bin
    if (shape.bin_slots < least_bin_slots || shape.bin_slots > most_bin_slots)
        return outside(who.name, "bin_slots", shape.bin_slots, least_bin_slots, most_bin_slots);
    if (const unsigned bits = options.fingerprint_bits.value_or(least_fingerprint_bits);
        bits < least_fingerprint_bits || bits > most_fingerprint_bits)
        return outside(who.name, "fingerprint_bits", bits, least_fingerprint_bits, most_fingerprint_bits);
    const double most = most_load(shape.tables, shape.bin_slots);
    if (!(options.load >= least_load && options.load <= most)) {
        return error::make(error_code::invalid_argument,
                           "%.*s: load %g cannot be met by %u tables with %u slots a bin; from %g to %g can",
                           static_cast<int>(who.name.size()), who.name.data(), options.load, shape.tables,
                           shape.bin_slots, least_load, most);
    }
    cuckoo_shape finest = shape;
    finest.fingerprint_bits = most_fingerprint_bits;
    const filter_options common{options.capacity, options.false_positive_rate, options.hash};
    if (const auto fine = check_options(who.name, common, rate_of(finest, options.load)); !fine) return fine.error();
    shape.fingerprint_bits =
        options.fingerprint_bits.value_or(bits_for_rate(shape, options.load, options.false_positive_rate));
    shape.bins = bins_for(shape, options.capacity, options.load);
    if (shape.slots() > most_slots) {
        return error::make(error_code::invalid_argument, "%.*s: %llu keys at load %g need more than 2^40 slots",
                           static_cast<int>(who.name.size()), who.name.data(),
                           static_cast<unsigned long long>(options.capacity), options.load);
    }
    return shape;
}

result<std::uint64_t> body::bits_for(const member_of_family& who, std::uint64_t capacity, double rate) noexcept {
    const auto shape = shape_for(who, usual(capacity, rate));
    if (!shape) return shape.error();
    return 8 * table_bytes(*shape);
}

double body::fpr_for(const member_of_family& who, std::uint64_t capacity, std::uint64_t bits) noexcept {
    const cuckoo_options options = usual(std::clamp<std::uint64_t>(capacity, 1, max_capacity), 0);
    cuckoo_shape shape = who.usual;
    shape.bins = bins_for(shape, options.capacity, options.load);
    for (shape.fingerprint_bits = most_fingerprint_bits; shape.fingerprint_bits >= least_fingerprint_bits;
         --shape.fingerprint_bits) {
        if (8 * table_bytes(shape) <= bits) return rate_of(shape, options.load);
    }
    return 1;  // the keys do not fit
}

result<std::uint64_t> body::keys_for_bits(const member_of_family& who, std::uint64_t bits, double rate) noexcept {
    const auto checked = shape_for(who, usual(1, rate));
    if (!checked) return checked.error();
    return largest_capacity(bits, [&](std::uint64_t capacity) {
        cuckoo_shape shape = *checked;
        shape.bins = bins_for(shape, capacity, cuckoo_options{}.load);
        return 8 * table_bytes(shape);
    });
}

}  // namespace genista::cuckoo
