// The records of the index and REVLOOKUP [broom18 §4.1]. See core.hpp.
//
// What R says is checked against the hash of the key, computed anew. A reverse record that stands at another place than its key's
// hash names nobody. An order record that does is an error: whoever it hides would be left behind by the frontier.
#include <algorithm>
#include <new>
#include <string_view>
#include <tuple>

#include "filters/broom_paper/core.hpp"
#include "filters/index_read.hpp"

namespace genista::broom_paper {
namespace {

constexpr std::uint64_t most_position = ~std::uint64_t{0};

}  // namespace

std::optional<core::ghost_mark> core::mark_in(const digest& place) noexcept {
    const auto length = static_cast<std::uint32_t>(place.seed);
    if (place.seed >> 33 != 0 || length > most_adaptivity_bits) return std::nullopt;
    return ghost_mark{(place.seed >> 32 & 1) != 0, length};
}

whole_hash core::hash_in(const state& in, where which, const element& e) const noexcept {
    const generation& mine = in.of(e);
    return functions_(e.d, which == where::second ? mine.second_salt : mine.primary_salt);
}

result<core::resident> core::owner_of(const state& in, where which, const level::place& at, index_source& remote) {
    const level& from = level_of(in, which);
    const std::uint64_t baseline = from.baseline_of(at);
    const position_range hashes = range_of_bin(baseline, from.baselines());
    std::optional<resident> found;
    bool several = false, starved = false;
    ++remote_reads_;
    const auto read = remote.each(
        {hashes.first >> 1, hashes.last >> 1}, guarded(starved, [&](const digest& place, key_view key) {
            const element e = element_of(key);
            const whole_hash h = hash_in(in, which, e);
            if (reverse_place(h) != place || from.baseline(h) != baseline || !at.bits.is_prefix_of(h.second))
                return true;
            if (!found) found = resident{std::string{key.text()}, e, h};
            several = several || found->h != h;
            return !several;
        }));
    if (starved) throw std::bad_alloc{};
    if (!read) return read.error();
    if (!found || several)
        return error::make(error_code::corrupt,
                           "broom_paper: the index names %s for the fingerprint %llu, allowed is one",
                           several ? "several keys" : "no key", static_cast<unsigned long long>(baseline));
    return *std::move(found);
}

// `enough` records behind `beyond`, and whatever stands at the position of the last one; in the order of digests. With `enough` 0
// those of one position.
result<std::vector<core::order_record>> core::order_records(std::uint64_t first_position, std::size_t enough,
                                                            const element* beyond, index_source& remote) {
    const position_range asked{first_position, enough == 0 ? first_position : most_position};
    std::vector<order_record> found;
    bool starved = false, fits = true;
    digest last{};
    ++remote_reads_;
    const auto read = remote.each(
        asked, guarded(starved, [&](const digest& place, key_view key) {
            if (enough != 0 && found.size() >= enough && order_position(found.back().e) != place.position) return false;
            const element e = element_of(key);
            const auto mark = mark_in(place);
            fits = mark && asked.contains(place.position) && place >= last && order_position(e) == place.position;
            last = place;
            if (fits && (!beyond || e > *beyond)) found.push_back({std::string{key.text()}, e, *mark});
            return fits;
        }));
    if (starved) throw std::bad_alloc{};
    if (!read) return read.error();
    if (!fits)
        return error::make(error_code::corrupt,
                           "broom_paper: the index gave a record that does not belong where it stands");
    const auto key_of = [](const order_record& each) {
        return std::tuple{each.e, each.ghost.length, each.ghost.in_second, std::string_view{each.key}};
    };
    std::ranges::sort(found, {}, key_of);
    // A record that R gave twice is one.
    found.erase(std::unique(found.begin(), found.end(),
                            [&](const order_record& a, const order_record& b) { return key_of(a) == key_of(b); }),
                found.end());
    return found;
}

result<std::vector<core::order_record>> core::records_of(const element& e, index_source& remote) {
    auto all = order_records(order_position(e), 0, nullptr, remote);
    if (all) std::erase_if(*all, [&](const order_record& each) { return each.e != e; });
    return all;
}

result<bool> core::is_resident(const element& e, key_view key, index_source& remote) {
    const auto all = records_of(e, remote);
    if (!all) return all.error();
    return std::ranges::any_of(*all,
                               [&](const order_record& each) { return each.is_resident() && each.key == key.text(); });
}

// is_other(element, key): of those whose hash in this level is the same.
template <class Other>
result<bool> core::any_sharing(const state& in, const element& e, where which, index_source& remote, Other is_other) {
    if (in.keys == in.fingerprints()) return false;
    const whole_hash mine = hash_in(in, which, e);
    const digest place = reverse_place(mine);
    bool found = false;
    ++remote_reads_;
    const auto read = remote.each({place.position, place.position}, [&](const digest& at, key_view key) {
        const element other = element_of(key);
        found = at == place && hash_in(in, which, other) == mine && is_other(other, key);
        return !found;
    });
    if (!read) return read.error();
    return found;
}

result<bool> core::is_shared(const state& in, const element& e, where lies, key_view key, index_source& remote) {
    return any_sharing(in, e, lies, remote, [&](const element&, key_view other) { return other.text() != key.text(); });
}

result<bool> core::stays_behind(const state& in, const element& e, where lies, index_source& remote) {
    return any_sharing(in, e, lies, remote, [&](const element& other, key_view) { return other != e; });
}

}  // namespace genista::broom_paper
