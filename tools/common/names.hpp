// Unknown names: the error with the name, the known name that was probably meant, and all known
// names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace genista::tool {

// The known name that takes the fewest changes (a letter more, less, another one, or two
// exchanged), if these are few for a word of this length; empty if none is near. The first of
// several.
[[nodiscard]] std::string nearest_name(std::string_view word, const std::vector<std::string>& known);

// "'blom' is not a known filter; did you mean bloom? Known are bloom, broom": one line for every
// command. A long word is truncated.
[[nodiscard]] std::string unknown_name(std::string_view word, std::string_view kind,
                                       const std::vector<std::string>& known);

// "'broom' is named twice; once is enough"
[[nodiscard]] std::string named_twice(std::string_view name);

}  // namespace genista::tool
