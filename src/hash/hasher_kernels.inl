// hasher_kernels: the entry points of hasher for one instruction set.
#include "hash/digest_kernels.inl"

namespace genista::GENISTA_ISA {

inline digest hash_one(const hash_state& state, key_view key) noexcept {
    return digest_of(state, key);
}

inline digest hash_integer(const hash_state& state, std::uint64_t key) noexcept {
    return digest_of(state, key);
}

inline digest hash_block(const hash_state& state, std::uint64_t low, std::uint64_t high) noexcept {
    return encrypt(state, short_block{low, high});
}

inline void hash_blocks(const hash_state& state, digest* blocks, std::size_t count) noexcept {
    std::size_t done = 0;
    for (; done + hash_width <= count; done += hash_width) encrypt8_in_place(state, blocks + done);
    for (; done < count; ++done) blocks[done] = encrypt(state, short_block{blocks[done].position, blocks[done].seed});
}

inline void hash_batch(const hash_state& state, const std::uint64_t* keys, std::size_t count, digest* out) noexcept {
    std::size_t done = 0;
    for (; done + hash_width <= count; done += hash_width) digest8(state, keys + done, out + done);
    for (; done < count; ++done) out[done] = digest_of(state, keys[done]);
}

inline constexpr hasher_table hasher_entries = {&hash_one, &hash_integer, &hash_batch, &hash_block, &hash_blocks};

}  // namespace genista::GENISTA_ISA
