// Saving and loading a broom filter, in the middle of a growth or not. docs/format.md draws the
// bytes.
#include <algorithm>
#include <new>
#include <optional>

#include "filters/broom/core.hpp"
#include "filters/broom/shape.hpp"
#include "filters/snapshot_fields.hpp"
#include "format/snapshot_stream.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {
namespace {

constexpr std::uint16_t kind_version = 4;
constexpr std::size_t section_count = 2;  // clusters, tables

// Growth waits while a piece is copied; nothing waits while it is written.
constexpr std::size_t piece_bytes = std::size_t{64} << 10;

}  // namespace

// Saves beside writers and growth, piece by piece. The save walks from the last bin to the first, a
// sweep from the first to the last, so they meet once: the bins that have not moved when the save
// reaches them are saved from the old table. From the first moved bin on, all others have moved for
// good, and are saved from the new table. The result is a table, or two with a front between them,
// as if the sweep had stopped there. No bin is missed on its way from one table to the other.
//
//     old    0 ........ front [ saved first ] bins      new  [ saved afterwards ] front · 2^doublings
//
// A second sweep that overtakes the save removes bins that it needs: then the save fails. A growth
// that can wait does not begin while that would happen. Each cluster is copied under its lock; no
// lock is held while bytes are written.
class core::save_pass {
  public:
    explicit save_pass(const core& of) noexcept : core_{of} {
        const std::lock_guard no_growth{core_.growing_};
        old_ = core_.layout_.load(std::memory_order_relaxed)->now;
        old_rest_ = old_->bins();
        old_codes_.emplace(old_->book());
        following_ = core_.saving_;
        core_.saving_ = this;
    }
    save_pass(const save_pass&) = delete;
    save_pass& operator=(const save_pass&) = delete;
    ~save_pass() {
        const std::lock_guard no_growth{core_.growing_};
        save_pass** at = &core_.saving_;
        while (*at != this) at = &(*at)->following_;
        *at = following_;
    }

    // Appends the next piece to `to`; false: no piece is left. May throw std::bad_alloc.
    [[nodiscard]] result<bool> copy(std::vector<std::byte>& to) {
        const std::lock_guard no_growth{core_.growing_};
        while (to.size() < piece_bytes) {
            if (new_ == nullptr && old_rest_ != 0 && old_->moved() >= old_rest_) follow();
            if (new_ == nullptr) {
                if (old_rest_ == 0) return false;
                const std::uint64_t first = (old_rest_ - 1) / bins_per_cluster * bins_per_cluster;
                old_->save_cluster(first, to);
                old_rest_ = std::max(first, old_->moved());
            } else {
                if (new_rest_ == 0) return false;
                const std::uint64_t first = (new_rest_ - 1) / bins_per_cluster * bins_per_cluster;
                if (new_->moved() > first) {
                    return error::make(error_code::unsupported,
                                       "broom: the filter grew twice while it was saved; save it again");
                }
                new_->save_cluster(first, to);
                new_rest_ = first;
            }
        }
        return true;
    }

    // Describes the tables of these bins. After the last piece.
    void write_tables(std::vector<std::byte>& to) const {
        const bool has_old = new_ == nullptr || old_rest_ != old_->bins();
        const bool has_new = new_ != nullptr;
        const table& first = has_old ? *old_ : *new_;
        std::vector<std::byte> book;
        table::write_book(first.book().save(), book);
        const bool both = has_old && has_new;
        const auto put = [&](std::uint64_t word) {
            for (unsigned i = 0; i < 8; ++i) to.push_back(static_cast<std::byte>(word >> (8 * i)));
        };
        put(first.bins());
        put(both ? old_rest_ : 0);
        put(both ? doublings_ : 0);
        put(first.book().unsalted_first() ? 1 : 0);
        put(book.size());
        to.insert(to.end(), book.begin(), book.end());
        if (both) table::write_book(new_->book().save(), to);
    }

    // A sweep of another table would remove bins that this save still needs.
    [[nodiscard]] bool fears_growth_of(const table& now) const noexcept { return &now != old_; }
    [[nodiscard]] const save_pass* following() const noexcept { return following_; }

  private:
    // All remaining bins have moved: continue in the new table.
    void follow() {
        for (const auto& each : core_.layouts_) {
            if (each->now != old_ || each->next == nullptr) continue;
            new_codes_.emplace(each->next->book());
            new_ = each->next;
            doublings_ = each->doublings;
            new_rest_ = old_rest_ << doublings_;
        }
    }

    const core& core_;
    const table* old_ = nullptr;
    const table* new_ = nullptr;  // null until it is needed
    std::uint64_t old_rest_ = 0;  // bins below it are not saved from the old table
    std::uint64_t new_rest_ = 0;  // bins below it are to be saved from the new one
    unsigned doublings_ = 0;
    std::optional<salt_book::freezer> old_codes_, new_codes_;
    save_pass* following_ = nullptr;
};

bool core::would_end_a_save() const noexcept {
    const table& now = *layout_.load(std::memory_order_relaxed)->now;
    for (const save_pass* each = saving_; each != nullptr; each = each->following()) {
        if (each->fears_growth_of(now)) return true;
    }
    return false;
}

result<void> core::save(sink& out, const store_mark& store) const noexcept try {
    auto info = describe(snapshot_kind::broom, kind_version, hash_);
    if (!info) return info.error();
    info->store = store;
    filter_stats common;
    common.capacity = options_.capacity;
    common.false_positive_rate = options_.false_positive_rate;
    common.keys = keys();
    field_writer fields;
    write_common(fields, common, hash_);
    fields.u32(static_cast<std::uint32_t>(options_.history)).u32(options_.grows ? 1 : 0).u32(shape_.tail_bits);
    genista::detail::snapshot_stream file{out, *info, section_count};
    save_pass pass{*this};
    if (const auto written = file.begin(fields.view()); !written) return written;
    std::vector<std::byte> piece;
    piece.reserve(piece_bytes + table::most_cluster_bytes);
    while (true) {
        piece.clear();
        const auto more = pass.copy(piece);
        if (!more) return more.error();
        if (const auto written = file.add(piece); !written) return written;
        if (!*more) break;
    }
    if (const auto ended = file.end_section(); !ended) return ended;
    piece.clear();
    pass.write_tables(piece);
    if (const auto written = file.add(piece); !written) return written;
    if (const auto ended = file.end_section(); !ended) return ended;
    return file.finish();
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "broom: no memory to save the filter");
}

result<std::unique_ptr<core>> core::load(std::span<const std::byte> bytes) noexcept try {
    // Version 3 had its bins in other places; versions 1 and 2 derived the fingerprints from other
    // keys.
    if (const auto any = open_snapshot(bytes);
        any && any->info.kind == snapshot_kind::broom && any->info.kind_version < kind_version)
        return error::make(
            error_code::unsupported,
            "broom snapshot of kind version %u; this library reads version %u: build the filter from its store",
            unsigned{any->info.kind_version}, unsigned{kind_version});
    auto opened = open_filter(snapshot_kind::broom, kind_version, section_count, bytes, broom_filter::name,
                              broom_filter::min_false_positive_rate);
    if (!opened) return opened.error();
    auto& [view, fields, common] = *opened;
    const std::uint32_t history = fields.u32();
    const std::uint32_t grows = fields.u32();
    const shape form{fields.u32()};
    const auto broken = [](const char* what) { return error::make(error_code::corrupt, "broom snapshot: %s", what); };
    if (!fields.finished() || history > 2 || grows > 1 || form.tail_bits > most_tail_bits)
        return broken("a parameter is out of range");
    if (form.tail_bits != shape::for_rate(common.options.false_positive_rate).tail_bits)
        return broken("the layout does not keep the rate");
    constexpr std::size_t head_bytes = 5 * 8;
    const std::span<const std::byte> tables = view.sections[1];
    if (tables.size() < head_bytes) return broken("the tables are cut short");
    const auto word = [&](std::size_t i) { return load_little_endian<std::uint64_t>(tables.data() + 8 * i); };
    const std::uint64_t bins = word(0);
    const std::uint64_t front = word(1);
    const std::uint64_t doublings = word(2);  // 0: one table
    const std::uint64_t unsalted = word(3);
    const std::uint64_t book_bytes = word(4);
    if (doublings > 30 || unsalted > (form.tail_bits <= most_tail_bits_unsalted ? 1u : 0u) ||
        book_bytes > tables.size() - head_bytes)
        return broken("a parameter is out of range");
    // With two tables at least one bin has moved, and the bins that it became are in the file: so
    // the file size bounds both.
    if (bins == 0 || bins > max_capacity >> doublings || front > bins || (front == 0) != (doublings == 0) ||
        front > view.sections[0].size() / sizeof(line) >> doublings)
        return broken("bins out of range");
    broom_options options;
    options.capacity = common.options.capacity;
    options.false_positive_rate = common.options.false_positive_rate;
    options.history = static_cast<broom_history>(history);
    options.grows = grows != 0;
    const hasher hash = *common.options.hash;
    std::span<const std::byte> clusters = view.sections[0];
    const auto secret = fresh_secret(options, 0);
    if (!secret) return secret.error();
    const table::part old{.bins = bins, .first = front, .end = bins, .unsalted_first = unsalted != 0};
    auto now = table::load(form, old, hash.key(), *secret, clusters, tables.subspan(head_bytes, book_bytes));
    if (!now) return now.error();
    std::unique_ptr<table> next;
    std::uint64_t keys = (*now)->keys(front, bins);
    const std::span<const std::byte> other_book = tables.subspan(head_bytes + book_bytes);
    if (doublings > 0) {
        const auto another = fresh_secret(options, 1);
        if (!another) return another.error();
        const table::part made{
            .bins = bins << doublings, .first = 0, .end = front << doublings, .unsalted_first = false};
        auto second = table::load(form, made, hash.key(), *another, clusters, other_book);
        if (!second) return second.error();
        next = *std::move(second);
        keys += next->keys(0, front << doublings);
    } else if (!other_book.empty()) {
        return broken("a second table without need");
    }
    if (!clusters.empty()) return broken("bytes after the last cluster");
    auto made = adopt(options, hash, *std::move(now), std::move(next), static_cast<unsigned>(doublings), front);
    if (!made) return made.error();
    // Writers may have worked during the save: the count comes from the bins.
    (*made)->writers_.keys.store(keys, std::memory_order_relaxed);
    return made;
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "broom: no memory to load the filter");
}

}  // namespace broom

result<broom_filter> broom_filter::load(std::span<const std::byte> bytes) noexcept {
    auto loaded = broom::core::load(bytes);
    if (!loaded) return loaded.error();
    return broom_filter{*std::move(loaded)};
}

}  // namespace GENISTA_BROOM_NAMESPACE
