// The look-up of cache_line_floor: one word of one random line.
#include "filters/filter_kernels.inl"

namespace genista::GENISTA_ISA {

struct line_policy {
    using state = cache_line_state;
    struct target {
        const std::byte* line;
        std::uint64_t seed;
    };

    static target aim(const state& s, const digest& d) noexcept {
        return {s.bytes + 64 * scale(d.position, s.lines), d.seed};
    }
    static void prefetch(const state&, const target& t) noexcept { __builtin_prefetch(t.line); }
    static bool test(const state&, const target& t) noexcept {
        std::uint64_t word;
        std::memcpy(&word, t.line + 8 * (t.seed & 7), sizeof word);
        return (word >> (t.seed >> 58) & 1) != 0;
    }
};

inline constexpr const kernel_table<cache_line_state>& cache_line_kernels = lookups<line_policy>::table;

}  // namespace genista::GENISTA_ISA
