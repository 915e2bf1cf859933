// The public functions around the core: no exception escapes, and no type of R comes in. See
// cuckoo/family.hpp. The kernels of the family are compiled here.
#include <new>
#include <thread>

#include "base/cpu.hpp"
#include "filters/common.hpp"
#include "filters/cuckoo/core.hpp"
#include "filters/cuckoo/hashes.hpp"
#include "filters/cuckoo/slots.hpp"
#include "hash/digest_kernels_includes.hpp"

#define GENISTA_KERNELS "filters/cuckoo/kernels.inl"
#include "base/foreach_isa.hpp"

namespace genista::cuckoo {
namespace {

const cuckoo_kernels& kernels_for(const cuckoo_shape& shape) noexcept {
    const bool four_tables = shape.tables == 4 && shape.bin_slots == 1;
    switch (shape.rule) {
        case cuckoo_rule::plain:
            return four_tables ? *GENISTA_PICK(plain_of_4) : *GENISTA_PICK(plain_of_any);
        case cuckoo_rule::cuckooing:
            return four_tables ? *GENISTA_PICK(cuckooing_of_4) : *GENISTA_PICK(cuckooing_of_any);
        case cuckoo_rule::cyclic:
            return four_tables ? *GENISTA_PICK(cyclic_of_4) : *GENISTA_PICK(cyclic_of_any);
        case cuckoo_rule::swapping:
            break;
    }
    return shape.tables == 2 && shape.bin_slots == 4 ? *GENISTA_PICK(swapping_of_2) : *GENISTA_PICK(swapping_of_any);
}

// Exceptions of R (a caller's map) are reported as failures of R.
template <class Call>
auto walled(const char* doing, Call call) noexcept -> decltype(call()) {
    try {
        return call();
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "cuckoo: no memory to %s", doing);
    } catch (const std::exception& thrown) {
        return error::make(error_code::io, "cuckoo: R threw while asked to %s: %s", doing, thrown.what());
    } catch (...) {
        return error::make(error_code::io, "cuckoo: R threw while asked to %s", doing);
    }
}

}  // namespace

result<std::unique_ptr<core>> core::make(const member_of_family& who, const beginnings& from) {
    auto table = buffer::zeroed(table_bytes(from.shape));
    if (!table) return table.error();
    return std::make_unique<core>(who, from, *std::move(table));
}

body::body(std::unique_ptr<core> made) noexcept
    : core_{std::move(made)}, state_{&core_->state()}, kernels_{&kernels_for(state_->shape)}, hash_{&core_->hash()} {}
body::body(body&&) noexcept = default;
body& body::operator=(body&&) noexcept = default;
body::~body() = default;

result<body> body::make(const member_of_family& who, const cuckoo_options& options) noexcept {
    const auto shape = shape_for(who, options);
    if (!shape) return shape.error();
    const auto hash = hasher_from({options.capacity, options.false_positive_rate, options.hash});
    if (!hash) return hash.error();
    const auto seed = seed_of_chance(options.random);
    if (!seed) return seed.error();
    return walled("make a filter", [&]() -> result<body> {
        auto made = core::make(who, {.shape = *shape,
                                     .capacity = options.capacity,
                                     .load = options.load,
                                     .rate = rate_of(*shape, options.load),
                                     .hash = *hash,
                                     .seed = *seed});
        if (!made) return made.error();
        return body{*std::move(made)};
    });
}

result<body> body::load(const member_of_family& who, std::span<const std::byte> bytes) noexcept {
    return walled("load a filter", [&]() -> result<body> {
        auto made = core::load(who, bytes);
        if (!made) return made.error();
        return body{*std::move(made)};
    });
}

result<insert_outcome> body::insert(const hashed_key& key, batch_index_source& remote) noexcept {
    return walled("insert", [&] { return core_->insert(key, remote); });
}
result<erase_outcome> body::erase(const hashed_key& key, batch_index_source& remote) noexcept {
    return walled("erase", [&] { return core_->erase(key, remote); });
}
result<erase_outcome> body::forget(const hashed_key& key, batch_index_source& remote) noexcept {
    return walled("forget", [&] { return core_->forget(key, remote); });
}
result<adapt_outcome> body::adapt(const hashed_key& key, batch_index_source& remote) noexcept {
    return walled("adapt", [&] { return core_->adapt(key, remote); });
}
result<void> body::rebuild(batch_index_source& remote) noexcept {
    return walled("rebuild", [&] { return core_->rebuild(remote); });
}
result<void> body::audit(batch_index_source& remote) const noexcept {
    return walled("audit", [&] { return core_->audit(remote); });
}
result<void> body::save(sink& out) const noexcept {
    return walled("save", [&] { return core_->save(out); });
}

filter_stats body::stats() const noexcept {
    return core_->stats();
}
std::uint64_t body::rehashes() const noexcept {
    return core_->rehashes();
}

}  // namespace genista::cuckoo
