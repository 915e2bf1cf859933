// table: the bins of a broom filter in memory, with everything that the readers and writers of one
// bin need.
//
//     lines     bins × 64 bytes                                       line.hpp
//     tails     bins × 6·t bytes, slot s at bit s·t                   only for t > 0
//     sides     for each cluster of 16 bins the handle of a block     side_block.hpp
//     versions  a word for each stripe of clusters: is a writer at work, and a count of changes
//               (lookup_state.hpp)
//     locks     a byte for each stripe, among writers                 writers.hpp
//     salts     what the salt codes in the lines stand for            salts.hpp
//
// During a growth the bins of the old table that have moved, and the bins of the new one far ahead
// of the sweep, have no memory: no look-up reads them.
//
//     old   [ pages given back | moved ... | bins in use                    ]
//     new   [ bins in use      | empty lines, prepared | untouched          ]
//
// Readers never lock: they take the version, read, compare it again, and start over if it changed.
// A writer holds the lock of one stripe, works on an image of the bin, and commits it; a commit
// that fails for want of memory has changed nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "filters/broom/budget.hpp"
#include "filters/broom/fingerprint.hpp"
#include "filters/broom/line.hpp"
#include "filters/broom/memory.hpp"
#include "filters/broom/mix.hpp"
#include "filters/broom/salts.hpp"
#include "filters/broom/shape.hpp"
#include "filters/broom/side.hpp"
#include "filters/broom/writers.hpp"
#include "genista/detail/base/buffer.hpp"
#include "genista/filters/broom.hpp"
#include "genista/remote/remote.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

// A key under a salt of its bin.
struct present {
    mixed words;
    fingerprint print;
};

// A copy of a bin, to be changed and committed.
struct bin_image {
    std::uint64_t bin = 0;
    line slots{};
    std::array<std::uint32_t, slots_per_bin> tails{};
    side_list sides;  // of the whole cluster
    salt now{};

    [[nodiscard]] unsigned bin_in_cluster() const noexcept { return static_cast<unsigned>(bin % bins_per_cluster); }
    // Live slots and backyard entries: the keys of this bin.
    [[nodiscard]] unsigned keys() const noexcept {
        return slots.used() - sides.tombstones_in(bin_in_cluster()) +
               static_cast<unsigned>(sides.backyard_of(bin_in_cluster()).size());
    }
    void set_salt(const salt& chosen) {
        now = chosen;
        slots.set_salt(chosen.code);
        if (chosen.code == long_salt) sides.set_long_salt(bin_in_cluster(), chosen.number);
    }
};

// A copy of a whole cluster, for callers that rebuild all of its bins.
struct cluster_image {
    unsigned bins = 0;
    std::array<line, bins_per_cluster> lines{};
    std::array<std::array<std::uint32_t, slots_per_bin>, bins_per_cluster> tails{};
    std::array<bool, bins_per_cluster> renewed{};  // under a salt of its own
    bin_image work;                                // the bin being rebuilt, and the sides of all bins
};

class side_block;

class table {
  public:
    // REQUIRES: `secret` was never used with this hash key [law L1].
    [[nodiscard]] static result<std::unique_ptr<table>> make(shape s, std::uint64_t bins, const hash_key& key,
                                                             std::uint64_t secret, bool unsalted_first) noexcept;
    // The same without any bins: prepare() makes them.
    [[nodiscard]] static result<std::unique_ptr<table>> make_unprepared(shape s, std::uint64_t bins,
                                                                        const hash_key& key, std::uint64_t secret,
                                                                        bool unsalted_first) noexcept;
    // The memory of such a table, side blocks excepted.
    [[nodiscard]] static std::uint64_t bytes_for(shape s, std::uint64_t bins) noexcept;
    // A lower bound for the bytes that this table has given back by the time when a growth has
    // taken the memory of that many new bins.
    [[nodiscard]] std::uint64_t bytes_given_back_for(std::uint64_t new_bins) const noexcept;

    [[nodiscard]] std::uint64_t bins() const noexcept { return bins_; }
    [[nodiscard]] std::uint64_t bins_per_stripe() const noexcept { return std::uint64_t{1} << stripe_shift_; }
    [[nodiscard]] std::uint64_t clusters() const noexcept { return (bins_ + bins_per_cluster - 1) / bins_per_cluster; }
    [[nodiscard]] shape form() const noexcept { return shape_; }
    [[nodiscard]] position_range range_of(std::uint64_t bin) const noexcept { return range_of_bin(bin, bins_); }
    [[nodiscard]] std::uint64_t bin_of(const digest& d) const noexcept { return scale(d.position, bins_); }
    [[nodiscard]] mixed mix(const digest& d, const salt& of) const noexcept {
        return book_->is_unsalted(of) ? mixer::unsalted(d) : mixer_(d, of.word);
    }
    [[nodiscard]] present under(const digest& d, const salt& of) const noexcept {
        const mixed words = mix(d, of);
        return {words, fingerprint::of(words, shape_)};
    }
    // REQUIRES: out.size() == keys.size().
    void mix(std::span<const digest> keys, const salt& of, std::span<mixed> out) const noexcept {
        if (!book_->is_unsalted(of)) return mixer_(keys, of.word, out);
        for (std::size_t i = 0; i < keys.size(); ++i) out[i] = mixer::unsalted(keys[i]);
    }
    // The writers that change this table and the budget that pays for its side memory. Before the
    // first change.
    void belong_to(writers& all, budget& who) noexcept {
        writers_ = &all;
        memory_.charge(who);
    }
    [[nodiscard]] salt_book& book() const noexcept { return *book_; }
    // The memory of adaptivity bits and tombstones.
    [[nodiscard]] std::uint64_t learnt_bits() const noexcept { return learnt_bits_.load(std::memory_order_relaxed); }
    void add_bytes(broom_details& to) const noexcept;
    [[nodiscard]] std::uint64_t side_memory_bytes() const noexcept { return memory_.allocated_bytes(); }
    [[nodiscard]] broom_lookup_state lookup_state() const noexcept;

    [[nodiscard]] bool contains(const digest& d) const noexcept {
        broom_trace touched;
        return contains(d, touched);
    }
    bool contains(const digest& d, broom_trace& touched) const noexcept;

    // Waits only while a writer stores, never while it computes.
    [[nodiscard]] std::uint32_t version(std::uint64_t bin) const noexcept {
        while (true) {
            const std::uint32_t seen = version_of(bin).load(std::memory_order_acquire);
            if ((seen & broom_writing) == 0) return seen;
            pause();
        }
    }

    // Excludes other writers of the bin's stripe; readers start over if anything was committed.
    class lock {
      public:
        lock(const table& of, std::uint64_t bin) noexcept
            : writers_{*of.writers_},
              lock_{of.locks_[bin >> of.stripe_shift_]},
              version_{of.version_of(bin)},
              alone_{writers_.enter()} {
            if (!alone_) {
                while (lock_.exchange(1, std::memory_order_acquire) != 0) {
                    while (lock_.load(std::memory_order_relaxed) != 0) pause();
                }
            }
            before_ = version_.load(std::memory_order_relaxed);
        }
        lock(const lock&) = delete;
        lock& operator=(const lock&) = delete;
        ~lock() {
            if (changed_) version_.store(before_ + broom_change, std::memory_order_release);
            if (alone_) {
                writers_.leave();
            } else {
                lock_.store(0, std::memory_order_release);
            }
        }

        [[nodiscard]] std::uint32_t version() const noexcept { return before_; }
        // No other thread changes anything in the whole filter.
        [[nodiscard]] bool alone() const noexcept { return alone_; }
        // Before the first write: readers wait from here on. Later writes use release.
        void touch() noexcept {
            changed_ = true;
            version_.store(before_ | broom_writing, std::memory_order_relaxed);
        }
        void leave() noexcept {
            before_ |= broom_leaving;
            changed_ = true;
        }

      private:
        writers& writers_;
        broom_lock& lock_;
        std::atomic<std::uint32_t>& version_;
        bool alone_;
        bool changed_ = false;
        std::uint32_t before_ = 0;
    };

    // Under the lock. May throw std::bad_alloc (limit_reached if only the limit forbids it), having
    // changed nothing. An image that is used again keeps its memory.
    void read(std::uint64_t bin, bin_image& image) const;
    [[nodiscard]] bin_image read(std::uint64_t bin) const {
        bin_image image;
        read(bin, image);
        return image;
    }
    void commit(lock& held, const bin_image& image, budget_class from);
    // The same for a cluster: read it, open bin after bin, store each result in the image, commit
    // all together.
    void read_cluster(std::uint64_t first, cluster_image& into) const;
    void open_bin(cluster_image& cluster, unsigned bin_in_cluster) const noexcept;
    void commit_cluster(lock& held, std::uint64_t first, const cluster_image& cluster, budget_class from);

    // The salt of a bin, if a code stands for it: no side block is read.
    [[nodiscard]] std::optional<salt> coded_salt(std::uint64_t bin) const noexcept {
        const std::uint8_t code = load_line(bin).salt();
        return code == long_salt ? std::nullopt : std::optional{book_->of_code(code)};
    }
    // The usual insert, without an image: no key has this base or tag, and the key takes a slot, if
    // no extension of the bin has to follow slots that move, or else an entry of a short backyard.
    // False: one of these is not certain, and nothing has changed.
    [[nodiscard]] bool join_quickly(lock& held, std::uint64_t bin, const fingerprint& f) noexcept;
    // The usual erase: the slot with the key's base becomes a tombstone. REQUIRES: that slot is the
    // key's. `no`: the bin needs a renewal, because there is no such slot, the bin is full of
    // tombstones (epoch.hpp), or an entry has the key's tag, with which it would be a certain match
    // afterwards. `unsure`: the caller has to look at an image.
    enum class left_tombstone : unsigned char { yes, no, unsure };
    [[nodiscard]] left_tombstone leave_tombstone_quickly(lock& held, std::uint64_t bin, const digest& d) noexcept;

    // Gives long salts to bins whose codes few other bins have, so that their codes can be used
    // again (salts.hpp). Called by renewals, for a few bins at a time; takes locks of its own.
    void tidy() noexcept;

    // Prepares the bins below `end`, and some beyond: they are empty then. One thread at a time.
    void prepare(std::uint64_t end) noexcept;

    // From now on kernels ask the core, which has the front.
    void begin_leaving() noexcept;
    // REQUIRES: the lock of the last one is held. Bins below `end` live in another table from now
    // on.
    void have_moved(std::uint64_t end) noexcept { moved_.store(end, std::memory_order_relaxed); }
    // Gives back the memory of bins that have moved, as far as it pays. The front has passed them:
    // a late reader reads zeros, sees the front when it looks again, and starts over.
    void give_back_moved() noexcept;
    // Gives all memory back and keeps the addresses: late readers read zeros.
    void retire() noexcept;

    // Bins below this one live in another table.
    [[nodiscard]] std::uint64_t moved() const noexcept { return moved_.load(std::memory_order_relaxed); }

    // Snapshots (table_snapshot.cpp). Appends one cluster to `to`, copied under its lock: other
    // threads may write meanwhile. May throw std::bad_alloc.
    static constexpr std::size_t most_cluster_bytes =
        8 + bins_per_cluster * (sizeof(line) + shape{most_tail_bits}.tail_bytes_per_bin()) +
        8 * side_memory::most_granules;
    void save_cluster(std::uint64_t first, std::vector<std::byte>& to) const;
    // Reads the clusters of bins [first, end), from the last to the first, off the front of
    // `clusters`. For any bytes: a table that keeps the law in every one of these bins, or an
    // error. `secret` as in make().
    struct part {
        std::uint64_t bins;  // of the whole table
        std::uint64_t first;
        std::uint64_t end;
        bool unsalted_first;
    };
    [[nodiscard]] static result<std::unique_ptr<table>> load(shape s, const part& of, const hash_key& key,
                                                             std::uint64_t secret, std::span<const std::byte>& clusters,
                                                             std::span<const std::byte> salts);
    static void write_book(const salt_book::image& book, std::vector<std::byte>& to);
    // Of the bins [first, end).
    [[nodiscard]] std::uint64_t keys(std::uint64_t first, std::uint64_t end) const;

  private:
    static constexpr std::uint64_t most_stripes = 4096;
    // Changes that the usual paths above leave to the general one: backyards so long that the table
    // may have to grow, and long blocks.
    static constexpr unsigned backyard_quickly = 32;
    static constexpr std::uint64_t granules_quickly = 128;

    table(shape s, std::uint64_t bins, const hash_key& key) noexcept : shape_{s}, bins_{bins}, mixer_{key} {}

    static void pause() noexcept {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    [[nodiscard]] std::atomic<std::uint32_t>& version_of(std::uint64_t bin) const noexcept {
        return versions_[bin >> stripe_shift_];
    }
    [[nodiscard]] std::uint64_t stripes() const noexcept {
        return ((bins_ - 1) >> stripe_shift_) + 1;
    }
    [[nodiscard]] std::uint64_t* line_words(std::uint64_t bin) const noexcept {
        return reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(lines_.data())) + line_layout::words * bin;
    }
    [[nodiscard]] line load_line(std::uint64_t bin) const noexcept {
        line copy;
        for (std::size_t i = 0; i < line_layout::words; ++i) copy.words[i] = load_word(line_words(bin) + i);
        return copy;
    }
    [[nodiscard]] side_memory::handle& side_of(std::uint64_t bin) const noexcept {
        return reinterpret_cast<side_memory::handle*>(const_cast<std::byte*>(sides_.data()))[bin / bins_per_cluster];
    }
    [[nodiscard]] side_memory::handle load_side(std::uint64_t bin) const noexcept;
    void store_side(std::uint64_t bin, side_memory::handle block, bool has_slot_data) noexcept;
    // Memory for the new sides of a bin's cluster, exchanged for the old one at the commit. May
    // throw std::bad_alloc.
    struct side_change {
        side_memory::handle old = 0;
        side_memory::handle made = 0;  // may be the old one
        std::uint64_t old_granules = 0;
        std::uint64_t granules = 0;
        std::uint64_t old_learnt_bits = 0;
    };
    void add_slot_quickly(lock& held, std::uint64_t bin, line& slots, const fingerprint& f) noexcept;
    [[nodiscard]] bool add_entry_quickly(lock& held, std::uint64_t bin, line& slots, const side_block& block,
                                         const fingerprint& f) noexcept;
    // The block of the bin's cluster, or an empty one.
    [[nodiscard]] side_block quick_block(std::uint64_t bin) const noexcept;
    // Replaces the cluster's block by what write(words) writes, `needed` granules. False: no
    // memory, or too long.
    template <class Write>
    [[nodiscard]] bool replace_block(lock& held, std::uint64_t bin, const side_block& block, std::uint64_t needed,
                                     budget_class from, bool has_slot_data, const Write& write) noexcept;
    void renew_empty_bins(std::uint64_t first, std::uint64_t end);  // of a loaded table that no other thread has yet
    [[nodiscard]] side_change prepare_sides(std::uint64_t bin, const side_list& sides, budget_class from);
    void exchange_sides(std::uint64_t bin, const side_change& change, const side_list& sides) noexcept;
    // Bins below this one have moved, with their whole clusters.
    [[nodiscard]] std::uint64_t first_bin() const noexcept {
        return moved_.load(std::memory_order_relaxed) / bins_per_cluster * bins_per_cluster;
    }
    void store_bin(std::uint64_t bin, const line& slots,
                   const std::array<std::uint32_t, slots_per_bin>& tails) noexcept;
    [[nodiscard]] bool look(const digest& d, std::uint64_t bin, broom_trace& touched) const noexcept;
    [[nodiscard]] std::uint32_t load_tail(std::uint64_t bin, unsigned slot) const noexcept;
    void store_tail(std::uint64_t bin, unsigned slot, std::uint32_t tail) noexcept;
    [[nodiscard]] result<void> load_cluster(std::uint64_t first, std::span<const std::byte>& clusters);

    shape shape_;
    std::uint64_t bins_;
    mixer mixer_;
    buffer lines_;
    buffer tails_;
    buffer sides_;  // handles
    writers* writers_ = nullptr;
    unsigned stripe_shift_ = 0;  // stripe i has bins [i << shift, (i + 1) << shift): whole clusters
    mutable std::unique_ptr<std::atomic<std::uint32_t>[]> versions_;
    mutable std::unique_ptr<broom_lock[]> locks_;
    side_memory memory_;
    std::unique_ptr<salt_book> book_;
    std::atomic<std::uint64_t> prepared_ = 0;  // bins from it on are zeros
    std::atomic<std::uint64_t> moved_ = 0;     // bins below it live in another table
    std::atomic<std::uint64_t> learnt_bits_ = 0;
    std::atomic<std::uint64_t> tidied_ = 0;  // bins visited by the present round of tidy()
};

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
