// A claim is one promise of the papers (or of ours) that the library means to keep; docs/papers.md
// tells them to people.
//
// Claims exist from the first day; the experiment of the same id (experiment.hpp) when its
// structure is built.
#pragma once

#include <span>
#include <string_view>

namespace genista::lab {

struct claim {
    std::string_view id;
    std::string_view promise;
    std::string_view where;  // tag and place in docs/papers.md, or "ours"
};

[[nodiscard]] std::span<const claim> all_claims() noexcept;

// nullptr if there is none of that id.
[[nodiscard]] const claim* find_claim(std::string_view id) noexcept;

}  // namespace genista::lab
