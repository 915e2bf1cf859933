// The look-up in plain C++ with atomic loads: the kernels fall back on it, sanitizers see it, tests
// compare with it.
#include <bit>

#include "filters/broom/side_block.hpp"
#include "filters/broom/table.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

bool table::contains(const digest& d, broom_trace& touched) const noexcept {
    const std::uint64_t bin = bin_of(d);
    while (true) {
        const std::uint32_t before = version(bin);
        touched = {};
        touched.maybe = look(d, bin, touched);
        if (faults.reader_without_recheck) return touched.maybe;
        if (version_of(bin).load(std::memory_order_relaxed) == before) return touched.maybe;
    }
}

bool table::look(const digest& d, std::uint64_t bin, broom_trace& touched) const noexcept {
    const auto bin_in_cluster = static_cast<unsigned>(bin % bins_per_cluster);
    const line slots = load_line(bin);
    const auto side = [&]() -> const std::uint64_t* {
        const side_memory::handle block = load_side(bin);
        if (!touched.read_side) touched.cache_lines += 2;  // those of the handle and the block, more for a long block
        touched.read_side = true;
        return block == 0 ? nullptr : memory_.words(block);
    };
    salt now;
    if (slots.salt() == long_salt) {
        if (const std::uint64_t* const words = side(); words != nullptr) {
            const side_block block{words, shape_};
            for (unsigned i = 0; i < block.salts(); ++i) {
                if (const side_item e = block.salt_at(i); e.bin == bin_in_cluster) now = book_->of_number(e.value);
            }
        }
    } else {
        now = book_->of_code(slots.salt());
    }
    const mixed m = mix(d, now);
    const fingerprint f = fingerprint::of(m, shape_);
    for (std::uint64_t hits = slots.matches(f.key); hits != 0; hits &= hits - 1) {
        const auto slot = static_cast<unsigned>(std::countr_zero(hits));
        if (shape_.tail_bits != 0 && !touched.read_tails) {
            touched.read_tails = true;
            ++touched.cache_lines;
        }
        if (load_tail(bin, slot) != f.tail) continue;
        // The slot has the base of x: at most one slot has it [law L3]. A tombstone matches
        // nothing; an extension must agree.
        bool match = true;
        std::uint64_t stream = m.stream();
        if (const std::uint64_t* const words = side(); words != nullptr) {
            const side_block block{words, shape_};
            if (block.tombstones_of(bin_in_cluster).has(slot)) match = faults.dead_slot_matches;
            for (unsigned i = block.first_extension_of(bin_in_cluster); i < block.extensions() && match; ++i) {
                const side_extension n = block.extension_at(i);
                if (n.bin != bin_in_cluster) break;
                if (n.slot() != slot) continue;
                if (n.coded() != 0 && !faults.extension_ignored) {
                    const auto length = static_cast<unsigned>(std::bit_width(n.coded())) - 1;
                    match = ((stream ^ n.coded()) & ((std::uint64_t{1} << length) - 1)) == 0;
                    stream >>= length;
                }
            }
        }
        if (match) return true;
        if (!faults.insert_extends) break;
    }
    if ((slots.overflow() >> f.overflow_class & 1) == 0) return false;
    const std::uint64_t* const words = side();
    if (words == nullptr) return false;
    const side_block block{words, shape_};
    return block.has_tag(block.backyard_of(bin_in_cluster), f.tag);
}

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
