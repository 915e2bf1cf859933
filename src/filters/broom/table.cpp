// Reading and committing bins. See table.hpp for what lies where.
#include "filters/broom/table.hpp"

#include <bit>
#include <new>

namespace genista::broom {
namespace {

// Tails are read a word at a time: one word more than the bits need.
std::uint64_t tail_words(shape s, std::uint64_t bins) noexcept {
    return s.tail_bits == 0 ? 0 : (bins * s.tail_bytes_per_bin() + 7) / 8 + 1;
}

constexpr std::uint64_t count_bits = 16;  // how many entries follow, at the start of a block

std::uint64_t granules_for(std::size_t entries, unsigned entry_bytes) noexcept {
    return entries == 0 ? 0 : (count_bits / 8 + entries * entry_bytes + 7) / 8;
}

std::uint64_t bits_at(const std::uint64_t* words, std::uint64_t bit, unsigned width) noexcept {
    const unsigned shift = static_cast<unsigned>(bit % 64);
    std::uint64_t value = load_word(words + bit / 64) >> shift;
    if (shift + width > 64) value |= load_word(words + bit / 64 + 1) << (64 - shift);
    return value & ((std::uint64_t{1} << width) - 1);
}

void set_bits_at(std::uint64_t* words, std::uint64_t bit, unsigned width, std::uint64_t value) noexcept {
    const unsigned shift = static_cast<unsigned>(bit % 64);
    const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
    std::uint64_t* const low = words + bit / 64;
    store_word(low, (load_word(low) & ~(mask << shift)) | value << shift);
    if (shift + width > 64) {
        std::uint64_t* const high = low + 1;
        store_word(high, (load_word(high) & ~(mask >> (64 - shift))) | value >> (64 - shift));
    }
}

// The greatest block: 16 bins, each with a full backyard, all its extensions as long as can be, 48 dead slots, a long salt.
std::uint64_t most_side_granules(shape s) noexcept {
    constexpr unsigned entries_per_bin = backyard_per_bin + 6 * extensions_per_bin + slots_per_bin + 2;
    static_assert(bins_per_group * entries_per_bin * 5 + 2 <= 8 * side_memory::most_granules);
    return granules_for(bins_per_group * entries_per_bin, s.entry_bytes());
}

}  // namespace

result<std::unique_ptr<table>> table::make(shape s, std::uint64_t bins, const hash_key& key,
                                           std::uint64_t generation) noexcept {
    std::unique_ptr<table> made{new (std::nothrow) table{s, bins, key, generation}};
    const auto no_memory = [&] {
        return error::make(error_code::out_of_memory, "no memory for a broom table of %llu bins",
                           static_cast<unsigned long long>(bins));
    };
    if (made == nullptr) return no_memory();
    auto lines = buffer::zeroed(bins * sizeof(line));
    if (!lines) return lines.error();
    made->lines_ = *std::move(lines);
    auto tails = buffer::zeroed(8 * tail_words(s, bins));
    if (!tails) return tails.error();
    made->tails_ = *std::move(tails);
    const std::uint64_t groups = (bins + bins_per_group - 1) / bins_per_group;
    made->stripes_ = std::min(most_stripes, std::bit_ceil(groups));
    // The greatest block a group can need, for every group: addresses, not memory.
    if (const auto reserved = made->memory_.reserve(1 + groups * most_side_granules(s)); !reserved)
        return reserved.error();
    made->sides_.reset(new (std::nothrow) std::atomic<side_memory::handle>[groups]());
    made->versions_.reset(new (std::nothrow) std::atomic<std::uint32_t>[made->stripes_]());
    if (made->sides_ == nullptr || made->versions_ == nullptr) return no_memory();
    const line empty = line::empty();
    for (std::uint64_t bin = 0; bin < bins; ++bin) {
        for (std::size_t i = 0; i < 8; ++i) made->line_words(bin)[i] = empty.words[i];
    }
    return made;
}

std::uint64_t table::local_bytes() const noexcept {
    const std::uint64_t groups = (bins_ + bins_per_group - 1) / bins_per_group;
    return sizeof *this + lines_.allocated_bytes() + tails_.allocated_bytes() +
           groups * sizeof(std::atomic<side_memory::handle>) + stripes_ * sizeof(std::atomic<std::uint32_t>) +
           memory_.allocated_bytes();
}

std::uint32_t table::load_tail(std::uint64_t bin, unsigned slot) const noexcept {
    if (shape_.tail_bits == 0) return 0;
    const auto* const words = reinterpret_cast<const std::uint64_t*>(tails_.data());
    const std::uint64_t bit = bin * shape_.tail_bytes_per_bin() * 8 + std::uint64_t{slot} * shape_.tail_bits;
    return static_cast<std::uint32_t>(bits_at(words, bit, shape_.tail_bits));
}

void table::store_tails(const bin_image& image) noexcept {
    if (shape_.tail_bits == 0) return;
    auto* const words = reinterpret_cast<std::uint64_t*>(tails_.data());
    const std::uint64_t first = image.bin * shape_.tail_bytes_per_bin() * 8;
    for (unsigned slot = 0; slot < slots_per_bin; ++slot) {
        set_bits_at(words, first + std::uint64_t{slot} * shape_.tail_bits, shape_.tail_bits, image.tails[slot]);
    }
}

template <class Visit>
void table::each_entry(std::uint64_t group, Visit visit) const noexcept {
    const side_memory::handle block = sides_[group].load(std::memory_order_acquire);
    if (block == 0) return;
    const std::uint64_t* const words = memory_.words(block);
    const unsigned width = 8 * shape_.entry_bytes();
    // A torn count reads at most as far as a block can reach, where there are addresses.
    const std::uint64_t most = (side_memory::most_granules * 64 - count_bits) / width;
    const std::uint64_t entries = std::min(load_word(words) & ((1u << count_bits) - 1), most);
    for (std::uint64_t i = 0; i < entries; ++i) {
        if (!visit(side_entry::from(bits_at(words, count_bits + i * width, width)))) return;
    }
}

bool table::contains(const digest& d) const noexcept {
    const place at = place_of(d);
    while (true) {
        const std::uint32_t before = version(at.group());
        const bool answer = look(at);
        if (stripe(at.group()).load(std::memory_order_relaxed) == before) return answer;
    }
}

bool table::look(const place& at) const noexcept {
    const line slots = load_line(at.bin);
    std::uint32_t counter = slots.salt();
    if (counter == long_salt) {
        counter = 0;
        unsigned shift = 0;
        const unsigned piece = 8 * shape_.entry_bytes() - 6;
        each_entry(at.group(), [&](const side_entry& e) {
            if (e.bin == at.bin_in_group() && e.kind == side_kind::salt && shift < 32) {
                counter |= static_cast<std::uint32_t>(e.payload << shift);
                shift += piece;
            }
            return e.bin <= at.bin_in_group();
        });
    }
    const mixed m = mix(at, counter);
    const fingerprint f = fingerprint::of(m, shape_);
    for (std::uint64_t hits = slots.matches(f.key); hits != 0; hits &= hits - 1) {
        const auto slot = static_cast<unsigned>(std::countr_zero(hits));
        if (load_tail(at.bin, slot) != f.tail) continue;
        // The base is x's: at most one slot has it [law L3]. Dead slots match nothing; an extension must agree.
        bool match = true;
        std::uint64_t stream = first_stream_bits(m);
        each_entry(at.group(), [&](const side_entry& e) {
            if (e.bin != at.bin_in_group()) return e.bin < at.bin_in_group();
            if (e.kind == side_kind::dead && e.slot() == slot) match = false;
            if (e.kind == side_kind::extension && e.slot() == slot && e.payload >> 6 != 0) {
                const std::uint64_t coded = e.payload >> 6;
                const auto length = static_cast<unsigned>(std::bit_width(coded)) - 1;
                match = match && ((stream ^ coded) & ((std::uint64_t{1} << length) - 1)) == 0;
                stream >>= length;
            }
            return match;
        });
        if (match) return true;
        break;
    }
    if ((slots.overflow() >> f.overflow_class & 1) == 0) return false;
    bool found = false;
    each_entry(at.group(), [&](const side_entry& e) {
        found = e.bin == at.bin_in_group() && e.kind == side_kind::backyard && e.payload == f.tag;
        return !found && e.bin <= at.bin_in_group();
    });
    return found;
}

bin_image table::read(std::uint64_t bin) const {
    bin_image image{shape_};
    image.bin = bin;
    image.slots = load_line(bin);
    for (unsigned slot = 0; slot < slots_per_bin; ++slot) image.tails[slot] = load_tail(bin, slot);
    image.sides.entries.reserve(64);
    // bad_alloc must not pass through each_entry's noexcept: count first.
    std::size_t count = 0;
    each_entry(bin / bins_per_group, [&](const side_entry&) { return ++count, true; });
    image.sides.entries.reserve(count + 8);
    each_entry(bin / bins_per_group, [&](const side_entry& e) {
        image.sides.entries.push_back(e);
        return true;
    });
    return image;
}

void table::commit(lock& held, const bin_image& image) {
    const std::uint64_t group = image.bin / bins_per_group;
    const unsigned width = 8 * shape_.entry_bytes();
    const side_memory::handle old = sides_[group].load(std::memory_order_relaxed);
    const std::uint64_t old_entries = old == 0 ? 0 : load_word(memory_.words(old)) & ((1u << count_bits) - 1);
    const std::uint64_t had = granules_for(old_entries, shape_.entry_bytes());
    const std::uint64_t needed = granules_for(image.sides.entries.size(), shape_.entry_bytes());
    side_memory::handle block = old;
    if (needed != had) {
        block = needed == 0 ? 0 : memory_.take(needed);
        if (needed != 0 && block == 0) throw std::bad_alloc{};
    }
    // From here on nothing can fail.
    held.touch();
    if (block != 0) {
        std::uint64_t* const words = memory_.words(block);
        set_bits_at(words, 0, count_bits, image.sides.entries.size());
        for (std::size_t i = 0; i < image.sides.entries.size(); ++i) {
            set_bits_at(words, count_bits + i * width, width, image.sides.entries[i].raw());
        }
    }
    if (block != old) {
        sides_[group].store(block, std::memory_order_release);
        if (old != 0) memory_.give_back(old, had);
    }
    for (std::size_t i = 0; i < 8; ++i) store_word(line_words(image.bin) + i, image.slots.words[i]);
    store_tails(image);
}

std::uint32_t table::counter_of(const bin_image& image) noexcept {
    if (image.slots.salt() != long_salt) return image.slots.salt();
    std::uint64_t counter = 0;
    unsigned shift = 0;
    for (const side_entry& e : image.sides.of(static_cast<unsigned>(image.bin % bins_per_group))) {
        if (e.kind != side_kind::salt || shift >= 32) continue;
        counter |= e.payload << shift;
        shift += image.sides.payload_bits();
    }
    return static_cast<std::uint32_t>(counter);
}

void table::set_counter(bin_image& image, std::uint32_t counter) {
    const auto bin = static_cast<unsigned>(image.bin % bins_per_group);
    std::erase_if(image.sides.entries, [&](const side_entry& e) { return e.bin == bin && e.kind == side_kind::salt; });
    if (counter < long_salt) {
        image.slots.set_salt(static_cast<std::uint8_t>(counter));
        return;
    }
    image.slots.set_salt(long_salt);
    const unsigned piece = image.sides.payload_bits();
    for (unsigned shift = 0; shift < 32; shift += piece) {
        const std::uint64_t mask = (std::uint64_t{1} << piece) - 1;
        image.sides.add({bin, side_kind::salt, (std::uint64_t{counter} >> shift) & mask});
    }
}

}  // namespace genista::broom
