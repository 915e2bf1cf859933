// core: insert, erase and adapt of the broom filter, over one table. The remote map comes in as a range_source, so that this
// is compiled once; remote_source.hpp makes one from any R.
//
// Every operation that reads R takes the group's version before the read and compares it under the lock afterwards: either
// nothing moved, or it starts over. An operation that fails has changed nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "filters/broom/epoch.hpp"
#include "genista/filters/filter.hpp"

namespace genista::broom {

enum class adapt_outcome : unsigned char { fixed, was_negative, true_positive };

// What R holds in the range of one bin, read for an operation on one key.
struct population {
    std::vector<digest> members;
    bool holds_key = false;
};

class range_source {
  public:
    // One range read. On an error `into` is not to be used.
    virtual result<void> read(position_range range, population& into) = 0;
    // Takes the operation's key out of R: the commit in the middle of an erase.
    virtual result<void> erase() = 0;

  protected:
    ~range_source() = default;
};

class core {
  public:
    explicit core(std::unique_ptr<table> bins) noexcept : table_{std::move(bins)} {}

    [[nodiscard]] bool contains(const digest& d) const noexcept { return table_->contains(d); }
    // R holds the key already: the store commits first.
    [[nodiscard]] result<insert_outcome> insert(const digest& d, range_source& source) noexcept;
    [[nodiscard]] result<erase_outcome> erase(const digest& d, range_source& source) noexcept;
    [[nodiscard]] result<adapt_outcome> adapt(const digest& d, range_source& source) noexcept;
    // Lays every bin anew from R.
    [[nodiscard]] result<void> rebuild(range_source& source) noexcept;
    // Every member of R is answered yes, the law holds in every bin, the count is right.
    [[nodiscard]] result<void> audit(range_source& source) const noexcept;

    [[nodiscard]] const table& bins() const noexcept { return *table_; }
    [[nodiscard]] std::uint64_t keys() const noexcept { return keys_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t renewals() const noexcept { return renewals_.load(std::memory_order_relaxed); }

  private:
    [[nodiscard]] result<void> fetch(std::uint64_t bin, range_source& source, population& into) noexcept;
    // Commits the image and brings the key count up to date.
    void commit(table::lock& held, bin_image& image, unsigned keys_before);
    [[nodiscard]] result<void> renew(table::lock& held, bin_image& image, std::span<const digest> members,
                                     const digest* avoid);
    [[nodiscard]] result<insert_outcome> insert_with(const digest& d, std::uint32_t version, const population& r,
                                                     bool& again);
    [[nodiscard]] result<void> erase_with(const digest& d, std::uint32_t version, const population& r, bool& again);
    [[nodiscard]] result<adapt_outcome> adapt_with(const digest& d, std::uint32_t version, const population& r,
                                                   bool& again);

    std::unique_ptr<table> table_;
    std::atomic<std::uint64_t> keys_ = 0;
    std::atomic<std::uint64_t> renewals_ = 0;
};

}  // namespace genista::broom
