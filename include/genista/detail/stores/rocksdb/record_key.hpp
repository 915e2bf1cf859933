// record_key: a record of R as RocksDB stores it. RocksDB's order of bytes is then R's order of
// records.
//
//     byte 0 ........ 7   8 ........ 15   16 ........
//     [ position, big  |  seed, big    |  the user's key ]
//
// Clustered layout: these are the keys of the user's values. Indexed layout: the value is empty.
#pragma once

#include <rocksdb/slice.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "genista/hash/hashed_key.hpp"
#include "genista/hash/key.hpp"

namespace genista::rocks {

inline constexpr std::size_t digest_bytes = 16;

[[nodiscard]] inline key_view to_key(const rocksdb::Slice& bytes) noexcept {
    return key_view{reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()};
}
[[nodiscard]] inline rocksdb::Slice to_slice(key_view key) noexcept {
    return {reinterpret_cast<const char*>(key.data), key.size};
}

inline void store_big_endian(std::uint64_t word, char* out) noexcept {
    for (unsigned i = 0; i < 8; ++i) out[i] = static_cast<char>(static_cast<unsigned char>(word >> (56 - 8 * i)));
}
[[nodiscard]] inline std::uint64_t load_big_endian(const char* in) noexcept {
    std::uint64_t word = 0;
    for (unsigned i = 0; i < 8; ++i) word = word << 8 | static_cast<unsigned char>(in[i]);
    return word;
}

// Short keys need no heap memory.
class record_key {
  public:
    record_key(const digest& d, key_view key) : size_{digest_bytes + key.size} {
        if (size_ > here_.size()) elsewhere_.resize(size_);
        char* const out = size_ > here_.size() ? elsewhere_.data() : here_.data();
        store_big_endian(d.position, out);
        store_big_endian(d.seed, out + 8);
        if (key.size > 0) std::memcpy(out + digest_bytes, key.data, key.size);
    }
    explicit record_key(const hashed_key& key) : record_key{key.where(), key.view()} {}
    [[nodiscard]] rocksdb::Slice slice() const noexcept {
        return {size_ > here_.size() ? elsewhere_.data() : here_.data(), size_};
    }

  private:
    std::size_t size_;
    std::array<char, 112> here_;
    std::string elsewhere_;
};

// Nothing if the bytes are too short to be a record. The key points into `bytes`.
[[nodiscard]] inline std::optional<std::pair<digest, key_view>> decode_record(const rocksdb::Slice& bytes) noexcept {
    if (bytes.size() < digest_bytes) return std::nullopt;
    const digest d{load_big_endian(bytes.data()), load_big_endian(bytes.data() + 8)};
    return std::pair{d, to_key({bytes.data() + digest_bytes, bytes.size() - digest_bytes})};
}

}  // namespace genista::rocks
