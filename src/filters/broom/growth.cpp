// Growth by sweep: tables grow while readers and writers go on. See core.hpp for how layouts change
// under them.
#include <algorithm>
#include <array>
#include <chrono>
#include <new>
#include <thread>

#include "filters/broom/core.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {
namespace {

// A table grows when it holds this many keys, in 128ths of its slots. It was made for 94 %; beyond
// 97 % backyards fill quickly.
constexpr std::uint64_t growth_load = 124;
// One overfull bin makes a table grow only if a quarter of its slots are used. Otherwise an
// adversary who can aim at one bin could double the table for ever.
constexpr std::uint64_t least_load = 32;
constexpr bool fills_a_quarter(std::uint64_t keys, std::uint64_t bins) noexcept {
    return keys * 128 > bins * slots_per_bin * least_load;
}
unsigned doublings_for_keys(std::uint64_t keys_of_a_bin) noexcept {
    unsigned doublings = 1;
    while (keys_of_a_bin >> doublings > slots_per_bin && doublings < 30) ++doublings;
    return doublings;
}

}  // namespace

void core::back_off() const noexcept {
    constexpr int most_naps = 20;
    for (int nap = 0; nap < most_naps && writers_.back_off.load(std::memory_order_relaxed) != 0; ++nap)
        std::this_thread::sleep_for(std::chrono::microseconds{250});
}

bool core::wants_to_grow() const noexcept {
    const layout& l = *layout_.load(std::memory_order_acquire);
    if (l.next != nullptr) return true;
    if (keys() * 128 > l.now->bins() * slots_per_bin * growth_load) return can_afford_growth();
    return crowded_.load(std::memory_order_relaxed) && may_grow();
}

bool core::may_grow() const noexcept {
    const layout& l = *layout_.load(std::memory_order_acquire);
    return options_.grows && fills_a_quarter(keys(), l.now->bins()) && can_afford_growth();
}

// The most that a growth adds to the filter's memory at any moment: the new table, less what the
// old one has given back by then. New bins are half full, so few of them have side blocks: a 64th
// of the lines is more than enough.
std::uint64_t core::price_of_growth(unsigned doublings) const noexcept {
    const table& now = *layout_.load(std::memory_order_acquire)->now;
    const std::uint64_t bins = now.bins() << doublings;
    const std::uint64_t objects = 2 * sizeof(layout) + 256;  // two layouts, and longer lists of them
    return table::bytes_for(shape_, bins) + bins + objects - now.bytes_given_back_for(bins);
}

bool core::can_afford_growth() const noexcept {
    return budget_.limit() == budget::no_limit || budget_.allows(price_of_growth(1), budget_class::inserts);
}

result<void> core::publish(std::unique_ptr<layout> made) noexcept try {
    made->state = made->now->lookup_state();
    made->state.core = this;
    made->state.writer_counters = &writers_;
    made->state.claims = writers_.claims.data();
    made->state.leaves_tombstones = options_.history == broom_history::tombstone;
    if (options_.grows) made->state.grow_at = made->now->bins() * slots_per_bin * growth_load / 128;
    layouts_.push_back(std::move(made));
    layout_.store(layouts_.back().get(), std::memory_order_release);
    state_.store(&layouts_.back()->state, std::memory_order_release);
    return {};
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "broom: no memory to begin growing");
}

// Corrects the budget to the bytes taken now, side memory excepted, which pays for itself.
// REQUIRES: growing_ is held, and no growth lives on what it has paid in advance.
void core::count_memory() noexcept {
    const std::uint64_t now = bytes_without_sides();
    budget_.correct(counted_bytes_, now);
    counted_bytes_ = now;
}

result<void> core::begin_growth(unsigned doublings, bool may_leave_keys) noexcept {
    // R may ask for more than the limit allows: keys of R that are not inserted yet can wait.
    while (may_leave_keys && doublings > 1 && !budget_.allows(price_of_growth(doublings), budget_class::inserts))
        --doublings;
    const std::uint64_t price = price_of_growth(doublings);
    if (!budget_.take(price, budget_class::inserts)) {
        return error::make(error_code::out_of_memory,
                           "broom: growing takes %llu bytes more than %llu; memory_limit is %llu",
                           static_cast<unsigned long long>(price), static_cast<unsigned long long>(budget_.spent()),
                           static_cast<unsigned long long>(budget_.limit()));
    }
    counted_bytes_ += price;
    const auto begun = begin_sweep(doublings, may_leave_keys);
    if (!begun) count_memory();
    return begun;
}

result<void> core::begin_sweep(unsigned doublings, bool may_leave_keys) noexcept try {
    const layout& l = *layout_.load(std::memory_order_relaxed);
    tables_.reserve(tables_.size() + 1);
    const auto secret = fresh_secret(options_, faults.growth_keeps_salts ? 0 : tables_.size());
    if (!secret) return secret.error();
    auto next = table::make_unprepared(shape_, l.now->bins() << doublings, hash_.key(), *secret, false);
    if (!next) return next.error();
    (*next)->belong_to(writers_.all, budget_);
    auto made = std::make_unique<layout>();
    made->now = l.now;
    made->next = next->get();
    made->doublings = doublings;
    made->may_leave_keys = may_leave_keys;
    if (const auto published = publish(std::move(made)); !published) return published.error();
    tables_.push_back(*std::move(next));
    l.now->begin_leaving();
    crowded_.store(false, std::memory_order_relaxed);
    return {};
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "broom: no memory to begin growing");
}

// Reads one old bin from R and rebuilds it as the new bins that share its range.
result<bool> core::move_one_bin(range_source& source, int most) noexcept try {
    layout& l = *layout_.load(std::memory_order_relaxed);
    const std::uint64_t bin = l.front.load(std::memory_order_relaxed);
    if (bin == l.now->bins()) return false;
    l.next->prepare((bin + 1) << l.doublings);
    population r;
    attempts left{writers_, most};
    for (bool moved = false; !moved;) {
        if (!left.next()) return left.used_up();
        const std::uint32_t version = l.now->version(bin);
        if (const auto got = fetch(l.now->range_of(bin), source, r); !got) return got.error();
        table::lock held{*l.now, bin};
        if (held.version() != version && !faults.writer_without_recheck) continue;
        const bool skipped = faults.growth_skips_a_bin && bin == l.now->bins() / 2;
        if (!skipped) {
            if (const auto built = build_moved(l, bin, r); !built) return built.error();
        }
        l.front.store(bin + 1, std::memory_order_release);
        l.now->have_moved(bin + 1);
        held.touch();
        moved = true;
    }
    l.now->give_back_moved();
    return true;
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "broom: no memory to move a bin");
}

// REQUIRES: the old bin's lock is held; no reader looks at the new bins yet.
result<void> core::build_moved(const layout& l, std::uint64_t bin, const population& r) {
    const unsigned keys_before = l.now->read(bin).keys();
    unsigned keys_after = 0;
    auto from = r.members.begin();
    for (std::uint64_t to_bin = bin << l.doublings; to_bin < (bin + 1) << l.doublings; ++to_bin) {
        const std::uint64_t last = l.next->range_of(to_bin).last;
        const auto to = std::find_if(from, r.members.end(), [&](const digest& d) { return d.position > last; });
        std::vector<digest> members{from, to};
        from = to;
        table::lock held{*l.next, to_bin};
        static thread_local bin_image image;
        l.next->read(to_bin, image);
        bool built = epoch{*l.next, image}.renew(members, {});
        if (!built && l.may_leave_keys) {
            // R has outgrown this table: keys of R that are not inserted yet can wait for their
            // inserts.
            std::erase_if(members, [&](const digest& d) { return !l.now->contains(d); });
            built = epoch{*l.next, image}.renew(members, {});
        }
        if (!built) {
            return error::make(error_code::unsupported, "broom: a bin cannot hold %zu keys", members.size());
        }
        try {
            l.next->commit(held, image, budget_class::upkeep);
        } catch (const std::bad_alloc&) {
            l.next->book().leave(image.now.code);
            throw;
        }
        keys_after += image.keys();
    }
    writers_.keys.fetch_add(std::uint64_t{keys_after} - keys_before, std::memory_order_relaxed);
    return {};
}

void core::end_growth() {
    const layout& l = *layout_.load(std::memory_order_relaxed);
    auto made = std::make_unique<layout>();
    made->now = l.next;
    if (!publish(std::move(made))) return;  // no memory: both tables stay in use, and the next step tries again
    l.now->retire();
    count_memory();
    growths_.fetch_add(1, std::memory_order_relaxed);
}

void core::grow_a_little(range_source& source) noexcept {
    const std::unique_lock only_one{growing_, std::try_to_lock};
    if (!only_one.owns_lock()) return;
    try {
        if (layout_.load(std::memory_order_relaxed)->next == nullptr) {
            if (!wants_to_grow() || would_end_a_save()) return;
            // If R does not answer or memory is missing, the filter stays as it is.
            if (const auto doublings = doublings_at(0, source); doublings) (void)begin_growth(*doublings);
            return;
        }
        // A failure concerns the growth, not the insert that helped it: the next insert tries
        // again.
        if (const auto moved = move_one_bin(source, most_attempts_in_passing); moved && !*moved) end_growth();
    } catch (const std::bad_alloc&) {
    }
}

result<bool> core::make_room(const digest& d, const table& crowded, range_source& source) noexcept try {
    const std::lock_guard only_one{growing_};
    // The crowded table may be the target of a growth under way: that growth ends first, and
    // another begins.
    for (int growths = 0; growths < 2; ++growths) {
        if (&table_of(d) != &crowded) return true;  // another thread, or this one, has grown it
        if (layout_.load(std::memory_order_relaxed)->next == nullptr) {
            if (!may_grow()) return false;
            const auto doublings = doublings_at(crowded.bin_of(d), source);
            if (!doublings) return doublings.error();
            if (const auto begun = begin_growth(*doublings); !begun) return begun.error();
        }
        const layout& l = *layout_.load(std::memory_order_relaxed);
        while (&l.of(d) == &crowded) {
            const auto moved = move_one_bin(source);
            if (!moved) return moved.error();
            if (!*moved) break;
        }
        if (l.front.load(std::memory_order_relaxed) == l.now->bins()) end_growth();
    }
    return &table_of(d) != &crowded;
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "broom: no memory to grow");
}

result<bool> core::grow(range_source& source, bool may_leave_keys) noexcept try {
    const std::lock_guard only_one{growing_};
    bool began = false;
    if (layout_.load(std::memory_order_relaxed)->next == nullptr) {
        const auto doublings = doublings_for(source, may_leave_keys);
        if (!doublings) return doublings.error();
        if (const auto begun = begin_growth(*doublings, may_leave_keys); !begun) return begun.error();
        began = true;
    }
    while (true) {
        const auto moved = move_one_bin(source);
        if (!moved) {
            // A later call that continues this sweep may leave keys to their inserts; otherwise the
            // sweep could neither end nor be given up.
            layout_.load(std::memory_order_relaxed)->may_leave_keys = true;
            return moved.error();
        }
        if (!*moved) break;
    }
    end_growth();
    return began && !may_leave_keys;
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "broom: no memory to grow");
}

// A store may have committed many keys whose inserts have not come yet: one doubling, or as many as
// the keys of one bin in R ask for.
result<unsigned> core::doublings_at(std::uint64_t bin, range_source& source) noexcept {
    population r;
    if (const auto got = fetch(layout_.load(std::memory_order_relaxed)->now->range_of(bin), source, r); !got)
        return got.error();
    return doublings_for_keys(r.members.size());
}

// R may hold far more than this table was made for (a filter loaded from an old snapshot): one
// doubling, or as many as its fullest bin needs, each only while R's keys fill a quarter of the
// slots. Keys of one position stay in one bin however large the table is. If none may be left to
// its insert, and no doubling helps, that is an error: else each such call would double the table.
result<unsigned> core::doublings_for(range_source& source, bool may_leave_keys) noexcept try {
    const table& in = *layout_.load(std::memory_order_relaxed)->now;
    std::uint64_t fullest = 0, all = 0;
    population r;
    for (std::uint64_t first = 0; first < in.bins(); first += bins_per_cluster) {
        const std::uint64_t end = std::min(first + bins_per_cluster, in.bins());
        if (const auto got = fetch({in.range_of(first).first, in.range_of(end - 1).last}, source, r); !got)
            return got.error();
        std::array<std::uint64_t, bins_per_cluster> keys{};
        for (const digest& d : r.members) ++keys[in.bin_of(d) - first];
        fullest = std::max(fullest, *std::max_element(keys.begin(), keys.end()));
        all += r.members.size();
    }
    const unsigned wanted = doublings_for_keys(fullest);
    unsigned doublings = 0;
    while (doublings < wanted && fills_a_quarter(all, in.bins() << doublings)) ++doublings;
    if (doublings == 0 && !may_leave_keys && !wants_to_grow()) {
        return error::make(error_code::unsupported,
                           "broom: R holds %llu keys of one bin, more than fit, and too few in all to grow",
                           static_cast<unsigned long long>(fullest));
    }
    return std::max(doublings, 1u);
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "broom: no memory to grow");
}

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
