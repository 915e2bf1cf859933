// A table as bytes, and back. docs/format.md draws the sections.
#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "filters/broom/epoch.hpp"
#include "filters/broom/side_block.hpp"
#include "filters/broom/table.hpp"

namespace genista {
inline namespace GENISTA_BROOM_VARIANT {
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

std::vector<std::byte> write_book(const salt_book::image& book) {
    std::vector<std::byte> bytes;
    for (const std::uint64_t number : book.numbers) put_word(bytes, number);
    put_word(bytes, book.next_number);
    for (const auto& g : book.generations) {
        put_word(bytes, g.first_number);
        put_word(bytes, g.secret);
    }
    return bytes;
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

// Bins that have moved, or that a sweep has not come near, are written as empty ones, which load() can tell from damage.
table::saved table::save() const {
    saved all;
    const salt_book::freezer codes_stay{*book_};
    all.lines.reserve(bins_ * sizeof(line));
    all.tails.resize(tails_.size_bytes());
    const std::uint64_t begin = first_bin();
    const std::uint64_t prepared = prepared_.load(std::memory_order_acquire);
    for (std::uint64_t first = 0; first < bins_; first += bins_per_group) {
        const lock held{*this, first};
        const std::uint64_t end = std::min(first + bins_per_group, bins_);
        if (first < begin || first >= prepared) {
            for (std::uint64_t bin = first; bin < end; ++bin) {
                for (const std::uint64_t word : line::empty().words) put_word(all.lines, word);
            }
            put_word(all.sides, 0);
            continue;
        }
        for (std::uint64_t bin = first; bin < end; ++bin) {
            for (const std::uint64_t word : load_line(bin).words) put_word(all.lines, word);
        }
        if (shape_.tail_bits != 0) {
            const std::uint64_t from = first * shape_.tail_bytes_per_bin();
            std::memcpy(all.tails.data() + from, tails_.data() + from, (end - first) * shape_.tail_bytes_per_bin());
        }
        const side_memory::handle block = load_side(first);
        const std::uint64_t granules = block == 0 ? 0 : side_block{memory_.words(block), shape_}.granules(shape_);
        put_word(all.sides, granules);
        for (std::uint64_t i = 0; i < granules; ++i) put_word(all.sides, load_word(memory_.words(block) + i));
    }
    all.salts = write_book(book_->save());
    return all;
}

result<void> table::load_sides(std::span<const std::byte> bytes) {
    const std::uint64_t most = side_block::granules(most_backyard, most_notes, bins_per_group, bins_per_group, shape_);
    std::size_t at = 0;
    for (std::uint64_t group = 0; group < groups(); ++group) {
        if (bytes.size() - at < 8) return broken("the side blocks are cut short");
        const std::uint64_t granules = word_at(bytes, at);
        at += 8;
        if (granules == 0) continue;
        if (granules > most || granules > (bytes.size() - at) / 8)
            return broken("a side block is longer than it can be");
        bool refused = false;
        const side_memory::handle block = memory_.take(granules, purse::upkeep, refused);
        if (block == 0) throw std::bad_alloc{};
        for (std::uint64_t i = 0; i < granules; ++i) store_word(memory_.words(block) + i, word_at(bytes, at + 8 * i));
        at += 8 * granules;
        const side_block side{memory_.words(block), shape_};
        if (side.granules(shape_) != granules || !side.is_valid()) return broken("a side block does not add up");
        learnt_bits_.fetch_add(side.learnt_bits(), std::memory_order_relaxed);
        if (!faults.load_forgets_backyard) store_side(group * bins_per_group, block, side.speaks_of_slots());
    }
    return at == bytes.size() ? result<void>{} : broken("bytes after the last side block");
}

result<std::unique_ptr<table>> table::load(shape s, std::uint64_t bins, const hash_key& key, std::uint64_t secret,
                                           bool unsalted_first, std::span<const std::span<const std::byte>, 4> parts) {
    const auto [lines, tails, sides, salts] = std::array{parts[0], parts[1], parts[2], parts[3]};
    if (bins == 0 || lines.size() / sizeof(line) != bins || lines.size() % sizeof(line) != 0)
        return broken("lines and bins do not agree");
    auto made = make(s, bins, key, secret, unsalted_first);
    if (!made) return made.error();
    table& t = **made;
    if (tails.size() != t.tails_.size_bytes()) return broken("tails and bins do not agree");
    std::array<std::uint32_t, salt_codes + 1> users{};
    for (std::uint64_t bin = 0; bin < bins; ++bin) {
        for (std::size_t i = 0; i < 8; ++i) t.line_words(bin)[i] = word_at(lines, bin * sizeof(line) + 8 * i);
        ++users[t.load_line(bin).salt()];
    }
    if (!tails.empty()) std::memcpy(t.tails_.data(), tails.data(), tails.size());
    if (const auto loaded = t.load_sides(sides); !loaded) return loaded.error();
    const auto book = read_book(salts);
    if (!book) return book.error();
    if (const auto restored = t.book_->restore(*book, std::span{users}.first(salt_codes), secret); !restored)
        return restored.error();
    bin_image image;
    for (std::uint64_t bin = 0; bin < bins; ++bin) {
        t.read(bin, image);
        if (image.slots.salt() == long_salt && image.now.number >= book->next_number)
            return broken("a long salt from the future");
        if (const char* const rule = epoch{t, image}.broken_rule(); rule != nullptr && !faults.load_forgets_backyard)
            return broken(rule);
    }
    if (!faults.load_keeps_empty_epochs) t.renew_empty_bins();
    return made;
}

// A bin that is empty in a snapshot may have been filled afterwards, and what it let through then is known: it must not be filled
// under that salt again [law L1].
void table::renew_empty_bins() {
    bin_image image;
    const auto put_back = [&] {
        const side_change change = prepare_sides(image.bin, image.sides, purse::upkeep);
        exchange_sides(image.bin, change, image.sides);
        store_bin(image.bin, image.slots, image.tails);
    };
    // After some hundred lives no code may be free. Those that few bins have are, once these have long salts; otherwise all empty
    // bins would get long ones.
    if (book_->is_used_up()) {
        book_->choose_leaving();
        for (std::uint64_t bin = 0; bin < bins_; ++bin) {
            const std::uint8_t code = load_line(bin).salt();
            if (code == long_salt || !book_->is_leaving(code)) continue;
            read(bin, image);
            image.set_salt(book_->of_number(image.now.number));
            put_back();
        }
    }
    for (std::uint64_t bin = 0; bin < bins_; ++bin) {
        if (load_line(bin).used() != 0) continue;
        read(bin, image);
        if (!image.sides.backyard_of(image.bin_in_group()).empty()) continue;
        image.sides.forget(image.bin_in_group());
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
}  // namespace GENISTA_BROOM_VARIANT
}  // namespace genista
