// broom_filter: the filter that learns from its mistakes. Every query of an absent key is a false
// positive with probability at most ε, whatever queries came before it, those of an adversary
// included [broom18, Def. 3]; ordinary filters promise that for one random query only. The filter
// erases and grows, and a look-up reads one cache line.
//
//     bin     one cache line, 48 slots of 14 bits (and a tail beside it for smaller ε); a key's
//             position chooses its bin
//     salt    of a bin: all fingerprints in it depend on it, and a new one renews them all
//     side    of 16 bins: keys that found no room, bits learnt from mistakes, slots of erased keys;
//             empty until needed
//
//   I1  No false negative: may_contain(x) is true from the moment insert(x) returned until erase(x)
//       begins, under threads, growth, failing stores and failing memory.
//   I2  Rate: at most `rate()` for every query, by the epoch law. docs/filters/broom.md has the law
//       and the proof.
//   I3  A call that reports an error has changed nothing in the filter; one that reports `full` has
//       taken no key in or out. (An erase whose commit in R succeeded and that could not finish
//       leaves the key answered "maybe": safe, and adapt() repairs it.)
//
// The remote map R (remote/remote.hpp) holds the truth, ordered by this filter's hash(). The order
// of steps is
//
//     insert   the store commits the key to R first, then filter.insert(key, R), then the caller's
//              acknowledgement
//     erase    filter.erase(key, R) asks R, takes the key out of R, then forgets it
//     query    if may_contain(key): ask the store; if it does not have the key: filter.adapt(key,
//              R)
//
// What it costs remotely: nothing on a negative; one range read (about 45 keys) for an adapt and
// for an erase; one for the at most ε of inserts of new keys that collide. With growth on, an
// insert may also move one bin: one range read more.
//
// Any number of threads may call anything but moving, assigning and destroying. Queries never
// block.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "genista/detail/base/caught.hpp"
#include "genista/detail/base/random_source.hpp"
#include "genista/detail/filters/broom/faults.hpp"
#include "genista/detail/filters/broom/lookup_state.hpp"
#include "genista/detail/filters/broom/range_source.hpp"
#include "genista/detail/filters/kernel_table.hpp"
#include "genista/detail/filters/remote_surface.hpp"
#include "genista/detail/format/snapshot.hpp"
#include "genista/filters/filter.hpp"

namespace GENISTA_BROOM_NAMESPACE {

// What an erase leaves behind (docs/filters/broom.md, "The price under churn").
enum class broom_history : std::uint8_t {
    tombstone,  // a tombstone until the bin is renewed: exact, and cheap to learn with
    renew,      // nothing: every erase renews its bin. Exact; forgets what was learnt sooner
    soft,       // nothing, unless the key had learnt: for callers without an attacker. The rate may creep above ε
};

struct broom_options {
    std::uint64_t capacity = 1'000'000;
    double false_positive_rate = 1.0 / 256;     // 2 % to 1e-7; above 1/256 the filter is better than asked
    std::optional<hasher> hash = std::nullopt;  // none: keyed, with a random key of the filter's own
    // REQUIRES, if true: no filter has ever used the key of `hash`. Look-ups are faster until
    // the filter grows, is rebuilt or has been attacked all over. A key that was used before makes
    // it forget what it owes to old mistakes.
    bool key_is_new = false;
    broom_history history = broom_history::tombstone;
    bool grows = true;  // else `full` when a bin has no room left
    // In bytes of stats().local_bytes. Growth that would pass it does not begin, and inserts that
    // would are `full`. Erases and adapts go on; docs/filters/broom.md, "Memory", has the small
    // print. Not part of a snapshot.
    std::optional<std::uint64_t> memory_limit = std::nullopt;
    random_source random{};  // the operating system's
};

struct broom_details {
    std::uint64_t bins = 0;
    std::uint64_t slots_used = 0;  // tombstones included
    std::uint64_t tombstones = 0;
    std::uint64_t backyard_keys = 0;
    std::uint64_t extended_slots = 0;    // slots with adaptivity bits
    std::uint64_t long_salts = 0;        // bins whose salt has no code (salts.hpp)
    std::uint64_t fullest_backyard = 0;  // of any bin; 64 is the most
    std::uint64_t line_bytes = 0;
    std::uint64_t tail_bytes = 0;
    std::uint64_t side_bytes = 0;   // memory of side blocks, free pieces and handles
    std::uint64_t other_bytes = 0;  // versions, salts, the objects themselves
    std::uint64_t growths = 0;      // completed
    double growth_done = 0;         // share of the bins moved; 0 if no growth is under way
};

// What one look-up touched.
struct broom_trace {
    bool maybe = false;
    bool read_tails = false;
    bool read_side = false;
    unsigned cache_lines = 1;  // of bins, tails and side blocks
};

namespace broom {
class core;
}

class broom_filter : public filter_surface<broom_filter>,
                     public learning_calls<broom_filter, any_remote_map>,
                     public erasing_calls<broom_filter, any_remote_map> {
  public:
    static constexpr std::string_view name = "broom";
    static constexpr double min_false_positive_rate = 0x1p-24;  // 16 tail bits; below 1e-7
    static constexpr double max_rate_served = 0x1p-8;           // what a larger rate is served as

    [[nodiscard]] static result<broom_filter> make(const broom_options& options = {}) noexcept;
    // A filter of everything R holds, in one sequential read of R, or one a thread. Capacity and
    // rate come from the options.
    template <remote_map R>
    [[nodiscard]] static result<broom_filter> build(const broom_options& options, R& remote,
                                                    unsigned threads = 1) noexcept {
        auto made = make(options);
        if (!made) return made;
        if (const auto done = made->rebuild(remote, threads); !done) return done.error();
        return made;
    }
    // A filter of these keys, in any order, some perhaps twice. R must hold them, or will before
    // the first query: it is not read. Takes 16 bytes a key meanwhile.
    [[nodiscard]] static result<broom_filter> build(const broom_options& options, std::span<const std::uint64_t> keys,
                                                    unsigned threads = 1) noexcept;
    [[nodiscard]] static result<broom_filter> build(const broom_options& options, std::span<const key_view> keys,
                                                    unsigned threads = 1) noexcept;

    broom_filter(broom_filter&&) noexcept;
    broom_filter& operator=(broom_filter&&) noexcept;
    ~broom_filter();

    // R holds the key already: the store commits first. `full`: the key is not in the filter; a
    // caller that leaves it in R must not query the filter for it. `already_present`: it has a
    // slot, which it may have taken over from a key that R has just lost. A read of R that fails
    // does not make an insert fail, unless the key's bin has no room left. The error `timeout`, of
    // this and every call below that takes R: other threads changed a bin during each of 1,000
    // reads of R. Then an insert has not taken the key and can be repeated; after an erase, which
    // may have changed R, call forget().
    template <remote_map R>
    [[nodiscard]] result<insert_outcome> insert(const hashed_key& key, R& remote) noexcept {
        assert(key.is_of(hash()));
        const broom_joined joined = kernels_->join(state(), key.where());
        if (joined == broom_joined::yes) return insert_outcome::inserted;
        broom::remote_source<R> source{remote, hash(), key.where(), key.view()};
        if (joined == broom_joined::yes_and_grow) return insert_and_grow(source);
        return insert_from(key.where(), source);
    }
    template <remote_map R>
    [[nodiscard]] result<insert_outcome> insert(key_view key, R& remote) noexcept {
        return insert(hashed_key{hash(), key}, remote);
    }
    // Hash and join are one kernel, which keeps no digest: only a key that needs R, or sets off
    // growth, is hashed again for it (decision 0025).
    template <remote_map R>
    [[nodiscard]] result<insert_outcome> insert(integer_key key, R& remote) noexcept {
        const broom_joined joined = kernels_->join_integer(state(), hash().state(), key.value());
        if (joined == broom_joined::yes) return insert_outcome::inserted;
        broom::remote_source<R> source{remote, hash(), hash()(key.view()), key.view()};
        if (joined == broom_joined::yes_and_grow) return insert_and_grow(source);
        return insert_from(source.where(), source);
    }
    // Many keys, with the lines of later ones on their way while earlier ones join. How many of
    // them are in the filter now, from the first on: all, or those before one that was refused as
    // `full`. After an error some are; inserting them again is safe.
    template <remote_map R>
    [[nodiscard]] result<std::size_t> insert(std::span<const std::uint64_t> keys, R& remote) noexcept {
        return insert_many<integer_key>(keys, remote);
    }
    template <remote_map R>
    [[nodiscard]] result<std::size_t> insert(std::span<const key_view> keys, R& remote) noexcept {
        return insert_many<viewed>(keys, remote);
    }
    // The same with a plain key, here and below: remote_surface.hpp.
    using erasing_calls::erase;
    using erasing_calls::forget;
    using learning_calls::adapt;

    template <remote_map R>
    [[nodiscard]] result<erase_outcome> erase(const hashed_key& key, R& remote) noexcept {
        assert(key.is_of(hash()));
        return erase_asked(key.where(), key.view(), remote);
    }
    // The same, mostly without a read. REQUIRES: insert(key) returned `inserted` or
    // `already_present`, no erase of it has begun since, and no other call inserts or erases it
    // meanwhile. Then its slot is known without asking R whose it is: R is told to erase the key,
    // and read only if the bin has to be renewed. A false promise may cost another key. (A hash
    // that is not keyed lets keys with equal digests be found: then this is the erase above.) After
    // an error R may have lost the key while the filter still answers "maybe" for it: call
    // forget().
    template <remote_map R>
    [[nodiscard]] result<erase_outcome> erase(const hashed_key& key, R& remote, assume_present_t) noexcept {
        if (hash().state().kind != hash_kind::keyed) return erase(key, remote);
        assert(key.is_of(hash()));
        return erase_assuming_present(key.where(), key.view(), remote);
    }
    template <remote_map R>
    [[nodiscard]] result<erase_outcome> erase(key_view key, R& remote, assume_present_t promise) noexcept {
        return erase(hashed_key{hash(), key}, remote, promise);
    }
    template <remote_map R>
    [[nodiscard]] result<erase_outcome> erase(integer_key key, R& remote, assume_present_t promise) noexcept {
        return erase(hashed_key{hash(), key}, remote, promise);
    }
    // Many keys, with the lines of later ones on their way while R and the filter let go of earlier
    // ones. How many of them R held. After an error some are gone and the others are not; erasing
    // them again is safe.
    template <remote_map R>
    [[nodiscard]] result<std::size_t> erase(std::span<const std::uint64_t> keys, R& remote) noexcept {
        return erase_many<integer_key>(keys, remote, false);
    }
    template <remote_map R>
    [[nodiscard]] result<std::size_t> erase(std::span<const key_view> keys, R& remote) noexcept {
        return erase_many<viewed>(keys, remote, false);
    }
    // REQUIRES: each of them as above, and none twice.
    template <remote_map R>
    [[nodiscard]] result<std::size_t> erase(std::span<const std::uint64_t> keys, R& remote, assume_present_t) noexcept {
        return erase_many<integer_key>(keys, remote, hash().state().kind == hash_kind::keyed);
    }
    template <remote_map R>
    [[nodiscard]] result<std::size_t> erase(std::span<const key_view> keys, R& remote, assume_present_t) noexcept {
        return erase_many<viewed>(keys, remote, hash().state().kind == hash_kind::keyed);
    }
    // The second half of an erase, for a store that has committed it already (a batch of writes,
    // say): R no longer holds the key. `absent`: there was nothing to forget, or the key is back.
    // After an error call it again: until then, or until the first mistake on the key is adapted,
    // it is answered "maybe".
    template <remote_map R>
    [[nodiscard]] result<erase_outcome> forget(const hashed_key& key, R& remote) noexcept {
        assert(key.is_of(hash()));
        broom::remote_source<R> source{remote, hash(), key.where(), key.view()};
        return forget_from(key.where(), source);
    }
    template <remote_map R>
    [[nodiscard]] result<adapt_outcome> adapt(const hashed_key& key, R& remote) noexcept {
        assert(key.is_of(hash()));
        broom::remote_source<R> source{remote, hash(), key.where(), key.view()};
        return adapt_from(key.where(), source);
    }

    // Doubles the bins, in one sweep over R that others may work beside. Finishes a growth that has
    // begun.
    template <remote_map R>
    [[nodiscard]] result<void> grow(R& remote) noexcept {
        broom::remote_source<R> source{remote, hash()};
        return grow_from(source);
    }
    // Rebuilds every bin from R; other calls may run beside it: after a crash, or with a filter
    // that R has outrun.
    template <remote_map R>
    [[nodiscard]] result<void> rebuild(R& remote, unsigned threads = 1) noexcept {
        broom::remote_source<R> source{remote, hash()};
        return rebuild_from(source, threads);
    }
    // The same for the bins of these positions alone: one range read a bin. Once it has returned,
    // every key that R holds there is in the filter or will be when its insert returns. For filters
    // that are filled piece by piece (daisy_broom/deferred_band.hpp).
    template <remote_map R>
    [[nodiscard]] result<void> rebuild_range(position_range range, R& remote) noexcept {
        broom::remote_source<R> source{remote, hash()};
        return rebuild_range_from(range, source);
    }
    // Every key of R owns a slot or an entry and is answered "maybe", the law holds in every bin,
    // the counts agree. REQUIRES: no call writes meanwhile.
    template <remote_map R>
    [[nodiscard]] result<void> audit(R& remote) const noexcept {
        broom::remote_source<R> source{remote, hash()};
        return audit_from(source);
    }

    // Another limit, or none: for loaded filters, too. One that the filter has passed already takes
    // nothing away from it.
    void limit_memory(std::optional<std::uint64_t> bytes) noexcept;

    [[nodiscard]] double rate() const noexcept;  // the rate kept, at most the one asked for
    // local_bytes is what the allocators gave and have not got back: heap blocks with the size
    // asked for, mapped memory by pages. While the filter grows, the pages that the sweep has come
    // to and those that it has not left behind.
    [[nodiscard]] filter_stats stats() const noexcept;
    [[nodiscard]] broom_details details() const noexcept;  // looks at every bin
    [[nodiscard]] bool is_growing() const noexcept;
    [[nodiscard]] broom_trace trace(const digest& d) const noexcept;
    [[nodiscard]] const hasher& hash() const noexcept { return *hash_; }

    // A loaded filter never draws a salt that its former life may have drawn. It continues the
    // epochs of the moment it was saved in: for what was learnt since, at most one certain false
    // positive a bin remains until that bin is renewed. The same holds between a filter that lives
    // on and its copy. rebuild() in the loaded one ends that.
    //
    // Others may work meanwhile, and wait for at most one piece of 64 KiB to be copied, never for
    // the sink. So what is saved is not one moment: a key that was in the filter when save() began
    // and that no call erases before it returns is in it; of keys that come or go meanwhile any may
    // be. It takes about 100 KB, whatever the size of the filter. A filter that grows a second time
    // while it is saved (a sink that hangs) may not be saved: that is an error, and save() can be
    // called again.
    [[nodiscard]] result<void> save(sink& out, const store_mark& store = {}) const noexcept;
    [[nodiscard]] static result<broom_filter> load(std::span<const std::byte> bytes) noexcept;

    [[nodiscard]] static result<std::uint64_t> bits_for(std::uint64_t capacity, double rate) noexcept;
    [[nodiscard]] static double fpr_for(std::uint64_t capacity, std::uint64_t bits) noexcept;
    [[nodiscard]] static result<std::uint64_t> keys_for_bits(std::uint64_t bits, double rate) noexcept;

  private:
    friend filter_surface;
    explicit broom_filter(std::unique_ptr<broom::core> core) noexcept;

    struct viewed {
        key_view key;
        explicit viewed(key_view of) noexcept : key{of} {}
        [[nodiscard]] key_view view() const noexcept { return key; }
    };
    void hash_many(std::span<const std::uint64_t> keys, std::span<digest> out) const noexcept { hash()(keys, out); }
    void hash_many(std::span<const key_view> keys, std::span<digest> out) const noexcept {
        for (std::size_t i = 0; i < keys.size(); ++i) out[i] = hash()(keys[i]);
    }
    // For keys that are hashed together, and lie in the first-level cache until their turn comes.
    static constexpr std::size_t hashed_at_once = 128;

    template <class Bytes, class Key, class R>
    [[nodiscard]] result<std::size_t> insert_many(std::span<const Key> keys, R& remote) noexcept {
        std::array<digest, hashed_at_once> ready;
        for (std::size_t first = 0; first < keys.size(); first += ready.size()) {
            const std::span<const Key> part = keys.subspan(first, std::min(keys.size() - first, ready.size()));
            hash_many(part, std::span{ready}.first(part.size()));
            for (std::size_t i = 0; i < part.size();) {
                const broom_joined_many joined = kernels_->join_many(state(), ready.data() + i, part.size() - i);
                i += joined.keys;
                if (i == part.size() && !joined.grow) break;
                const Bytes bytes{part[joined.grow ? i - 1 : i]};
                broom::remote_source<R> source{remote, hash(), ready[joined.grow ? i - 1 : i], bytes.view()};
                if (joined.grow) {
                    (void)insert_and_grow(source);
                    continue;
                }
                const auto outcome = insert_from(ready[i], source);
                if (!outcome) return outcome.error();
                if (*outcome == insert_outcome::full) return first + i;
                ++i;
            }
        }
        return keys.size();
    }

    template <class R>
    [[nodiscard]] result<erase_outcome> erase_asked(const digest& d, key_view key, R& remote) noexcept {
        broom::remote_source<R> source{remote, hash(), d, key};
        return erase_from(d, source);
    }
    template <class R>
    [[nodiscard]] result<erase_outcome> erase_assuming_present(const digest& d, key_view key, R& remote) noexcept {
        if (reads_fail())
            return erase_asked(d, key, remote);  // it reads R first, and fails before anything has changed
        // As long as R held the key every renewal stored it. If its bin is renewed from here on, it
        // may have no slot any more.
        const broom_epoch_mark when = state().mark_of(d.position);
        const auto gone = remote_detail::caught([&]() -> result<bool> { return remote.erase(d, key); });
        if (!gone) return gone.error();
        if (!*gone) return erase_outcome::absent;
        if (kernels_->leave_tombstone(state(), d, when)) return erase_outcome::erased;
        broom::remote_source<R> source{remote, hash(), d, key};
        return forget_assuming_present_from(d, when, source);
    }

    template <class Bytes, class Key, class R>
    [[nodiscard]] result<std::size_t> erase_many(std::span<const Key> keys, R& remote, bool known_present) noexcept {
        constexpr std::size_t ahead = 16;
        std::array<digest, hashed_at_once> ready;
        std::size_t erased = 0;
        for (std::size_t first = 0; first < keys.size(); first += ready.size()) {
            const std::span<const Key> part = keys.subspan(first, std::min(keys.size() - first, ready.size()));
            hash_many(part, std::span{ready}.first(part.size()));
            for (std::size_t i = 0; i < part.size() && i < ahead; ++i) state().prefetch_to_change(ready[i].position);
            for (std::size_t i = 0; i < part.size(); ++i) {
                if (i + ahead < part.size()) state().prefetch_to_change(ready[i + ahead].position);
                const Bytes bytes{part[i]};
                const auto outcome = known_present ? erase_assuming_present(ready[i], bytes.view(), remote)
                                                   : erase_asked(ready[i], bytes.view(), remote);
                if (!outcome) return outcome.error();
                if (*outcome == erase_outcome::erased) ++erased;
            }
        }
        return erased;
    }

    [[nodiscard]] const kernel_table<broom_lookup_state>& kernels() const noexcept { return kernels_->lookups; }
    [[nodiscard]] const broom_lookup_state& state() const noexcept { return *state_->load(std::memory_order_acquire); }
    [[nodiscard]] result<insert_outcome> insert_from(const digest& d, broom::range_source& source) noexcept;
    // The key has joined; the table wants to grow.
    [[nodiscard]] insert_outcome insert_and_grow(broom::range_source& source) noexcept;
    [[nodiscard]] result<erase_outcome> erase_from(const digest& d, broom::range_source& source) noexcept;
    [[nodiscard]] bool reads_fail() const noexcept;
    [[nodiscard]] result<erase_outcome> forget_assuming_present_from(const digest& d, const broom_epoch_mark& when,
                                                                     broom::range_source& source) noexcept;
    [[nodiscard]] result<erase_outcome> forget_from(const digest& d, broom::range_source& source) noexcept;
    [[nodiscard]] result<adapt_outcome> adapt_from(const digest& d, broom::range_source& source) noexcept;
    [[nodiscard]] result<void> grow_from(broom::range_source& source) noexcept;
    [[nodiscard]] result<void> rebuild_from(broom::range_source& source, unsigned threads) noexcept;
    [[nodiscard]] result<void> rebuild_range_from(position_range range, broom::range_source& source) noexcept;
    template <class Key>
    [[nodiscard]] static result<broom_filter> build_from_keys(const broom_options& options, std::span<const Key> keys,
                                                              unsigned threads) noexcept;
    [[nodiscard]] result<void> audit_from(broom::range_source& source) const noexcept;

    // What a look-up needs, beside the core that owns it: a call into the core would cost as much
    // as the look-up.
    const broom_kernel_set<broom_lookup_state>* kernels_;
    const std::atomic<const broom_lookup_state*>* state_;
    const hasher* hash_;
    std::unique_ptr<broom::core> core_;
};

}  // namespace GENISTA_BROOM_NAMESPACE
