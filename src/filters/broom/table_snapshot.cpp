// A table as bytes and back; loading accepts no table that breaks the law. docs/format.md draws the
// sections.
#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "filters/broom/epoch.hpp"
#include "filters/broom/side_block.hpp"
#include "filters/broom/table.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {
namespace {

void put_word(std::vector<std::byte>& to, std::uint64_t word) {
    for (unsigned i = 0; i < 8; ++i) to.push_back(static_cast<std::byte>(word >> (8 * i)));
}

std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t at) noexcept {
    std::uint64_t word = 0;
    for (unsigned i = 0; i < 8; ++i) word |= std::to_integer<std::uint64_t>(bytes[at + i]) << (8 * i);
    return word;
}

error broken(const char* what) noexcept {
    return error::make(error_code::corrupt, "broom snapshot: %s", what);
}

result<salt_book::image> read_book(std::span<const std::byte> bytes) {
    constexpr std::size_t head = 8 * (salt_codes + 1);
    if (bytes.size() < head || (bytes.size() - head) % 16 != 0) return broken("the salts are cut short");
    salt_book::image book;
    for (unsigned code = 0; code < salt_codes; ++code) book.numbers[code] = word_at(bytes, 8 * code);
    book.next_number = word_at(bytes, 8 * salt_codes);
    for (std::size_t at = head; at < bytes.size(); at += 16) {
        book.generations.push_back({word_at(bytes, at), word_at(bytes, at + 8)});
    }
    return book;
}

}  // namespace

void table::write_book(const salt_book::image& book, std::vector<std::byte>& to) {
    for (const std::uint64_t number : book.numbers) put_word(to, number);
    put_word(to, book.next_number);
    for (const auto& g : book.generations) {
        put_word(to, g.first_number);
        put_word(to, g.secret);
    }
}

void table::save_cluster(std::uint64_t first, std::vector<std::byte>& to) const {
    const lock held{*this, first};
    const std::uint64_t end = std::min(first + bins_per_cluster, bins_);
    const side_memory::handle block = load_side(first);
    const std::uint64_t granules = block == 0 ? 0 : side_block{memory_.words(block), shape_}.granules(shape_);
    put_word(to, granules);
    for (std::uint64_t bin = first; bin < end; ++bin) {
        for (const std::uint64_t word : load_line(bin).words) put_word(to, word);
    }
    if (shape_.tail_bits != 0) {
        const std::byte* const from = tails_.data() + first * shape_.tail_bytes_per_bin();
        to.insert(to.end(), from, from + (end - first) * shape_.tail_bytes_per_bin());
    }
    for (std::uint64_t i = 0; i < granules; ++i) put_word(to, load_word(memory_.words(block) + i));
}

result<void> table::load_cluster(std::uint64_t first, std::span<const std::byte>& clusters) {
    const std::uint64_t most =
        side_block::granules(most_backyard, most_side_extensions, bins_per_cluster, bins_per_cluster, shape_);
    const std::uint64_t bins = std::min<std::uint64_t>(bins_per_cluster, bins_ - first);
    const std::uint64_t tail_bytes = bins * shape_.tail_bytes_per_bin();
    if (clusters.size() < 8 + bins * sizeof(line) + tail_bytes) return broken("the clusters are cut short");
    const std::uint64_t granules = word_at(clusters, 0);
    clusters = clusters.subspan(8);
    for (std::uint64_t bin = first; bin < first + bins; ++bin) {
        for (std::size_t i = 0; i < line_layout::words; ++i) line_words(bin)[i] = word_at(clusters, 8 * i);
        clusters = clusters.subspan(sizeof(line));
    }
    if (tail_bytes != 0) std::memcpy(tails_.data() + first * shape_.tail_bytes_per_bin(), clusters.data(), tail_bytes);
    clusters = clusters.subspan(tail_bytes);
    if (granules == 0) return {};
    if (granules > most || granules > clusters.size() / 8) return broken("a side block is longer than it can be");
    bool refused = false;
    const side_memory::handle block = memory_.take(granules, budget_class::upkeep, refused);
    if (block == 0) throw std::bad_alloc{};
    for (std::uint64_t i = 0; i < granules; ++i) store_word(memory_.words(block) + i, word_at(clusters, 8 * i));
    clusters = clusters.subspan(8 * granules);
    const side_block side{memory_.words(block), shape_};
    if (side.granules(shape_) != granules || !side.is_valid()) return broken("a side block does not add up");
    learnt_bits_.fetch_add(side.learnt_bits(), std::memory_order_relaxed);
    if (!faults.load_forgets_backyard) store_side(first, block, side.has_slot_data());
    return {};
}

result<std::unique_ptr<table>> table::load(shape s, const part& of, const hash_key& key, std::uint64_t secret,
                                           std::span<const std::byte>& clusters, std::span<const std::byte> salts) {
    const std::uint64_t first = of.first / bins_per_cluster * bins_per_cluster;
    const std::uint64_t end = std::min((of.end + bins_per_cluster - 1) / bins_per_cluster * bins_per_cluster, of.bins);
    // Before anything is allocated: the bytes of all these bins are there. The caller has checked
    // that the bins before `first` and after `end` are not many more than those of the other part.
    if (of.first > of.end || of.end > of.bins ||
        (end - first) > clusters.size() / (sizeof(line) + s.tail_bytes_per_bin()))
        return broken("the clusters are cut short");
    auto made = make_unprepared(s, of.bins, key, secret, of.unsalted_first);
    if (!made) return made.error();
    table& t = **made;
    t.prepare(end);
    std::array<std::uint32_t, salt_codes + 1> users{};
    users[0] =
        static_cast<std::uint32_t>(of.bins - (end - first));  // bins that have moved or are not there yet: empty lines
    for (std::uint64_t cluster = end; cluster > first;) {
        cluster = (cluster - 1) / bins_per_cluster * bins_per_cluster;
        if (const auto loaded = t.load_cluster(cluster, clusters); !loaded) return loaded.error();
        for (std::uint64_t bin = cluster; bin < std::min(cluster + bins_per_cluster, end); ++bin)
            ++users[t.load_line(bin).salt()];
    }
    const auto book = read_book(salts);
    if (!book) return book.error();
    if (const auto restored = t.book_->restore(*book, std::span{users}.first(salt_codes), secret); !restored)
        return restored.error();
    bin_image image;
    for (std::uint64_t bin = first; bin < end; ++bin) {
        t.read(bin, image);
        if (image.slots.salt() == long_salt && image.now.number >= book->next_number)
            return broken("a long salt from the future");
        if (const char* const rule = epoch{t, image}.broken_rule(); rule != nullptr && !faults.load_forgets_backyard)
            return broken(rule);
    }
    if (!faults.load_keeps_empty_epochs) t.renew_empty_bins(first, end);
    return made;
}

// A bin that is empty in a snapshot may have been filled afterwards, and which keys it let through
// is then known: it must not be filled under that salt again [law L1].
void table::renew_empty_bins(std::uint64_t first, std::uint64_t end) {
    bin_image image;
    const auto put_back = [&] {
        const side_change change = prepare_sides(image.bin, image.sides, budget_class::upkeep);
        exchange_sides(image.bin, change, image.sides);
        store_bin(image.bin, image.slots, image.tails);
    };
    // After some hundred lives no code may be free. Then bins whose codes few others have get long
    // salts first, which frees those codes; otherwise all empty bins would get long salts.
    if (book_->is_used_up()) {
        book_->choose_leaving();
        for (std::uint64_t bin = first; bin < end; ++bin) {
            const std::uint8_t code = load_line(bin).salt();
            if (code == long_salt || !book_->is_leaving(code)) continue;
            read(bin, image);
            image.set_salt(book_->of_number(image.now.number));
            put_back();
        }
    }
    for (std::uint64_t bin = first; bin < end; ++bin) {
        if (load_line(bin).used() != 0) continue;
        read(bin, image);
        if (!image.sides.backyard_of(image.bin_in_cluster()).empty()) continue;
        image.sides.forget(image.bin_in_cluster());
        image.set_salt(book_->next(image.now.number, 0));
        put_back();
    }
}

std::uint64_t table::keys(std::uint64_t first, std::uint64_t end) const {
    std::uint64_t all = 0;
    bin_image image;
    for (std::uint64_t bin = first; bin < end; ++bin) {
        read(bin, image);
        all += image.keys();
    }
    return all;
}

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
