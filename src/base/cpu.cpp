#include "genista/base/cpu.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>

namespace genista {
namespace {

isa detect() noexcept {
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt") &&
                      __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
    if (!avx2) return isa::portable;
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("vaes");
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
