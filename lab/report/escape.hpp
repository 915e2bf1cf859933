// Escapes any string for the three places of a page: text, an attribute, JSON inside a <script>.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace genista::lab::report {

// For text and for attributes in double quotes: & < > " ' become entities. Bytes that are no UTF-8,
// and control characters that HTML forbids, become U+FFFD, one for each byte.
[[nodiscard]] std::string escaped(std::string_view text);

// JSON that may stand inside a <script>: no < > & in it, so that neither </script> nor <!-- can
// appear. Numbers that are not finite become null, bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string script_json(const nlohmann::ordered_json& value);

}  // namespace genista::lab::report
