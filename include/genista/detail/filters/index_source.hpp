// index_source: what filters with an index ask of R, without its type, and remote_index, which
// makes one from any indexed map.
//
// The filters behind it (broom_paper, adaptive_bloom, cascade) are compiled once, whatever R they
// meet.
#pragma once

#include <cstdint>
#include <functional>

#include "genista/detail/remote/caught.hpp"
#include "genista/remote/indexed.hpp"

namespace genista {

class index_source {
  public:
    // Called for each record; false stops. They do not throw. What R says is not checked here.
    using take_record = std::function<bool(const digest& where, key_view key)>;

    // The records, which are the truth: who is a member.
    virtual result<bool> is_member(const digest& where, key_view key) = 0;
    virtual result<bool> remove_member(const digest& where, key_view key) = 0;
    virtual result<void> each_member(position_range range, const take_record& take) = 0;

    // The index, which is the filter's own.
    virtual result<void> put(const digest& place, key_view key) = 0;
    virtual result<bool> add(const digest& place, key_view key) = 0;  // as put, and was it new?
    virtual result<void> erase(const digest& place, key_view key) = 0;
    virtual result<void> each(position_range range, const take_record& take) = 0;

  protected:
    ~index_source() = default;
};

// Nothing thrown by R (a map of the caller's) comes through: it is reported as R's failure.
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
    // Doing it again changes nothing, so that nobody asks whether it did.
    [[nodiscard]] static result<void> changed(const result<bool>& done) noexcept {
        if (!done) return done.error();
        return {};
    }

    R& remote_;
};

}  // namespace genista
