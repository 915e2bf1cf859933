// The local half of the adaptive Bloom filter: cells, dead cells and the look-up. See state.hpp.
#include "filters/adaptive_bloom/state.hpp"

#include <algorithm>
#include <utility>

namespace genista::adaptive_bloom {

state::state(const design& sizes, const generation& salts, buffer cells, std::vector<quotient_table> dead,
             quotient_table last) noexcept
    : sizes_{sizes}, salts_{salts}, cells_{std::move(cells)}, dead_{std::move(dead)}, last_{std::move(last)} {}

result<std::unique_ptr<state>> state::make(const design& sizes, const generation& salts) {
    auto cells = buffer::zeroed(sizes.all_cells() / 8);
    if (!cells) return cells.error();
    std::vector<quotient_table> dead;
    dead.reserve(sizes.count);
    for (const level_design& each : sizes.levels()) {
        auto made = quotient_table::make(each.dead);
        if (!made) return made.error();
        dead.push_back(*std::move(made));
    }
    auto last = quotient_table::make(sizes.last);
    if (!last) return last.error();
    return std::make_unique<state>(sizes, salts, *std::move(cells), std::move(dead), *std::move(last));
}

cell_list state::cells_of(unsigned level, const digest& d, const hash_functions& hash) const noexcept {
    const level_design& shape = sizes_.with_cells[level];
    cell_list made;
    for (unsigned pair = 0; made.count < shape.functions; ++pair) {
        for (const std::uint64_t word : hash(d, salts_.of_level[level][pair])) {
            if (made.count < shape.functions) made.at[made.count++] = scale(word, shape.cells);
        }
    }
    return made;
}

last_hash state::last_of(const digest& d, const hash_functions& hash) const noexcept {
    const auto words = hash(d, salts_.of_last);
    return {scale(words[0], sizes_.last.quotients), words[1] & bits::low_mask(sizes_.last.bits)};
}

// Most look-ups end at one of the first cells: so the loop takes two functions at a time, and
// checks dead cells only if all cells are set.
adaptive_bloom_path state::look(const digest& d, const hash_functions& hash) const noexcept {
    adaptive_bloom_path path;
    for (; path.level < sizes_.count; ++path.level) {
        const level_design& shape = sizes_.with_cells[path.level];
        cell_list cells;
        for (unsigned pair = 0; cells.count < shape.functions; ++pair) {
            for (const std::uint64_t word : hash(d, salts_.of_level[path.level][pair])) {
                if (cells.count == shape.functions) break;
                const std::uint64_t cell = scale(word, shape.cells);
                ++path.cells;
                if (!is_set(path.level, cell)) return path;
                cells.at[cells.count++] = cell;
            }
        }
        const quotient_table& list = dead_[path.level];
        bool some_dead = false;
        for (const std::uint64_t cell : cells) {
            const quotient_table::run run = list.run_of(cell / shape.range);
            for (std::uint64_t slot = run.first; slot < run.last && !some_dead; ++slot) {
                ++path.dead_entries;
                some_dead = list[slot] == cell % shape.range;
            }
            if (some_dead) break;
        }
        if (!some_dead) {
            path.maybe = true;
            return path;
        }
    }
    ++path.cells;
    path.maybe = slot_of(last_of(d, hash)).has_value();
    return path;
}

bool state::is_dead(unsigned level, std::uint64_t cell) const noexcept {
    const std::uint64_t range = sizes_.with_cells[level].range;
    const quotient_table& list = dead_[level];
    const quotient_table::run run = list.run_of(cell / range);
    for (std::uint64_t slot = run.first; slot < run.last; ++slot) {
        if (list[slot] == cell % range) return true;
    }
    return false;
}

bool state::meets_dead(unsigned level, const cell_list& cells) const noexcept {
    return std::any_of(cells.begin(), cells.end(), [&](std::uint64_t cell) { return is_dead(level, cell); });
}

bool state::reaches(unsigned level, const digest& d, const hash_functions& hash) const noexcept {
    for (unsigned below = 0; below < level; ++below) {
        if (!meets_dead(below, cells_of(below, d, hash))) return false;
    }
    return true;
}

bool state::has_room_for_dead(unsigned level, std::uint64_t cell) const noexcept {
    return dead_[level].has_room(cell / sizes_.with_cells[level].range);
}

bool state::kill(unsigned level, std::uint64_t cell) noexcept {
    const std::uint64_t range = sizes_.with_cells[level].range;
    return is_dead(level, cell) || dead_[level].insert(cell / range, cell % range).has_value();
}

std::optional<std::uint64_t> state::slot_of(const last_hash& h) const noexcept {
    const quotient_table::run run = last_.run_of(h.quotient);
    for (std::uint64_t slot = run.first; slot < run.last; ++slot) {
        if (last_[slot] == h.entry) return slot;
    }
    return std::nullopt;
}

bool state::insert_last(const last_hash& h) noexcept {
    return slot_of(h).has_value() || last_.insert(h.quotient, h.entry).has_value();
}

void state::erase_last(const last_hash& h) noexcept {
    if (const auto slot = slot_of(h)) last_.erase(h.quotient, *slot);
}

std::uint64_t state::allocated_bytes() const noexcept {
    std::uint64_t bytes = sizeof(state) + cells_.allocated_bytes() + last_.allocated_bytes();
    bytes += dead_.capacity() * sizeof(quotient_table);
    for (const quotient_table& each : dead_) bytes += each.allocated_bytes();
    return bytes;
}

std::uint64_t state::adaptive_bytes() const noexcept {
    return allocated_bytes() - sizes_.with_cells[0].cells / 8;
}

}  // namespace genista::adaptive_bloom
