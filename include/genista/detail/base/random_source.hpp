// random_source: where a filter draws what must not be guessed: salts and hash functions. The
// options of those that draw have one, which is the operating system's generator; no public header
// names another one.
#pragma once

#include <cstdint>
#include <optional>

namespace genista {

class random_source {
  public:
    constexpr random_source() noexcept = default;
    // None: the operating system's generator.
    [[nodiscard]] constexpr const std::optional<std::uint64_t>& seed() const noexcept { return seed_; }

  protected:
    constexpr explicit random_source(std::uint64_t seed) noexcept : seed_{seed} {}

  private:
    std::optional<std::uint64_t> seed_{};
};

// The same choices in every run, for tests and experiments: `options.random = repeatable(7)`. An
// adversary who knows the seed knows them too, and what is promised against adversaries ends.
class repeatable : public random_source {
  public:
    constexpr explicit repeatable(std::uint64_t seed) noexcept : random_source{seed} {}
};

}  // namespace genista
