// asked_with_key: filters that need the key itself, because an oracle does (with_oracle.hpp,
// daisy_broom.hpp). A digest goes with the key, not in its place, so these filters are no
// membership_filter (filter.hpp): nobody can ask them with a digest alone, and load() needs their
// oracle. Whoever asks filters of both kinds, as guard/guard_core.hpp does, looks here.
#pragma once

#include "genista/filters/filter.hpp"

namespace genista {

// `d` is f.hash()(key): the caller has it anyway.
template <class F>
concept asked_with_key = requires(const F& f, key_view key, const digest& d) {
    { f.may_contain(key, d) }
    noexcept->std::same_as<bool>;
};

// The learning half of adaptive_filter, for them.
template <class F, class R>
concept learning_with_key = asked_with_key<F> && requires(F& f, const F& c, key_view key, R& r) {
    { f.insert(key, r) } -> std::same_as<result<insert_outcome>>;
    { f.erase(key, r) } -> std::same_as<result<erase_outcome>>;
    { f.forget(key, r) } -> std::same_as<result<erase_outcome>>;
    { f.adapt(key, r) } -> std::same_as<result<adapt_outcome>>;
    { c.audit(r) } -> std::same_as<result<void>>;
};

}  // namespace genista
