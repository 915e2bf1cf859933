// drift_verdict: does the world still look like the plan that a daisy filter was made by? Each
// filter says in its own header where it draws the line: a Bloom filter minds all probes together,
// a table for each class minds the class.
//
// Whatever the verdict, no key is lost. The remedy is a new filter by a new plan.
#pragma once

#include <cstdint>
#include <string_view>

namespace genista {

enum class drift_verdict : std::uint8_t {
    as_planned,
    fuller_than_planned,  // more came than was planned
    classes_differ,       // others came than were planned
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
