// cache_line_floor behind the bench's loops. See floor.hpp.
#include "bench/floor.hpp"

#include <utility>

#include "bench/filter_subject.hpp"
#include "filters/cache_line_floor.hpp"

namespace genista::tool::bench {
namespace {

class floor_reader final : public reader {
  public:
    explicit floor_reader(cache_line_floor lines) : lines_{std::move(lines)} {}

    [[nodiscard]] std::uint64_t count_each(std::span<const std::uint64_t> keys) const override {
        return count_each_in(lines_, keys);
    }
    [[nodiscard]] std::uint64_t count_batch(std::span<const std::uint64_t> keys) const override {
        return count_batch_in(lines_, keys);
    }

  private:
    cache_line_floor lines_;
};

}  // namespace

result<std::unique_ptr<reader>> make_floor(std::uint64_t size_bytes, const hasher& hash) {
    result<cache_line_floor> made = cache_line_floor::make(size_bytes, hash);
    if (!made) return made.error();
    return std::unique_ptr<reader>{std::make_unique<floor_reader>(std::move(*made))};
}

}  // namespace genista::tool::bench
