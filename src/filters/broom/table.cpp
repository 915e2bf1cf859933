// Making, reading and committing bins. See table.hpp for the memory; table_look.cpp has the
// look-ups.
#include "filters/broom/table.hpp"

#include <algorithm>
#include <bit>
#include <new>

#include "filters/broom/side_block.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {
namespace {

// Tails are read a word at a time: one word more than the bits need.
std::uint64_t tail_words(shape s, std::uint64_t bins) noexcept {
    return s.tail_bits == 0 ? 0 : (bins * s.tail_bytes_per_bin() + 7) / 8 + 1;
}

std::uint64_t most_side_granules(shape s) noexcept {
    return side_block::granules(most_backyard, most_side_extensions, bins_per_cluster, bins_per_cluster, s);
}

std::uint64_t line_bytes(std::uint64_t bins) noexcept {
    return (bins + 1) * sizeof(line);  // kernels may read one byte past a line
}

std::uint64_t tail_bytes(shape s, std::uint64_t bins) noexcept {
    return 8 * tail_words(s, bins);
}

std::uint64_t handle_bytes(std::uint64_t bins) noexcept {
    return (bins + bins_per_cluster - 1) / bins_per_cluster * sizeof(side_memory::handle);
}

// Stripe i has bins [i << shift, (i + 1) << shift): whole clusters.
unsigned stripe_shift_for(std::uint64_t bins, std::uint64_t most_stripes) noexcept {
    unsigned shift = 0;
    const std::uint64_t whole = (bins + bins_per_cluster - 1) / bins_per_cluster * bins_per_cluster;
    while (whole >> shift > most_stripes || std::uint64_t{1} << shift < bins_per_cluster) ++shift;
    return shift;
}

constexpr std::uint64_t bytes_a_stripe = sizeof(std::atomic<std::uint32_t>) + sizeof(broom_lock);

}  // namespace

result<std::unique_ptr<table>> table::make(shape s, std::uint64_t bins, const hash_key& key, std::uint64_t secret,
                                           bool unsalted_first) noexcept {
    auto made = make_unprepared(s, bins, key, secret, unsalted_first);
    if (made) (*made)->prepare(bins);
    return made;
}

result<std::unique_ptr<table>> table::make_unprepared(shape s, std::uint64_t bins, const hash_key& key,
                                                      std::uint64_t secret, bool unsalted_first) noexcept try {
    std::unique_ptr<table> made{new table{s, bins, key}};
    auto lines = buffer::untouched(line_bytes(bins));
    if (!lines) return lines.error();
    made->lines_ = *std::move(lines);
    auto tails = buffer::untouched(tail_bytes(s, bins));
    if (!tails) return tails.error();
    made->tails_ = *std::move(tails);
    auto sides = buffer::untouched(handle_bytes(bins));
    if (!sides) return sides.error();
    made->sides_ = *std::move(sides);
    // Reserves addresses, not memory: the longest block for every cluster, and more for writers
    // that have taken a new block and not yet given the old one back.
    if (const auto reserved = made->memory_.reserve((made->clusters() + 64) * most_side_granules(s)); !reserved)
        return reserved.error();
    made->stripe_shift_ = stripe_shift_for(bins, most_stripes);
    made->versions_ = std::make_unique<std::atomic<std::uint32_t>[]>(made->stripes());
    made->locks_ = std::make_unique<broom_lock[]>(made->stripes());
    made->book_ = std::make_unique<salt_book>(key, secret, bins, unsalted_first);
    return made;
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory for a broom table of %llu bins",
                       static_cast<unsigned long long>(bins));
}

// Prepares the lines piece by piece, so that growth neither delays an insert while all lines are
// written nor takes their memory before it needs it.
void table::prepare(std::uint64_t end) noexcept {
    const std::uint64_t bins_a_piece = buffer::piece_for(lines_.size_bytes()) / sizeof(line);
    const line empty = line::empty();
    std::uint64_t bin = prepared_.load(std::memory_order_relaxed);
    while (bin < std::min(end, bins_)) {
        const std::uint64_t stop = std::min((bin / bins_a_piece + 1) * bins_a_piece, bins_);
        lines_.take_pages(stop == bins_ ? lines_.size_bytes() : stop * sizeof(line));
        // One word more, which the last slot's tail may reach into.
        tails_.take_pages(stop == bins_ ? tails_.size_bytes() : stop * shape_.tail_bytes_per_bin() + 8);
        sides_.take_pages(stop == bins_ ? sides_.size_bytes() : handle_bytes(stop));
        for (; bin < stop; ++bin) {
            for (std::size_t i = 0; i < line_layout::words; ++i) line_words(bin)[i] = empty.words[i];
        }
        prepared_.store(bin, std::memory_order_release);
    }
}

std::uint64_t table::bytes_for(shape s, std::uint64_t bins) noexcept {
    const std::uint64_t stripes = ((bins - 1) >> stripe_shift_for(bins, most_stripes)) + 1;
    return buffer::bytes_for(line_bytes(bins)) + buffer::bytes_for(tail_bytes(s, bins)) +
           buffer::bytes_for(handle_bytes(bins)) + sizeof(table) + stripes * bytes_a_stripe + sizeof(salt_book) +
           sizeof(salt_book::generation);
}

// The sweep is at most a piece ahead in the new table, and behind by at most a piece and a cluster
// in the old one.
std::uint64_t table::bytes_given_back_for(std::uint64_t new_bins) const noexcept {
    const auto certain = [](std::uint64_t old_size, std::uint64_t new_size, std::uint64_t cluster_bytes) {
        const std::uint64_t lag =
            buffer::piece_for(old_size) + buffer::piece_for(new_size) + cluster_bytes + sizeof(std::uint64_t);
        const std::uint64_t had = old_size < buffer::least_mapping ? 0 : buffer::bytes_for(old_size);
        return had - std::min(had, lag);
    };
    return certain(line_bytes(bins_), line_bytes(new_bins), bins_per_cluster * sizeof(line)) +
           certain(tail_bytes(shape_, bins_), tail_bytes(shape_, new_bins),
                   bins_per_cluster * shape_.tail_bytes_per_bin());
}

void table::add_bytes(broom_details& to) const noexcept {
    to.line_bytes += lines_.allocated_bytes();
    to.tail_bytes += tails_.allocated_bytes();
    to.side_bytes += sides_.allocated_bytes() + memory_.allocated_bytes();
    to.other_bytes += sizeof *this + stripes() * bytes_a_stripe + sizeof(salt_book) + book_->local_bytes();
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
    return __atomic_load_n(&side_of(bin), __ATOMIC_ACQUIRE) & ~side_has_slot_data;
}

void table::store_side(std::uint64_t bin, side_memory::handle block, bool has_slot_data) noexcept {
    __atomic_store_n(&side_of(bin), block | (has_slot_data ? side_has_slot_data : 0), __ATOMIC_RELEASE);
}

std::uint32_t table::load_tail(std::uint64_t bin, unsigned slot) const noexcept {
    if (shape_.tail_bits == 0) return 0;
    const auto* const words = reinterpret_cast<const std::uint64_t*>(tails_.data());
    return static_cast<std::uint32_t>(bits_at(words, tail_at(bin, slot, shape_.tail_bits), shape_.tail_bits));
}

void table::store_tail(std::uint64_t bin, unsigned slot, std::uint32_t tail) noexcept {
    auto* const words = reinterpret_cast<std::uint64_t*>(tails_.data());
    set_bits_at(words, tail_at(bin, slot, shape_.tail_bits), shape_.tail_bits, tail);
}

void table::read(std::uint64_t bin, bin_image& image) const {
    image.bin = bin;
    image.slots = load_line(bin);
    if (shape_.tail_bits != 0) {
        for (unsigned slot = 0; slot < slots_per_bin; ++slot) image.tails[slot] = load_tail(bin, slot);
    } else {
        image.tails = {};  // the image may have come from another filter
    }
    if (const side_memory::handle block = load_side(bin); block != 0) {
        side_block{memory_.words(block), shape_}.read(image.sides);
    } else {
        image.sides.clear();
    }
    const std::uint8_t code = image.slots.salt();
    image.now =
        code == long_salt ? book_->of_number(image.sides.long_salt_of(image.bin_in_cluster())) : book_->of_code(code);
}

// A block that becomes shorter can always stay where it is: a change that needs less memory does
// not fail.
table::side_change table::prepare_sides(std::uint64_t bin, const side_list& sides, budget_class from) {
    side_change change;
    change.old = load_side(bin);
    if (change.old != 0) {
        const side_block block{memory_.words(change.old), shape_};
        change.old_granules = block.granules(shape_);
        change.old_learnt_bits = block.learnt_bits();
    }
    change.granules = side_block::granules(sides, shape_);
    if (change.granules == change.old_granules) {
        change.made = change.old;
    } else if (change.granules != 0) {
        bool refused = false;
        // Upkeep may go beyond the limit, but only if there is no other way.
        change.made =
            memory_.take(change.granules, from == budget_class::inserts ? from : budget_class::extensions, refused);
        if (change.made == 0 && change.granules < change.old_granules) change.made = change.old;
        if (refused && change.made == 0 && from == budget_class::upkeep)
            change.made = memory_.take(change.granules, from, refused);
        if (change.made == 0 && refused) throw limit_reached{};
        if (change.made == 0) throw std::bad_alloc{};
    }
    return change;
}

void table::exchange_sides(std::uint64_t bin, const side_change& change, const side_list& sides) noexcept {
    if (change.made != 0) side_block::write(memory_.words(change.made), sides, shape_);
    store_side(bin, change.made, sides.has_slot_data());
    if (change.made != change.old && change.old != 0) memory_.give_back(change.old, change.old_granules);
    if (change.made == change.old && change.granules < change.old_granules) {
        memory_.give_back(change.old + static_cast<side_memory::handle>(change.granules),
                          change.old_granules - change.granules);
    }
    if (const std::uint64_t now = sides.learnt_bits(); now != change.old_learnt_bits)
        learnt_bits_.fetch_add(now - change.old_learnt_bits, std::memory_order_relaxed);
}

void table::store_bin(std::uint64_t bin, const line& slots,
                      const std::array<std::uint32_t, slots_per_bin>& tails) noexcept {
    const std::uint8_t old_code = load_line(bin).salt();
    for (std::size_t i = 0; i < line_layout::words; ++i) store_word(line_words(bin) + i, slots.words[i]);
    if (shape_.tail_bits != 0) {
        for (unsigned slot = 0; slot < slots_per_bin; ++slot) store_tail(bin, slot, tails[slot]);
    }
    if (old_code != slots.salt()) book_->leave(old_code);
}

void table::commit(lock& held, const bin_image& image, budget_class from) {
    const side_change change = prepare_sides(image.bin, image.sides, from);
    // From here on nothing can fail.
    held.touch();
    exchange_sides(image.bin, change, image.sides);
    store_bin(image.bin, image.slots, image.tails);
}

void table::read_cluster(std::uint64_t first, cluster_image& into) const {
    into.bins = static_cast<unsigned>(std::min<std::uint64_t>(bins_per_cluster, bins_ - first));
    read(first, into.work);
}

void table::open_bin(cluster_image& cluster, unsigned bin_in_cluster) const noexcept {
    bin_image& image = cluster.work;
    image.bin = image.bin / bins_per_cluster * bins_per_cluster + bin_in_cluster;
    image.slots = load_line(image.bin);
    const std::uint8_t code = image.slots.salt();
    image.now = code == long_salt ? book_->of_number(image.sides.long_salt_of(bin_in_cluster)) : book_->of_code(code);
}

void table::commit_cluster(lock& held, std::uint64_t first, const cluster_image& cluster, budget_class from) {
    const side_change change = prepare_sides(first, cluster.work.sides, from);
    held.touch();
    exchange_sides(first, change, cluster.work.sides);
    for (unsigned i = 0; i < cluster.bins; ++i) store_bin(first + i, cluster.lines[i], cluster.tails[i]);
}

void table::tidy() noexcept {
    if (!book_->is_crowded()) return;
    constexpr std::uint64_t bins_a_call = 64;
    const std::uint64_t from = tidied_.fetch_add(bins_a_call, std::memory_order_relaxed);
    if (from >= bins_) {
        if (from >= bins_ + bins_a_call) return;  // another thread begins the next round
        book_->choose_leaving();
        book_->relieved();
        tidied_.store(0, std::memory_order_relaxed);
        return;
    }
    for (std::uint64_t bin = from; bin < std::min(from + bins_a_call, bins_); ++bin) {
        try {
            lock held{*this, bin};
            // A bin that has moved, or is not prepared yet, has no salt whose users are counted.
            if (bin < moved_.load(std::memory_order_relaxed) || bin >= prepared_.load(std::memory_order_acquire))
                continue;
            const std::uint8_t code = load_line(bin).salt();
            if (code == long_salt || !book_->is_leaving(code)) continue;
            bin_image image = read(bin);
            image.set_salt(book_->of_number(image.now.number));
            commit(held, image, budget_class::extensions);
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

void table::give_back_moved() noexcept {
    const std::uint64_t first = first_bin();
    lines_.give_pages_back(first * sizeof(line));
    tails_.give_pages_back(first * shape_.tail_bytes_per_bin());
}

void table::retire() noexcept {
    lines_.give_pages_back();
    tails_.give_pages_back();
    sides_.give_pages_back();
    memory_.release();
}

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
