// Names that people mistype: what was written, which known one was probably meant, and which there
// are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace genista::tool {

// The known name that takes the fewest changes (a letter more, less, another one, or two
// exchanged), if these are few for a word of this length; empty if none is near. The first of
// several.
[[nodiscard]] std::string nearest_name(std::string_view word, const std::vector<std::string>& known);

// "'blom' is no filter; did you mean bloom? There are bloom, broom": one line for every command.
// Long nonsense is cut.
[[nodiscard]] std::string unknown_name(std::string_view word, std::string_view kind,
                                       const std::vector<std::string>& known);

// "'broom' is named twice; once is enough"
[[nodiscard]] std::string named_twice(std::string_view name);

}  // namespace genista::tool
