// The dictionary and the counts of a sampled_filter. See daisy_sampling.hpp.
#include "genista/filters/daisy_sampling.hpp"

#include <bit>
#include <cmath>
#include <new>

#include "filters/common.hpp"

namespace genista {
namespace {

constexpr std::string_view own_name = "sampling";
constexpr std::uint64_t most_samples = std::uint64_t{1} << 24;
constexpr std::size_t least_index = 64;
constexpr std::size_t most_draws =
    ~std::uint32_t{0};  // far beyond any sample: reached only if no filter could ever be made

}  // namespace

result<hasher> check_sampled(const sampled_options& options) noexcept {
    if (const auto fine = check_terms(options.terms); !fine) return fine.error();
    if (options.samples < 1 || options.samples > most_samples) {
        return error::make(error_code::invalid_argument, "sampling: %llu samples are not in 1..%llu",
                           static_cast<unsigned long long>(options.samples),
                           static_cast<unsigned long long>(most_samples));
    }
    return hasher_from({.hash = options.hash});
}

daisy_plan plan_in_full(const daisy_terms& terms) noexcept {
    daisy_plan plan;
    plan.terms = terms;
    plan.stored_share[plan.largest_class()] = 1;
    plan.asked_share[plan.largest_class()] = 1;
    plan.mean_bits = plan.largest_class();
    return plan;
}

result<std::unique_ptr<daisy_sampler>> daisy_sampler::make(std::uint64_t samples) noexcept {
    return without_throwing(own_name, [&]() -> result<std::unique_ptr<daisy_sampler>> {
        std::unique_ptr<daisy_sampler> made{new (std::nothrow) daisy_sampler};
        if (made == nullptr) throw std::bad_alloc{};
        made->index_.resize(least_index);
        made->asked_ = std::make_unique<key_odds[]>(samples);
        made->most_asked_ = samples;
        return made;
    });
}

// The place in the index of a stored key with this digest for which is() holds, or the place where
// it would be. Digests are pseudo-random and need no mixing.
template <class Is>
std::size_t daisy_sampler::place_of(const digest& d, Is is) const noexcept {
    const std::size_t mask = index_.size() - 1;
    std::size_t at = d.position & mask;
    for (; index_[at] != 0; at = (at + 1) & mask) {
        const member& there = members_[index_[at] - 1];
        if (there.where == d && is(there)) break;
    }
    return at;
}

// Compares the bits of the odds: a NaN equals itself, too.
std::size_t daisy_sampler::place_of(const digest& d, const key_odds& odds) const noexcept {
    const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
    return place_of(d, [&](const member& there) {
        const key_odds& its = draws_[there.draw];
        return bits(its.stored) == bits(odds.stored) && bits(its.asked) == bits(odds.asked);
    });
}

bool daisy_sampler::contains(const digest& d) const noexcept {
    return index_[place_of(d, [](const member&) { return true; })] != 0;
}

void daisy_sampler::grow_index() {
    std::vector<std::uint32_t> larger(2 * index_.size());
    index_.swap(larger);
    for (std::size_t i = 0; i < members_.size(); ++i)
        index_[place_of(members_[i].where, draws_[members_[i].draw])] = static_cast<std::uint32_t>(i + 1);
}

// Allocates all memory first, then changes.
result<bool> daisy_sampler::add(const digest& d, const key_odds& odds) noexcept {
    return without_throwing(own_name, [&]() -> result<bool> {
        if (draws_.size() >= most_draws) return error::make(error_code::out_of_memory, "sampling: too many draws");
        // Doubles the capacity each time; reserve() alone would be exact.
        if (draws_.size() == draws_.capacity()) draws_.reserve(std::max<std::size_t>(32, 2 * draws_.size()));
        if (index_[place_of(d, odds)] != 0) {
            draws_.push_back(odds);
            return false;
        }
        if (members_.size() == members_.capacity()) members_.reserve(std::max<std::size_t>(32, 2 * members_.size()));
        if (2 * (members_.size() + 1) > index_.size()) grow_index();
        const std::size_t at = place_of(d, odds);
        members_.push_back({d, static_cast<std::uint32_t>(draws_.size())});
        draws_.push_back(odds);
        index_[at] = static_cast<std::uint32_t>(members_.size());
        return true;
    });
}

void daisy_sampler::clear() noexcept {
    std::vector<key_odds>{}.swap(draws_);
    std::vector<member>{}.swap(members_);
    index_.resize(least_index);  // no longer than before: nothing is allocated
    std::ranges::fill(index_, 0u);
    index_.shrink_to_fit();
    asks_.store(0, std::memory_order_relaxed);
}

void daisy_sampler::ask(const key_odds& odds) const noexcept {
    // Checked first, so that the counter cannot wrap.
    if (asks_.load(std::memory_order_relaxed) >= most_asked_) return;
    const std::uint64_t mine = asks_.fetch_add(1, std::memory_order_relaxed);
    if (mine < most_asked_) asked_[mine] = odds;
}

std::span<const key_odds> daisy_sampler::asked() const noexcept {
    return {asked_.get(), std::min(asks_.load(std::memory_order_relaxed), most_asked_)};
}

std::uint64_t daisy_sampler::memory_bytes() const noexcept {
    return sizeof *this + draws_.capacity() * sizeof(key_odds) + members_.capacity() * sizeof(member) +
           index_.capacity() * sizeof(std::uint32_t) + most_asked_ * sizeof(key_odds);
}

result<daisy_plan> daisy_sampler::plan(const daisy_terms& terms, bool tuned) const noexcept {
    constexpr key_odds in_full{.stored = 0, .asked = 1};
    const std::span<const key_odds> queries = asked().empty() ? std::span{&in_full, 1} : asked();
    const auto plan_for = [&](const daisy_terms& at) { return plan_from_samples(at, draws_, queries); };
    if (!tuned) return plan_for(terms);
    // If the wanted rate cannot be reached, the proved one is used.
    auto fitted = plan_tuned(terms, plan_for);
    return fitted ? fitted : plan_for(terms);
}

}  // namespace genista
