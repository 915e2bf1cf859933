// range_source: the calls that the broom filter makes to R, without R's type, so that the filter is
// compiled once; and remote_source, which makes one from any R.
//
// Records from R are checked: a record outside the range, out of order, twice, or with a digest
// that is not its key's is an error. An operation whose read failed has changed nothing.
#pragma once

#include <new>
#include <vector>

#include "genista/detail/base/caught.hpp"
#include "genista/detail/filters/broom/faults.hpp"
#include "genista/detail/remote/record_check.hpp"
#include "genista/hash/hasher.hpp"
#include "genista/remote/remote.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

// The keys of R in a range, read for an operation on one key.
struct population {
    std::vector<digest> members;
    bool holds_key = false;
};

class range_source {
  public:
    // One range read. On an error the content of `into` is undefined.
    virtual result<void> read(position_range range, population& into) = 0;
    // Takes the operation's key out of R: the commit in the middle of an erase. False: R did not
    // have it.
    virtual result<bool> erase() = 0;
    // Whether a read crosses the network. A build from keys reads its own memory.
    [[nodiscard]] virtual bool is_remote() const noexcept { return true; }

  protected:
    ~range_source() = default;
};

template <remote_map R>
class remote_source final : public range_source {
  public:
    // REQUIRES: `where` is hash(key).
    remote_source(R& remote, const hasher& hash, const digest& where, key_view key) noexcept
        : remote_{remote}, hash_{hash}, where_{where}, key_{key}, has_key_{true} {}
    // For operations without a key: rebuild, audit, growth.
    remote_source(R& remote, const hasher& hash) noexcept : remote_{remote}, hash_{hash} {}

    result<void> read(position_range range, population& into) override {
        remote_detail::record_check check{range, hash_};
        bool starved = false;
        const auto take = [&](const digest& at, key_view key) noexcept {
            try {
                // The digest of the operation's own key is known, so that it is not hashed again.
                const bool is_own = has_key_ && at == where_ && key.text() == key_.text();
                if (!(is_own ? check.passes_hashed(at, key) : check.passes(at, key))) return false;
                into.members.push_back(at);
                into.holds_key = into.holds_key || is_own;
                return true;
            } catch (const std::bad_alloc&) {
                starved = true;
                return false;
            }
        };
        const result<void> done =
            remote_detail::caught([&]() -> result<void> { return remote_.for_each(range.first, range.last, take); });
        if (starved) return error::make(error_code::out_of_memory, "broom: no memory for the keys of one bin");
        if (check.failed()) return remote_detail::record_check::wrong_record();
        return done;
    }
    result<bool> erase() override {
        return remote_detail::caught([&]() -> result<bool> { return remote_.erase(where_, key_); });
    }

    [[nodiscard]] const digest& where() const noexcept { return where_; }

  private:
    R& remote_;
    const hasher& hash_;
    digest where_{};
    key_view key_{};
    bool has_key_ = false;
};

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
