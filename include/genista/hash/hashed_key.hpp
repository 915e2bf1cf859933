// hashed_key: a key and its digest, which were put together once and stay together. Most people
// pass plain keys and need nothing from here; a caller that asks about one key several times hashes
// it once:
//
//     const genista::hashed_key ada{filter.hash(), "ada"};
//     if (filter.insert(ada, store)) ...                      // no call below hashes "ada" again
//     if (filter.adapt(ada, store)) ...
//
//   I1  where() is the digest of view() under the hasher that made it. Only hashing makes a
//       hashed_key, so a digest cannot be paired with another key by mistake.
//   I2  A call that takes a hashed_key REQUIRES that a hasher equal to its own made it. A digest
//       of another hash would be a false negative; asserts find it (is_of).
//
// The bytes are borrowed, as by key_view: they must outlive it, so make none of a temporary string.
// A kept_key owns a copy of them.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "genista/hash/hasher.hpp"
#include "genista/hash/key.hpp"

namespace genista {

class hashed_key {
  public:
    hashed_key(const hasher& hash, key_view key) noexcept : where_{hash(key)}, key_{key} {}
    // Borrows the bytes of the integer_key itself.
    hashed_key(const hasher& hash, const integer_key& key) noexcept : where_{hash(key)}, key_{key.view()} {}
    hashed_key(const hasher& hash, integer_key&& key) = delete;  // the integer's bytes die with the statement

    [[nodiscard]] const digest& where() const noexcept { return where_; }
    [[nodiscard]] key_view view() const noexcept { return key_; }
    [[nodiscard]] std::string_view text() const noexcept { return key_.text(); }

    // The digest of a key that is often this very one, and then is not hashed again: for checks of
    // what R gives back.
    [[nodiscard]] digest digest_of(const hasher& hash, key_view other) const noexcept {
        return other.text() == text() ? where_ : hash(other);
    }

    // For asserts: hashes the key again. A hash of the caller's own is believed, because it may
    // count its calls.
    [[nodiscard]] bool is_of(const hasher& hash) const noexcept {
        return hash.kind() == hash_kind::custom || hash(key_) == where_;
    }

  private:
    friend class kept_key;
    hashed_key(const digest& where, key_view key) noexcept : where_{where}, key_{key} {}

    digest where_;
    key_view key_;
};

// A hashed_key that owns its bytes, for keys that wait in a queue or a list longer than the
// caller's bytes live. Its order is that of R: digest, then key bytes.
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
