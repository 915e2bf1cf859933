// daisy_broom_filter: bits go where the world is likely to ask, and what still goes wrong is
// repaired. Ours: daisy's classes [daisy §1.1] choose the rate that a key deserves, the broom
// filter's epochs [broom.hpp] keep that rate for every query and learn.
//
//     oracle, plan ──→ class of a key        0   always "maybe", nothing is kept; a list remembers mistakes, exactly, and when it has cost as much
//                                                as a broom filter for these keys, one is opened
//                                                and built range by range (unkept_keys.hpp)
//                                         j ≥ 1   one broom filter for each band of classes, with
//                                                 the rate 2^-j or better
//     R                one for all, in the order of one hash: it knows nothing of oracles, and the
//                      truth stays there
//
//   I1  No false negative, however wrong the oracle is: may_contain(x) is true from the moment
//       insert(x) returned until erase(x) begins, under threads, growth, failing stores and failing
//       memory. It rests on one thing: the oracle answers the same for the same key (oracle.hpp,
//       I1). So a filter never changes its oracle, and a snapshot is not loaded with another one
//       (oracle_identity.hpp).
//   I2  Rate: each band keeps its own for every query of its classes, whatever was asked before. If
//       the oracle is right, a query drawn from Q is let through with probability at most 3 ε, at
//       every moment of any history [docs/filters/daisy_broom.md].
//   I3  A mistake that was given to adapt() is repaired: a hot absent key costs one wasted read,
//       and again only with the band's rate (2^-8 for class 0) after its bin was renewed or its
//       range built, however many such keys there are. (Without options.deferred_band: as many as
//       the list holds.)
//   I4  Memory: the bands, and for class 0 the list or a band or for a while both: at most twice
//       what a band for these keys takes, or the list's bytes and a band.
//   I5  A call that reports `full` or an error has changed nothing in the filter. (An adapt that
//       failed may have built a range of the deferred band.)
//
// The order of steps is the broom filter's: the store commits first, then insert(); erase() asks R;
// a query that was let through in vain calls adapt(). Remotely: a range read of a band with a share
// s of the keys reads 45/s keys (bands.hpp); class 0 reads single cells, hardly ever longer than no
// key, and four ranges of its deferred band at most: a look before it opens, two to build, one to
// learn.
//
// Any number of threads may call anything but moving, assigning and destroying. Queries never
// block.
//
// When the input drifts away from the oracle, rates and sizes are not what was planned, and drift()
// says so. Then train another oracle, make a plan, and build() a new filter from R, which takes the
// old one's place.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "genista/detail/filters/asked_with_key.hpp"
#include "genista/detail/filters/daisy_broom/band_view.hpp"
#include "genista/detail/filters/daisy_broom/core.hpp"
#include "genista/detail/filters/daisy_broom/unkept_keys.hpp"
#include "genista/detail/filters/remote_surface.hpp"

namespace genista {

template <key_oracle Oracle>
class daisy_broom_filter : public learning_calls<daisy_broom_filter<Oracle>, any_remote_map>,
                           public erasing_calls<daisy_broom_filter<Oracle>, any_remote_map> {
  public:
    static constexpr std::string_view name = "daisy_broom";
    using shared_oracle = std::shared_ptr<const Oracle>;

    // An empty filter for the plan's draws. The plan was made with this oracle; with another one it
    // is only a worse plan.
    [[nodiscard]] static result<daisy_broom_filter> make(const daisy_broom_options& options, const daisy_plan& plan,
                                                         shared_oracle oracle) noexcept {
        return make_counted(options, plan, std::move(oracle), std::nullopt);
    }
    // A filter of everything R holds: one sequential read to count the classes, then one a band.
    template <remote_map R>
    [[nodiscard]] static result<daisy_broom_filter> build(const daisy_broom_options& options, const daisy_plan& plan,
                                                          shared_oracle oracle, R& remote,
                                                          unsigned threads = 1) noexcept {
        daisy_bands::class_counts counted{};
        const auto read = each_key(remote, [&](const digest&, key_view key) {
            ++counted[daisy_class(oracle->odds(key), plan.terms)];
            return true;
        });
        if (!read) return read.error();
        auto made = make_counted(options, plan, std::move(oracle), counted);
        if (!made) return made;
        made->core_->set_unkept(counted[0]);
        if (const auto done = made->rebuild(remote, threads); !done) return done.error();
        return made;
    }

    // R holds the key already: the store commits first.
    template <remote_map R>
    [[nodiscard]] result<insert_outcome> insert(const hashed_key& key, R& remote) noexcept {
        const unsigned band = band_of(key.view());
        auto view = view_of(remote, band);
        if (band == daisy_bands::none) return unkept_keys::insert(*core_, key, view);
        return core_->broom(band).insert(key, view);
    }
    template <remote_map R>
    [[nodiscard]] result<erase_outcome> erase(const hashed_key& key, R& remote) noexcept {
        const unsigned band = band_of(key.view());
        auto view = view_of(remote, band);
        if (band == daisy_bands::none) return unkept_keys::erase(*core_, key, view, false);
        return core_->broom(band).erase(key, view);
    }
    template <remote_map R>
    [[nodiscard]] result<erase_outcome> erase(const hashed_key& key, R& remote, assume_present_t promise) noexcept {
        const unsigned band = band_of(key.view());
        auto view = view_of(remote, band);
        if (band == daisy_bands::none) return unkept_keys::erase(*core_, key, view, true);
        return core_->broom(band).erase(key, view, promise);
    }
    // R no longer holds the key. `absent`: nothing was kept of it, or the key is back.
    template <remote_map R>
    [[nodiscard]] result<erase_outcome> forget(const hashed_key& key, R& remote) noexcept {
        const unsigned band = band_of(key.view());
        auto view = view_of(remote, band);
        if (band == daisy_bands::none) return unkept_keys::forget(*core_, key, view);
        return core_->broom(band).forget(key, view);
    }
    template <remote_map R>
    [[nodiscard]] result<adapt_outcome> adapt(const hashed_key& key, R& remote) noexcept {
        const unsigned band = band_of(key.view());
        auto view = view_of(remote, band);
        if (band == daisy_bands::none) return unkept_keys::adapt(*core_, key, view);
        return core_->broom(band).adapt(key, view);
    }

    // The same with a plain key: remote_surface.hpp.
    using learning_calls<daisy_broom_filter, any_remote_map>::insert;
    using learning_calls<daisy_broom_filter, any_remote_map>::adapt;
    using erasing_calls<daisy_broom_filter, any_remote_map>::erase;
    using erasing_calls<daisy_broom_filter, any_remote_map>::forget;
    template <remote_map R>
    [[nodiscard]] result<erase_outcome> erase(key_view key, R& remote, assume_present_t promise) noexcept {
        return erase(hashed_key{hash(), key}, remote, promise);
    }

    // A digest alone does not tell a class.
    [[nodiscard]] bool may_contain(const hashed_key& key) const noexcept {
        assert(key.is_of(hash()));
        return answer(key.view(), key.where());
    }
    [[nodiscard]] bool may_contain(key_view key) const noexcept { return may_contain(hashed_key{hash(), key}); }
    [[nodiscard]] bool may_contain(integer_key key) const noexcept { return may_contain(hashed_key{hash(), key}); }
    void may_contain(std::span<const key_view> keys, std::span<std::uint64_t> out_bits) const noexcept {
        each(keys, out_bits);
    }
    void may_contain(std::span<const std::uint64_t> keys, std::span<std::uint64_t> out_bits) const noexcept {
        each(keys, out_bits);
    }

    // Twice the bins in every band.
    template <remote_map R>
    [[nodiscard]] result<void> grow(R& remote) noexcept {
        if (deferred_band* const deferred = core_->deferred(); deferred != nullptr) {
            auto view = view_of(remote, daisy_bands::none);
            if (const auto done = deferred->broom().grow(view); !done) return done;
        }
        return each_band(remote, [](broom_filter& broom, auto& view) { return broom.grow(view); });
    }
    // Rebuilds every bin from R, with the same oracle and plan; other calls may run beside it.
    // After a crash, or with a filter that R has outrun.
    template <remote_map R>
    [[nodiscard]] result<void> rebuild(R& remote, unsigned threads = 1) noexcept {
        auto unkept = view_of(remote, daisy_bands::none);
        if (const auto done = unkept_keys::rebuild(*core_, unkept, threads); !done) return done;
        return each_band(remote, [threads](broom_filter& broom, auto& view) { return broom.rebuild(view, threads); });
    }
    // Every key of R is answered "maybe", every band is sound. REQUIRES: no call writes meanwhile.
    template <remote_map R>
    [[nodiscard]] result<void> audit(R& remote) const noexcept {
        for (unsigned band = 0; band < core_->size(); ++band) {
            auto view = view_of(remote, band);
            if (const auto sound = std::as_const(*core_).broom(band).audit(view); !sound) return sound;
        }
        if (const deferred_band* const deferred = std::as_const(*core_).deferred(); deferred != nullptr) {
            const built_keys built{*this, *deferred};
            band_view<R, built_keys> view{remote, built, daisy_bands::none};
            if (const auto sound = deferred->broom().audit(view); !sound) return sound;
        }
        bool denied = false;
        const auto read = each_key(remote, [&](const digest& d, key_view key) {
            denied = !answer(key, d);
            return !denied;
        });
        if (!read) return read.error();
        if (denied) return error::make(error_code::corrupt, "daisy_broom: a member is denied");
        return {};
    }

    [[nodiscard]] unsigned class_of(key_view key) const noexcept {
        return daisy_class(oracle_->odds(key), core_->plan().terms);
    }
    [[nodiscard]] unsigned band_of(key_view key) const noexcept { return core_->bands().of(class_of(key)); }
    [[nodiscard]] const daisy_plan& plan() const noexcept { return core_->plan(); }
    [[nodiscard]] const daisy_bands& bands() const noexcept { return core_->bands(); }
    [[nodiscard]] const broom_filter& broom(unsigned band) const noexcept { return core_->broom(band); }
    [[nodiscard]] const absent_list& exceptions() const noexcept { return core_->cells(); }
    // Null until mistakes about keys of class 0 have paid for it.
    [[nodiscard]] const deferred_band* deferred() const noexcept { return std::as_const(*core_).deferred(); }
    [[nodiscard]] const Oracle& oracle() const noexcept { return *oracle_; }
    [[nodiscard]] const hasher& hash() const noexcept { return core_->hash(); }
    // The oracle's bytes included. Keys of class 0 are counted as inserts and erases reported them.
    [[nodiscard]] filter_stats stats() const noexcept {
        filter_stats now = core_->stats(oracle_->memory_bytes());
        now.local_bytes += sizeof *this;
        return now;
    }
    [[nodiscard]] std::uint64_t size() const noexcept { return stats().keys; }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] daisy_drift drift() const noexcept { return core_->drift(); }

    // Without the oracle, which the caller keeps; unsupported if its identity is not known.
    [[nodiscard]] result<void> save(sink& out, const store_mark& store = {}) const noexcept {
        const auto oracle = marks_of(name, *oracle_, asserted_, core_->plan().terms);
        if (!oracle) return oracle.error();
        return core_->save(out, *oracle, store);
    }
    // With the oracle that it was filled with; any other one is refused. `asserted_identity` as in
    // the options.
    [[nodiscard]] static result<daisy_broom_filter> load(
        std::span<const std::byte> bytes, shared_oracle oracle,
        const std::optional<oracle_identity>& asserted_identity = std::nullopt) noexcept {
        auto loaded = daisy_broom_core::load(bytes);
        if (!loaded) return loaded.error();
        const auto marks = marks_of(name, *oracle, asserted_identity, loaded->core->plan().terms);
        if (!marks) return marks.error();
        if (const auto same = check_marks(name, loaded->oracle, *marks); !same) return same.error();
        return daisy_broom_filter{std::move(loaded->core), std::move(oracle), asserted_identity};
    }

  private:
    daisy_broom_filter(std::unique_ptr<daisy_broom_core> core, shared_oracle oracle,
                       const std::optional<oracle_identity>& asserted_identity) noexcept
        : core_{std::move(core)}, oracle_{std::move(oracle)}, asserted_{asserted_identity} {}

    [[nodiscard]] static result<daisy_broom_filter> make_counted(
        const daisy_broom_options& options, const daisy_plan& plan, shared_oracle oracle,
        const std::optional<daisy_bands::class_counts>& counted) noexcept {
        assert(oracle != nullptr);
        const auto hash = daisy_broom_core::hash_from(options);
        if (!hash) return hash.error();
        auto core = daisy_broom_core::make(options, plan, *hash, counted);
        if (!core) return core.error();
        return daisy_broom_filter{*std::move(core), std::move(oracle), options.oracle};
    }

    // REQUIRES: `d` is hash()(key), or what R says it is: an audit trusts records that the bands'
    // audits have checked.
    [[nodiscard]] bool answer(key_view key, const digest& d) const noexcept {
        const unsigned band = band_of(key);
        return band == daisy_bands::none ? core_->may_contain_unkept(d) : core_->broom(band).may_contain(d);
    }

    template <class R>
    [[nodiscard]] auto view_of(R& remote, unsigned band) const noexcept {
        return band_view<R, daisy_broom_filter>{remote, *this, band};
    }

    // For an audit of the deferred band, which owes nothing to keys in ranges that are not built.
    struct built_keys {
        const daisy_broom_filter& of;
        const deferred_band& band;
        [[nodiscard]] unsigned band_of(key_view key) const noexcept {
            return band.is_built(of.hash()(key).position) ? of.band_of(key) : daisy_bands::none - 1;
        }
        [[nodiscard]] const hasher& hash() const noexcept { return of.hash(); }
    };

    // In pieces: a map in memory keeps its writers waiting while one is visited.
    template <class R, class Visit>
    [[nodiscard]] static result<void> each_key(R& remote, Visit visit) noexcept {
        constexpr std::uint64_t pieces = 1024;
        bool goes_on = true;
        for (std::uint64_t piece = 0; piece < pieces && goes_on; ++piece) {
            const position_range range = range_of_bin(piece, pieces);
            const auto read = remote_detail::caught([&]() -> result<void> {
                return remote.for_each(range.first, range.last, [&](const digest& d, key_view key) {
                    goes_on = visit(d, key);
                    return goes_on;
                });
            });
            if (!read) return read.error();
        }
        return {};
    }

    template <class R, class Work>
    [[nodiscard]] result<void> each_band(R& remote, Work work) noexcept {
        for (unsigned band = 0; band < core_->size(); ++band) {
            auto view = view_of(remote, band);
            if (const auto done = work(core_->broom(band), view); !done) return done.error();
        }
        return {};
    }

    // In chunks. The keys of a band stand side by side, so that its broom filter is asked for all
    // of them at once; a key of class 0 is asked for alone, in the list or the deferred band.
    template <class Key>
    void each(std::span<const Key> keys, std::span<std::uint64_t> out_bits) const noexcept {
        assert(out_bits.size() >= words_for(keys.size()));
        for (std::size_t first = 0; first < keys.size(); first += class_batch) {
            const std::size_t count = std::min(class_batch, keys.size() - first);
            answer_chunk(keys.subspan(first, count), out_bits.subspan(first / 64, words_for(count)));
        }
    }
    template <class Key>
    void answer_chunk(std::span<const Key> keys, std::span<std::uint64_t> out_bits) const noexcept {
        std::array<digest, class_batch> digests, together;
        std::array<std::uint8_t, class_batch> bands;
        std::array<std::uint16_t, class_batch> from;
        std::array<std::uint64_t, class_batch / 64> found;
        if constexpr (std::same_as<Key, std::uint64_t>) {
            hash()(keys, digests);
        } else {
            for (std::size_t i = 0; i < keys.size(); ++i) digests[i] = hash()(keys[i]);
        }
        std::fill(out_bits.begin(), out_bits.end(), std::uint64_t{0});
        const auto put = [&](std::size_t i, bool answer) { out_bits[i / 64] |= std::uint64_t{answer} << i % 64; };
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if constexpr (std::same_as<Key, std::uint64_t>) {
                const integer_key bytes{keys[i]};
                bands[i] = static_cast<std::uint8_t>(band_of(bytes.view()));
            } else {
                bands[i] = static_cast<std::uint8_t>(band_of(keys[i]));
            }
            if (bands[i] == daisy_bands::none) put(i, core_->may_contain_unkept(digests[i]));
        }
        for (unsigned band = 0; band < core_->size(); ++band) {
            std::size_t count = 0;
            for (std::size_t i = 0; i < keys.size(); ++i) {
                if (bands[i] != band) continue;
                from[count] = static_cast<std::uint16_t>(i);
                together[count++] = digests[i];
            }
            if (count == 0) continue;
            std::as_const(*core_).broom(band).may_contain(std::span<const digest>{together}.first(count), found);
            for (std::size_t i = 0; i < count; ++i) put(from[i], (found[i / 64] >> i % 64 & 1) != 0);
        }
    }

    std::unique_ptr<daisy_broom_core> core_;
    shared_oracle oracle_;
    std::optional<oracle_identity> asserted_;
};

}  // namespace genista
