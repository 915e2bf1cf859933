// Making, reading and committing bins. See table.hpp for what lies where; look-ups are in table_look.cpp.
#include "filters/broom/table.hpp"

#include <bit>
#include <new>

#include "filters/broom/side_block.hpp"

namespace genista {
inline namespace GENISTA_BROOM_VARIANT {
namespace broom {
namespace {

// Tails are read a word at a time: one word more than the bits need.
std::uint64_t tail_words(shape s, std::uint64_t bins) noexcept {
    return s.tail_bits == 0 ? 0 : (bins * s.tail_bytes_per_bin() + 7) / 8 + 1;
}

std::uint64_t most_side_granules(shape s) noexcept {
    return side_block::granules(most_backyard, most_notes, bins_per_group, bins_per_group, s);
}

}  // namespace

result<std::unique_ptr<table>> table::make(shape s, std::uint64_t bins, const hash_key& key, std::uint64_t secret,
                                           bool unsalted_first) noexcept try {
    std::unique_ptr<table> made{new table{s, bins, key}};
    auto lines = buffer::zeroed((bins + 1) * sizeof(line));  // kernels may read one byte past a line
    if (!lines) return lines.error();
    made->lines_ = *std::move(lines);
    auto tails = buffer::zeroed(8 * tail_words(s, bins));
    if (!tails) return tails.error();
    made->tails_ = *std::move(tails);
    auto sides = buffer::zeroed(made->groups() * sizeof(side_memory::handle));
    if (!sides) return sides.error();
    made->sides_ = *std::move(sides);
    // The greatest block a group can need, for every group and for writers that have taken a new block and not yet given
    // the old one back: addresses, not memory.
    if (const auto reserved = made->memory_.reserve((made->groups() + 64) * most_side_granules(s)); !reserved)
        return reserved.error();
    while ((made->groups() * bins_per_group) >> made->stripe_shift_ > most_stripes ||
           1u << made->stripe_shift_ < bins_per_group) {
        ++made->stripe_shift_;
    }
    made->versions_ = std::make_unique<std::atomic<std::uint32_t>[]>(made->stripes());
    made->locks_ = std::make_unique<std::atomic<std::uint32_t>[]>(made->stripes());
    made->book_ = std::make_unique<salt_book>(key, secret, bins, unsalted_first);
    const line empty = line::empty();
    for (std::uint64_t bin = 0; bin < bins; ++bin) {
        for (std::size_t i = 0; i < 8; ++i) made->line_words(bin)[i] = empty.words[i];
    }
    return made;
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory for a broom table of %llu bins",
                       static_cast<unsigned long long>(bins));
}

void table::add_bytes(broom_details& to) const noexcept {
    to.line_bytes += lines_.allocated_bytes();
    to.tail_bytes += tails_.allocated_bytes();
    to.side_bytes += sides_.allocated_bytes() + memory_.allocated_bytes();
    to.other_bytes +=
        sizeof *this + 2 * stripes() * sizeof(std::atomic<std::uint32_t>) + sizeof(salt_book) + book_->local_bytes();
}

broom_lookup_state table::lookup_state() const noexcept {
    broom_lookup_state view;
    view.lines = lines_.data();
    view.bins = bins_;
    view.versions = versions_.get();
    view.stripe_shift = stripe_shift_;
    view.salt_words = book_->words();
    view.salt_numbers = book_->numbers();
    view.mix = &mixer_.state();
    view.common_is_unsalted = book_->unsalted_first();
    view.sides = &side_of(0);
    view.side_words = memory_.words(0);
    view.tails = reinterpret_cast<const std::uint64_t*>(tails_.data());
    view.tail_bits = shape_.tail_bits;
    view.lines_to_change = const_cast<std::byte*>(lines_.data());
    view.tails_to_change = reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(tails_.data()));
    view.changes = versions_.get();
    view.locks = locks_.get();
    return view;
}

side_memory::handle table::load_side(std::uint64_t bin) const noexcept {
    return __atomic_load_n(&side_of(bin), __ATOMIC_ACQUIRE) & ~side_has_notes;
}

void table::store_side(std::uint64_t bin, side_memory::handle block, bool speaks_of_slots) noexcept {
    __atomic_store_n(&side_of(bin), block | (speaks_of_slots ? side_has_notes : 0), __ATOMIC_RELEASE);
}

std::uint32_t table::load_tail(std::uint64_t bin, unsigned slot) const noexcept {
    if (shape_.tail_bits == 0) return 0;
    const auto* const words = reinterpret_cast<const std::uint64_t*>(tails_.data());
    const std::uint64_t bit = bin * shape_.tail_bytes_per_bin() * 8 + std::uint64_t{slot} * shape_.tail_bits;
    return static_cast<std::uint32_t>(bits_at(words, bit, shape_.tail_bits));
}

void table::store_tail(std::uint64_t bin, unsigned slot, std::uint32_t tail) noexcept {
    auto* const words = reinterpret_cast<std::uint64_t*>(tails_.data());
    const std::uint64_t bit = bin * shape_.tail_bytes_per_bin() * 8 + std::uint64_t{slot} * shape_.tail_bits;
    set_bits_at(words, bit, shape_.tail_bits, tail);
}

void table::read(std::uint64_t bin, bin_image& image) const {
    image.bin = bin;
    image.slots = load_line(bin);
    if (shape_.tail_bits != 0) {
        for (unsigned slot = 0; slot < slots_per_bin; ++slot) image.tails[slot] = load_tail(bin, slot);
    } else {
        image.tails = {};  // the image may have been another filter's
    }
    if (const side_memory::handle block = load_side(bin); block != 0) {
        side_block{memory_.words(block), shape_}.read(image.sides);
    } else {
        image.sides.clear();
    }
    const std::uint8_t code = image.slots.salt();
    image.now =
        code == long_salt ? book_->of_number(image.sides.long_salt_of(image.bin_in_group())) : book_->of_code(code);
}

table::side_change table::prepare_sides(std::uint64_t bin, const side_list& sides) {
    side_change change;
    change.old = load_side(bin);
    if (change.old != 0) {
        const side_block block{memory_.words(change.old), shape_};
        change.old_granules = block.granules(shape_);
        change.old_learnt_bits = block.learnt_bits();
    }
    const std::uint64_t needed = side_block::granules(sides, shape_);
    change.made = change.old;
    if (needed != change.old_granules) {
        change.made = needed == 0 ? 0 : memory_.take(needed);
        if (needed != 0 && change.made == 0) throw std::bad_alloc{};
    }
    return change;
}

void table::exchange_sides(std::uint64_t bin, const side_change& change, const side_list& sides) noexcept {
    if (change.made != 0) side_block::write(memory_.words(change.made), sides, shape_);
    store_side(bin, change.made, sides.speaks_of_slots());
    if (change.made != change.old && change.old != 0) memory_.give_back(change.old, change.old_granules);
    if (const std::uint64_t now = sides.learnt_bits(); now != change.old_learnt_bits)
        learnt_bits_.fetch_add(now - change.old_learnt_bits, std::memory_order_relaxed);
}

void table::store_bin(std::uint64_t bin, const line& slots,
                      const std::array<std::uint32_t, slots_per_bin>& tails) noexcept {
    const std::uint8_t old_code = load_line(bin).salt();
    for (std::size_t i = 0; i < 8; ++i) store_word(line_words(bin) + i, slots.words[i]);
    if (shape_.tail_bits != 0) {
        for (unsigned slot = 0; slot < slots_per_bin; ++slot) store_tail(bin, slot, tails[slot]);
    }
    if (old_code != slots.salt()) book_->leave(old_code);
}

void table::commit(lock& held, const bin_image& image) {
    const side_change change = prepare_sides(image.bin, image.sides);
    // From here on nothing can fail.
    held.touch();
    exchange_sides(image.bin, change, image.sides);
    store_bin(image.bin, image.slots, image.tails);
}

void table::read_group(std::uint64_t first, group_image& into) const {
    into.bins = static_cast<unsigned>(std::min<std::uint64_t>(bins_per_group, bins_ - first));
    read(first, into.work);
}

void table::open_bin(group_image& group, unsigned bin_in_group) const noexcept {
    bin_image& image = group.work;
    image.bin = image.bin / bins_per_group * bins_per_group + bin_in_group;
    image.slots = load_line(image.bin);
    const std::uint8_t code = image.slots.salt();
    image.now = code == long_salt ? book_->of_number(image.sides.long_salt_of(bin_in_group)) : book_->of_code(code);
}

void table::commit_group(lock& held, std::uint64_t first, const group_image& group) {
    const side_change change = prepare_sides(first, group.work.sides);
    held.touch();
    exchange_sides(first, change, group.work.sides);
    for (unsigned i = 0; i < group.bins; ++i) store_bin(first + i, group.lines[i], group.tails[i]);
}

void table::tidy() noexcept {
    if (!book_->is_crowded()) return;
    constexpr std::uint64_t bins_a_call = 64;
    const std::uint64_t from = tidied_.fetch_add(bins_a_call, std::memory_order_relaxed);
    if (from >= bins_) {
        if (from >= bins_ + bins_a_call) return;  // another thread begins the next round
        tidy_limit_.store(book_->oldest_quarter(), std::memory_order_relaxed);
        book_->relieved();
        tidied_.store(0, std::memory_order_relaxed);
        return;
    }
    const std::uint64_t limit = tidy_limit_.load(std::memory_order_relaxed);
    for (std::uint64_t bin = from; bin < std::min(from + bins_a_call, bins_); ++bin) {
        try {
            lock held{*this, bin};
            const std::uint8_t code = load_line(bin).salt();
            if (code == long_salt || book_->of_code(code).number > limit) continue;
            bin_image image = read(bin);
            image.set_salt(book_->of_number(image.now.number));
            commit(held, image);
        } catch (const std::bad_alloc&) {
            return;  // it keeps its code
        }
    }
}

void table::begin_leaving() noexcept {
    for (std::uint64_t stripe = 0; stripe < stripes(); ++stripe) {
        lock held{*this, stripe << stripe_shift_};
        held.leave();
    }
}

void table::retire() noexcept {
    lines_.give_pages_back();
    tails_.give_pages_back();
    sides_.give_pages_back();
    memory_.release();
}

}  // namespace broom
}  // namespace GENISTA_BROOM_VARIANT
}  // namespace genista
