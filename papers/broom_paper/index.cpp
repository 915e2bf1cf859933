// The records of the index and REVLOOKUP [broom18 §4.1]. See core.hpp.
//
// What R returns is checked against a newly computed hash of the key. A reverse record at another
// place than its key's hash is ignored. An order record at a wrong place is an error: the frontier
// would leave the key that it hides behind.
#include <algorithm>
#include <new>
#include <string_view>
#include <tuple>

#include "filters/index_book.hpp"
#include "papers/broom_paper/core.hpp"

namespace genista::broom_paper {
namespace {

constexpr std::uint64_t most_position = ~std::uint64_t{0};

}  // namespace

digest core::order_place(const element& e, const ghost_mark& ghost) noexcept {
    const std::uint64_t mark = ghost.length | std::uint64_t{ghost.in_second} << 7;
    std::uint64_t check = e.d.seed ^ (mark + 1) * 0x9e3779b97f4a7c15u;
    check = (check ^ check >> 32) * 0xd6e8feb86659fd93u;
    return digest{order_position(e), mark | (check ^ check >> 32) << 8};
}

std::optional<core::ghost_mark> core::mark_in(const digest& place, const element& e) noexcept {
    const ghost_mark mark{(place.seed & 128) != 0, static_cast<unsigned>(place.seed & 127)};
    if (mark.length > most_adaptivity_bits || order_place(e, mark) != place) return std::nullopt;
    return mark;
}

whole_hash core::hash_in(const state& in, where which, const element& e) const noexcept {
    const generation& mine = in.of(e);
    return functions_(e.d, which == where::second ? mine.second_salt : mine.primary_salt);
}

// Adds one more key with this hash to `found`.
void core::add_resident(std::optional<resident>& found, key_view key, const element& e, const whole_hash& h) {
    if (!found) found = resident{std::string{key.text()}, e, h};
    found->with.several_keys = found->with.several_keys || key.text() != found->key;
    found->with.several_elements = found->with.several_elements || e != found->e;
}

result<core::resident> core::owner_of(const state& in, where which, const level::place& at, index_source& remote) {
    const level& from = level_of(in, which);
    const std::uint64_t baseline = from.baseline_of(at);
    const position_range hashes = range_of_bin(baseline, from.baselines());
    std::optional<resident> found;
    bool several = false, starved = false;
    ++remote_reads_;
    const auto read = remote.each(
        {hashes.first >> 1, hashes.last >> 1}, never_throwing(starved, [&](const digest& place, key_view key) {
            const element e = element_of(key);
            const whole_hash h = hash_in(in, which, e);
            if (reverse_place(h) != place || from.baseline(h) != baseline || !at.bits.is_prefix_of(h.second))
                return true;
            add_resident(found, key, e, h);
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

// Reads `enough` records behind `beyond`, and all records at the position of the last one; in the
// order of digests. With `enough` 0, the records of one position.
result<std::vector<core::order_record>> core::order_records(std::uint64_t first_position, std::size_t enough,
                                                            const element* beyond, index_source& remote) {
    const position_range asked{first_position, enough == 0 ? first_position : most_position};
    std::vector<order_record> found;
    bool starved = false, fits = true;
    digest last{};
    std::string last_key;
    ++remote_reads_;
    const auto read =
        remote.each(asked, never_throwing(starved, [&](const digest& place, key_view key) {
                        if (enough != 0 && found.size() >= enough && order_position(found.back().e) != place.position)
                            return false;
                        const element e = element_of(key);
                        const auto mark = mark_in(place, e);
                        fits = mark && asked.contains(place.position) && place >= last;
                        if (!fits) return false;
                        // A record that R returns twice counts once: fewer than `enough` must mean
                        // that there are no more.
                        if (place == last && key.text() == last_key) return true;
                        last = place;
                        last_key = key.text();
                        if (!beyond || e > *beyond) found.push_back({last_key, e, *mark});
                        return true;
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

result<std::optional<core::sharing>> core::sharing_of(const state& in, const whole_hash& h, index_source& remote) {
    std::optional<resident> found;
    bool starved = false;
    const digest place = reverse_place(h);
    ++remote_reads_;
    const auto read =
        remote.each({place.position, place.position}, never_throwing(starved, [&](const digest& at, key_view key) {
                        const element e = element_of(key);
                        if (at == place && hash_in(in, where::behind, e) == h) add_resident(found, key, e, h);
                        return true;
                    }));
    if (starved) throw std::bad_alloc{};
    if (!read) return read.error();
    return found ? std::optional{found->with} : std::nullopt;
}

}  // namespace genista::broom_paper
