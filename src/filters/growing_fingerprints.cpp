// The pages of growing_fingerprints: finding, writing, splitting, saving and loading.
// growing_fingerprints.hpp has the picture.
#include "filters/growing_fingerprints.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <new>
#include <utility>

#include "bits/words.hpp"
#include "genista/hash/key.hpp"

namespace genista {
namespace {

using bits::low_mask;
using bits::word_bits;
using bits::words_for;
using grown_page = std::uint64_t*;
using grown = growing_fingerprints;

// ---- a page

std::uint64_t count_of(const std::uint64_t* p) noexcept {
    return p[0] & low_mask(32);
}
unsigned width_of(const std::uint64_t* p) noexcept {
    return static_cast<unsigned>(p[0] >> 32);
}
void set_header(grown_page p, std::uint64_t count, unsigned width) noexcept {
    p[0] = count | std::uint64_t{width} << 32;
}

constexpr std::uint64_t slot_words(std::uint64_t count, unsigned width) noexcept {
    return words_for(count * width);
}
constexpr std::uint64_t end_words(std::uint64_t count) noexcept {
    return words_for(grown::homes + count);
}
constexpr std::uint64_t needed_words(std::uint64_t count, unsigned width) noexcept {
    return 1 + slot_words(count, width) + end_words(count);
}
// The allocated size; it is computed and not stored. With the allocator's own word a multiple of 64
// bytes. (Smaller steps count less, and leave more holes between the pages: 29 % of what is counted
// at 10^6 values, where these leave 20 %.)
constexpr std::uint64_t capacity_of(std::uint64_t count, unsigned width) noexcept {
    return needed_words(count, width) | 7;
}
std::uint64_t capacity_of(const std::uint64_t* p) noexcept {
    return capacity_of(count_of(p), width_of(p));
}
constexpr std::uint64_t bytes_of_page(std::uint64_t capacity) noexcept {
    return 8 * (capacity + 1);
}

// Word k of the homes' ends.
std::uint64_t& ends_word(grown_page p, std::uint64_t capacity, std::uint64_t k) noexcept {
    return p[capacity - 1 - k];
}
std::uint64_t ends_word(const std::uint64_t* p, std::uint64_t capacity, std::uint64_t k) noexcept {
    return p[capacity - 1 - k];
}

std::uint64_t slot_at(const std::uint64_t* p, unsigned width, std::uint64_t number) noexcept {
    const std::uint64_t bit = number * width, within = bit % word_bits;
    const std::uint64_t* const from = p + 1 + bit / word_bits;
    std::uint64_t slot = from[0] >> within;
    if (within + width > word_bits) slot |= from[1] << (word_bits - within);
    return slot & low_mask(width);
}
// REQUIRES: the target bits are zero.
void write_slot(grown_page p, unsigned width, std::uint64_t number, std::uint64_t slot) noexcept {
    const std::uint64_t bit = number * width, within = bit % word_bits;
    std::uint64_t* const to = p + 1 + bit / word_bits;
    to[0] |= slot << within;
    if (within + width > word_bits) to[1] |= slot >> (word_bits - within);
}

// The bits of the slot, without the mark above them.
unsigned length_of_slot(std::uint64_t slot) noexcept {
    return static_cast<unsigned>(std::bit_width(slot)) - 1;
}
constexpr std::uint64_t whole_home = 1;  // the slot of a remainder without bits

// The remainders [first, last) of a home.
struct grown_run {
    std::uint64_t first, last;
};
grown_run run_of(const std::uint64_t* p, std::uint64_t home) noexcept {
    using words = bits::portable_words;
    const std::uint64_t capacity = capacity_of(p);
    std::uint64_t first = 0, k = 0, word = ends_word(p, capacity, 0), ends = home;
    if (home != 0) {  // the home begins behind end number home - 1
        for (std::uint64_t here; (here = words::popcount(word)) < ends; word = ends_word(p, capacity, ++k))
            ends -= here;
        const std::uint64_t at = words::select(word, ends - 1);
        first = k * word_bits + at + 1 - home;
        word = at + 1 == word_bits ? 0 : word >> (at + 1) << (at + 1);
    }
    while (word == 0) word = ends_word(p, capacity, ++k);
    return {first, k * word_bits + static_cast<std::uint64_t>(std::countr_zero(word)) - home};
}

// Moves bits [from, to) of an array up by 1 to 63, and fills with zeros. `word(k)` is word number
// k.
template <class Words>
void open_gap(std::uint64_t from, std::uint64_t to, unsigned by, Words&& word) noexcept {
    const std::uint64_t first = from / word_bits, last = (to + by - 1) / word_bits;
    for (std::uint64_t k = last; k > first; --k) word(k) = word(k) << by | word(k - 1) >> (word_bits - by);
    const std::uint64_t below = low_mask(from % word_bits);
    // Clears what moved from below `from` into the second word.
    if (const std::uint64_t end = from % word_bits + by; last > first && end > word_bits)
        word(first + 1) &= ~low_mask(end - word_bits);
    word(first) = (word(first) & below) | (from % word_bits + by < word_bits ? (word(first) & ~below) << by : 0);
}

// Calls visit(home, number, slot) for every remainder.
template <class Visit>
void for_each_slot(const std::uint64_t* p, Visit&& visit) noexcept {
    const std::uint64_t count = count_of(p), capacity = capacity_of(p);
    const unsigned width = width_of(p);
    std::uint64_t number = 0, home = 0;
    for (std::uint64_t k = 0; k < end_words(count); ++k) {
        for (std::uint64_t word = ends_word(p, capacity, k); word != 0; word &= word - 1, ++home) {
            const std::uint64_t last = k * word_bits + static_cast<std::uint64_t>(std::countr_zero(word)) - home;
            for (; number < last; ++number) visit(home, number, slot_at(p, width, number));
        }
    }
}

}  // namespace

// ---- the place of a digest

unsigned growing_fingerprints::length_of(unsigned rate_bits, std::uint64_t value) noexcept {
    // Generation g is number i = g + 2 of those whose rates 1/(i (i + 1)) add up to 1.
    const unsigned i = static_cast<unsigned>(std::bit_width(value / page_values)) + 1;
    return rate_bits + home_bits + (i > 2 ? i - 2 : 0) + static_cast<unsigned>(std::bit_width(i * (i + 1) - 1));
}

double growing_fingerprints::most_let_through(unsigned rate_bits, std::uint64_t values) noexcept {
    double sum = 0;
    std::uint64_t first = 0;
    for (std::uint64_t end = page_values; first < values; first = std::exchange(end, 2 * end)) {
        const auto here = static_cast<double>(std::min(end, values) - first);
        sum += std::ldexp(here, -static_cast<int>(length_of(rate_bits, first)));
    }
    return sum;
}

struct growing_fingerprints::aim {
    std::uint64_t page, home;
    std::uint64_t remainder;  // the 64 bits behind the home
    unsigned consumed;        // before the remainder
};

unsigned growing_fingerprints::consumed_by(std::uint64_t index) const noexcept {
    const unsigned whole = static_cast<unsigned>(std::bit_width(pages_)) - 1;
    const std::uint64_t split = pages_ - (std::uint64_t{1} << whole);
    return whole + (index < split || index >> whole != 0 ? 1u : 0u);
}

growing_fingerprints::aim growing_fingerprints::aim_at(const digest& d) const noexcept {
    unsigned consumed = static_cast<unsigned>(std::bit_width(pages_)) - 1;
    const std::uint64_t split = pages_ - (std::uint64_t{1} << consumed);
    std::uint64_t index = d.position & low_mask(consumed);
    if (index < split) index = d.position & low_mask(++consumed);
    const uint128 rest = (static_cast<uint128>(d.seed) << 64 | d.position) >> consumed;
    return {index, static_cast<std::uint64_t>(rest) & (homes - 1), static_cast<std::uint64_t>(rest >> home_bits),
            consumed + home_bits};
}

growing_fingerprints::page& growing_fingerprints::page_at(std::uint64_t index) const noexcept {
    const auto piece = static_cast<std::size_t>(std::bit_width(index));
    return pieces_[piece][index == 0 ? 0 : index - (std::uint64_t{1} << (piece - 1))];
}

bool growing_fingerprints::may_contain(const digest& d) const noexcept {
    const aim a = aim_at(d);
    const std::uint64_t* const p = page_at(a.page);
    const unsigned width = width_of(p);
    const grown_run run = run_of(p, a.home);
    for (std::uint64_t number = run.first; number < run.last; ++number) {
        const std::uint64_t slot = slot_at(p, width, number);
        if (((slot ^ a.remainder) & low_mask(length_of_slot(slot))) == 0) return true;
    }
    return false;
}

void growing_fingerprints::prefetch(const digest& d) const noexcept {
    __builtin_prefetch(page_at(aim_at(d).page));
}

// ---- memory

growing_fingerprints::page growing_fingerprints::new_page(std::uint64_t count, unsigned width) noexcept {
    const std::uint64_t capacity = capacity_of(count, width);
    auto* const made = static_cast<page>(::operator new(8 * capacity, std::nothrow));
    if (made == nullptr) return nullptr;
    std::memset(made, 0, 8 * capacity);
    set_header(made, count, width);
    bytes_ += bytes_of_page(capacity);
    return made;
}

void growing_fingerprints::free_page(page p) noexcept {
    if (p == nullptr) return;
    bytes_ -= bytes_of_page(capacity_of(p));
    ::operator delete(p, std::nothrow);
}

// Makes a place in the directory for the next page.
bool growing_fingerprints::make_place(std::uint64_t index) noexcept {
    const auto piece = static_cast<std::size_t>(std::bit_width(index));
    if (piece >= pieces_.size()) return false;
    if (pieces_[piece] != nullptr) return true;
    const std::uint64_t count = piece == 0 ? 1 : std::uint64_t{1} << (piece - 1);
    pieces_[piece] = static_cast<page*>(::operator new(count * sizeof(page), std::nothrow));
    if (pieces_[piece] == nullptr) return false;
    bytes_ += 8 * (count + 1);
    return true;
}

result<growing_fingerprints> growing_fingerprints::make(unsigned rate_bits) noexcept {
    assert(rate_bits >= 1 && rate_bits <= most_bits);
    growing_fingerprints made{rate_bits};
    std::uint64_t* const first = made.make_place(0) ? made.new_page(0, 1) : nullptr;
    if (first == nullptr)
        return error::make(error_code::out_of_memory, "growing_fingerprints: cannot allocate a first page");
    for (std::uint64_t k = 0; k < end_words(0); ++k) ends_word(first, capacity_of(first), k) = ~std::uint64_t{0};
    made.page_at(0) = first;
    made.pages_ = 1;
    return made;
}

void growing_fingerprints::swap(growing_fingerprints& other) noexcept {
    std::swap(pieces_, other.pieces_);
    std::swap(pages_, other.pages_);
    std::swap(values_, other.values_);
    std::swap(bytes_, other.bytes_);
    std::swap(rate_bits_, other.rate_bits_);
}
growing_fingerprints::growing_fingerprints(growing_fingerprints&& other) noexcept : rate_bits_{1} {
    swap(other);
}
growing_fingerprints& growing_fingerprints::operator=(growing_fingerprints&& other) noexcept {
    swap(other);
    return *this;
}
growing_fingerprints::~growing_fingerprints() {
    for (std::uint64_t i = 0; i < pages_; ++i) free_page(page_at(i));
    for (page* const piece : pieces_) ::operator delete(piece, std::nothrow);
}

// ---- inserts

insert_outcome growing_fingerprints::insert(const digest& d) noexcept {
    if (may_contain(d)) return insert_outcome::already_present;
    if (values_ >= most_values || (pages_for(values_ + 1) > pages_ && !split())) return insert_outcome::full;
    const aim a = aim_at(d);
    const unsigned length = length_of(rate_bits_, values_) - a.consumed;
    const std::uint64_t mark = std::uint64_t{1} << length;
    if (!put(page_at(a.page), a.home, mark | (a.remainder & (mark - 1)))) return insert_outcome::full;
    ++values_;
    return insert_outcome::inserted;
}

// Adds one remainder at the end of its home's run.
bool growing_fingerprints::put(page& p, std::uint64_t home, std::uint64_t slot) noexcept {
    const std::uint64_t count = count_of(p);
    const unsigned old_width = width_of(p), width = std::max(old_width, length_of_slot(slot) + 1);
    const std::uint64_t old_capacity = capacity_of(p), capacity = capacity_of(count + 1, width);
    if (count + 1 > low_mask(32)) return false;
    const std::uint64_t at = run_of(p, home).last;
    page to = p;
    if (capacity != old_capacity || width != old_width) {
        to = new_page(count + 1, width);
        if (to == nullptr) return false;
        if (width == old_width) {
            std::memcpy(to + 1, p + 1, 8 * slot_words(count, width));
        } else {
            for (std::uint64_t number = 0; number < count; ++number)
                write_slot(to, width, number, slot_at(p, old_width, number));
        }
        const std::uint64_t ends = end_words(count);
        std::memcpy(to + capacity - ends, p + old_capacity - ends, 8 * ends);
        free_page(p);
        p = to;
    }
    open_gap(at * width, count * width, width, [&](std::uint64_t k) -> std::uint64_t& { return to[1 + k]; });
    write_slot(to, width, at, slot);
    open_gap(at + home, homes + count, 1,
             [&](std::uint64_t k) -> std::uint64_t& { return ends_word(to, capacity, k); });
    set_header(to, count + 1, width);
    return true;
}

// Splits the next page in turn in two. The first bit of a remainder becomes the last bit of its
// home, and the first bit of the home becomes the last bit of the page number.
bool growing_fingerprints::split() noexcept {
    const std::uint64_t high = pages_, low = high - (std::uint64_t{1} << (std::bit_width(high) - 1));
    if (!make_place(high)) return false;
    std::uint64_t* const old = page_at(low);
    const auto half = [](std::uint64_t home, std::uint64_t bit) { return home >> 1 | bit << (home_bits - 1); };
    // By child and home: first the number of remainders, then the place of the next one.
    std::array<std::array<std::uint32_t, homes>, 2> next{};
    std::array<std::array<bool, homes>, 2> is_whole{};
    for_each_slot(old, [&](std::uint64_t home, std::uint64_t, std::uint64_t slot) {
        if (slot == whole_home) {
            is_whole[home & 1][half(home, 0)] = is_whole[home & 1][half(home, 1)] = true;
        } else {
            ++next[home & 1][half(home, slot & 1)];
        }
    });
    const unsigned width = std::max(width_of(old), 2u) - 1;
    std::array<page, 2> made{};
    for (std::size_t child = 0; child < 2; ++child) {
        std::uint32_t sum = 0;
        for (std::uint64_t home = 0; home < homes; ++home) {
            const std::uint32_t here = is_whole[child][home] ? 1 : next[child][home];
            next[child][home] = std::exchange(sum, sum + here);
        }
        made[child] = new_page(sum, width);
        if (made[child] == nullptr) {
            free_page(made[0]);
            return false;
        }
        const std::uint64_t capacity = capacity_of(made[child]);
        for (std::uint64_t home = 0; home < homes; ++home) {
            const std::uint64_t bit = home + (home + 1 < homes ? next[child][home + 1] : sum);
            ends_word(made[child], capacity, bit / word_bits) |= std::uint64_t{1} << bit % word_bits;
        }
        for (std::uint64_t home = 0; home < homes; ++home) {
            if (is_whole[child][home]) write_slot(made[child], width, next[child][home], whole_home);
        }
    }
    for_each_slot(old, [&](std::uint64_t home, std::uint64_t, std::uint64_t slot) {
        const std::size_t child = home & 1;
        const std::uint64_t to = half(home, slot & 1);
        if (slot != whole_home && !is_whole[child][to]) write_slot(made[child], width, next[child][to]++, slot >> 1);
    });
    free_page(old);
    page_at(low) = made[0];
    page_at(high) = made[1];
    ++pages_;
    return true;
}

//  ---- figures

double growing_fingerprints::let_through() const noexcept {
    double sum = 0;
    for (std::uint64_t i = 0; i < pages_; ++i) {
        double here = 0;
        for_each_slot(page_at(i), [&](std::uint64_t, std::uint64_t, std::uint64_t slot) {
            here += std::ldexp(1.0, -static_cast<int>(length_of_slot(slot)));
        });
        sum += std::ldexp(here, -static_cast<int>(consumed_by(i) + home_bits));
    }
    return sum;
}

unsigned growing_fingerprints::remainder_bits() const noexcept {
    return length_of(rate_bits_, values_) - (static_cast<unsigned>(std::bit_width(pages_)) - 1) - home_bits;
}

// ---- snapshots

std::uint64_t growing_fingerprints::saved_bytes() const noexcept {
    std::uint64_t words = 0;
    for (std::uint64_t i = 0; i < pages_; ++i) words += needed_words(count_of(page_at(i)), width_of(page_at(i)));
    return 8 * words;
}

result<void> growing_fingerprints::save(sink& out) const noexcept {
    for (std::uint64_t i = 0; i < pages_; ++i) {
        const std::uint64_t* const p = page_at(i);
        const std::uint64_t front = 1 + slot_words(count_of(p), width_of(p)), capacity = capacity_of(p);
        if (const auto put = out.write(std::as_bytes(std::span{p, front})); !put) return put.error();
        for (std::uint64_t k = 0; k < end_words(count_of(p)); ++k) {
            const std::uint64_t word = ends_word(p, capacity, k);
            if (const auto put = out.write(std::as_bytes(std::span{&word, 1})); !put) return put.error();
        }
    }
    return {};
}

result<void> growing_fingerprints::load_page(std::uint64_t index, std::span<const std::byte>& bytes) noexcept {
    const auto bad = [&](const char* what) {
        return error::make(error_code::corrupt, "growing_fingerprints: page %llu of %llu %s",
                           static_cast<unsigned long long>(index), static_cast<unsigned long long>(pages_), what);
    };
    if (bytes.size() < 8) return bad("is not there");
    std::uint64_t header;
    std::memcpy(&header, bytes.data(), sizeof header);
    const std::uint64_t count = header & low_mask(32), width = header >> 32;
    if (width < 1 || width > most_bits + 12) return bad("has slots of no possible width");
    const std::uint64_t words = needed_words(count, static_cast<unsigned>(width));
    if (bytes.size() / 8 < words) return bad("ends too early");
    std::uint64_t* const p = new_page(count, static_cast<unsigned>(width));
    if (p == nullptr) return error::make(error_code::out_of_memory, "growing_fingerprints: no memory for a page");
    page_at(index) = p;
    const std::uint64_t slots = slot_words(count, static_cast<unsigned>(width)), capacity = capacity_of(p);
    std::memcpy(p + 1, bytes.data() + 8, 8 * slots);
    for (std::uint64_t k = 0; k < end_words(count); ++k)
        std::memcpy(&ends_word(p, capacity, k), bytes.data() + 8 * (1 + slots + k), 8);
    bytes = bytes.subspan(8 * words);
    // There must be 256 ends of homes, the last behind the last remainder, and only zeros behind
    // that.
    std::uint64_t ends = 0;
    for (std::uint64_t k = 0; k < end_words(count); ++k)
        ends += static_cast<std::uint64_t>(std::popcount(ends_word(p, capacity, k)));
    const std::uint64_t last = ends_word(p, capacity, end_words(count) - 1), last_bit = (homes + count - 1) % word_bits;
    if (ends != homes || last >> last_bit != 1) return bad("has homes that do not end with its values");
    if (const std::uint64_t within = count * width % word_bits; within != 0 && p[slots] >> within != 0)
        return bad("has something behind its values");
    const std::uint64_t longest =
        values_ == 0 ? 0 : length_of(rate_bits_, values_ - 1) - consumed_by(index) - home_bits;
    bool sound = true;
    for_each_slot(p, [&](std::uint64_t, std::uint64_t, std::uint64_t slot) {
        sound = sound && slot != 0 && length_of_slot(slot) <= longest;
    });
    if (!sound || (values_ == 0 && count != 0)) return bad("has values of no possible length");
    return {};
}

result<growing_fingerprints> growing_fingerprints::load(unsigned rate_bits, std::uint64_t values, std::uint64_t pages,
                                                        std::span<const std::byte>& bytes) noexcept {
    // One page more if an insert split a page and then found no memory.
    if (values > most_values || (pages != pages_for(values) && pages != pages_for(values + 1)) ||
        pages > (std::uint64_t{1} << most_page_bits) || pages > bytes.size() / 8)
        return error::make(error_code::corrupt, "growing_fingerprints: %llu values in %llu pages of %zu bytes",
                           static_cast<unsigned long long>(values), static_cast<unsigned long long>(pages),
                           bytes.size());
    growing_fingerprints made{rate_bits};
    made.values_ = values;
    for (std::uint64_t i = 0; i < pages; ++i) {
        if (!made.make_place(i))
            return error::make(error_code::out_of_memory, "growing_fingerprints: no memory for a directory");
        made.page_at(i) = nullptr;
        made.pages_ = i + 1;
    }
    for (std::uint64_t i = 0; i < pages; ++i) {
        if (const auto loaded = made.load_page(i, bytes); !loaded) return loaded.error();
    }
    // Both are sums of powers of two, and doubles hold them but for the last bits of a huge one.
    constexpr double rounding = 1 + 0x1p-40;
    const double rate = made.let_through(), most = most_let_through(rate_bits, values);
    if (rate > most * rounding)
        return error::make(error_code::corrupt, "growing_fingerprints: %llu values let %g through, above %g",
                           static_cast<unsigned long long>(values), rate, most);
    return made;
}

}  // namespace genista
