// kept_key: a hashed_key that owns its bytes, for keys that wait in a queue or a list longer than
// the caller's bytes live. Its order is that of R: digest, then key bytes.
#pragma once

#include <compare>
#include <string>

#include "genista/hash/hashed_key.hpp"

namespace genista {

class kept_key {
  public:
    // May throw std::bad_alloc.
    explicit kept_key(const hashed_key& key) : where_{key.where()}, bytes_{key.text()} {}

    [[nodiscard]] const digest& where() const noexcept { return where_; }
    [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }
    // Borrows the bytes of this very object.
    [[nodiscard]] hashed_key key() const& noexcept { return hashed_key{where_, key_view{bytes_}}; }
    [[nodiscard]] hashed_key key() const&& = delete;

    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the zero inside a defaulted comparison for a pointer
    friend auto operator<=>(const kept_key&, const kept_key&) = default;

  private:
    digest where_;
    std::string bytes_;
};

}  // namespace genista
