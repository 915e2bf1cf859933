// Buckets, their locks and versions. See absent_cells.hpp; the comments here refer to the argument
// there.
#include "genista/detail/filters/daisy_broom/absent_cells.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <new>
#include <thread>
#include <type_traits>
#include <utility>

#include "genista/hash/key.hpp"

namespace genista {
namespace {

constexpr std::uint64_t lock_bit = 1;
constexpr unsigned count_at = 1, version_at = 6;

unsigned count_of(std::uint64_t meta) noexcept {
    return static_cast<unsigned>(meta >> count_at & 31);
}
std::uint64_t version_of(std::uint64_t meta) noexcept {
    return meta >> version_at;
}
std::uint64_t bucket_of(std::uint64_t cell) noexcept {
    return cell >> 32;
}
std::uint32_t low_half(std::uint64_t cell) noexcept {
    return static_cast<std::uint32_t>(cell);
}
// Which cell to drop: queries cannot know how often a bucket has changed, so they cannot predict
// it.
unsigned any_of(unsigned count, std::uint64_t version, std::uint32_t cell) noexcept {
    const std::uint64_t word = (version ^ std::uint64_t{cell} << 32) * 0x9e3779b97f4a7c15u;
    return static_cast<unsigned>(scale(word ^ word << 29, count));
}

// Tables of a page or more are mapped, so that their pages can be given back while the addresses
// stay (release). An empty bucket is all zeros.
constexpr std::uint64_t page = 4096;
std::uint64_t mapped_bytes(std::uint64_t bytes) noexcept {
    return (bytes + page - 1) / page * page;
}
void* take_zeros(std::uint64_t bytes) noexcept {
    if (bytes < page) return ::operator new (bytes, std::align_val_t{64}, std::nothrow);
    void* const at = ::mmap(nullptr, mapped_bytes(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? nullptr : at;
}
void give_back(void* at, std::uint64_t bytes) noexcept {
    if (bytes < page) {
        ::operator delete (at, std::align_val_t{64});
    } else {
        ::munmap(at, mapped_bytes(bytes));
    }
}

}  // namespace

// A bucket held exclusively. Releasing it advances its version, unless leave_as_it_was() was
// called.
class absent_cells::locked {
  public:
    explicit locked(bucket& of) noexcept : of_{of} {
        before_ = of_.meta.load(std::memory_order_relaxed);
        while (true) {
            if ((before_ & lock_bit) != 0) {
                std::this_thread::yield();
                before_ = of_.meta.load(std::memory_order_relaxed);
            } else if (of_.meta.compare_exchange_weak(before_, before_ | lock_bit, std::memory_order_acq_rel,
                                                      std::memory_order_relaxed)) {
                break;
            }
        }
        count_ = count_of(before_);
    }
    locked(const locked&) = delete;
    locked& operator=(const locked&) = delete;
    ~locked() {
        const std::uint64_t version = version_of(before_) + (changed_ ? 1 : 0);
        of_.meta.store(version << version_at | std::uint64_t{count_} << count_at, std::memory_order_release);
    }

    [[nodiscard]] std::uint64_t version() const noexcept { return version_of(before_); }
    void leave_as_it_was() noexcept { changed_ = false; }

    // cells_of_a_bucket: the cell is not there.
    [[nodiscard]] unsigned find(std::uint32_t cell) const noexcept {
        for (unsigned i = 0; i < count_; ++i) {
            if (of_.cells[i].load(std::memory_order_relaxed) == cell) return i;
        }
        return cells_of_a_bucket;
    }
    // True: another cell was dropped for it.
    bool add(std::uint32_t cell) noexcept {
        const bool forgets = count_ == cells_of_a_bucket;
        const unsigned at = forgets ? any_of(count_, version(), cell) : count_++;
        of_.cells[at].store(cell, std::memory_order_release);
        return forgets;
    }
    void remove(unsigned index) noexcept {
        --count_;
        of_.cells[index].store(of_.cells[count_].load(std::memory_order_relaxed), std::memory_order_release);
    }
    // Returns how many cells there were.
    unsigned clear() noexcept { return std::exchange(count_, 0); }

  private:
    bucket& of_;
    std::uint64_t before_ = 0;
    unsigned count_ = 0;
    bool changed_ = true;
};

absent_cells::absent_cells(std::uint64_t bytes) noexcept : buckets_{std::min(bytes / bucket_bytes, most_buckets)} {}

absent_cells::~absent_cells() {
    static_assert(std::is_trivially_destructible_v<bucket>);
    if (table() != nullptr) give_back(table(), buckets_ * bucket_bytes);
}

result<absent_cells::bucket*> absent_cells::make_table() noexcept {
    if (bucket* const there = table(); there != nullptr) return there;
    void* const memory = take_zeros(buckets_ * bucket_bytes);
    if (memory == nullptr) {
        return error::make(error_code::out_of_memory, "daisy_broom: no memory for %llu buckets of exceptions",
                           static_cast<unsigned long long>(buckets_));
    }
    auto* const made = static_cast<bucket*>(memory);
    std::uninitialized_value_construct_n(made, buckets_);
    bucket* first = nullptr;
    if (table_.compare_exchange_strong(first, made, std::memory_order_seq_cst)) return made;
    give_back(memory, buckets_ * bucket_bytes);
    return first;
}

bool absent_cells::excludes(std::uint64_t position) const noexcept {
    const bucket* const all = table();
    if (all == nullptr) return false;
    const std::uint64_t cell = scale(position, buckets_ << 32);
    const bucket& of = all[bucket_of(cell)];
    const std::uint64_t before = of.meta.load(std::memory_order_acquire);
    if ((before & lock_bit) != 0) return false;
    bool found = false;
    for (unsigned i = 0; i < count_of(before); ++i) {
        found = found || of.cells[i].load(std::memory_order_acquire) == low_half(cell);
    }
    // A cell from a later change makes its lock visible too (release, acquire): then meta differs.
    return found && of.meta.load(std::memory_order_relaxed) == before;
}

result<absent_cells::ticket> absent_cells::draw(std::uint64_t position) noexcept {
    const auto all = make_table();
    if (!all) return all.error();
    ticket drawn;
    drawn.cell_ = scale(position, buckets_ << 32);
    // For a bucket that is being changed this is the version from before, which will not match.
    drawn.version_ = version_of((*all)[bucket_of(drawn.cell_)].meta.load(std::memory_order_seq_cst));
    return drawn;
}

bool absent_cells::exclude(const ticket& drawn) noexcept {
    locked held{table()[bucket_of(drawn.cell_)]};
    const bool there = held.find(low_half(drawn.cell_)) != cells_of_a_bucket;
    // Checked under the lock: a caller that gets the lock after release() has emptied the bucket
    // sees the release.
    const bool valid = held.version() == drawn.version_ && !is_released();
    if (!valid || there) {
        held.leave_as_it_was();
        return valid;
    }
    auto& counter = held.add(low_half(drawn.cell_)) ? forgotten_ : size_;
    counter.fetch_add(1, std::memory_order_relaxed);
    return true;
}

void absent_cells::admit(std::uint64_t position) noexcept {
    bucket* const all = table();
    if (all == nullptr || is_released()) return;
    const std::uint64_t cell = scale(position, buckets_ << 32);
    locked held{all[bucket_of(cell)]};
    if (const unsigned at = held.find(low_half(cell)); at != cells_of_a_bucket) {
        held.remove(at);
        size_.fetch_sub(1, std::memory_order_relaxed);
    }
}

void absent_cells::admit_all() noexcept {
    bucket* const all = table();
    if (all == nullptr || is_released()) return;
    for (std::uint64_t i = 0; i < buckets_; ++i) size_.fetch_sub(locked{all[i]}.clear(), std::memory_order_relaxed);
}

// An admit that holds a bucket while its page is given back has found it empty and leaves it empty;
// an exclude does nothing.
void absent_cells::release() noexcept {
    bucket* const all = table();
    if (all == nullptr || released_.exchange(true, std::memory_order_seq_cst)) return;
    for (std::uint64_t i = 0; i < buckets_; ++i) size_.fetch_sub(locked{all[i]}.clear(), std::memory_order_relaxed);
    const std::uint64_t bytes = buckets_ * bucket_bytes;
    if (bytes >= page) (void)::madvise(all, mapped_bytes(bytes), MADV_DONTNEED);
}

std::uint64_t absent_cells::allocated_bytes() const noexcept {
    const std::uint64_t bytes = buckets_ * bucket_bytes;
    if (table() == nullptr) return 0;
    if (bytes < page) return bytes;
    return is_released() ? 0 : mapped_bytes(bytes);
}

void absent_cells::save(std::span<std::uint32_t> into) const noexcept {
    bucket* const all = table();
    std::fill(into.begin(), into.end(), 0);
    for (std::uint64_t i = 0; all != nullptr && i < buckets_ && words_of_a_bucket * (i + 1) <= into.size(); ++i) {
        locked held{all[i]};
        held.leave_as_it_was();
        const unsigned count = count_of(all[i].meta.load(std::memory_order_relaxed));
        into[words_of_a_bucket * i] = count;
        for (unsigned k = 0; k < count; ++k) {
            into[words_of_a_bucket * i + 2 + k] = all[i].cells[k].load(std::memory_order_relaxed);
        }
    }
}

result<void> absent_cells::restore(std::span<const std::uint32_t> from) noexcept {
    if (from.empty()) return {};
    const auto wrong = [](std::uint64_t at) {
        return error::make(error_code::corrupt, "daisy_broom snapshot: bucket %llu of the exceptions is impossible",
                           static_cast<unsigned long long>(at));
    };
    if (from.size() != words_of_a_bucket * buckets_) return wrong(from.size() / words_of_a_bucket);
    for (std::uint64_t i = 0; i < buckets_; ++i) {
        const auto words = from.subspan(words_of_a_bucket * i, words_of_a_bucket);
        const std::uint32_t count = words[0];
        if (count > cells_of_a_bucket || words[1] != 0) return wrong(i);
        const auto cells = words.subspan(2, count);
        for (std::size_t k = 0; k < cells.size(); ++k) {
            if (std::find(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(k), cells[k]) !=
                cells.begin() + static_cast<std::ptrdiff_t>(k))
                return wrong(i);
        }
        if (std::any_of(words.begin() + 2 + count, words.end(), [](std::uint32_t word) { return word != 0; }))
            return wrong(i);
    }
    const auto all = make_table();
    if (!all) return all.error();
    for (std::uint64_t i = 0; i < buckets_; ++i) {
        locked held{(*all)[i]};
        size_.fetch_sub(held.clear(), std::memory_order_relaxed);
        for (std::uint32_t k = 0; k < from[words_of_a_bucket * i]; ++k)
            (void)held.add(from[words_of_a_bucket * i + 2 + k]);
        size_.fetch_add(from[words_of_a_bucket * i], std::memory_order_relaxed);
    }
    return {};
}

}  // namespace genista
