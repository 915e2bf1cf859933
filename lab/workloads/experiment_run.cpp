// Numbers as text, for `measured`.
#include "lab/workloads/experiment_run.hpp"

#include <cmath>
#include <cstdio>

namespace genista::lab {

std::string shown(double value, int digits) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    return text;
}

std::string shown_rate(double rate) {
    const double exponent = std::log2(rate);
    if (exponent == std::floor(exponent)) return "2^" + shown(exponent);
    return shown(100 * rate) + " %";
}

}  // namespace genista::lab
