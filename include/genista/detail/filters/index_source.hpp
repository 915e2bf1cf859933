// index_source: the calls that filters with an index make to R, without R's type, and remote_index,
// which makes one from any indexed map.
//
// So the filters behind it (broom_paper, adaptive_bloom, cascade) are compiled once for all types
// of R.
#pragma once

#include <cstdint>
#include <functional>

#include "genista/detail/base/caught.hpp"
#include "genista/remote/indexed.hpp"

namespace genista {

class index_source {
  public:
    // Called for each record; false stops. They do not throw. Records are not checked here.
    using take_record = std::function<bool(const digest& where, key_view key)>;

    // The records, which say what keys are stored.
    virtual result<bool> is_member(const digest& where, key_view key) = 0;
    virtual result<bool> remove_member(const digest& where, key_view key) = 0;
    virtual result<void> each_member(position_range range, const take_record& take) = 0;

    // The index, which belongs to the filter.
    virtual result<void> put(const digest& place, key_view key) = 0;
    virtual result<bool> add(const digest& place, key_view key) = 0;  // as put; true if it was new
    virtual result<void> erase(const digest& place, key_view key) = 0;
    virtual result<void> each(position_range range, const take_record& take) = 0;

  protected:
    ~index_source() = default;
};

// Exceptions of R (a map of the caller's) become errors.
template <indexed_map R>
class remote_index final : public index_source {
  public:
    explicit remote_index(R& remote) noexcept : remote_{remote} {}

    result<bool> is_member(const digest& where, key_view key) override {
        return remote_detail::caught([&]() -> result<bool> { return remote_.contains(where, key); });
    }
    result<bool> remove_member(const digest& where, key_view key) override {
        return remote_detail::caught([&]() -> result<bool> { return remote_.erase(where, key); });
    }
    result<void> each_member(position_range range, const take_record& take) override {
        return remote_detail::caught([&]() -> result<void> {
            return remote_.for_each(range.first, range.last,
                                    [&](const digest& where, key_view key) { return take(where, key); });
        });
    }
    result<void> put(const digest& place, key_view key) override {
        return remote_detail::caught([&] { return changed(remote_.index().put(place, key)); });
    }
    result<bool> add(const digest& place, key_view key) override {
        return remote_detail::caught([&]() -> result<bool> { return remote_.index().put(place, key); });
    }
    result<void> erase(const digest& place, key_view key) override {
        return remote_detail::caught([&] { return changed(remote_.index().erase(place, key)); });
    }
    result<void> each(position_range range, const take_record& take) override {
        return remote_detail::caught([&]() -> result<void> {
            return remote_.index().for_each(range.first, range.last,
                                            [&](const digest& place, key_view key) { return take(place, key); });
        });
    }

  private:
    // The filters do not use the outcome: to repeat a change does nothing.
    [[nodiscard]] static result<void> changed(const result<bool>& done) noexcept {
        if (!done) return done.error();
        return {};
    }

    R& remote_;
};

}  // namespace genista
