// What a snapshot must withstand, for every type with a static load(bytes): truncation at any
// length, any bit flipped, invalid parameters, and many forgeries whose checksums were repaired.
// Also golden files: read, or written where there is none.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "genista/format/mapped_file.hpp"
#include "genista/format/sink.hpp"
#include "tests/support/fix_checksums.hpp"
#include "tests/support/snapshot_exercise.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test {

using file_bytes = std::vector<std::byte>;
inline constexpr std::size_t parameters_at = 192;

template <class Saved>
file_bytes saved(const Saved& what) {
    vector_sink out;
    const result<void> written = what.save(out);
    EXPECT_TRUE(written) << written.error().message();
    return std::move(out).take();
}

// What was loaded from a file, and saves the same bytes.
template <class Loaded>
result<Loaded> loaded_as_saved(const file_bytes& file) {
    auto loaded = Loaded::load(file);
    EXPECT_TRUE(loaded) << loaded.error().message();
    if (loaded) {
        EXPECT_TRUE(saved(*loaded) == file) << "saved again, the bytes differ";
    }
    return loaded;
}

// ---- damage: load(bytes) gives something convertible to bool ------------------------------------

template <class Load>
void expect_truncations_refused(const file_bytes& file, const Load& load) {
    ASSERT_TRUE(load(std::span<const std::byte>{file}));
    for (std::size_t length = 0; length < file.size(); ++length) {
        // A block of exactly this size, so that a sanitizer sees a read of the first byte beyond.
        const file_bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length));
        ASSERT_FALSE(load(std::span<const std::byte>{cut})) << length;
    }
}

// Flips one bit in every `step`, which is odd, so that all bits of a byte take turns.
template <class Load>
void expect_bit_flips_refused(file_bytes file, const Load& load, std::size_t step = 1) {
    ASSERT_TRUE(load(std::span<const std::byte>{file}));
    for (std::size_t bit = 0; bit < 8 * file.size(); bit += step) {
        const auto mask = static_cast<std::byte>(1u << bit % 8);
        file[bit / 8] ^= mask;
        ASSERT_FALSE(load(std::span<const std::byte>{file})) << bit;
        file[bit / 8] ^= mask;
    }
    ASSERT_TRUE(load(std::span<const std::byte>{file}));
}

template <class Loaded>
void expect_truncations_refused(const file_bytes& file) {
    expect_truncations_refused(file, [](std::span<const std::byte> bytes) { return Loaded::load(bytes).has_value(); });
}
template <class Loaded>
void expect_bit_flips_refused(const file_bytes& file, std::size_t step = 1) {
    const auto load = [](std::span<const std::byte> bytes) { return Loaded::load(bytes).has_value(); };
    expect_bit_flips_refused(file, load, step);
}
template <class Loaded>
void expect_damage_refused(const file_bytes& file, std::size_t step = 1) {
    expect_truncations_refused<Loaded>(file);
    expect_bit_flips_refused<Loaded>(file, step);
}

template <class Loaded>
void expect_loads_from_any_address(const file_bytes& file) {
    for (std::size_t shift = 1; shift < 9; ++shift) {
        file_bytes moved(shift + file.size());
        std::ranges::copy(file, moved.begin() + static_cast<std::ptrdiff_t>(shift));
        ASSERT_TRUE(Loaded::load(std::span{moved}.subspan(shift))) << shift;
    }
}

// The result of load() for the file with other bytes at `at` and repaired checksums: "loaded", or
// the error's code.
template <class Loaded>
std::string load_with(file_bytes file, std::size_t at, std::size_t width, std::uint64_t value) {
    put_little_endian(file, at, width, value);
    fix_checksums(file);
    const auto loaded = Loaded::load(file);
    return loaded ? std::string{"loaded"} : std::string{to_string(loaded.error().code())};
}

// What every loader says of a good snapshot of another kind, as in load_with.
inline std::string refusal_of(std::uint64_t kind) {
    return is_retired(static_cast<snapshot_kind>(kind)) ? "unsupported" : "mismatch";
}

// ---- forgeries ----------------------------------------------------------------------------------

// One to three edits: a bit or a number, among the first `parameters` bytes of the parameters or
// anywhere, the header's lengths included.
inline void edit(file_bytes& file, splitmix& chance, std::size_t parameters) {
    for (auto edits = 1 + chance.below(3); edits > 0; --edits) {
        const std::size_t at =
            chance.below(3) == 0 ? parameters_at + chance.below(parameters) : 56 + chance.below(file.size() - 64);
        const std::size_t width = std::size_t{1} << chance.below(4);
        if (at + width > file.size() || (at >= 128 && at < parameters_at)) continue;
        if (chance.below(2) == 0) {
            file[at] ^= static_cast<std::byte>(1u << chance.below(8));
        } else {
            put_little_endian(file, at, width, chance.below(3) == 0 ? chance() : chance.below(64));
        }
    }
}

// One to three numbers, mostly special ones and mostly among the parameters; now and then the
// length of the file.
inline void edit_with(file_bytes& file, splitmix& chance, std::size_t parameters,
                      std::initializer_list<std::uint64_t> special) {
    for (auto edits = 1 + chance.below(3); edits > 0; --edits) {
        const std::size_t at =
            chance.below(3) != 0
                ? parameters_at + chance.below(std::min<std::size_t>(file.size() - parameters_at, parameters))
                : 10 + chance.below(file.size() - 10);
        const std::size_t width = std::min(std::size_t{1} << chance.below(4), file.size() - at);
        const std::size_t which = chance.below(special.size() + 1);
        put_little_endian(file, at, width, which < special.size() ? special.begin()[which] : chance());
    }
    if (chance.below(4) == 0) {
        file.resize(file.size() + 64 * chance.below(5) - std::min<std::size_t>(file.size() - parameters_at, 128));
    }
}

// Makes an edited file consistent: lengths that add up, the key's id, the checksums.
inline void repair(file_bytes& file) {
    fit_lengths(file);
    fix_key_id(file);
    fix_envelope(file);
}

struct forgeries {
    std::vector<file_bytes> originals{};
    std::uint64_t seed = 0;
    std::uint64_t rounds = 0;
    // Both outcomes must be common, or the test would be empty: more than so many must load, and
    // fewer than so many.
    std::uint64_t more_than = rounds / 50, fewer_than = rounds * 49 / 50;
};

// forge(file, chance) changes a file and repairs it; exercise(file) -> exercise_outcome.
template <class Forge, class Exercise>
void expect_forgeries_refused_or_sound(const forgeries& plan, const Forge& forge, const Exercise& exercise) {
    splitmix chance{plan.seed};
    std::uint64_t accepted = 0;
    for (std::uint64_t round = 0; round < plan.rounds; ++round) {
        file_bytes forged = plan.originals[chance.below(plan.originals.size())];
        forge(forged, chance);
        const exercise_outcome outcome = exercise(std::span<const std::byte>{forged});
        ASSERT_EQ(outcome.broken, nullptr) << outcome.broken << ", round " << round;
        accepted += outcome.loaded ? 1u : 0u;
    }
    EXPECT_GT(accepted, plan.more_than);
    EXPECT_LT(accepted, plan.fewer_than);
}
// The same, forged by edit() among so many bytes of parameters.
template <class Exercise>
void expect_edits_refused_or_sound(const forgeries& plan, std::size_t parameters, const Exercise& exercise) {
    const auto forge = [parameters](file_bytes& file, splitmix& chance) {
        edit(file, chance, parameters);
        repair(file);
    };
    expect_forgeries_refused_or_sound(plan, forge, exercise);
}

// ---- golden files -------------------------------------------------------------------------------

inline std::string golden_path(const std::string& name) {
    return std::string{GENISTA_SOURCE_DIR} + "/tests/golden/" + name;
}

// The bytes of a file under tests/golden. With GENISTA_WRITE_GOLDEN=1 a file that does not exist is
// written first, from what make() gives; an existing one never is. If there is none, the result is
// empty and the test fails.
template <class Make>
file_bytes golden_bytes(const std::string& name, std::size_t most_bytes, const Make& make) {
    const std::string path = golden_path(name);
    if (std::getenv("GENISTA_WRITE_GOLDEN") != nullptr && !std::filesystem::exists(path)) {
        const auto& made = make();
        const result<void> written = save_file(path, [&](sink& out) { return made.save(out); });
        EXPECT_TRUE(written) << written.error().message();
        std::filesystem::permissions(path, static_cast<std::filesystem::perms>(0644));
    }
    const result<buffer> file = read_file(path, most_bytes);
    EXPECT_TRUE(file) << file.error().message();
    return file ? file_bytes(file->bytes().begin(), file->bytes().end()) : file_bytes{};
}

}  // namespace genista::test
