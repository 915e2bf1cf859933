// whitelist_filter: a Bloom filter and a list of its false positives, the simplest way to adapt
// without help [broom18 §6, Lemma 28].
//
//     look-up    maybe  =  Bloom filter says maybe  and  the digest is not on the list
//     list       the digests of all false positives found so far, whole: O(log u) bits each
//                (whitelist/digest_list.hpp)
//
// It is here to show a bound. A filter that only learns "that was a false positive" needs about n
// log log u bits or n log n, whichever is less, to keep a rate against an adversary [Thm 5]; this
// one needs that many for O(n) queries, because its Bloom filter is better than the wanted rate:
//
//     rate of the Bloom filter  =  min(ε, log log u / log u)
//     where n ≤ log u, so that log n is the smaller one:  min(ε, n^-2)
//
// so that O(n) queries add at most O(n log log u / log u) entries to the list. **The list grows
// with every false positive, for ever**: with q queries of new absent keys it has about q times
// that rate. Take broom.hpp for work: it learns which stored key an absent key collided with, and
// needs no list.
//
//   I1  No false negative: may_contain(x) is true from the moment insert(x) returned, as long as R
//       holds x, even if R fails.
//   I2  A call that reports an error has changed nothing.
//   I3  When a key was put on the list, R held neither it nor a key with the same digest.
//
// **Why I1 holds.** A store commits x to R before it calls insert(x), and insert removes x from the
// list; adapt(x) reads R before it lists x. R is asked for the digest and not for the key alone:
// two keys may share one (`trusted` hash), and listing one of them would deny the other.
//
// **R is the truth.** If R denies a key that it holds (a replica that lags behind), the key is
// listed and denied, as R denied it; a filter that learns one bit has nothing to check it against.
// Another insert(x) removes it from the list. Errors, and records that do not belong where R
// returned them, add nothing to the list.
//
// That one bit is all that it learns from R, and a store's own look-up has found it out already:
// this is a *local* filter in the sense of the paper, and the read is there for keys with one
// digest. There is no erase, as for any Bloom filter: a key that has left R is a false positive,
// and is listed when it is queried.
//
// One thread at a time, but queries may run beside each other: there are no locks, and an insert
// between the read of an adapt and its entry would be lost. It has no snapshots; build() makes the
// filter again from R, with an empty list.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string_view>

#include "genista/detail/filters/plain_surface.hpp"
#include "genista/detail/filters/remote_surface.hpp"
#include "genista/filters/filter.hpp"
#include "genista/remote/remote.hpp"

namespace genista {

struct whitelist_options {
    std::uint64_t capacity = 1'000'000;
    double false_positive_rate = 1.0 / 256;
    std::optional<hasher> hash = std::nullopt;  // none: keyed, with a random key of the filter's own
    unsigned universe_bits = 64;                // log u, from 2 to 65,536: u is the number of possible keys
};

struct whitelist_details {
    double bloom_rate = 0;  // of the Bloom filter, for up to `capacity` keys
    unsigned universe_bits = 0;
    std::uint64_t list_entries = 0;
    std::uint64_t list_bytes = 0, bloom_bytes = 0;
};

// What a whitelist reads of R, without the type of R. What R returns is checked: a record that is
// not where its key belongs is an error.
class digest_source {
  public:
    // Does R hold a key with this digest? One read of one position.
    virtual result<bool> holds(const digest& d) noexcept = 0;

  protected:
    ~digest_source() = default;
};

template <remote_map R>
class remote_digests final : public digest_source {
  public:
    remote_digests(R& remote, const hasher& hash) noexcept : remote_{remote}, hash_{hash} {}

    result<bool> holds(const digest& d) noexcept override {
        bool held = false;
        const auto done = each({d.position, d.position}, [&](const digest& where) {
            held = where == d;
            return !held;
        });
        if (!done) return done.error();
        return held;
    }
    // Calls take(digest) for each record; false stops. An exception of R (a caller's map) becomes
    // an error.
    template <class Take>
    result<void> each(position_range range, Take take) noexcept {
        bool lied = false;
        try {
            const result<void> done = remote_.for_each(range.first, range.last, [&](const digest& where, key_view key) {
                lied = !range.contains(where.position) || hash_(key) != where;
                return !lied && take(where);
            });
            if (lied)
                return error::make(error_code::corrupt,
                                   "whitelist: the remote map gave a record that does not belong to the range read");
            return done;
        } catch (const std::bad_alloc&) {
            return error::make(error_code::out_of_memory, "whitelist: R has no memory");
        } catch (const std::exception& thrown) {
            return error::make(error_code::io, "whitelist: R threw: %s", thrown.what());
        } catch (...) {
            return error::make(error_code::io, "whitelist: R threw");
        }
    }

  private:
    R& remote_;
    const hasher& hash_;
};

class whitelist_filter : public plain_surface<whitelist_filter>,
                         public learning_calls<whitelist_filter, any_remote_map> {
  public:
    static constexpr std::string_view name = "whitelist";
    static constexpr unsigned min_universe_bits = 2;
    static constexpr unsigned max_universe_bits = 65'536;

    // Allocates the whole Bloom filter; the list begins empty. Keys past the capacity are accepted:
    // the rate then exceeds the promise, slowly, and no key is lost.
    [[nodiscard]] static result<whitelist_filter> make(const whitelist_options& options = {}) noexcept;
    // A filter of everything R holds.
    template <remote_map R>
    [[nodiscard]] static result<whitelist_filter> build(const whitelist_options& options, R& remote) noexcept {
        auto made = make(options);
        if (!made) return made;
        const auto done = remote_digests<R>{remote, made->hash()}.each({}, [&](const digest& d) {
            (void)made->insert(d);
            return true;
        });
        if (!done) return done.error();
        return made;
    }
    whitelist_filter(whitelist_filter&&) noexcept;
    whitelist_filter& operator=(whitelist_filter&&) noexcept;
    ~whitelist_filter();

    // Local, and never `full`. REQUIRES: R holds the key already (the store commits first).
    insert_outcome insert(const digest& d) noexcept;
    insert_outcome insert(key_view key) noexcept { return insert(hash()(key)); }
    insert_outcome insert(integer_key key) noexcept { return insert(hash()(key)); }
    // The same, with the signatures of filters that read R (remote_surface.hpp).
    using learning_calls::adapt;
    using learning_calls::insert;
    template <remote_map R>
    [[nodiscard]] result<insert_outcome> insert(const hashed_key& key, R&) noexcept {
        return insert(key.where());
    }

    // One read of R where the filter says maybe, else none.
    template <remote_map R>
    [[nodiscard]] result<adapt_outcome> adapt(const hashed_key& key, R& remote) noexcept {
        remote_digests<R> source{remote, hash()};
        return adapt_from(key.where(), source);
    }

    // Checks that every key of R is answered "maybe".
    template <remote_map R>
    [[nodiscard]] result<void> audit(R& remote) const noexcept {
        bool denied = false;
        const auto done = remote_digests<R>{remote, hash()}.each({}, [&](const digest& d) {
            denied = !contains(d);
            return !denied;
        });
        if (done && denied) return error::make(error_code::corrupt, "whitelist: a key of R is denied");
        return done;
    }

    [[nodiscard]] double rate() const noexcept;  // the rate kept, at most the one asked for: that of the Bloom filter
    [[nodiscard]] filter_stats stats() const noexcept;
    [[nodiscard]] whitelist_details details() const noexcept;
    [[nodiscard]] const hasher& hash() const noexcept;

    // The rate of the Bloom filter. REQUIRES: make() accepts the options.
    [[nodiscard]] static double bloom_rate(std::uint64_t capacity, double rate, unsigned universe_bits = 64) noexcept;
    // Bits of the Bloom filter, before any adapt; and of a list.
    [[nodiscard]] static result<std::uint64_t> bits_for(std::uint64_t capacity, double rate,
                                                        unsigned universe_bits = 64) noexcept;
    [[nodiscard]] static std::uint64_t list_bits_for(std::uint64_t entries) noexcept;

  private:
    friend plain_surface;
    struct core;
    explicit whitelist_filter(std::unique_ptr<core> made) noexcept;

    [[nodiscard]] bool contains(const digest& d) const noexcept;
    [[nodiscard]] result<adapt_outcome> adapt_from(const digest& d, digest_source& source) noexcept;

    std::unique_ptr<core> core_;
};

}  // namespace genista
