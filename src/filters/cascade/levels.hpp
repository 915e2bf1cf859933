// levels: the cascade itself, over any single-hash set: LOOKUP, INSERT and FIX of [broom17 §5, Fig.
// 1 and "Extending to other AMQs"], without R.
//
//     h_0(x) dead? ──yes──▶ h_1(x) dead? ──yes──▶ …      each level has its own hash function
//         │ no                  │ no
//     stored: present       stored: present
//     absent: absent        absent: absent
//
//   I1  A key lies in the first level where its value is not dead, its *place*. There its value is
//       stored.
//   I2  A value is stored if and only if some key has its place there. Dead values stay dead until
//       all hash functions are new.
//   I3  The last level has no dead values.
//   I4  At most plan.keys keys have come to a level beyond the first.
//   I5  A level counts at least as many residents as it has stored values. Keys may leave that were
//       never counted (core.cpp, keys in doubt), and a stored value keeps one that was.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "filters/broom/derive_key.hpp"
#include "filters/cascade/single_hash_set.hpp"
#include "filters/common.hpp"
#include "genista/hash/hasher.hpp"

namespace genista::cascade {

// One AES block under a key of this use alone: a new salt is a new hash function.
class hash_functions {
  public:
    explicit hash_functions(const hasher& hash) noexcept : cipher_{broom::labelled_key(hash.key(), "cascade key")} {}

    [[nodiscard]] std::uint64_t operator()(const digest& d, std::uint64_t salt, std::uint64_t values) const noexcept {
        return scale(cipher_.encrypt(d.seed, d.position ^ salt).position, values);
    }

  private:
    hasher cipher_;
};

// The level and the value that answer a digest.
struct place {
    unsigned level = 0;
    std::uint64_t value = 0;
    value_state state = value_state::absent;  // never dead

    friend bool operator==(const place&, const place&) = default;
};

template <single_hash_set Set>
class levels {
  public:
    struct level {
        level_plan plan{};
        Set set;
        std::uint64_t salt = 0;
        std::uint64_t residents = 0;  // keys whose place is here
    };

    // With new hash functions. May throw std::bad_alloc, as every function below that is not
    // noexcept.
    [[nodiscard]] static result<levels> make(const design& sizes, const hasher& hash, std::uint64_t& salts) {
        std::vector<level> made;
        made.reserve(sizes.count);
        for (unsigned i = 0; i < sizes.count; ++i) {
            auto set = Set::make(sizes.levels[i]);
            if (!set) return set.error();
            made.push_back({.plan = sizes.levels[i], .set = *std::move(set), .salt = next_salt(salts), .residents = 0});
        }
        return levels{std::move(made), hash};
    }
    levels(std::vector<level> all, const hasher& hash) noexcept : functions_{hash}, all_{std::move(all)} {
        assert(!all_.empty());
    }

    // LOOKUP(x, 0).
    [[nodiscard]] place find(const digest& d) const noexcept { return find_from(0, d); }
    [[nodiscard]] bool contains(const digest& d) const noexcept { return find(d).state == value_state::stored; }
    [[nodiscard]] std::uint64_t value(unsigned i, const digest& d) const noexcept {
        return functions_(d, all_[i].salt, all_[i].plan.values());
    }

    // Inserts a key at its place. REQUIRES: the key is not stored. False: no room, and nothing has
    // changed.
    [[nodiscard]] bool insert(const place& at) {
        if (!admits(0, {&at, 1})) return false;
        level& to = all_[at.level];
        if (at.state == value_state::absent && !to.set.insert(at.value)) return false;
        ++to.residents;
        return true;
    }
    // Removes a key from its place; the last key of the place removes the value.
    void leave(const place& at, bool is_last) noexcept {
        level& from = all_[at.level];
        if (is_last) from.set.erase(at.value);
        if (from.residents > from.set.stored()) --from.residents;  // else the key was not counted [I5]
    }

    // FIX: a value dies, and its keys, which are all of `keys`, move to the next level. False: no
    // room (or it is the last level), and nothing has changed.
    [[nodiscard]] bool kill(const place& at, std::span<const digest> keys) {
        if (at.level + 1 >= all_.size()) return false;
        std::vector<place> to;
        to.reserve(keys.size());
        for (const digest& d : keys) to.push_back(find_from(at.level + 1, d));
        if (!admits(at.level + 1, to)) return false;
        std::vector<place> came;  // the places of moved keys; undone unless all keys find room
        came.reserve(to.size());
        const auto give_up = [&]() noexcept {
            for (; !came.empty(); came.pop_back()) all_[came.back().level].set.erase(came.back().value);
            return false;
        };
        try {
            for (const place& each : to) {
                Set& set = all_[each.level].set;
                if (set.look(each.value) == value_state::stored) continue;  // two of the keys may share this value, too
                if (!set.insert(each.value)) return give_up();
                came.push_back(each);
            }
            if (!all_[at.level].set.kill(at.value)) return give_up();
        } catch (...) {
            give_up();
            throw;
        }
        level& from = all_[at.level];
        from.residents = std::max(from.residents - std::min<std::uint64_t>(from.residents, to.size()),
                                  from.set.stored());  // some of them may not have been counted [I5]
        for (const place& each : to) ++all_[each.level].residents;
        return true;
    }
    // The place of a key of this level if its value here were dead.
    [[nodiscard]] place find_from(unsigned first, const digest& d) const noexcept {
        const auto last = static_cast<unsigned>(all_.size()) - 1;
        for (unsigned i = first;; ++i) {
            const std::uint64_t here = value(i, d);
            const value_state state = all_[i].set.look(here);
            if (state != value_state::dead) return {i, here, state};
            if (i == last) return {i, here, value_state::stored};  // contradicts I3: the safe answer
        }
    }

    // n_i: the keys that have come to a level, including those that moved on.
    [[nodiscard]] std::uint64_t come_to(unsigned i) const noexcept {
        std::uint64_t sum = 0;
        for (; i < all_.size(); ++i) sum += all_[i].residents;
        return sum;
    }
    [[nodiscard]] std::uint64_t keys() const noexcept { return come_to(0); }
    [[nodiscard]] std::span<const level> all() const noexcept { return all_; }
    [[nodiscard]] std::uint64_t allocated_bytes() const noexcept {
        std::uint64_t sum = sizeof(levels) + all_.capacity() * sizeof(level);
        for (const level& each : all_) sum += each.set.allocated_bytes();
        return sum;
    }

  private:
    // May these keys come from level `first` on? [broom17 §5: "if this is violated, we rebuild"]
    [[nodiscard]] bool admits(unsigned first, std::span<const place> coming) const noexcept {
        for (unsigned i = first; i < all_.size(); ++i) {
            std::uint64_t more = 0;
            for (const place& each : coming) more += each.level >= i ? 1u : 0u;
            if (more != 0 && come_to(i) + more > all_[i].plan.keys) return false;
        }
        return true;
    }

    hash_functions functions_;
    std::vector<level> all_;
};

}  // namespace genista::cascade
