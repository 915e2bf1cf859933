// Parts of a list of exceptions. See absent_list.hpp.
#include "genista/detail/filters/daisy_broom/absent_list.hpp"

#include <algorithm>
#include <memory>

namespace genista {

// The sizes follow from the bytes, so a snapshot need not store them.
absent_list::absent_list(std::uint64_t bytes) noexcept
    : buckets_{std::min(bytes / absent_cells::bucket_bytes, absent_cells::most_buckets)} {
    std::uint64_t left = buckets_;
    for (std::uint64_t size = least_buckets; left != 0; size *= 2) {
        const std::uint64_t take = left < size + least_buckets ? left : size;
        std::destroy_at(&parts_[count_]);
        std::construct_at(&parts_[count_], take * absent_cells::bucket_bytes);
        ++count_;
        left -= take;
    }
}

result<absent_list::ticket> absent_list::draw(std::uint64_t position) noexcept {
    ticket made;
    while (made.part_ + 1 < count_ && parts_[made.part_].is_full()) ++made.part_;
    auto drawn = parts_[made.part_].draw(position);
    if (!drawn) return drawn.error();
    made.drawn_ = *drawn;
    return made;
}

void absent_list::admit(std::uint64_t position) noexcept {
    for (unsigned i = 0; i < count_; ++i) parts_[i].admit(position);
}
void absent_list::admit_all() noexcept {
    for (unsigned i = 0; i < count_; ++i) parts_[i].admit_all();
}
void absent_list::release() noexcept {
    for (unsigned i = 0; i < count_; ++i) parts_[i].release();
}

bool absent_list::is_full() const noexcept {
    return std::all_of(parts_.begin(), parts_.begin() + count_,
                       [](const absent_cells& each) { return each.is_full(); });
}
std::uint64_t absent_list::size() const noexcept {
    return sum([](const absent_cells& each) { return each.size(); });
}
std::uint64_t absent_list::forgotten() const noexcept {
    return sum([](const absent_cells& each) { return each.forgotten(); });
}
std::uint64_t absent_list::allocated_bytes() const noexcept {
    return sum([](const absent_cells& each) { return each.allocated_bytes(); });
}
std::uint64_t absent_list::saved_words() const noexcept {
    std::uint64_t words = 0;
    for (unsigned i = 0; i < count_ && parts_[i].saved_words() != 0; ++i) words += parts_[i].saved_words();
    return words;
}

// Other threads may work meanwhile: a part that was made after `into` was sized is not saved.
void absent_list::save(std::span<std::uint32_t> into) const noexcept {
    for (unsigned i = 0; i < count_ && !into.empty(); ++i) {
        const std::uint64_t words =
            std::min<std::uint64_t>(absent_cells::words_of_a_bucket * parts_[i].buckets(), into.size());
        parts_[i].save(into.first(words));
        into = into.subspan(words);
    }
}

result<void> absent_list::restore(std::span<const std::uint32_t> from) noexcept {
    for (unsigned i = 0; i < count_ && !from.empty(); ++i) {
        const std::uint64_t words = absent_cells::words_of_a_bucket * parts_[i].buckets();
        if (words > from.size()) break;
        if (const auto restored = parts_[i].restore(from.first(words)); !restored) return restored.error();
        from = from.subspan(words);
    }
    if (!from.empty())
        return error::make(error_code::corrupt, "daisy_broom snapshot: exceptions that are no whole parts of a list");
    return {};
}

}  // namespace genista
