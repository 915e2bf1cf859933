// Look-ups, changes and bins of a collection of sets. See sets.hpp.
#include "filters/succinct/sets.hpp"
#include "genista/detail/format/fields.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <new>

namespace genista::succinct {

sets::sets(const sets_shape& shape) noexcept : shape_{shape}, has_bmi2_{active_isa() >= isa::avx2}, codes_{} {
    for (unsigned level = 0; level < codes_.size(); ++level) codes_[level] = bin_code::for_limit(limit_at(level));
}

result<sets> sets::make(const sets_shape& shape) noexcept {
    if (shape.universe == 0 || shape.universe > most_universe || shape.symbols == 0 || shape.symbols > most_symbols)
        return error::make(error_code::invalid_argument,
                           "sets of elements below %llu with %u symbols: allowed are 1 to 2^61, and 1 to %u symbols",
                           static_cast<unsigned long long>(shape.universe), shape.symbols, most_symbols);
    return sets{shape};
}

void sets::clear() noexcept {
    *this = sets{shape_};
}

bool sets::add_set() noexcept {
    if (all_.size() >= most_sets) return false;
    try {
        all_.reserve(all_.size() + 1);  // at most most_sets times, and few are moved
        all_.emplace_back();
    } catch (const std::bad_alloc&) {
        return false;
    }
    if (all_.back().addresses.make_room(1)) return true;
    all_.pop_back();
    return false;
}

std::uint64_t sets::size() const noexcept {
    std::uint64_t sum = 0;
    for (const one& each : all_) sum += each.size;
    return sum;
}

std::uint64_t sets::allocated_bytes() const noexcept {
    std::uint64_t sum = words_.allocated_bytes() + all_.capacity() * sizeof(one);
    for (const one& each : all_) sum += each.addresses.allocated_bytes();
    return sum;
}

// ---- look-ups

sets::located sets::locate(const one& in, std::uint64_t x) const noexcept {
    located here;
    here.b = in.bin_of(x);
    here.level = in.level_of(here.b);
    here.at = in.addresses[here.b];
    if (here.at == 0) return here;
    const bin there = view(here.at, here.level);
    here.least = number_of(here.level, x, 0);
    here.where = has_bmi2_ ? there.find<bits::bmi2_words>(here.least, shape_.symbols)
                           : there.find<bits::portable_words>(here.least, shape_.symbols);
    return here;
}

std::optional<unsigned> sets::find(unsigned set, std::uint64_t x) const noexcept {
    return locate(set, x).symbol();
}

bool sets::contains(unsigned set, std::uint64_t x) const noexcept {
    if (set > 0) return find(set, x).has_value();
    return has_bmi2_ ? first_.contains<bits::bmi2_words>(x, shape_.symbols)
                     : first_.contains<bits::portable_words>(x, shape_.symbols);
}

// Moving a collection does not move the memory of its vectors.
void sets::look_again() noexcept {
    if (all_.empty()) return;
    const one& in = all_[0];
    for (unsigned more = 0; more < 2; ++more) {
        const unsigned level = in.level + more;
        first_.kinds[more] = {bits::low_mask(level), level, codes_[level]};
    }
    first_.split = in.split;
    first_.addresses = {in.addresses.pieces()};
    if (const segmented_array<std::uint64_t>& words = words_.words(); words.room() > 0) first_.words = {words.pieces()};
}

// ---- changes

arena::address sets::allocate(std::uint64_t words, unsigned set, std::uint64_t b) noexcept {
    if (words > arena::most_words) return 0;
    return words_.allocate(words, owner_of(set, b), [this](std::uint64_t owner, arena::address to) {
        all_[owner % (most_sets + 2)].addresses[owner / (most_sets + 2)] = to;
    });
}

insert_outcome sets::insert(unsigned set, std::uint64_t x, unsigned symbol) noexcept {
    const insert_outcome done = put(set, x, symbol);
    look_again();
    return done;
}

insert_outcome sets::put(unsigned set, std::uint64_t x, unsigned symbol) noexcept {
    while (all_.size() <= set)
        if (!add_set()) return insert_outcome::full;
    one& in = all_[set];
    located here = locate(in, x);
    if (here.where.is_there) return insert_outcome::already_present;
    const std::uint64_t number = number_of(here.level, x, symbol);
    if (here.at == 0) {
        const auto made = write_block({&number, 1}, here.level, set, here.b);
        if (!made) return insert_outcome::full;
        in.addresses[here.b] = *made;
    } else {
        const unsigned before = view(here.at, here.level).count();
        const std::uint64_t words = bin::words_for(codes_[here.level], before + 1);
        if (before >= most_in_bin) return insert_outcome::full;
        if (words > words_.block(here.at).size()) {
            const arena::address larger = allocate(words, set, here.b);
            if (larger == 0) return insert_outcome::full;
            here.at = in.addresses[here.b];  // it may have moved
            view(larger, here.level).copy(view(here.at, here.level));
            words_.free(here.at);
            in.addresses[here.b] = here.at = larger;
        }
        view(here.at, here.level).insert(here.where, number_of(here.level, x, 0), number);
    }
    ++in.size;
    if (in.size > keys_a_bin * in.bins()) split_one(set);
    return insert_outcome::inserted;
}

void sets::change(unsigned set, std::uint64_t x, unsigned symbol) noexcept {
    const located here = locate(all_[set], x);
    assert(here.where.is_there);
    view(here.at, here.level).change(here.where.at, here.where.number, number_of(here.level, x, symbol));
}

void sets::erase(unsigned set, const located& here) noexcept {
    one& in = all_[set];
    assert(here.where.is_there);
    view(here.at, here.level).erase(here.where.at);
    --in.size;
    const unsigned left = view(here.at, here.level).count();
    if (left == 0) {
        words_.free(here.at);
        in.addresses[here.b] = 0;
    } else if (const std::uint64_t words = bin::words_for(codes_[here.level], left);
               words < words_.block(here.at).size()) {
        // Without memory the block keeps a word too many.
        if (const arena::address smaller = allocate(words, set, here.b); smaller != 0) {
            const arena::address old = in.addresses[here.b];
            view(smaller, here.level).copy(view(old, here.level));
            words_.free(old);
            in.addresses[here.b] = smaller;
        }
    }
    // Ten per cent below the size of a split: alternating inserts and erases do not split and merge
    // each time.
    if (in.bins() > 1 && in.size < (in.bins() - 1) * keys_a_bin / 10 * 9) merge_one(set);
    look_again();
}

// ---- bins

std::span<const std::uint64_t> sets::numbers_in(unsigned set, std::uint64_t b,
                                                std::span<std::uint64_t> out) const noexcept {
    const arena::address at = all_[set].addresses[b];
    if (at == 0) return {};
    const bin here = view(at, all_[set].level_of(b));
    here.read(out);
    return out.first(here.count());
}

std::optional<arena::address> sets::write_block(std::span<const std::uint64_t> numbers, unsigned level, unsigned set,
                                                std::uint64_t b) noexcept {
    if (numbers.empty()) return arena::address{0};
    if (numbers.size() > most_in_bin) return std::nullopt;
    const arena::address at = allocate(bin::words_for(codes_[level], numbers.size()), set, b);
    if (at == 0) return std::nullopt;
    view(at, level).write(numbers);
    return at;
}

// An allocation may move other blocks and updates their owners. So a new block either gets an owner
// that has no other block, or is the last allocation. A split or a merge that fails for lack of
// memory is retried later; meanwhile bins are only larger or smaller.

void sets::split_one(unsigned set) noexcept {
    one& in = all_[set];
    const std::uint64_t low = in.split, high = in.bins();
    if (in.level + 1 >= most_level || !in.addresses.make_room(high + 1)) return;
    std::array<std::uint64_t, most_in_bin> numbers, halves[2];
    std::size_t sizes[2] = {0, 0};
    for (const std::uint64_t number : numbers_in(set, low, numbers)) {
        const auto [quotient, symbol] = parts_of(number);
        const std::uint64_t half = quotient & 1;
        halves[half][sizes[half]++] = shape_.symbols * (quotient >> 1) + symbol;
    }
    in.addresses[high] = 0;
    const auto upper = write_block(std::span{halves[1]}.first(sizes[1]), in.level + 1, set, high);
    if (!upper) return;
    in.addresses[high] = *upper;
    const auto lower = write_block(std::span{halves[0]}.first(sizes[0]), in.level + 1, set, low);
    if (!lower) {
        put_in_place(in, high, 0);
        return;
    }
    put_in_place(in, low, *lower);
    if (++in.split == std::uint64_t{1} << in.level) {
        ++in.level;
        in.split = 0;
    }
}

void sets::merge_one(unsigned set) noexcept {
    one& in = all_[set];
    const unsigned level = in.split == 0 ? in.level - 1 : in.level;
    const std::uint64_t high = in.bins() - 1, low = high - (std::uint64_t{1} << level);
    std::array<std::uint64_t, most_in_bin> lower, upper;
    const auto evens = numbers_in(set, low, lower), odds = numbers_in(set, high, upper);
    if (evens.size() + odds.size() > most_in_bin) return;
    std::array<std::uint64_t, most_in_bin> numbers;
    std::size_t size = 0;
    const auto coarser = [&](std::uint64_t number, std::uint64_t half) {
        const auto [quotient, symbol] = parts_of(number);
        return shape_.symbols * (quotient << 1 | half) + symbol;
    };
    for (auto even = evens.begin(), odd = odds.begin(); even != evens.end() || odd != odds.end();) {
        const bool from_even = odd == odds.end() || (even != evens.end() && coarser(*even, 0) < coarser(*odd, 1));
        numbers[size++] = from_even ? coarser(*even++, 0) : coarser(*odd++, 1);
    }
    const auto merged = write_block(std::span{numbers}.first(size), level, set, low);
    if (!merged) return;
    put_in_place(in, low, *merged);
    put_in_place(in, high, 0);
    in.split = low;
    in.level = level;
    in.addresses.give_back(in.bins());
}

void sets::put_in_place(one& in, std::uint64_t b, arena::address at) noexcept {
    if (in.addresses[b] != 0) words_.free(in.addresses[b]);
    in.addresses[b] = at;
}

bool sets::is_sound() const noexcept {
    std::uint64_t live = 0, blocks = 0;
    if (!words_.is_sound(live)) return false;
    for (unsigned set = 0; set < count(); ++set) {
        const one& in = all_[set];
        std::uint64_t size = 0;
        bool good = true;
        for (std::uint64_t b = 0; b < in.bins(); ++b) {
            if (in.addresses[b] == 0) continue;
            ++blocks;
            size += view(in.addresses[b], in.level_of(b)).count();
        }
        each(set, [&](std::uint64_t x, unsigned) { good = good && x < shape_.universe; });
        if (!good || size != in.size) return false;
    }
    return blocks == live;
}

// ---- A collection as words, and back, for snapshots
std::uint64_t sets::words() const noexcept {
    std::uint64_t sum = 0;
    for (const one& in : all_)
        for (std::uint64_t b = 0; b < in.bins(); ++b)
            sum += in.addresses[b] == 0
                       ? 1
                       : bin::words_for(codes_[in.level_of(b)], view(in.addresses[b], in.level_of(b)).count());
    return sum;
}

// Writes a block as its bin would be written today, without owner; an empty bin is one word of
// zero.
void sets::write_words(std::vector<std::uint64_t>& out) const {
    out.clear();
    out.reserve(words());
    for (const one& in : all_) {
        for (std::uint64_t b = 0; b < in.bins(); ++b) {
            if (in.addresses[b] == 0) {
                out.push_back(0);
                continue;
            }
            const unsigned level = in.level_of(b);
            const bin here = view(in.addresses[b], level);
            const std::size_t first = out.size(), size = bin::words_for(codes_[level], here.count());
            out.resize(first + size);
            bin{std::span{out}.subspan(first), codes_[level]}.copy(here);
        }
    }
}

result<sets> sets::read_words(const sets_shape& shape, std::span<const extent> extents,
                              std::span<const std::byte> bytes) noexcept {
    const auto bad = [](const char* what, std::uint64_t where) {
        return error::make(error_code::corrupt, "succinct sets: %s (%llu)", what,
                           static_cast<unsigned long long>(where));
    };
    auto made = make(shape);
    if (!made) return made;
    if (bytes.size() % sizeof(std::uint64_t) != 0) return bad("half a word", bytes.size());
    std::uint64_t left = bytes.size() / sizeof(std::uint64_t);
    const std::byte* next = bytes.data();
    std::array<std::uint64_t, arena::most_words> block;
    for (unsigned set = 0; set < extents.size(); ++set) {
        const extent& said = extents[set];
        // Every bin has at least a word: hostile numbers of bins allocate nothing.
        if (said.bins == 0 || said.bins > left || said.bins >= std::uint64_t{1} << most_level)
            return bad("a number of bins that there is not", said.bins);
        if (!made->add_set() || !made->all_[set].addresses.make_room(said.bins))
            return error::make(error_code::out_of_memory, "succinct sets: no memory for %llu bins",
                               static_cast<unsigned long long>(said.bins));
        one& in = made->all_[set];
        in.level = static_cast<unsigned>(std::bit_width(said.bins)) - 1;
        in.split = said.bins - (std::uint64_t{1} << in.level);
        for (std::uint64_t b = 0; b < said.bins; ++b) {
            if (left == 0) return bad("fewer words than bins", set);
            const std::uint64_t first = load_little_endian<std::uint64_t>(next);
            const unsigned level = in.level_of(b);
            const auto count = static_cast<unsigned>(first >> bin::count_place & bits::low_mask(bin::count_bits));
            const std::uint64_t words = count == 0 ? 1 : bin::words_for(made->codes_[level], count);
            if (words > left || words > block.size() || (first & bits::low_mask(bin::count_place)) != 0 ||
                (count == 0 && first != 0))
                return bad("a block that is none", b);
            for (std::uint64_t i = 0; i < words; ++i)
                block[i] = load_little_endian<std::uint64_t>(next + i * sizeof(std::uint64_t));
            next += words * sizeof(std::uint64_t);
            left -= words;
            if (count == 0) continue;
            const bin there{std::span{block}.first(words), made->codes_[level]};
            if (!there.is_sound(made->limit_at(level))) return bad("a bin that is none", b);
            const arena::address at = made->allocate(words, set, b);
            if (at == 0) return error::make(error_code::out_of_memory, "succinct sets: no memory for their blocks");
            made->view(at, level).copy(there);
            in.addresses[b] = at;
            in.size += count;
        }
        if (in.size != said.size) return bad("another number of elements", in.size);
    }
    made->look_again();
    if (left != 0) return bad("words behind the last bin", left);
    if (!made->is_sound()) return bad("elements that there are not", 0);
    return made;
}

}  // namespace genista::succinct
