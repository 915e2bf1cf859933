// Allocation, free lists and compaction. See arena.hpp.
#include "filters/succinct/arena.hpp"

#include <algorithm>
#include <limits>

namespace genista::succinct {
namespace {

using words_t = segmented_array<std::uint64_t>;

}  // namespace

std::uint64_t arena::skip_to_fit(std::uint64_t at, std::uint64_t words) noexcept {
    const std::uint64_t left = words_t::left_in_piece(at);
    if (left >= words) return at;
    pages::unpoison(&words_[at], sizeof(std::uint64_t));
    words_[at] = dead_header(left, 0);  // less than a block, so its size fits the field
    return at + left;
}

arena::address arena::begin_block(std::uint64_t at, std::uint64_t words, std::uint64_t owner) noexcept {
    pages::unpoison(&words_[at], words * sizeof(std::uint64_t));
    std::fill_n(&words_[at], words, std::uint64_t{0});
    words_[at] = words << words_place | owner << owner_place;
    return static_cast<address>(at);
}

arena::address arena::take(std::uint64_t words, std::uint64_t owner) noexcept {
    if (words < lists && dead_[words] != 0) {
        const address at = dead_[words];
        dead_[words] = static_cast<address>(words_[at] >> owner_place);
        garbage_ -= words;
        return begin_block(at, words, owner);
    }
    if (pushing_) {  // into the gap of the compaction, if it is wide enough
        const std::uint64_t left = words_t::left_in_piece(to_), at = left >= words ? to_ : to_ + left;
        if (at + words <= from_) {
            to_ = skip_to_fit(to_, words) + words;
            garbage_ -= words;
            return begin_block(at, words, owner);
        }
    }
    constexpr std::uint64_t most = std::numeric_limits<address>::max();
    const std::uint64_t left = words_t::left_in_piece(end_), end = (left >= words ? end_ : end_ + left) + words;
    if (end > most || !words_.make_room(end)) return 0;
    const std::uint64_t at = skip_to_fit(end_, words);
    garbage_ += at - end_;
    end_ = at + words;
    return begin_block(at, words, owner);
}

void arena::free(address block) noexcept {
    const std::uint64_t size = size_of(words_[block]);
    garbage_ += size;
    const bool listed = size < lists && (!pushing_ || block < to_);
    words_[block] = dead_header(size, listed ? dead_[size] : 0);
    if (listed) dead_[size] = block;
    poison(block + 1, size - 1);
    if (!pushing_) words_.give_back(end_);
}

void arena::begin_pushing() noexcept {
    pushing_ = true;
    to_ = from_ = 1;
    dead_.fill(0);
}

void arena::end_pushing() noexcept {
    pushing_ = false;
    garbage_ -= end_ - to_;
    end_ = to_;
}

void arena::move(std::uint64_t from, std::uint64_t to, std::uint64_t words) noexcept {
    if (from == to) return;
    std::uint64_t* target = &words_[to];
    const std::uint64_t* source = &words_[from];
    pages::unpoison(target, words * sizeof(std::uint64_t));
    std::copy_n(source, words, target);  // the target is below the source, and each block lies in one piece
    const std::uint64_t vacated = std::max(from, to + words);
    poison(vacated, from + words - vacated);
}

void arena::poison(std::uint64_t at, std::uint64_t words) noexcept {
    if (words > 0) pages::poison(&words_[at], words * sizeof(std::uint64_t));
}

bool arena::is_sound(std::uint64_t& live) const noexcept {
    live = 0;
    std::uint64_t dead_words = 1;
    for (std::uint64_t at = 1; at < end_;) {
        if (pushing_ && at == to_) {
            dead_words += from_ - to_;
            at = from_;
            if (at == end_) break;
        }
        const std::uint64_t header = words_[at], size = size_of(header);
        if (size == 0 || size > end_ - at || size > words_t::left_in_piece(at)) return false;
        if (is_dead(header)) {
            dead_words += size;
        } else {
            ++live;
        }
        at += size;
    }
    return dead_words == garbage_;
}

}  // namespace genista::succinct
