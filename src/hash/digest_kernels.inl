// digest_kernels: hashing kernels of one instruction set; other kernel files include them inside
// base/foreach_isa.hpp's passes. All of it is inlined into the look-up: a call for each hash would
// cost as much as the hash.

namespace genista::GENISTA_ISA {

inline std::uint64_t load_le64(const void* from) noexcept {
    std::uint64_t word;
    std::memcpy(&word, from, sizeof word);
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    return word;
}

// The two halves of the AES block of a short key (hasher.hpp draws it).
struct short_block {
    std::uint64_t low;
    std::uint64_t high;
};

inline short_block block_of(std::uint64_t key) noexcept {
    return {key, std::uint64_t{8} << 56};
}

inline short_block block_of(key_view key) noexcept {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    if (key.size >= 8) {
        low = load_le64(key.data);
        // The last eight bytes overlap the first; the shift keeps the bytes after the eighth.
        if (key.size > 8) high = load_le64(key.data + key.size - 8) >> (8 * (16 - key.size));
    } else {
        for (std::size_t i = 0; i < key.size; ++i) low |= std::uint64_t(key.data[i]) << (8 * i);
    }
    return {low, high | std::uint64_t{key.size} << 56};
}

#if GENISTA_ISA_LEVEL == 0

inline digest encrypt(const hash_state& state, short_block block) noexcept {
    aes::block plain;
    for (unsigned i = 0; i < 8; ++i) {
        plain[i] = static_cast<std::uint8_t>(block.low >> (8 * i));
        plain[8 + i] = static_cast<std::uint8_t>(block.high >> (8 * i));
    }
    const aes::block cipher = aes::encrypt(state.round_keys, plain);
    return digest{load_le64(cipher.data()), load_le64(cipher.data() + 8)};
}

#else

inline __m128i round_key(const hash_state& state, std::size_t round) noexcept {
    return _mm_load_si128(reinterpret_cast<const __m128i*>(state.round_keys[round].data()));
}

[[gnu::always_inline]] inline __m128i encrypt_in_register(const hash_state& state, short_block block) noexcept {
    __m128i x = _mm_set_epi64x(static_cast<long long>(block.high), static_cast<long long>(block.low));
    x = _mm_xor_si128(x, round_key(state, 0));
    for (std::size_t round = 1; round < 10; ++round) x = _mm_aesenc_si128(x, round_key(state, round));
    return _mm_aesenclast_si128(x, round_key(state, 10));
}
[[gnu::always_inline]] inline digest digest_from(__m128i x) noexcept {
    return digest{static_cast<std::uint64_t>(_mm_cvtsi128_si64(x)),
                  static_cast<std::uint64_t>(_mm_extract_epi64(x, 1))};
}
[[gnu::always_inline]] inline digest encrypt(const hash_state& state, short_block block) noexcept {
    return digest_from(encrypt_in_register(state, block));
}

#endif

inline digest digest_trusted(const hash_state& state, const void* data, std::size_t size) noexcept {
    const XXH128_hash_t hash = XXH3_128bits_withSeed(data, size, state.trusted_seed);
    return digest{hash.low64, hash.high64};
}

// The trusted function hashes the little-endian bytes of an integer, as the keyed one does.
inline std::uint64_t as_little_endian(std::uint64_t key) noexcept {
    return std::endian::native == std::endian::big ? __builtin_bswap64(key) : key;
}

// Separate from the keyed function, so that a look-up needs registers only for the keyed one.
[[gnu::noinline, gnu::cold]] inline digest digest_unkeyed(const hash_state& state, std::uint64_t key) noexcept {
    const std::uint64_t bytes = as_little_endian(key);
    if (state.kind == hash_kind::trusted) return digest_trusted(state, &bytes, sizeof bytes);
    return state.custom(state.context, key_view{reinterpret_cast<const std::byte*>(&bytes), sizeof bytes});
}

[[gnu::always_inline]] inline digest digest_of(const hash_state& state, std::uint64_t key) noexcept {
    if (state.kind == hash_kind::keyed) [[likely]]
        return encrypt(state, block_of(key));
    return digest_unkeyed(state, key);
}

inline digest digest_of(const hash_state& state, key_view key) noexcept {
    if (state.kind == hash_kind::keyed) [[likely]] {
        if (key.size <= 15) return encrypt(state, block_of(key));
        const std::array<std::uint64_t, 2> hash =
            siphash_128<1, 3>(state.sip_key[0], state.sip_key[1], key.data, key.size);
        return digest{hash[0], hash[1]};
    }
    if (state.kind == hash_kind::trusted) return digest_trusted(state, key.data, key.size);
    return state.custom(state.context, key);
}

inline digest digest_of(const hash_state&, const digest& ready) noexcept {
    return ready;
}

// Up to eight digests at once: independent blocks fill the AES pipeline.
inline constexpr std::size_t hash_width = 8;

#if GENISTA_ISA_LEVEL == 0

inline void encrypt8(const hash_state& state, const std::uint64_t* keys, digest* out) noexcept {
    for (std::size_t i = 0; i < hash_width; ++i) out[i] = encrypt(state, block_of(keys[i]));
}

inline void encrypt8_in_place(const hash_state& state, digest* blocks) noexcept {
    for (std::size_t i = 0; i < hash_width; ++i)
        blocks[i] = encrypt(state, short_block{blocks[i].position, blocks[i].seed});
}

#elif GENISTA_ISA_LEVEL == 1

// All rounds after the first addition of the key, then the digests.
[[gnu::always_inline]] inline void encrypt8_begun(const hash_state& state, __m128i* x, digest* out) noexcept {
    for (std::size_t round = 1; round < 10; ++round) {
        const __m128i key = round_key(state, round);
        for (std::size_t i = 0; i < hash_width; ++i) x[i] = _mm_aesenc_si128(x[i], key);
    }
    const __m128i last = round_key(state, 10);
    for (std::size_t i = 0; i < hash_width; ++i) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm_aesenclast_si128(x[i], last));
    }
}

inline void encrypt8_in_place(const hash_state& state, digest* blocks) noexcept {
    __m128i x[hash_width];
    const __m128i first = round_key(state, 0);
    for (std::size_t i = 0; i < hash_width; ++i)
        x[i] = _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(blocks + i)), first);
    encrypt8_begun(state, x, blocks);
}

inline void encrypt8(const hash_state& state, const std::uint64_t* keys, digest* out) noexcept {
    __m128i x[hash_width];
    const __m128i first = round_key(state, 0);
    const __m128i tail = _mm_set_epi64x(static_cast<long long>(std::uint64_t{8} << 56), 0);
    const __m128i first_tail = _mm_xor_si128(first, tail);
    for (std::size_t i = 0; i < hash_width; ++i) {
        x[i] = _mm_xor_si128(_mm_cvtsi64_si128(static_cast<long long>(keys[i])), first_tail);
    }
    encrypt8_begun(state, x, out);
}

#else

// Eight blocks in two vectors.
[[gnu::always_inline]] inline void encrypt_in_registers(const hash_state& state, __m512i& a, __m512i& b) noexcept {
    const __m512i first = _mm512_broadcast_i32x4(round_key(state, 0));
    a = _mm512_xor_si512(a, first);
    b = _mm512_xor_si512(b, first);
    for (std::size_t round = 1; round < 10; ++round) {
        const __m512i key = _mm512_broadcast_i32x4(round_key(state, round));
        a = _mm512_aesenc_epi128(a, key);
        b = _mm512_aesenc_epi128(b, key);
    }
    const __m512i last = _mm512_broadcast_i32x4(round_key(state, 10));
    a = _mm512_aesenclast_epi128(a, last);
    b = _mm512_aesenclast_epi128(b, last);
}

inline void encrypt8_in_place(const hash_state& state, digest* blocks) noexcept {
    __m512i a = _mm512_loadu_si512(blocks);
    __m512i b = _mm512_loadu_si512(blocks + 4);
    encrypt_in_registers(state, a, b);
    _mm512_storeu_si512(blocks, a);
    _mm512_storeu_si512(blocks + 4, b);
}

inline void encrypt8(const hash_state& state, const std::uint64_t* keys, digest* out) noexcept {
    // Lane 2i of `spread` is key i, lane 2i+1 is the size byte: four AES blocks a vector.
    const __m512i size_byte = _mm512_set1_epi64(static_cast<long long>(std::uint64_t{8} << 56));
    const __m512i loaded = _mm512_loadu_si512(keys);
    const __m512i low_half = _mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0);
    const __m512i high_half = _mm512_set_epi64(7, 7, 6, 6, 5, 5, 4, 4);
    __m512i a = _mm512_mask_permutexvar_epi64(size_byte, 0x55, low_half, loaded);
    __m512i b = _mm512_mask_permutexvar_epi64(size_byte, 0x55, high_half, loaded);
    encrypt_in_registers(state, a, b);
    _mm512_storeu_si512(out, a);
    _mm512_storeu_si512(out + 4, b);
}

#endif

inline void digest8(const hash_state& state, const std::uint64_t* keys, digest* out) noexcept {
    if (state.kind == hash_kind::keyed) [[likely]]
        return encrypt8(state, keys, out);
    for (std::size_t i = 0; i < hash_width; ++i) out[i] = digest_of(state, keys[i]);
}

inline void digest8(const hash_state& state, const key_view* keys, digest* out) noexcept {
    for (std::size_t i = 0; i < hash_width; ++i) out[i] = digest_of(state, keys[i]);
}

inline void digest8(const hash_state&, const digest* ready, digest* out) noexcept {
    std::memcpy(out, ready, hash_width * sizeof(digest));
}

}  // namespace genista::GENISTA_ISA
