// The snapshot exercise (snapshot_exercise.hpp) for filters whose operations need a class beside
// the key: a wrapper derives it from the key and passes every call on to the filter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "genista/filters/daisy_bloom.hpp"
#include "tests/support/snapshot_exercise.hpp"

namespace genista::test {

// The class for a key; always the same for the same key.
inline unsigned made_up(const daisy_bloom_filter&, std::uint64_t number) {
    return static_cast<unsigned>(number % 21);  // classes above the largest among them
}

template <class Filter>
class keyed_shell {
  public:
    static constexpr std::string_view name = Filter::name;

    explicit keyed_shell(Filter filter) : filter_{std::move(filter)} {}
    [[nodiscard]] static result<keyed_shell> load(std::span<const std::byte> bytes) {
        auto loaded = Filter::load(bytes);
        if (!loaded) return loaded.error();
        return keyed_shell{*std::move(loaded)};
    }
    result<void> save(sink& out) const { return filter_.save(out); }
    [[nodiscard]] filter_stats stats() const { return filter_.stats(); }

    insert_outcome insert(std::uint64_t key) { return filter_.insert(key, made_up(filter_, key)); }
    insert_outcome insert(key_view key) { return filter_.insert(key, made_up(filter_, key.size)); }
    [[nodiscard]] bool may_contain(std::uint64_t key) const { return filter_.may_contain(key, made_up(filter_, key)); }
    [[nodiscard]] bool may_contain(key_view key) const { return filter_.may_contain(key, made_up(filter_, key.size)); }
    void may_contain(std::span<const std::uint64_t> keys, std::span<std::uint64_t> out_bits) const {
        std::vector<std::uint8_t> classes;
        for (const std::uint64_t key : keys) classes.push_back(static_cast<std::uint8_t>(made_up(filter_, key)));
        filter_.may_contain(keys, classes, out_bits);
    }

  private:
    Filter filter_;
};

}  // namespace genista::test
