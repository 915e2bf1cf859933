// lossy_filter: a dictionary that leaves some keys out on purpose, and is smaller by as much [ppr05
// §6.3].
//
// A share γ of the keys is never stored: false negatives, chosen by a hash function, besides the
// false positives of every filter. Space is 1 - γ times that of a filter without them, and no
// structure with such rates needs less (up to O(n) bits). For caches and hints, where both kinds of
// error cost little.
//
// Which keys are left out is *remembered* by the function: ρ, pairwise independent, omits x iff
// ρ(x) < γ · 2^64. So an erase knows that there is nothing to erase, and never takes another key's
// value; deletions stay valid.
//
//   I1  A key with !omits(x) is found from insert(x) until erase(x), as in every filter. A key with
//       omits(x) may be denied: this is no membership_filter in the sense of filter.hpp, and its
//       outcomes have types of their own.
//   I2  Pr[omits(x)] = γ for every x, independently for any two; an absent key is let through with
//       probability ≤ ε.
//   I3  At most (1 - γ) · capacity keys are stored, and six standard deviations more: beyond that
//       an insert is `full`, although fewer than `capacity` keys are in. That takes erases chosen
//       by who was omitted.
//
// Underneath is the multiset of the optimal filter (optimal_filter.hpp), with erase and count as
// there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "genista/detail/filters/insert_surface.hpp"
#include "genista/filters/filter.hpp"

namespace genista {

struct lossy_options {
    std::uint64_t capacity = 1'000'000;  // of keys that are inserted, omitted ones included
    double false_positive_rate = 1.0 / 256;
    double false_negative_share = 0.1;  // γ: 0 to 0.99
    std::optional<hasher> hash = std::nullopt;
};

enum class [[nodiscard]] lossy_insert : unsigned char{stored, omitted, full};
enum class [[nodiscard]] lossy_erase : unsigned char{erased, omitted, absent};

class lossy_filter : public insert_surface<lossy_filter> {
  public:
    static constexpr std::string_view name = "lossy";
    static constexpr double min_false_positive_rate = 0x1p-32;
    static constexpr double max_false_negative_share = 0.99;

    [[nodiscard]] static result<lossy_filter> make(const lossy_options& options = {}) noexcept;
    lossy_filter(lossy_filter&&) noexcept;
    lossy_filter& operator=(lossy_filter&&) noexcept;
    ~lossy_filter();

    // Is it one of those that are left out? The same answer at all times.
    [[nodiscard]] bool omits(const digest& d) const noexcept;
    [[nodiscard]] bool omits(key_view key) const noexcept { return omits(hash()(key)); }
    [[nodiscard]] bool omits(integer_key key) const noexcept { return omits(hash()(key)); }

    lossy_insert insert(const digest& d) noexcept;
    lossy_insert insert(key_view key) noexcept { return insert(hash()(key)); }
    lossy_insert insert(integer_key key) noexcept { return insert(hash()(key)); }
    using insert_surface::insert;  // many keys; omitted ones count as taken
    // REQUIRES: the key was inserted.
    lossy_erase erase(const digest& d) noexcept;
    lossy_erase erase(key_view key) noexcept { return erase(hash()(key)); }
    lossy_erase erase(integer_key key) noexcept { return erase(hash()(key)); }
    // Takes all keys out, omitted ones too, and gives their memory back. The hash stays, and with
    // it which keys are left out.
    void clear() noexcept;
    [[nodiscard]] bool may_contain(const digest& d) const noexcept;
    [[nodiscard]] bool may_contain(key_view key) const noexcept { return may_contain(hash()(key)); }
    [[nodiscard]] bool may_contain(integer_key key) const noexcept { return may_contain(hash()(key)); }

    [[nodiscard]] result<void> save(sink& out) const noexcept;
    [[nodiscard]] static result<lossy_filter> load(std::span<const std::byte> bytes) noexcept;
    [[nodiscard]] filter_stats stats() const noexcept;  // keys: those that are stored
    [[nodiscard]] std::uint64_t size() const noexcept { return stats().keys; }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] double false_negative_share() const noexcept;
    [[nodiscard]] const hasher& hash() const noexcept;

  private:
    friend insert_surface;
    template <class Key>
    std::size_t insert_many(std::span<const Key> keys) noexcept {
        return insert_in_order(*this, keys);
    }

    struct core;
    explicit lossy_filter(std::unique_ptr<core> made) noexcept;
    std::unique_ptr<core> core_;
};

}  // namespace genista
