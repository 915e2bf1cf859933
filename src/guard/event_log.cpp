// event_log: names of events, and the call of the user's function. See event_log.hpp.
#include "genista/guard/event_log.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <iterator>

namespace genista {

std::string_view to_string(event_level level) noexcept {
    constexpr std::string_view names[] = {"info", "warning", "error"};
    return names[static_cast<unsigned char>(level)];
}

std::string_view to_string(event_kind kind) noexcept {
    constexpr std::string_view names[] = {"opened",         "snapshot_refused", "snapshot_taken",  "snapshot_failed",
                                          "indexing_begun", "indexing_ended",   "indexing_failed", "rebuild_begun",
                                          "rebuild_ended",  "rebuild_failed",   "ranges_pending",  "ranges_repaired",
                                          "repair_failed",  "foreign_writes",   "adapt_failed"};
    static_assert(std::size(names) == static_cast<std::size_t>(event_kind::adapt_failed) + 1);
    return names[static_cast<unsigned char>(kind)];
}

void event_log::report(event_level level, event_kind kind, const char* format, ...) const noexcept {
    if (hook_ == nullptr) return;
    char text[longest_text + 1];
    va_list arguments;
    va_start(arguments, format);
    const int wanted = std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (wanted < 0) return;
    const std::size_t length = std::min(static_cast<std::size_t>(wanted), longest_text);
    std::replace_if(
        text, text + length, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
    try {
        (*hook_)({.level = level, .kind = kind, .text = {text, length}});
    } catch (...) {  // an exception of the user's function must not stop the store
    }
}

}  // namespace genista
