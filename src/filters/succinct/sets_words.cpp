// A collection as words, and back, for snapshots. See sets.hpp.
#include <array>
#include <bit>

#include "filters/succinct/sets.hpp"
#include "genista/detail/format/fields.hpp"

namespace genista::succinct {

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
