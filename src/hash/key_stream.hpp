// key_stream: random words derived from a hash key, the same ones on every machine. Explicit hash
// functions are drawn with them.
//
// Each word comes from the AES encryption of a counter and a *purpose*: functions for different
// purposes are drawn independently.
#pragma once

#include <cstdint>
#include <limits>

#include "genista/hash/hasher.hpp"

namespace genista {

enum class key_purpose : std::uint64_t {
    ppr_value = 0x7070722d76616c75,     // h of [ppr05 §2]
    ppr_omission = 0x7070722d6f6d6974,  // ρ of [ppr05 §6.3]
    permutation = 0x7065726d75746174,
};

class key_stream {
  public:
    using result_type = std::uint64_t;
    key_stream(const hasher& hash, key_purpose purpose) noexcept
        : hash_{hash}, purpose_{static_cast<std::uint64_t>(purpose)} {}

    [[nodiscard]] static constexpr result_type min() noexcept { return 0; }
    [[nodiscard]] static constexpr result_type max() noexcept { return std::numeric_limits<result_type>::max(); }
    result_type operator()() noexcept { return hash_.encrypt(next_++, purpose_).position; }

  private:
    const hasher& hash_;
    std::uint64_t purpose_, next_ = 0;
};

}  // namespace genista
