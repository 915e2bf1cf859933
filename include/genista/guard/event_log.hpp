// event_log: what a guard has to tell the people who run it. A program gives a function and gets
// events; without one nothing is written anywhere.
//
//     genista::rocks::guarded_db_options options; options.log = [](const genista::guard_event&
//     event) { my_log(to_string(event.level), event.text); };
//
// What the function may rely on, and what it owes:
//   - It is called from the thread that met the event: those that open, read, write and close the
//     store, and the background threads; from several of them at once. It locks what it shares.
//   - `text` is one line without an end of line, in English, for people. It is valid during the
//     call only. It names paths and figures, never keys, values or the hash key. Programs decide by
//     `kind`.
//   - It must not call the store that reports: some events come while a lock of the store is held.
//     It should be quick: a writer may be waiting for it.
//   - What it throws is caught and dropped: a log that fails costs no key.
// Events that a failing store would repeat with every query (adapt_failed) come at most once a
// second; counters have them all.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

namespace genista {

enum class event_level : unsigned char { info, warning, error };
[[nodiscard]] std::string_view to_string(event_level level) noexcept;

enum class event_kind : unsigned char {
    opened,            // info: the store answers; where its filter came from, and the seconds it took
    snapshot_refused,  // warning: a snapshot was not used at opening, and why
    snapshot_taken,    // info
    snapshot_failed,   // error, or a warning if keys wait for the filter: the snapshots before it stay
    indexing_begun,    // info: the index of a database is built
    indexing_ended,    // info: with keys and seconds
    indexing_failed,   // error: opening fails; the next one starts over
    rebuild_begun,     // info: the filter is built from the records
    rebuild_ended,     // info: with keys and seconds
    rebuild_failed,    // error
    ranges_pending,    // warning: ranges answer "maybe" until they are repaired; once, until all are
    ranges_repaired,   // info: with their number and seconds
    repair_failed,     // error: they stay "maybe"
    foreign_writes,    // error: writes that went past the guard were found
    adapt_failed,      // warning: the store failed while the filter wanted to learn from a mistake
};
[[nodiscard]] std::string_view to_string(event_kind kind) noexcept;

struct guard_event {
    event_level level;
    event_kind kind;
    std::string_view text;
};

using event_hook = std::function<void(const guard_event& event)>;

// The function, shared by all parts of a store. Copies are cheap and cannot fail; the function is
// not copied.
class event_log {
  public:
    static constexpr std::size_t longest_text = 511;  // bytes; longer texts are cut

    event_log() = default;
    explicit event_log(event_hook hook) : hook_{hook ? std::make_shared<const event_hook>(std::move(hook)) : nullptr} {}

    // False: reporting does nothing, so that a caller need not gather figures for it.
    explicit operator bool() const noexcept { return hook_ != nullptr; }

    // printf-style. Ends of lines and other control characters, of a path say, become '?'.
    [[gnu::format(printf, 4, 5)]] void report(event_level level, event_kind kind, const char* format,
                                              ...) const noexcept;

  private:
    std::shared_ptr<const event_hook> hook_;
};

}  // namespace genista
