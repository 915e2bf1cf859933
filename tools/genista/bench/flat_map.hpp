// flat_map: R for a run of the bench, all keys of which are known beforehand: one sorted array, and
// one bit a record: is it live? At 10^8 keys the tree of memory_map.hpp takes
// minutes to fill and a third more memory.
//
//     records   [ digest 16 | key 8 ]  in the order of remote.hpp, never moved, shared by all maps
//                                      of a run
//     starts    the first record of each of n/32 equal stretches of positions: where a search
//               begins
//     live      n bits, one set of them a map
//
// Positions are uniform, so a stretch holds 32 records or so. (Aiming at record position * n / 2^64
// and walking needs no `starts`, but the aim is off by up to √n/2 records: 5,000 of them at 10^8.)
//
// This file includes nothing of the tool's, so that a test of its own can hold it against
// memory_map.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "genista/base/result.hpp"
#include "genista/detail/base/buffer.hpp"
#include "genista/hash/hasher.hpp"
#include "genista/remote/remote.hpp"

namespace genista::tool::bench {

// A record of R with a key of eight bytes.
struct flat_record {
    digest at;
    std::array<std::byte, 8> key;

    // The digest first; then key bytes as unsigned bytes, as remote.hpp wants them.
    friend bool operator<(const flat_record& a, const flat_record& b) noexcept {
        return a.at != b.at ? a.at < b.at : a.key < b.key;
    }
    [[nodiscard]] key_view view() const noexcept { return key_view{key.data(), key.size()}; }
};
static_assert(sizeof(flat_record) == 24);

// The eight bytes that an integer key is, on every machine.
[[nodiscard]] inline std::array<std::byte, 8> bytes_of(std::uint64_t key) noexcept {
    if constexpr (std::endian::native == std::endian::big) key = __builtin_bswap64(key);
    return std::bit_cast<std::array<std::byte, 8>>(key);
}

// All keys that R may ever hold in a run, sorted. Immutable once made: any number of maps and
// threads share it.
class flat_records {
  public:
    // Writes keys first, first + 1, … of the run. Called from several threads, twice for each key;
    // keys are distinct.
    using key_filler = std::function<void(std::uint64_t first, std::span<std::uint64_t> out)>;

    [[nodiscard]] static result<flat_records> make(const hasher& hash, std::uint64_t count, const key_filler& fill,
                                                   unsigned threads) noexcept;

    // Its memory. While it is built there is also a table of `starts` for each thread.
    [[nodiscard]] static constexpr std::uint64_t bytes_for(std::uint64_t count) noexcept {
        return count * sizeof(flat_record) + (buckets_for(count) + 1) * sizeof(std::uint64_t);
    }

    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] const flat_record& operator[](std::uint64_t i) const noexcept { return records()[i]; }

    // The first record at or after a position; size() if there is none.
    [[nodiscard]] std::uint64_t first_from(std::uint64_t position) const noexcept {
        const auto [begin, end] = bucket_of(position);
        const auto* const found =
            std::partition_point(begin, end, [&](const flat_record& r) { return r.at.position < position; });
        return static_cast<std::uint64_t>(found - records());
    }
    [[nodiscard]] std::optional<std::uint64_t> find(const flat_record& wanted) const noexcept {
        const auto [begin, end] = bucket_of(wanted.at.position);
        const auto* const found = std::lower_bound(begin, end, wanted);
        if (found == end || wanted < *found) return std::nullopt;
        return static_cast<std::uint64_t>(found - records());
    }

    // Hints for a loop over many keys: the entry of `starts` first, later the record it names.
    void prefetch_start(const digest& at) const noexcept {
        __builtin_prefetch(&starts_[scale(at.position, buckets())]);
    }
    void prefetch_record(const digest& at) const noexcept { __builtin_prefetch(bucket_of(at.position).first); }

  private:
    static constexpr std::uint64_t records_a_bucket = 32;
    static constexpr std::uint64_t chunk = 4096;  // keys made and hashed at a time

    using pointers = std::pair<const flat_record*, const flat_record*>;

    [[nodiscard]] static constexpr std::uint64_t buckets_for(std::uint64_t count) noexcept {
        return count / records_a_bucket + 1;
    }
    [[nodiscard]] std::uint64_t buckets() const noexcept { return starts_.size() - 1; }
    [[nodiscard]] const flat_record* records() const noexcept {
        return reinterpret_cast<const flat_record*>(memory_.data());
    }
    [[nodiscard]] pointers bucket_of(std::uint64_t position) const noexcept {
        const std::uint64_t bucket = scale(position, buckets());
        return {records() + starts_[bucket], records() + starts_[bucket + 1]};
    }
    void fill_and_sort(const hasher& hash, const key_filler& fill, std::size_t threads);

    buffer memory_;
    std::uint64_t size_ = 0;
    std::vector<std::uint64_t> starts_;
};

// A view of the records with liveness of its own. Models remote_map; all calls may come from many
// threads at once.
class flat_map {
  public:
    // May throw std::bad_alloc, for one bit a record. Nothing is live.
    explicit flat_map(std::shared_ptr<const flat_records> records)
        : records_{std::move(records)}, live_(static_cast<std::size_t>((records_->size() + 63) / 64)) {}

    // True if it was not live. A record that the run did not announce is an error.
    result<bool> put(const digest& where, key_view key) noexcept {
        const auto found = find(where, key);
        if (!found) {
            return error::make(error_code::invalid_argument,
                               "flat_map: a key of %zu bytes at %016llx is not of this run", key.size,
                               static_cast<unsigned long long>(where.position));
        }
        return (live_[*found / 64].fetch_or(bit(*found)) & bit(*found)) == 0;
    }
    result<bool> erase(const digest& where, key_view key) noexcept {
        const auto found = find(where, key);
        return found && (live_[*found / 64].fetch_and(~bit(*found)) & bit(*found)) != 0;
    }
    result<bool> contains(const digest& where, key_view key) const noexcept {
        const auto found = find(where, key);
        return found && (live_[*found / 64].load() & bit(*found)) != 0;
    }

    // Both ends inclusive; first > last is the empty range.
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) const {
        if (first > last) return {};
        const flat_records& all = *records_;
        for (std::uint64_t i = all.first_from(first); i < all.size() && all[i].at.position <= last; ++i) {
            // Records that are not live are skipped a word at a time: a map may announce many more
            // keys than are live.
            const std::uint64_t rest = live_[i / 64].load() >> (i % 64);
            if (rest == 0) {
                i |= 63;
                continue;
            }
            i += static_cast<std::uint64_t>(std::countr_zero(rest));
            if (all[i].at.position > last || !visit(all[i].at, all[i].view())) break;
        }
        return {};
    }

    // Many integer keys at once, their cache misses overlapped. How many were unknown.
    [[nodiscard]] std::uint64_t put_all(const hasher& hash, std::span<const std::uint64_t> keys) noexcept;

    // REQUIRES: no other thread writes at the same time.
    void clear() noexcept {
        for (auto& word : live_) word.store(0, std::memory_order_relaxed);
    }

  private:
    [[nodiscard]] static constexpr std::uint64_t bit(std::uint64_t i) noexcept { return std::uint64_t{1} << (i % 64); }
    [[nodiscard]] std::optional<std::uint64_t> find(const digest& where, key_view key) const noexcept {
        flat_record wanted{where, {}};
        if (key.size != wanted.key.size()) return std::nullopt;
        std::memcpy(wanted.key.data(), key.data, key.size);
        return records_->find(wanted);
    }

    std::shared_ptr<const flat_records> records_;
    std::vector<std::atomic<std::uint64_t>> live_;
};

static_assert(remote_map<flat_map>);

inline result<flat_records> flat_records::make(const hasher& hash, std::uint64_t count, const key_filler& fill,
                                               unsigned threads) noexcept {
    flat_records made;
    auto memory = buffer::zeroed(count * sizeof(flat_record));
    if (!memory) return memory.error();
    made.memory_ = *std::move(memory);
    made.size_ = count;
    try {
        made.starts_.resize(static_cast<std::size_t>(buckets_for(count) + 1));
        made.fill_and_sort(hash, fill, count < chunk ? 1 : std::max(1u, threads));
    } catch (const std::exception& problem) {  // no memory, or no thread
        return error::make(error_code::out_of_memory, "flat_map: %llu records could not be sorted: %s",
                           static_cast<unsigned long long>(count), problem.what());
    }
    return made;
}

// One pass of a radix sort, by bucket; then each bucket is short enough for std::sort. The keys are
// made and hashed twice, once to count and once to place them: there is no
// memory for a second array.
inline void flat_records::fill_and_sort(const hasher& hash, const key_filler& fill, std::size_t threads) {
    auto* const out = reinterpret_cast<flat_record*>(memory_.data());
    std::vector<std::vector<std::uint64_t>> places(threads, std::vector<std::uint64_t>(starts_.size()));
    const auto on_all_threads = [&](const auto& work) {
        std::vector<std::jthread> team;
        for (std::size_t t = 1; t < threads; ++t) team.emplace_back([&work, t] { work(t); });
        work(0);
    };
    // take(bucket, record) for the keys of thread t's share.
    const auto scan = [&](std::size_t t, const auto& take) {
        std::array<std::uint64_t, chunk> keys{};
        std::array<digest, chunk> digests{};
        const std::uint64_t end = size_ / threads * (t + 1) + (t + 1 == threads ? size_ % threads : 0);
        for (std::uint64_t first = size_ / threads * t; first < end; first += chunk) {
            const std::span part = std::span{keys}.first(static_cast<std::size_t>(std::min(chunk, end - first)));
            fill(first, part);
            hash(part, std::span{digests}.first(part.size()));
            for (std::size_t i = 0; i < part.size(); ++i) {
                take(scale(digests[i].position, buckets()), flat_record{digests[i], bytes_of(part[i])});
            }
        }
    };
    on_all_threads([&](std::size_t t) {
        scan(t, [&mine = places[t]](std::uint64_t bucket, const flat_record&) { ++mine[bucket]; });
    });
    std::uint64_t begin = 0;
    for (std::size_t bucket = 0; bucket < starts_.size(); ++bucket) {
        starts_[bucket] = begin;
        for (auto& of_thread : places) begin += std::exchange(of_thread[bucket], begin);
    }
    on_all_threads([&](std::size_t t) {
        scan(t, [&mine = places[t], out](std::uint64_t bucket, const flat_record& r) { out[mine[bucket]++] = r; });
    });
    on_all_threads([&](std::size_t t) {
        for (std::uint64_t b = buckets() * t / threads; b < buckets() * (t + 1) / threads; ++b) {
            std::sort(out + starts_[b], out + starts_[b + 1]);
        }
    });
}

inline std::uint64_t flat_map::put_all(const hasher& hash, std::span<const std::uint64_t> keys) noexcept {
    constexpr std::size_t group = 64;
    std::array<digest, group> digests{};
    std::uint64_t unknown = 0;
    for (; !keys.empty(); keys = keys.subspan(std::min(group, keys.size()))) {
        const auto part = keys.first(std::min(group, keys.size()));
        hash(part, digests);
        for (std::size_t i = 0; i < part.size(); ++i) records_->prefetch_start(digests[i]);
        for (std::size_t i = 0; i < part.size(); ++i) records_->prefetch_record(digests[i]);
        for (std::size_t i = 0; i < part.size(); ++i) {
            const auto bytes = bytes_of(part[i]);
            unknown += put(digests[i], key_view{bytes.data(), bytes.size()}) ? 0u : 1u;
        }
    }
    return unknown;
}

}  // namespace genista::tool::bench
