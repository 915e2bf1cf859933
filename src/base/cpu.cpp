// isa: reads the instruction sets of this processor once. See cpu.hpp.
#include "base/cpu.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <atomic>
#include <cstdlib>

namespace genista {
namespace {

#if defined(__x86_64__)
// Leaf 7, bit 9 of ecx. clang 14's __builtin_cpu_supports does not have this name.
bool has_vaes() noexcept {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c >> 9 & 1) != 0;
}
#endif

isa detect() noexcept {
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt") &&
                      __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
    if (!avx2) return isa::portable;
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && has_vaes();
    return avx512 ? isa::avx512 : isa::avx2;
#else
    return isa::portable;
#endif
}

isa from_environment() noexcept {
    const char* wanted = std::getenv("GENISTA_ISA");
    if (wanted != nullptr) {
        for (const isa level : all_isas) {
            if (to_string(level) == wanted) return std::min(level, best_isa());
        }
    }
    return best_isa();
}

std::atomic<isa>& chosen() noexcept {
    static std::atomic<isa> level{from_environment()};
    return level;
}

}  // namespace

std::string_view to_string(isa level) noexcept {
    switch (level) {
        case isa::portable:
            return "portable";
        case isa::avx2:
            return "avx2";
        case isa::avx512:
            return "avx512";
    }
    return "unknown";
}

isa best_isa() noexcept {
    static const isa level = detect();
    return level;
}

isa active_isa() noexcept {
    return chosen().load(std::memory_order_relaxed);
}

void override_isa(isa level) noexcept {
    chosen().store(std::min(level, best_isa()), std::memory_order_relaxed);
}

}  // namespace genista
