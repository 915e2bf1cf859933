// record_check: does each record of a range read belong where R returned it?
//
// A record outside the range, out of order, repeated, or with a digest that is not its key's may
// stand in the place of another one. To take it for a key, or to leave it out, would lose that
// other key: the read has failed.
#pragma once

#include <string>

#include "genista/base/result.hpp"
#include "genista/hash/hasher.hpp"
#include "genista/remote/remote.hpp"

namespace genista::remote_detail {

// The order of R, in which no record comes twice.
class record_order {
  public:
    // Does this record come after the one before? May throw std::bad_alloc.
    [[nodiscard]] bool ascends(const digest& where, key_view key) {
        if (any_ && !(last_ < where || (last_ == where && last_key_ < key.text()))) return false;
        any_ = true;
        last_ = where;
        last_key_.assign(key.text());
        return true;
    }

  private:
    digest last_{};
    std::string last_key_;
    bool any_ = false;
};

class record_check {
  public:
    record_check(position_range range, const hasher& hash) noexcept : range_{range}, hash_{hash} {}

    // REQUIRES: called once for each record, as R returns them. May throw std::bad_alloc.
    [[nodiscard]] bool passes(const digest& where, key_view key) {
        failed_ = failed_ || hash_(key) != where;
        return passes_hashed(where, key);
    }
    // REQUIRES: `where` is the digest of the key, or the caller checks that.
    [[nodiscard]] bool passes_hashed(const digest& where, key_view key) {
        failed_ = failed_ || !range_.contains(where.position) || !order_.ascends(where, key);
        return !failed_;
    }
    [[nodiscard]] bool failed() const noexcept { return failed_; }

    [[nodiscard]] static error wrong_record() noexcept {
        return error::make(error_code::corrupt, "the remote map gave a record that does not belong to the range read");
    }

  private:
    position_range range_;
    const hasher& hash_;
    record_order order_;
    bool failed_ = false;
};

}  // namespace genista::remote_detail
