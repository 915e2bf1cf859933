// Open addressing over numbers. See key_table.hpp.
#include "lab/workloads/key_table.hpp"

#include "genista/hash/key.hpp"

namespace genista::lab {
namespace {

constexpr std::uint64_t low_half = 0xffffffff;

std::uint64_t tag_of(const digest& d) noexcept {
    return d.seed & ~low_half;
}

}  // namespace

std::size_t key_table::slot_of(std::string_view key, const digest& d) const noexcept {
    std::size_t at = scale(d.position, slots_.size());
    while (slots_[at] != 0) {
        const bool same_tag = (slots_[at] & ~low_half) == tag_of(d);
        if (same_tag && (*this)[static_cast<key_number>((slots_[at] & low_half) - 1)] == key) return at;
        at = at + 1 == slots_.size() ? 0 : at + 1;
    }
    return at;
}

std::optional<key_number> key_table::find(std::string_view key) const {
    const std::uint64_t slot = slots_[slot_of(key, hash_(key))];
    if (slot == 0) return std::nullopt;
    return static_cast<key_number>((slot & low_half) - 1);
}

std::optional<key_number> key_table::add(std::string_view key) {
    const digest d = hash_(key);
    std::size_t at = slot_of(key, d);
    if (slots_[at] != 0) return static_cast<key_number>((slots_[at] & low_half) - 1);
    if (size() >= most_keys) return std::nullopt;
    if ((size() + 1) * 3 > slots_.size() * 2) {
        grow();
        at = slot_of(key, d);
    }
    const auto number = static_cast<key_number>(size());
    bytes_.insert(bytes_.end(), key.begin(), key.end());
    offsets_.push_back(bytes_.size());
    slots_[at] = tag_of(d) | (std::uint64_t{number} + 1);
    return number;
}

void key_table::grow() {
    std::vector<std::uint64_t> larger(slots_.size() * 2);
    for (std::size_t number = 0; number < size(); ++number) {
        const digest d = hash_((*this)[static_cast<key_number>(number)]);
        std::size_t at = scale(d.position, larger.size());
        while (larger[at] != 0) at = at + 1 == larger.size() ? 0 : at + 1;
        larger[at] = tag_of(d) | (number + 1);
    }
    slots_ = std::move(larger);
}

}  // namespace genista::lab
