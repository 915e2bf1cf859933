// index_surface: the calls with R of the filters with an index (remote/indexed.hpp), for any type
// of R and of key, from a few functions that are compiled once. plain_surface.hpp has the look-ups.
//
// Derived provides hash(), insert_from, adapt_from, rebuild_from and audit_from; the erasing
// surface needs erase_from and forget_from as well. Derived's own header says what they promise
// beyond this. Options is what it is made from, Source the calls that it makes (index_source.hpp).
#pragma once

#include <cassert>
#include <cstdint>

#include "genista/detail/filters/index_source.hpp"
#include "genista/filters/filter.hpp"

namespace genista {

template <class Derived, class Options, class Source = index_source>
class index_surface {
  public:
    // REQUIRES: R holds the key (the store commits first). `full` beyond the capacity.
    template <index_for<Source> R>
    [[nodiscard]] result<insert_outcome> insert(const hashed_key& key, R& remote) noexcept {
        assert(key.is_of(self().hash()));
        typename Source::template over<R> source{remote};
        return self().insert_from(key, source);
    }
    template <index_for<Source> R>
    [[nodiscard]] result<insert_outcome> insert(key_view key, R& remote) noexcept {
        return insert(hashed_key{self().hash(), key}, remote);
    }
    template <index_for<Source> R>
    [[nodiscard]] result<insert_outcome> insert(integer_key key, R& remote) noexcept {
        return insert(hashed_key{self().hash(), key}, remote);
    }
    // Learns that the answer "maybe" for this key was a false positive.
    template <index_for<Source> R>
    [[nodiscard]] result<adapt_outcome> adapt(const hashed_key& key, R& remote) noexcept {
        assert(key.is_of(self().hash()));
        typename Source::template over<R> source{remote};
        return self().adapt_from(key, source);
    }
    template <index_for<Source> R>
    [[nodiscard]] result<adapt_outcome> adapt(key_view key, R& remote) noexcept {
        return adapt(hashed_key{self().hash(), key}, remote);
    }
    template <index_for<Source> R>
    [[nodiscard]] result<adapt_outcome> adapt(integer_key key, R& remote) noexcept {
        return adapt(hashed_key{self().hash(), key}, remote);
    }
    // Inserts all keys of R again under new hash functions and rebuilds the index. Needed after
    // loading, before the first change.
    template <index_for<Source> R>
    [[nodiscard]] result<void> rebuild(R& remote) noexcept {
        typename Source::template over<R> source{remote};
        return self().rebuild_from(source);
    }
    // Checks that every stored key is answered "maybe", and that index and filter agree. REQUIRES:
    // no thread writes meanwhile.
    template <index_for<Source> R>
    [[nodiscard]] result<void> audit(R& remote) const noexcept {
        typename Source::template over<R> source{remote};
        return static_cast<const Derived&>(*this).audit_from(source);
    }
    // A filter of all keys in R.
    template <index_for<Source> R>
    [[nodiscard]] static result<Derived> build(const Options& options, R& remote) noexcept {
        auto made = Derived::make(options);
        if (!made) return made;
        if (const auto done = made->rebuild(remote); !done) return done.error();
        return made;
    }

  private:
    friend Derived;
    template <class, class, class>
    friend class erasing_index_surface;
    index_surface() = default;
    [[nodiscard]] Derived& self() noexcept { return static_cast<Derived&>(*this); }
};

template <class Derived, class Options, class Source = index_source>
class erasing_index_surface : public index_surface<Derived, Options, Source> {
  public:
    // Takes the key out of R's records, then out of index and filter. For an absent key it returns
    // `absent` and changes nothing.
    template <index_for<Source> R>
    [[nodiscard]] result<erase_outcome> erase(const hashed_key& key, R& remote) noexcept {
        assert(key.is_of(this->self().hash()));
        typename Source::template over<R> source{remote};
        return this->self().erase_from(key, source);
    }
    template <index_for<Source> R>
    [[nodiscard]] result<erase_outcome> erase(key_view key, R& remote) noexcept {
        return erase(hashed_key{this->self().hash(), key}, remote);
    }
    template <index_for<Source> R>
    [[nodiscard]] result<erase_outcome> erase(integer_key key, R& remote) noexcept {
        return erase(hashed_key{this->self().hash(), key}, remote);
    }
    // The second half of an erase, for a store that has already committed it. `absent`: the filter
    // did not have the key, or R has it again.
    template <index_for<Source> R>
    [[nodiscard]] result<erase_outcome> forget(const hashed_key& key, R& remote) noexcept {
        assert(key.is_of(this->self().hash()));
        typename Source::template over<R> source{remote};
        return this->self().forget_from(key, source);
    }
    template <index_for<Source> R>
    [[nodiscard]] result<erase_outcome> forget(key_view key, R& remote) noexcept {
        return forget(hashed_key{this->self().hash(), key}, remote);
    }
    template <index_for<Source> R>
    [[nodiscard]] result<erase_outcome> forget(integer_key key, R& remote) noexcept {
        return forget(hashed_key{this->self().hash(), key}, remote);
    }

  private:
    friend Derived;
    erasing_index_surface() = default;
};

}  // namespace genista
