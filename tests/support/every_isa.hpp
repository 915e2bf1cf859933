// Runs a part of a test with each instruction set that this processor has.
#pragma once

#include <vector>

#include "base/cpu.hpp"

namespace genista::test {

[[nodiscard]] inline std::vector<isa> usable_isas() {
    std::vector<isa> usable;
    for (const isa level : all_isas) {
        if (level <= best_isa()) usable.push_back(level);
    }
    return usable;
}

// Objects made inside the scope use `level`; the former level returns at its end.
class scoped_isa {
  public:
    explicit scoped_isa(isa level) noexcept : before_{active_isa()} { override_isa(level); }
    scoped_isa(const scoped_isa&) = delete;
    scoped_isa& operator=(const scoped_isa&) = delete;
    ~scoped_isa() { override_isa(before_); }

  private:
    isa before_;
};

}  // namespace genista::test
