// whitelist_filter: the implementation behind its header.
#include "papers/whitelist.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "filters/common.hpp"
#include "genista/filters/bloom.hpp"
#include "papers/whitelist/digest_list.hpp"

namespace genista {
namespace {

constexpr double rate_exponent = 2;  // the paper's c > 1

result<void> check_whitelist(std::uint64_t capacity, double rate, unsigned universe_bits) noexcept {
    const filter_options common{capacity, rate, std::nullopt};
    const auto checked = check_options(whitelist_filter::name, common, bloom_filter::min_false_positive_rate);
    if (!checked) return checked.error();
    if (universe_bits < whitelist_filter::min_universe_bits || universe_bits > whitelist_filter::max_universe_bits)
        return error::make(error_code::invalid_argument, "whitelist: universe of %u bits, allowed are %u to %u",
                           universe_bits, whitelist_filter::min_universe_bits, whitelist_filter::max_universe_bits);
    if (universe_bits < 64 && capacity > std::uint64_t{1} << universe_bits)
        return error::make(error_code::invalid_argument,
                           "whitelist: capacity %llu, allowed are 1 to %llu in a universe of %u bits",
                           static_cast<unsigned long long>(capacity),
                           static_cast<unsigned long long>(std::uint64_t{1} << universe_bits), universe_bits);
    return {};
}

}  // namespace

struct whitelist_filter::core {
    core(bloom_filter made, double asked, unsigned universe) noexcept
        : bloom{std::move(made)}, rate{asked}, universe_bits{universe} {}

    bloom_filter bloom;
    digest_list list;
    const double rate;  // the rate of the options
    const unsigned universe_bits;
    std::uint64_t keys = 0, adapts = 0, remote_reads = 0;

    [[nodiscard]] bool contains(const digest& d) const noexcept { return bloom.may_contain(d) && !list.contains(d); }
};

whitelist_filter::whitelist_filter(std::unique_ptr<core> made) noexcept : core_{std::move(made)} {}
whitelist_filter::whitelist_filter(whitelist_filter&&) noexcept = default;
whitelist_filter& whitelist_filter::operator=(whitelist_filter&&) noexcept = default;
whitelist_filter::~whitelist_filter() = default;

// [Lemma 28]: a list of n log log u / log u entries of log u bits each is as large as the Bloom
// filter that makes at most that many false positives. If log n is O(log log u), for which we take
// 1 as the constant, a Bloom filter without any false positive is smaller.
double whitelist_filter::bloom_rate(std::uint64_t capacity, double rate, unsigned universe_bits) noexcept {
    const double log_u = universe_bits;
    const double fitting =
        capacity <= universe_bits ? std::pow(static_cast<double>(capacity), -rate_exponent) : std::log2(log_u) / log_u;
    return std::min(rate, fitting);
}

result<std::uint64_t> whitelist_filter::bits_for(std::uint64_t capacity, double rate, unsigned universe_bits) noexcept {
    if (const auto checked = check_whitelist(capacity, rate, universe_bits); !checked) return checked.error();
    return bloom_filter::bits_for(capacity, bloom_rate(capacity, rate, universe_bits));
}

std::uint64_t whitelist_filter::list_bits_for(std::uint64_t entries) noexcept {
    return 8 * digest_list::bytes_for(entries);
}

result<whitelist_filter> whitelist_filter::make(const whitelist_options& options) noexcept {
    const double asked = options.false_positive_rate;
    if (const auto checked = check_whitelist(options.capacity, asked, options.universe_bits); !checked)
        return checked.error();
    auto bloom = bloom_filter::make(
        {options.capacity, bloom_rate(options.capacity, asked, options.universe_bits), options.hash});
    if (!bloom) return bloom.error();
    return without_throwing(name, [&]() -> result<whitelist_filter> {
        return whitelist_filter{std::make_unique<core>(*std::move(bloom), asked, options.universe_bits)};
    });
}

bool whitelist_filter::contains(const digest& d) const noexcept {
    return core_->contains(d);
}

insert_outcome whitelist_filter::insert(const digest& d) noexcept {
    const bool was_listed = core_->list.erase(d);
    const bool is_new = core_->bloom.insert(d) == insert_outcome::inserted;
    if (!was_listed && !is_new) return insert_outcome::already_present;
    ++core_->keys;
    return insert_outcome::inserted;
}

result<adapt_outcome> whitelist_filter::adapt_from(const digest& d, digest_source& source) noexcept {
    if (!core_->contains(d)) return adapt_outcome::was_negative;
    ++core_->remote_reads;
    const auto is_member = source.holds(d);
    if (!is_member) return is_member.error();
    if (*is_member) return adapt_outcome::true_positive;
    const auto listed = core_->list.insert(d);
    if (!listed) return listed.error();
    if (!*listed) return adapt_outcome::unfixed;
    ++core_->adapts;
    return adapt_outcome::fixed;
}

double whitelist_filter::rate() const noexcept {
    return details().bloom_rate;
}

filter_stats whitelist_filter::stats() const noexcept {
    const filter_stats bloom = core_->bloom.stats();
    filter_stats now;
    now.keys = core_->keys;
    now.capacity = bloom.capacity;
    now.false_positive_rate = core_->rate;
    now.adaptive_bytes = core_->list.allocated_bytes();
    now.local_bytes =
        bloom.local_bytes - sizeof(bloom_filter) + sizeof(core) + sizeof(whitelist_filter) + now.adaptive_bytes;
    now.adapts = core_->adapts;
    now.remote_reads = core_->remote_reads;
    return now;
}

whitelist_details whitelist_filter::details() const noexcept {
    const filter_stats bloom = core_->bloom.stats();
    return {.bloom_rate = bloom.false_positive_rate,
            .universe_bits = core_->universe_bits,
            .list_entries = core_->list.size(),
            .list_bytes = core_->list.allocated_bytes(),
            .bloom_bytes = bloom.local_bytes - sizeof(bloom_filter)};
}

const hasher& whitelist_filter::hash() const noexcept {
    return core_->bloom.hash();
}

}  // namespace genista
