// Making a core, from nothing or from a snapshot's tables.
#include <new>

#include "filters/broom/core.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

result<std::uint64_t> fresh_secret(const broom_options& options, std::uint64_t table_number) noexcept {
    if (options.random.seed()) return hasher{hash_key::from_seed(*options.random.seed())}.encrypt(table_number, 0).seed;
    const auto random = hash_key::random();
    if (!random) return random.error();
    return hasher{*random}.encrypt(table_number, 0).seed;
}

// The table and the objects around it, side memory at capacity, and the reserve. Side memory, free
// pieces included, measured after inserts one by one with 0, 8 and 16 tail bits: 36, 48 and 63 bits
// a bin. Pages are taken whole.
std::uint64_t core::least_limit(shape s, std::uint64_t bins) noexcept {
    const std::uint64_t objects = sizeof(core) + sizeof(layout) + sizeof(broom_filter) + 2 * sizeof(void*);
    const std::uint64_t all =
        table::bytes_for(s, bins) + objects + (40 + 2 * s.tail_bits) * bins / 8 + 2 * buffer::page;
    std::uint64_t least = all + budget::reserve_of(all);
    while (least - budget::reserve_of(least) < all) least += all / 1024 + 1;
    return least;
}

result<std::unique_ptr<core>> core::make(const broom_options& options, const hasher& hash, shape s,
                                         std::uint64_t bins) noexcept {
    if (const std::uint64_t least = least_limit(s, bins); options.memory_limit && *options.memory_limit < least) {
        return error::make(error_code::invalid_argument,
                           "broom: a capacity of %llu needs %llu bytes; memory_limit is %llu",
                           static_cast<unsigned long long>(options.capacity), static_cast<unsigned long long>(least),
                           static_cast<unsigned long long>(*options.memory_limit));
    }
    const auto secret = fresh_secret(options, 0);
    if (!secret) return secret.error();
    // A key drawn here is new; of any other key only the caller can know.
    const bool new_key = !options.hash || options.key_is_new;
    auto first = table::make(s, bins, hash.key(), *secret, new_key && s.tail_bits <= most_tail_bits_unsalted);
    if (!first) return first.error();
    return adopt(options, hash, *std::move(first), nullptr, 0, 0);
}

result<std::unique_ptr<core>> core::adopt(const broom_options& options, const hasher& hash, std::unique_ptr<table> now,
                                          std::unique_ptr<table> next, unsigned doublings, std::uint64_t front) noexcept
    try {
    std::unique_ptr<core> made{new core{options, hash, now->form()}};
    auto first = std::make_unique<layout>();
    first->now = now.get();
    first->next = next.get();
    first->doublings = doublings;
    first->front.store(front, std::memory_order_relaxed);
    now->belong_to(made->writers_.all, made->budget_);
    if (next != nullptr) {
        next->belong_to(made->writers_.all, made->budget_);
        now->begin_leaving();
        now->have_moved(front);
        now->give_back_moved();
    }
    made->tables_.push_back(std::move(now));
    if (next != nullptr) made->tables_.push_back(std::move(next));
    if (const auto published = made->publish(std::move(first)); !published) return published.error();
    made->count_memory();
    for (const auto& each : made->tables_) (void)made->budget_.take(each->side_memory_bytes(), budget_class::upkeep);
    if (options.memory_limit) made->limit_memory(*options.memory_limit);
    return made;
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory for a broom filter");
}

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
