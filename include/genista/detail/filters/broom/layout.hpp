// layout: a name for every bit of the broom filter's memory: lines, the words that fingerprints are
// cut from, tails, side blocks, handles and versions. Scalar code and kernels use these names, and
// no other file has a position or a width of its own. docs/filters/broom.md draws the same bits.
//
// It is outside of src because templates of broom.hpp read the epoch of a bin (lookup_state.hpp).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "genista/detail/filters/broom/faults.hpp"

namespace GENISTA_BROOM_NAMESPACE {

// Bits of a version word; the bits from `broom_change` on count changes.
inline constexpr std::uint32_t broom_writing = 1;  // a writer changes bins of the stripe
inline constexpr std::uint32_t broom_leaving = 2;  // bins of this table move to a larger one: the core answers
inline constexpr std::uint32_t broom_change = 4;   // a change counts so much
static_assert(broom_change == 2 * broom_leaving && broom_leaving == 2 * broom_writing,
              "the count begins above the flags, and carries into nothing");

namespace broom {

inline constexpr unsigned word_bits = 64;

// Some bits of a word, the lowest of them at `at`.
struct bit_field {
    unsigned at;
    unsigned width;

    [[nodiscard]] constexpr unsigned end() const noexcept { return at + width; }
    [[nodiscard]] constexpr std::uint64_t most() const noexcept { return ~std::uint64_t{0} >> (word_bits - width); }
    [[nodiscard]] constexpr std::uint64_t mask() const noexcept { return most() << at; }
    [[nodiscard]] constexpr std::uint64_t of(std::uint64_t word) const noexcept { return word >> at & most(); }
    // The same as a small number. REQUIRES: width <= 32.
    [[nodiscard]] constexpr unsigned number(std::uint64_t word) const noexcept {
        return static_cast<unsigned>(word >> at) & static_cast<unsigned>(most());
    }
    // With all that lies above it, for a caller that keeps no more than the field anyway.
    [[nodiscard]] constexpr std::uint64_t uncut(std::uint64_t word) const noexcept { return word >> at; }
    // REQUIRES: value <= most().
    [[nodiscard]] constexpr std::uint64_t put(std::uint64_t value) const noexcept { return value << at; }
    [[nodiscard]] constexpr std::uint64_t replaced(std::uint64_t word, std::uint64_t value) const noexcept {
        return (word & ~mask()) | put(value);
    }
};

[[nodiscard]] constexpr bool follows(bit_field lower, bit_field upper) noexcept {
    return lower.end() == upper.at;
}

// A bin. What these sizes do for the rate says shape.hpp.
inline constexpr unsigned slots_per_bin = 48;
inline constexpr unsigned slots_per_half = 32;
inline constexpr unsigned quotients_per_half = 32;
inline constexpr unsigned quotients_per_bin = 64;
inline constexpr unsigned bins_per_cluster = 16;  // they share a side block and a lock

static_assert(quotients_per_bin == 2 * quotients_per_half, "a quotient's top bit says in which half its run lies");
static_assert(slots_per_half < slots_per_bin && slots_per_bin < 2 * slots_per_half,
              "either half may take free slots of the other");

// What stands for a salt in a line.
inline constexpr unsigned salt_codes = 255;        // codes 0..254 of the book of salts (salts.hpp)
inline constexpr unsigned long_salt = salt_codes;  // no code: the number stands in the side block

// A line: the header, one byte each for the salt and the overflow classes, then the remainders.
namespace line_layout {

inline constexpr std::size_t bytes = 64;
inline constexpr std::size_t words = bytes / sizeof(std::uint64_t);
inline constexpr unsigned bytes_shift = 6;
static_assert(std::size_t{1} << bytes_shift == bytes, "offsets of lines are shifted to numbers of bins");

// Half A is read as the word that begins with the header, half B as the word that ends with it.
inline constexpr unsigned header_bits = quotients_per_bin + slots_per_bin;  // a one for a run, a zero for a slot
inline constexpr std::size_t half_b_byte = (header_bits - word_bits) / 8;
inline constexpr bit_field half_b_in_word_0{header_bits - word_bits, 2 * word_bits - header_bits};
inline constexpr bit_field half_b_in_word_1{0, header_bits - word_bits};
static_assert(quotients_per_half + slots_per_half <= word_bits, "marks and zeros of a half lie in one word [line I2]");
static_assert(8 * half_b_byte == half_b_in_word_0.at && half_b_in_word_0.width + half_b_in_word_1.width == word_bits,
              "the word of half B begins with a byte and ends with the header");

inline constexpr std::size_t salt_byte = header_bits / 8;
inline constexpr std::size_t overflow_byte = salt_byte + 1;
inline constexpr std::size_t remainders_byte = overflow_byte + 1;
static_assert(remainders_byte + slots_per_bin == bytes, "a bin is one cache line");

// The same bytes in word 1, and in the four bytes that end with them, which a vector gathers.
inline constexpr std::size_t top_word = salt_byte / sizeof(std::uint64_t);
inline constexpr bit_field salt{8 * (salt_byte % sizeof(std::uint64_t)), 8};
inline constexpr bit_field overflow{8 * (overflow_byte % sizeof(std::uint64_t)), 8};
inline constexpr std::size_t top_byte = overflow_byte + 1 - sizeof(std::uint32_t);
inline constexpr bit_field salt_in_top{8 * (salt_byte - top_byte), 8};
inline constexpr bit_field overflow_in_top{8 * (overflow_byte - top_byte), 8};
static_assert(top_word == 1 && follows(half_b_in_word_1, salt) && follows(salt, overflow) &&
                  overflow.end() == word_bits,
              "word 1 is the end of the header, the salt and the overflow classes");
static_assert(long_salt == salt.most(), "every value of the byte is a code or the mark of a long salt");
static_assert(overflow_in_top.end() == 32);

// The remainders of a half are compared as one window of a byte for each slot. Half A fills its own
// from the front, half B from the back: rank r is byte r, or byte last_in_window - r.
inline constexpr std::size_t window_bytes = slots_per_half;
inline constexpr std::size_t window_step = slots_per_bin - slots_per_half;  // from half A's window to half B's
inline constexpr unsigned last_in_window = slots_per_half - 1;
static_assert(remainders_byte + window_step + window_bytes == bytes, "half B's window ends with the line");

}  // namespace line_layout

// The two words that a key's fingerprint is cut from. The base is quotient, remainder and tail.
// Class, tag and stream are independent of it [broom law, Lemma 1]: no bit belongs to two of them.
namespace mixed_layout {

// The first word.
inline constexpr bit_field quotient{0, 6};
inline constexpr bit_field quotient_in_half{0, 5};
inline constexpr bit_field mirrored{5, 1};  // the run lies in half B
inline constexpr bit_field remainder{6, 8};
inline constexpr bit_field tail{14, 16};  // a filter takes its lowest tail_bits
inline constexpr bit_field overflow_class{30, 3};
inline constexpr bit_field first_stream{33, 31};
// The second word.
inline constexpr bit_field tag{0, 32};  // a filter takes its lowest tag_bits
inline constexpr bit_field second_stream{32, 32};
inline constexpr unsigned stream_bits = first_stream.width + second_stream.width;

static_assert(follows(quotient, remainder) && follows(remainder, tail) && follows(tail, overflow_class) &&
                  follows(overflow_class, first_stream) && first_stream.end() == word_bits,
              "the first word is used up, and no bit twice");
static_assert(follows(tag, second_stream) && second_stream.end() == word_bits);
static_assert(follows(quotient_in_half, mirrored) && mirrored.end() == quotient.end() &&
                  quotient.most() + 1 == quotients_per_bin && quotient_in_half.most() + 1 == quotients_per_half,
              "the top bit of a quotient is the half");
static_assert(remainder.width == 8, "remainders are compared as bytes");
static_assert(overflow_class.most() + 1 == line_layout::overflow.width, "a bit of the line for each class");

// An unsalted epoch takes both words from the seed alone (mix.hpp): the base and the class where
// the first word has them, then a shorter tag and a shorter stream.
inline constexpr bit_field seed_tag{33, 24};
inline constexpr bit_field seed_stream{57, 7};
static_assert(follows(overflow_class, seed_tag) && follows(seed_tag, seed_stream) && seed_stream.end() == word_bits);

// The step from half A to half B, for a key's half: 0 or line_layout::window_step, by one shift.
inline constexpr unsigned window_shift =
    mirrored.at - static_cast<unsigned>(std::countr_zero(line_layout::window_step));
static_assert(std::has_single_bit(line_layout::window_step) &&
              (mirrored.mask() >> window_shift) == line_layout::window_step);
[[nodiscard]] constexpr std::uint64_t window_of(std::uint64_t first_word) noexcept {
    return first_word >> window_shift & line_layout::window_step;
}

}  // namespace mixed_layout

// Tails lie beside the lines, slot after slot and bin after bin.
[[nodiscard]] constexpr std::uint64_t tail_at(std::uint64_t bin, std::uint64_t slot, unsigned tail_bits) noexcept {
    return (bin * slots_per_bin + slot) * tail_bits;
}

// A side block (side_block.hpp): the head, a list of marks, and entries of these widths.
namespace block_layout {

// Of the head.
inline constexpr bit_field entries{0, 11};
inline constexpr bit_field extensions{11, 11};
inline constexpr bit_field long_salts{22, 5};
inline constexpr bit_field has_tombstones{27, 1};
inline constexpr bit_field unused{28, 4};
inline constexpr unsigned head_bits = 32;
inline constexpr bit_field head{0, head_bits};
static_assert(follows(entries, extensions) && follows(extensions, long_salts) && follows(long_salts, has_tombstones) &&
                  follows(has_tombstones, unused) && unused.end() == head_bits,
              "the head is used up, and no bit twice");
static_assert(bins_per_cluster <= long_salts.most(), "each bin may have a long salt");

// The marks follow the head: in the rest of its word, then in the next one.
inline constexpr bit_field marks_in_head{head_bits, word_bits - head_bits};
// With no more entries than these, the marks end within 64 bits.
inline constexpr unsigned entries_of_short_marks = word_bits - bins_per_cluster;

// Tags in two parts: their low bits as an array that a vector compares, then the rest.
inline constexpr unsigned tag_low_bits = 16;
inline constexpr std::size_t tag_low_bytes = tag_low_bits / 8;
inline constexpr bit_field tag_low{0, tag_low_bits};
inline constexpr unsigned tags_alignment = 16;  // in bits
static_assert(tags_alignment % 8 == 0, "a vector loads tags from a byte on");

inline constexpr bit_field bin{0, 4};  // of an extension or a long salt, within the cluster
static_assert(bin.most() + 1 == bins_per_cluster);

inline constexpr bit_field extension_payload{4, 14};
inline constexpr unsigned extension_bits = extension_payload.end();
inline constexpr bit_field slot_in_payload{0, 6};
inline constexpr bit_field coded_in_payload{6, 8};  // adaptivity bits below a leading one
static_assert(follows(bin, extension_payload) && follows(slot_in_payload, coded_in_payload) &&
              coded_in_payload.end() == extension_payload.width);
static_assert(slots_per_bin <= slot_in_payload.most() + 1, "every slot has a number");

inline constexpr bit_field salt_number{4, 44};
inline constexpr unsigned long_salt_bits = salt_number.end();
static_assert(follows(bin, salt_number));

}  // namespace block_layout

// The handle of a cluster's block: its place in granules of a word, and a flag: some slot of the
// cluster is a tombstone or has adaptivity bits. Without it a look-up whose slot matches need not
// read the block.
inline constexpr unsigned handle_place_bits = 31;
inline constexpr std::uint32_t side_has_slot_data = std::uint32_t{1} << handle_place_bits;

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
