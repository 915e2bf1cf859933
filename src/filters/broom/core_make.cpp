// Making a core, from nothing or from a snapshot's tables.
#include <new>

#include "filters/broom/core.hpp"

namespace genista {
inline namespace GENISTA_BROOM_VARIANT {
namespace broom {

result<std::uint64_t> fresh_secret(const broom_options& options, std::uint64_t table_number) noexcept {
    if (options.repeatable) return hasher{hash_key::from_seed(*options.repeatable)}.encrypt(table_number, 0).seed;
    const auto random = hash_key::random();
    if (!random) return random.error();
    return hasher{*random}.encrypt(table_number, 0).seed;
}

result<std::unique_ptr<core>> core::make(const broom_options& options, const hasher& hash, shape s,
                                         std::uint64_t bins) noexcept {
    const auto secret = fresh_secret(options, 0);
    if (!secret) return secret.error();
    // A key of our own making is new; of any other only the caller can know.
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
    now->belong_to(made->tally_.all);
    if (next != nullptr) next->belong_to(made->tally_.all);
    if (next != nullptr) now->begin_leaving();
    made->tables_.push_back(std::move(now));
    if (next != nullptr) made->tables_.push_back(std::move(next));
    if (const auto published = made->publish(std::move(first)); !published) return published.error();
    return made;
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory for a broom filter");
}

}  // namespace broom
}  // namespace GENISTA_BROOM_VARIANT
}  // namespace genista
