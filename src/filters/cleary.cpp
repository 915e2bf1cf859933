// cleary_filter but for its hot kernels, which are compiled here: sizing, making, saving, loading,
// and the check of a table from untrusted bytes.
#include "genista/filters/cleary.hpp"

#include <array>
#include <cmath>
#include <cstring>

#include "base/cpu.hpp"
#include "filters/cleary_insert.hpp"
#include "filters/cleary_shape.hpp"
#include "filters/cleary_table.hpp"
#include "filters/common.hpp"
#include "filters/snapshot_fields.hpp"
#include "hash/digest_kernels_includes.hpp"

#define GENISTA_KERNELS "filters/cleary_kernels.inl"
#include "base/foreach_isa.hpp"

namespace genista::cleary {
namespace {

// Checks a table from untrusted bytes: one round over all cells, home by home, that trusts nothing
// but its starting point.
class walk {
  public:
    explicit walk(const cleary_state& s) noexcept : s_{s} {}

    // Chooses the start of the round: a block whose offset is exact. False: there is none.
    [[nodiscard]] bool begin() noexcept {
        for (first_ = 0; first_ < s_.block_count; ++first_) {
            offset_ = offset_of(s_.blocks[first_]);
            if (offset_ == most_offset || offset_ >= cell_count(s_)) continue;
            next_ = first_ * block_cells + offset_;
            end_ = next_ + cell_count(s_);
            return true;
        }
        return false;
    }

    [[nodiscard]] bool block(std::uint64_t unwrapped) noexcept {
        const cleary_block& here = block_at(s_, unwrapped);
        const std::uint64_t first = unwrapped * block_cells;
        if (offset_of(here) != std::min(next_ > first ? next_ - first : 0, most_offset)) return false;
        for (std::uint64_t homes = occupied_of(here); homes != 0; homes &= homes - 1) {
            const std::uint64_t home = first + static_cast<std::uint64_t>(std::countr_zero(homes));
            rests_ = rests_ || next_ <= home;
            if (!free_until(home) || !run()) return false;
        }
        return true;
    }

    // The runs must end where the round began. And some run must lie at its home: in a table
    // without a free cell all runs could be shifted by a few cells and still be consistent, but
    // inserts would never have moved an entry so far.
    [[nodiscard]] bool close() noexcept {
        return free_until(end_ - offset_) && next_ == end_ && used_ == s_.used && (rests_ || used_ == 0);
    }

    [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
    [[nodiscard]] std::uint64_t used() const noexcept { return used_; }

  private:
    [[nodiscard]] bool is_end(std::uint64_t number) const noexcept {
        return (block_at(s_, number / block_cells).ends >> number % block_cells & 1) != 0;
    }
    // The cells before `number` that are not taken have to be zero.
    [[nodiscard]] bool free_until(std::uint64_t number) noexcept {
        for (; next_ < number; ++next_) {
            if (is_end(next_) || remainder_at(s_, wrapped(s_, next_)) != 0) return false;
        }
        return true;
    }
    // Reads a run: rising remainders up to an end, within the round.
    [[nodiscard]] bool run() noexcept {
        for (std::uint64_t last = 0, length = 0; next_ < end_; ++length) {
            const std::uint64_t here = remainder_at(s_, wrapped(s_, next_));
            if (length > 0 && here <= last) return false;
            last = here;
            ++used_;
            if (is_end(next_++)) return true;
        }
        return false;
    }

    const cleary_state& s_;
    std::uint64_t first_ = 0, offset_ = 0;
    std::uint64_t next_ = 0, end_ = 0;  // unwrapped cells: the next one, and the end of the round
    std::uint64_t used_ = 0;
    bool rests_ = false;
};

bool tail_is_zero(const cleary_state& s) noexcept {
    const std::uint64_t begin = cell_count(s) * s.bits, words = bits::words_for(begin);
    if (begin % 8 != 0 && std::to_integer<unsigned>(s.remainders[begin / 8]) >> begin % 8 != 0) return false;
    return std::all_of(s.remainders + (begin + 7) / 8, s.remainders + 8 * words,
                       [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

result<void> check(const cleary_state& s) noexcept {
    walk round{s};
    if (!round.begin())
        return error::make(error_code::corrupt, "cleary snapshot: no block says how far the runs before it reach");
    for (std::uint64_t block = round.first(); block < round.first() + s.block_count; ++block) {
        if (round.block(block)) continue;
        return error::make(error_code::corrupt, "cleary snapshot: block %llu of %llu contradicts the ones before it",
                           static_cast<unsigned long long>(block % s.block_count),
                           static_cast<unsigned long long>(s.block_count));
    }
    if (!round.close() || !tail_is_zero(s))
        return error::make(error_code::corrupt, "cleary snapshot: %llu values for %llu keys, or no end where it began",
                           static_cast<unsigned long long>(round.used()), static_cast<unsigned long long>(s.used));
    return {};
}

}  // namespace genista::cleary

namespace genista {
namespace {

constexpr std::uint16_t cleary_version = 1;

result<void> check_cleary(const cleary_options& options) noexcept {
    const auto checked =
        check_options(cleary_filter::name, {options.capacity, options.false_positive_rate, options.hash},
                      cleary_filter::min_false_positive_rate);
    if (!checked) return checked.error();
    // Written so that a NaN fails as well.
    if (options.load >= cleary_filter::min_load && options.load <= cleary_filter::max_load) return {};
    return error::make(error_code::invalid_argument, "cleary: load %g is not in [%g, %g]", options.load,
                       cleary_filter::min_load, cleary_filter::max_load);
}

cleary_state cleary_shape_of(const cleary_options& options) noexcept {
    return cleary::shape_of(cleary::blocks_for(options.capacity, options.load),
                            cleary::remainder_bits_for(options.false_positive_rate, options.load));
}

}  // namespace

const cleary_kernels* cleary_kernels_for(unsigned remainder_bits) noexcept {
    switch (remainder_bits) {
        case 8:
            return GENISTA_PICK(cleary8_kernels);
        case 12:
            return GENISTA_PICK(cleary12_kernels);
        case 16:
            return GENISTA_PICK(cleary16_kernels);
        default:
            return GENISTA_PICK(cleary_any_kernels);
    }
}

cleary_filter::cleary_filter(const cleary_options& options, const hasher& hash, const cleary_state& shape,
                             buffer table) noexcept
    : kernels_{cleary_kernels_for(shape.bits)},
      state_{shape},
      hash_{hash},
      table_{std::move(table)},
      capacity_{options.capacity},
      rate_{options.false_positive_rate},
      load_{options.load} {
    cleary::place_into(state_, table_.data());
}

result<cleary_filter> cleary_filter::make(const cleary_options& options) noexcept {
    if (const auto checked = check_cleary(options); !checked) return checked.error();
    const auto hash = hasher_from({options.capacity, options.false_positive_rate, options.hash});
    if (!hash) return hash.error();
    const cleary_state shape = cleary_shape_of(options);
    auto table = buffer::zeroed(cleary::table_bytes(shape.block_count, shape.bits));
    if (!table) return table.error();
    return cleary_filter{options, *hash, shape, *std::move(table)};
}

void cleary_filter::clear() noexcept {
    fill_with_zeros(table_.bytes());
    state_.used = 0;
}

filter_stats cleary_filter::stats() const noexcept {
    return plain_stats(state_.used, capacity_, rate_, table_.allocated_bytes() + sizeof *this);
}

std::uint64_t cleary_filter::cells() const noexcept {
    return cleary::cell_count(state_);
}

cleary_walk cleary_filter::walk_of(const digest& d) const noexcept {
    assert(state_.used < cells());
    using runs = cleary::runs<bits::portable_words>;
    const cleary::target t = cleary::aim(state_, d);
    const auto place = runs::find(state_, t.block, t.index);
    cleary_walk walk;
    cleary::cell behind = place.before;
    if (cleary::is_occupied(state_, t)) {
        behind = runs::behind_ends(state_, place.start(), 1);
        walk.lookup_cells = behind.number() - place.home.number();
    }
    walk.insert_cells = runs::first_free(state_, place.home, behind).number() - place.home.number() + 1;
    return walk;
}

result<std::uint64_t> cleary_filter::bits_for(std::uint64_t capacity, double rate, double load) noexcept {
    if (const auto checked = check_cleary({capacity, rate, std::nullopt, load}); !checked) return checked.error();
    return 8 * cleary::table_bytes(cleary::blocks_for(capacity, load), cleary::remainder_bits_for(rate, load));
}

double cleary_filter::fpr_for(std::uint64_t capacity, std::uint64_t bits, double load) noexcept {
    if (!check_cleary({capacity, max_false_positive_rate, std::nullopt, load})) return 1;
    const std::uint64_t blocks = cleary::blocks_for(capacity, load);
    for (unsigned remainder = max_remainder_bits; remainder >= 1; --remainder) {
        if (8 * cleary::table_bytes(blocks, remainder) <= bits) return std::ldexp(load, -static_cast<int>(remainder));
    }
    return 1;  // the keys do not fit
}

result<std::uint64_t> cleary_filter::keys_for_bits(std::uint64_t bits, double rate, double load) noexcept {
    if (const auto checked = check_cleary({1, rate, std::nullopt, load}); !checked) return checked.error();
    const unsigned remainder = cleary::remainder_bits_for(rate, load);
    return largest_capacity(bits, [&](std::uint64_t capacity) {
        return 8 * cleary::table_bytes(cleary::blocks_for(capacity, load), remainder);
    });
}

result<void> cleary_filter::save(sink& out) const noexcept {
    const std::span remainders{state_.remainders, cleary::remainder_bytes(state_.block_count, state_.bits)};
    const std::array<std::span<const std::byte>, 2> sections = {
        table_.bytes().first(state_.block_count * sizeof(cleary_block)), remainders};
    return save_filter(out, snapshot_kind::cleary, cleary_version, stats(), hash_, sections,
                       [this](field_writer& fields) { fields.f64(load_).u32(state_.bits).u64(state_.block_count); });
}

result<cleary_filter> cleary_filter::load(std::span<const std::byte> bytes) noexcept {
    auto opened = open_filter(snapshot_kind::cleary, cleary_version, 2, bytes, name, min_false_positive_rate);
    if (!opened) return opened.error();
    auto& [view, fields, common] = *opened;
    const cleary_options options{common.options.capacity, common.options.false_positive_rate, common.options.hash,
                                 fields.f64()};
    const std::uint32_t bits = fields.u32();
    const std::uint64_t blocks = fields.u64();
    if (const auto checked = check_cleary(options); !checked) {
        return error::make(error_code::corrupt, "snapshot: %s", checked.error().message().data());
    }
    const cleary_state shape = cleary_shape_of(options);
    const auto block_bytes = view.sections[0], remainders = view.sections[1];
    if (!fields.finished() || bits != shape.bits || blocks != shape.block_count ||
        block_bytes.size() != blocks * sizeof(cleary_block) ||
        remainders.size() != cleary::remainder_bytes(blocks, bits)) {
        return error::make(
            error_code::corrupt,
            "cleary snapshot: %llu blocks with remainders of %u bits in %zu and %zu bytes; capacity, rate "
            "and load ask for %llu blocks and %u bits",
            static_cast<unsigned long long>(blocks), bits, block_bytes.size(), remainders.size(),
            static_cast<unsigned long long>(shape.block_count), shape.bits);
    }
    auto made = make(options);
    if (!made) return made.error();
    std::memcpy(made->table_.data(), block_bytes.data(), block_bytes.size());
    std::memcpy(made->state_.remainders, remainders.data(), remainders.size());
    made->state_.used = common.keys;
    if (const auto checked = cleary::check(made->state_); !checked) return checked.error();
    return made;
}

}  // namespace genista
