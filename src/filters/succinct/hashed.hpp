// hashed: the multiset of h(x) for the keys x, the basis of the filters of [ppr05] that erase and
// count [§2].
//
// h is drawn from a universal family into [u], so an absent key collides with a given key with
// probability at most 1/u, and with one of n keys with at most n/u. Its argument of 64 bits is the
// digest's position (two keys share one once in 2^61 pairs); (a, b) of h are derived from the hash
// key, so a snapshot has them, too.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "filters/succinct/counted.hpp"
#include "genista/base/result.hpp"
#include "genista/detail/filters/kernel_table.hpp"
#include "genista/detail/hash/families.hpp"
#include "genista/hash/hasher.hpp"
#include "hash/key_stream.hpp"

namespace genista::succinct {

class hashed;
using hashed_kernels = kernel_table<hashed>;
// The kernels of the active instruction set.
[[nodiscard]] const hashed_kernels* hashed_kernels_now() noexcept;

class hashed : public filter_surface<hashed> {
  public:
    using function = universal_hash<mersenne_field<61>>;

    [[nodiscard]] static result<hashed> make(std::uint64_t universe, const hasher& hash) noexcept {
        if (universe >= mersenne_field<61>::p)
            return error::make(error_code::invalid_argument,
                               "capacity / false-positive rate = %llu, allowed is less than 2^61 - 1",
                               static_cast<unsigned long long>(universe));
        auto values = counted::make(universe);
        if (!values) return values.error();
        return with(*std::move(values), hash);
    }
    [[nodiscard]] static result<hashed> with(counted values, const hasher& hash) noexcept {
        key_stream stream{hash, key_purpose::ppr_value};
        const auto h = function::draw(values.universe(), stream);
        if (!h) return h.error();
        return hashed{hash, *h, std::move(values)};
    }

    [[nodiscard]] std::uint64_t value_of(const digest& d) const noexcept {
        const std::uint64_t word =
            d.position >> 3;  // 61 bits, below p except for one value, which equals p and so maps to 0
        return h_(word == mersenne_field<61>::p ? 0 : word);
    }
    [[nodiscard]] std::uint64_t count(const digest& d) const noexcept { return values_.count(value_of(d)); }
    [[nodiscard]] bool insert(const digest& d) noexcept { return values_.insert(value_of(d)); }
    [[nodiscard]] bool insert(const digest& d, std::uint64_t times) noexcept {
        return values_.insert(value_of(d), times);
    }
    [[nodiscard]] bool erase(const digest& d) noexcept { return values_.erase(value_of(d)); }
    void clear() noexcept { values_.clear(); }

    // For filter_surface and the kernels.
    [[nodiscard]] const hashed_kernels& kernels() const noexcept { return *kernels_; }
    [[nodiscard]] const hashed& state() const noexcept { return *this; }
    [[nodiscard]] const probe& first() const noexcept { return values_.digits().first(); }

    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }
    [[nodiscard]] const counted& values() const noexcept { return values_; }

  private:
    hashed(const hasher& hash, const function& h, counted values) noexcept
        : kernels_{hashed_kernels_now()}, hash_{hash}, h_{h}, values_{std::move(values)} {}

    const hashed_kernels* kernels_;
    hasher hash_;
    function h_;
    counted values_;
};

}  // namespace genista::succinct
