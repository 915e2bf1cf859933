// sketch_table: makes and compares the tables of the sketches. See sketch_table.hpp.
#include "genista/detail/oracles/sketch_table.hpp"

#include "hash/chance.hpp"

namespace genista {

result<void> check_shape(std::string_view sketch, const sketch_shape& shape) noexcept {
    const auto name_size = static_cast<int>(sketch.size());
    if (shape.width < 1 || shape.width > max_sketch_width) {
        return error::make(error_code::invalid_argument, "%.*s: a width of %llu is not in 1..%llu", name_size,
                           sketch.data(), static_cast<unsigned long long>(shape.width),
                           static_cast<unsigned long long>(max_sketch_width));
    }
    if (shape.depth < 1 || shape.depth > max_sketch_depth) {
        return error::make(error_code::invalid_argument, "%.*s: a depth of %u is not in 1..%u", name_size,
                           sketch.data(), shape.depth, max_sketch_depth);
    }
    return {};
}

template <class Counter>
result<sketch_table<Counter>> sketch_table<Counter>::make(std::string_view sketch, const sketch_shape& shape,
                                                          const std::optional<hasher>& hash) noexcept {
    if (const auto fine = check_shape(sketch, shape); !fine) return fine.error();
    const auto chosen = hasher_or_random(hash);
    if (!chosen) return chosen.error();
    auto memory = buffer::zeroed(shape.depth * shape.width * sizeof(Counter));  // at most 2^39 bytes
    if (!memory) return memory.error();
    return sketch_table{shape, *chosen, *std::move(memory)};
}

template <class Counter>
result<void> sketch_table<Counter>::check_mergeable(std::string_view sketch, const sketch_table& other) const noexcept {
    const auto name_size = static_cast<int>(sketch.size());
    if (!(shape_ == other.shape_)) {
        return error::make(error_code::mismatch, "%.*s: %u rows of %llu counters cannot be merged with %u rows of %llu",
                           name_size, sketch.data(), shape_.depth, static_cast<unsigned long long>(shape_.width),
                           other.shape_.depth, static_cast<unsigned long long>(other.shape_.width));
    }
    if (!(hash_ == other.hash_)) {
        return error::make(error_code::mismatch,
                           "%.*s: sketches under different hash keys (%016llx and %016llx) cannot be merged", name_size,
                           sketch.data(), static_cast<unsigned long long>(hash_.key().id()),
                           static_cast<unsigned long long>(other.hash_.key().id()));
    }
    return {};
}

template class sketch_table<std::uint32_t>;
template class sketch_table<std::int32_t>;

}  // namespace genista
