// The cold half of broom_filter: checking options, making, sizing. The work is in filters/broom/.
#include "genista/filters/broom.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <new>
#include <span>
#include <vector>

#include "filters/broom/core.hpp"
#include "filters/broom/shape.hpp"
#include "filters/common.hpp"
#include "hash/digests_in_order.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace {

constexpr double max_rate = 0.02;

result<void> check(std::uint64_t capacity, double rate) noexcept {
    if (const auto checked =
            check_options(broom_filter::name, {capacity, rate, std::nullopt}, broom_filter::min_false_positive_rate);
        !checked) {
        return checked.error();
    }
    if (rate > max_rate) {
        return error::make(error_code::invalid_argument,
                           "broom: false_positive_rate %g is above %g; more would not save a bit", rate, max_rate);
    }
    return {};
}

// What stays empty costs nothing; what a full table needs on average: lines, tails, and the side
// blocks of the keys that find no room (about 3.3 % of them at capacity, 18 bits each with a
// block's own bits).
std::uint64_t bits_of(std::uint64_t capacity, broom::shape s) noexcept {
    const std::uint64_t bins = broom::bins_for(capacity);
    constexpr std::uint64_t side_bits = 32;
    return bins * (8 * broom::line_layout::bytes + 8 * s.tail_bytes_per_bin() + side_bits);
}

// Sorted digests through the interface of R, to build a filter without reading R when the keys are
// at hand.
class digest_source final : public broom::range_source {
  public:
    explicit digest_source(std::span<const digest> sorted) noexcept : sorted_{sorted} {}

    result<void> read(position_range range, broom::population& into) override {
        const auto first =
            std::lower_bound(sorted_.begin(), sorted_.end(), range.first,
                             [](const digest& d, std::uint64_t position) { return d.position < position; });
        auto last = first;
        while (last != sorted_.end() && last->position <= range.last) ++last;
        try {
            into.members.clear();
            std::unique_copy(first, last, std::back_inserter(into.members));
        } catch (const std::bad_alloc&) {
            return error::make(error_code::out_of_memory, "broom: no memory for the keys of one bin");
        }
        into.holds_key = false;
        return {};
    }
    result<bool> erase() override { return false; }
    [[nodiscard]] bool is_remote() const noexcept override { return false; }

  private:
    std::span<const digest> sorted_;
};

}  // namespace

broom_filter::broom_filter(std::unique_ptr<broom::core> core) noexcept
    : kernels_{broom::pick_kernels(core->form())},
      state_{&core->state()},
      hash_{&core->hash()},
      core_{std::move(core)} {}
broom_filter::broom_filter(broom_filter&&) noexcept = default;
broom_filter& broom_filter::operator=(broom_filter&&) noexcept = default;
broom_filter::~broom_filter() = default;

result<broom_filter> broom_filter::make(const broom_options& options) noexcept {
    if (const auto checked = check(options.capacity, options.false_positive_rate); !checked) return checked.error();
    const auto hash = hasher_from({options.capacity, options.false_positive_rate, options.hash});
    if (!hash) return hash.error();
    const broom::shape s = broom::shape::for_rate(options.false_positive_rate);
    auto made = broom::core::make(options, *hash, s, broom::bins_for(options.capacity));
    if (!made) return made.error();
    return broom_filter{*std::move(made)};
}

double broom_filter::rate() const noexcept {
    return broom::shape::rate(core_->form().tail_bits);
}
bool broom_filter::is_growing() const noexcept {
    return core_->is_growing();
}
filter_stats broom_filter::stats() const noexcept {
    return core_->stats();
}
broom_details broom_filter::details() const noexcept {
    return core_->details();
}
void broom_filter::limit_memory(std::optional<std::uint64_t> bytes) noexcept {
    core_->limit_memory(bytes.value_or(broom::budget::no_limit));
}
broom_trace broom_filter::trace(const digest& d) const noexcept {
    broom_trace touched;
    (void)core_->contains(d, touched);
    return touched;
}

result<insert_outcome> broom_filter::insert_from(const digest& d, broom::range_source& source) noexcept {
    return core_->insert(d, source);
}
insert_outcome broom_filter::insert_and_grow(broom::range_source& source) noexcept {
    core_->grow_a_little(source);
    return insert_outcome::inserted;
}
result<erase_outcome> broom_filter::erase_from(const digest& d, broom::range_source& source) noexcept {
    return core_->erase(d, source);
}
result<erase_outcome> broom_filter::forget_assuming_present_from(const digest& d, const broom_epoch_mark& when,
                                                                 broom::range_source& source) noexcept {
    return core_->forget_assuming_present(d, when, source);
}
bool broom_filter::reads_fail() const noexcept {
    return core_->reads_fail();
}
result<erase_outcome> broom_filter::forget_from(const digest& d, broom::range_source& source) noexcept {
    return core_->forget(d, source);
}
result<adapt_outcome> broom_filter::adapt_from(const digest& d, broom::range_source& source) noexcept {
    return core_->adapt(d, source);
}
result<void> broom_filter::grow_from(broom::range_source& source) noexcept {
    const auto grown = core_->grow(source);
    if (!grown) return grown.error();
    return {};
}
result<void> broom_filter::rebuild_from(broom::range_source& source, unsigned threads) noexcept {
    return core_->rebuild(source, threads);
}
result<void> broom_filter::rebuild_range_from(position_range range, broom::range_source& source) noexcept {
    return core_->rebuild_range(range, source);
}

template <class Key>
result<broom_filter> broom_filter::build_from_keys(const broom_options& options, std::span<const Key> keys,
                                                   unsigned threads) noexcept try {
    auto made = make(options);
    if (!made) return made;
    const std::vector<digest> sorted = digests_in_order(made->hash(), keys, threads);
    digest_source source{sorted};
    if (const auto done = made->rebuild_from(source, threads); !done) return done.error();
    return made;
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "broom: no memory to sort %zu digests", keys.size());
}
result<broom_filter> broom_filter::build(const broom_options& options, std::span<const std::uint64_t> keys,
                                         unsigned threads) noexcept {
    return build_from_keys(options, keys, threads);
}
result<broom_filter> broom_filter::build(const broom_options& options, std::span<const key_view> keys,
                                         unsigned threads) noexcept {
    return build_from_keys(options, keys, threads);
}
result<void> broom_filter::audit_from(broom::range_source& source) const noexcept {
    return core_->audit(source);
}
result<void> broom_filter::save(sink& out, const store_mark& store) const noexcept {
    return core_->save(out, store);
}

result<std::uint64_t> broom_filter::bits_for(std::uint64_t capacity, double rate) noexcept {
    if (const auto checked = check(capacity, rate); !checked) return checked.error();
    return bits_of(capacity, broom::shape::for_rate(rate));
}

double broom_filter::fpr_for(std::uint64_t capacity, std::uint64_t bits) noexcept {
    const std::uint64_t keys = std::clamp<std::uint64_t>(capacity, 1, max_capacity);
    for (unsigned t = broom::most_tail_bits + 1; t-- > 0;) {
        if (bits_of(keys, broom::shape{t}) <= bits) return broom::shape::rate(t);
    }
    return 1;  // the keys do not fit
}

result<std::uint64_t> broom_filter::keys_for_bits(std::uint64_t bits, double rate) noexcept {
    if (const auto checked = check(1, rate); !checked) return checked.error();
    const broom::shape s = broom::shape::for_rate(rate);
    return largest_capacity(bits, [&](std::uint64_t capacity) { return bits_of(capacity, s); });
}

}  // namespace GENISTA_BROOM_NAMESPACE
