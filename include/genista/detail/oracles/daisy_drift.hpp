// drift_verdict: whether keys and queries still match the plan by which a daisy filter was made.
// Each filter's header says where it draws the line: a Bloom filter compares the probes of all keys
// together, a table for each class compares the class.
//
// Whatever the verdict, no key is lost. The remedy is a new filter by a new plan.
#pragma once

#include <cstdint>
#include <string_view>

namespace genista {

enum class drift_verdict : std::uint8_t {
    as_planned,
    fuller_than_planned,  // more keys than planned
    classes_differ,       // keys of other classes than planned
};

[[nodiscard]] constexpr std::string_view to_string(drift_verdict verdict) noexcept {
    switch (verdict) {
        case drift_verdict::as_planned:
            return "as_planned";
        case drift_verdict::fuller_than_planned:
            return "fuller_than_planned";
        case drift_verdict::classes_differ:
            return "classes_differ";
    }
    return "unknown";
}

}  // namespace genista
