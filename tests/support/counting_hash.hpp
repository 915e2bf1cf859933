// counting_hash: a hash that counts how often one key is hashed. Filters and guards take it as
// hasher::custom, so that kernels count, too, and nothing in the product is there for this test.
//
// Other keys do not count: what R gives back is checked against its digest, record by record.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "genista/hash/hasher.hpp"

namespace genista::test {

class counting_hash {
  public:
    explicit counting_hash(const hasher& inner = hasher{hash_key::from_seed(25)}) noexcept : inner_{inner} {}
    counting_hash(const counting_hash&) = delete;
    counting_hash& operator=(const counting_hash&) = delete;

    // Refers to this object.
    [[nodiscard]] hasher hash() const noexcept { return hasher::custom(&counting_hash::of, this); }

    // How often `key` is hashed while the call runs. REQUIRES: no other thread hashes when this
    // begins.
    template <class Call>
    [[nodiscard]] std::uint64_t during(std::string_view key, Call&& call) {
        watched_ = key;
        times_ = 0;
        std::forward<Call>(call)();
        return times_;
    }

  private:
    static digest of(const void* context, key_view key) noexcept {
        const auto& self = *static_cast<const counting_hash*>(context);
        if (key.text() == self.watched_) ++self.times_;
        return self.inner_(key);
    }

    const hasher inner_;
    std::string watched_;
    mutable std::atomic<std::uint64_t> times_{0};
};

}  // namespace genista::test
