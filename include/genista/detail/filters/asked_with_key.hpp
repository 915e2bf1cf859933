// asked_with_key: filters that need the key itself, because an oracle does (with_oracle.hpp,
// daisy_broom.hpp). They take the digest with the key, as a hashed_key, not instead of it. So these
// filters are no membership_filter (filter.hpp): they cannot answer for a digest alone, and load()
// needs their oracle. Code for filters of both kinds, such as guard/guard_core.hpp, distinguishes
// them by this concept.
#pragma once

#include "genista/filters/filter.hpp"

namespace genista {

template <class F>
concept asked_with_key = requires(const F& f, const hashed_key& key) {
    { f.may_contain(key) }
    noexcept->std::same_as<bool>;
};

// The learning half of adaptive_filter, for these filters.
template <class F, class R>
concept learning_with_key = asked_with_key<F> && requires(F& f, const F& c, const hashed_key& key, R& r) {
    { f.insert(key, r) } -> std::same_as<result<insert_outcome>>;
    { f.erase(key, r) } -> std::same_as<result<erase_outcome>>;
    { f.forget(key, r) } -> std::same_as<result<erase_outcome>>;
    { f.adapt(key, r) } -> std::same_as<result<adapt_outcome>>;
    { c.audit(r) } -> std::same_as<result<void>>;
};

}  // namespace genista
