// scripted_map: wraps R and runs a hook at a chosen moment inside a call, so that a test can play a
// race in a fixed order.
//
// A filter's operation calls R in the middle. Whatever another thread could do at that moment the
// hook does through the wrapped map. Each hook runs once.
#pragma once

#include <functional>
#include <utility>

#include "genista/remote/remote.hpp"

namespace genista::test {

template <remote_map R>
class scripted_map {
  public:
    explicit scripted_map(R& wrapped) noexcept : inner_{wrapped} {}

    std::function<void()> after_range;  // R was read, and the filter has not received the answer
    std::function<void()> after_erase;  // R has erased the key, and the filter has not received the answer

    result<bool> put(const digest& where, key_view key) { return inner_.put(where, key); }
    result<bool> contains(const digest& where, key_view key) { return inner_.contains(where, key); }
    result<bool> erase(const digest& where, key_view key) {
        const result<bool> outcome = inner_.erase(where, key);
        run(after_erase);
        return outcome;
    }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        const result<void> outcome = inner_.for_each(first, last, visit);
        run(after_range);
        return outcome;
    }

  private:
    static void run(std::function<void()>& hook) {
        if (const auto once = std::exchange(hook, nullptr); once) once();
    }

    R& inner_;
};

}  // namespace genista::test
