// remote_surface: the calls with R, for every type of R and of key. They are written once, so that
// all filters that learn have the same ones (filter.hpp).
//
//     learning_calls, erasing_calls      the calls with a plain key, from those with a hashed_key
//     sourced_surface, erasing_surface   all of them, from a body that is compiled once for all R
//
// Remote is a policy: takes<R> says which types are an R for this filter; source<R>, made from an
// R&, is R as the body sees it.
#pragma once

#include <cassert>

#include "genista/filters/filter.hpp"
#include "genista/remote/remote.hpp"

namespace genista {

template <class R, class Remote>
concept taken_by = Remote::template takes<R>;

struct any_remote_map {
    template <class R>
    static constexpr bool takes = remote_map<R>;
};

// Derived has hash(), and insert and adapt of a const hashed_key&.
template <class Derived, class Remote>
class learning_calls {
  public:
    template <taken_by<Remote> R>
    [[nodiscard]] result<insert_outcome> insert(key_view key, R& remote) noexcept {
        return self().insert(hashed_key{self().hash(), key}, remote);
    }
    template <taken_by<Remote> R>
    [[nodiscard]] result<insert_outcome> insert(integer_key key, R& remote) noexcept {
        return self().insert(hashed_key{self().hash(), key}, remote);
    }
    template <taken_by<Remote> R>
    [[nodiscard]] result<adapt_outcome> adapt(key_view key, R& remote) noexcept {
        return self().adapt(hashed_key{self().hash(), key}, remote);
    }
    template <taken_by<Remote> R>
    [[nodiscard]] result<adapt_outcome> adapt(integer_key key, R& remote) noexcept {
        return self().adapt(hashed_key{self().hash(), key}, remote);
    }

  protected:
    learning_calls() = default;

  private:
    [[nodiscard]] Derived& self() noexcept { return static_cast<Derived&>(*this); }
};

// Derived has hash(), and erase and forget of a const hashed_key&.
template <class Derived, class Remote>
class erasing_calls {
  public:
    template <taken_by<Remote> R>
    [[nodiscard]] result<erase_outcome> erase(key_view key, R& remote) noexcept {
        return self().erase(hashed_key{self().hash(), key}, remote);
    }
    template <taken_by<Remote> R>
    [[nodiscard]] result<erase_outcome> erase(integer_key key, R& remote) noexcept {
        return self().erase(hashed_key{self().hash(), key}, remote);
    }
    template <taken_by<Remote> R>
    [[nodiscard]] result<erase_outcome> forget(key_view key, R& remote) noexcept {
        return self().forget(hashed_key{self().hash(), key}, remote);
    }
    template <taken_by<Remote> R>
    [[nodiscard]] result<erase_outcome> forget(integer_key key, R& remote) noexcept {
        return self().forget(hashed_key{self().hash(), key}, remote);
    }

  protected:
    erasing_calls() = default;

  private:
    [[nodiscard]] Derived& self() noexcept { return static_cast<Derived&>(*this); }
};

// Derived has hash() and body(), whose calls take a hashed_key and a source. Its own header says
// what they promise beyond this. Options is what it is made from.
template <class Derived, class Options, class Remote>
class sourced_surface : public learning_calls<Derived, Remote> {
  public:
    using sourced = sourced_surface;
    using learning_calls<Derived, Remote>::insert;
    using learning_calls<Derived, Remote>::adapt;

    // REQUIRES: R holds the key (the store commits first). `full` beyond the capacity.
    template <taken_by<Remote> R>
    [[nodiscard]] result<insert_outcome> insert(const hashed_key& key, R& remote) noexcept {
        assert(key.is_of(filter().hash()));
        typename Remote::template source<R> source{remote};
        return filter().body().insert(key, source);
    }
    // Learns that the answer "maybe" for this key was a false positive.
    template <taken_by<Remote> R>
    [[nodiscard]] result<adapt_outcome> adapt(const hashed_key& key, R& remote) noexcept {
        assert(key.is_of(filter().hash()));
        typename Remote::template source<R> source{remote};
        return filter().body().adapt(key, source);
    }
    // Inserts all keys of R again under new hash functions, and rebuilds what R keeps for the
    // filter; what was learnt is lost. Needed after loading, before the first change.
    template <taken_by<Remote> R>
    [[nodiscard]] result<void> rebuild(R& remote) noexcept {
        typename Remote::template source<R> source{remote};
        return filter().body().rebuild(source);
    }
    // Checks that every stored key is answered "maybe", and that filter and R agree. REQUIRES: no
    // thread writes meanwhile.
    template <taken_by<Remote> R>
    [[nodiscard]] result<void> audit(R& remote) const noexcept {
        typename Remote::template source<R> source{remote};
        return filter().body().audit(source);
    }
    // A filter of all keys in R.
    template <taken_by<Remote> R>
    [[nodiscard]] static result<Derived> build(const Options& options, R& remote) noexcept {
        auto made = Derived::make(options);
        if (!made) return made;
        if (const auto done = made->rebuild(remote); !done) return done.error();
        return made;
    }

  protected:
    sourced_surface() = default;
    [[nodiscard]] Derived& filter() noexcept { return static_cast<Derived&>(*this); }
    [[nodiscard]] const Derived& filter() const noexcept { return static_cast<const Derived&>(*this); }
};

template <class Derived, class Options, class Remote>
class erasing_surface : public sourced_surface<Derived, Options, Remote>, public erasing_calls<Derived, Remote> {
  public:
    using erasing_calls<Derived, Remote>::erase;
    using erasing_calls<Derived, Remote>::forget;

    // Takes the key out of R's records, then out of the filter and of what R keeps for it. For an
    // absent key it returns `absent` and changes nothing.
    template <taken_by<Remote> R>
    [[nodiscard]] result<erase_outcome> erase(const hashed_key& key, R& remote) noexcept {
        assert(key.is_of(this->filter().hash()));
        typename Remote::template source<R> source{remote};
        return this->filter().body().erase(key, source);
    }
    // The second half of an erase, for a store that has already committed it. `absent`: the filter
    // did not have the key, or R has it again.
    template <taken_by<Remote> R>
    [[nodiscard]] result<erase_outcome> forget(const hashed_key& key, R& remote) noexcept {
        assert(key.is_of(this->filter().hash()));
        typename Remote::template source<R> source{remote};
        return this->filter().body().forget(key, source);
    }

  protected:
    erasing_surface() = default;
};

}  // namespace genista
