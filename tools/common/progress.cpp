// The bar and the lines. See progress.hpp.
#include "progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "table.hpp"

namespace genista::tool {
namespace {

constexpr std::size_t bar_width = 30;
constexpr std::size_t usual_columns = 80, figure_columns = 8;  // "[] 100% "
constexpr auto redraw_after = std::chrono::milliseconds{100};

bool stderr_is_a_terminal() {
    const char* terminal = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) == 1 && (terminal == nullptr || std::string_view{terminal} != "dumb");
}

// A line longer than the terminal is wide would leave its first half behind at every redraw.
std::size_t columns_of_stderr() {
    struct winsize size {};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual_columns;
}

}  // namespace

progress::progress(std::string label) : label_{std::move(label)}, on_terminal_{stderr_is_a_terminal()} {}

progress::~progress() {
    if (shown_) std::fputs("\r\033[K", stderr);
}

void progress::update(double share, std::string label) {
    label_ = std::move(label);
    update(share);
}

void progress::update(double share) {
    const auto now = std::chrono::steady_clock::now();
    if (!on_terminal_ || (shown_ && now - drawn_at_ < redraw_after)) return;
    drawn_at_ = now;
    shown_ = true;
    share = share >= 0 ? std::min(share, 1.0) : 0.0;  // NaN is 0 too
    // The last column stays free: some terminals begin a new line there. Bar and label share what
    // the figure leaves.
    const std::size_t columns = std::min(columns_of_stderr(), usual_columns);
    const std::size_t room = columns > figure_columns + 1 ? columns - figure_columns - 1 : 0;
    const std::size_t width = std::min(bar_width, room / 2);
    const auto done = static_cast<std::size_t>(share * static_cast<double>(width));
    const std::string bar = std::string(done, '=') + std::string(width - done, ' ');
    std::fprintf(stderr, "\r\033[K[%s] %3.0f%% %.*s", bar.c_str(), share * 100, static_cast<int>(room - width),
                 label_.c_str());
}

void heartbeat::line(std::string_view text) {
    fmt::print(stderr, "genista: {}\n", text);
    std::fflush(stderr);
    last_line_ = clock::now();
}

void heartbeat::update(std::string_view stage, std::uint64_t done, std::uint64_t all) {
    if (stage != stage_) {
        end_stage();
        stage_ = stage;
        begun_ = clock::now();
        if (!bar_.is_drawn()) line(fmt::format("{}: about {} keys", stage_, grouped(all)));
    }
    const double share = all == 0 ? 0 : static_cast<double>(done) / static_cast<double>(all);
    const std::string figures = fmt::format("{}: {} of about {} keys", stage_, grouped(done), grouped(all));
    if (bar_.is_drawn()) {
        bar_.update(share, figures);
    } else if (clock::now() - last_line_ >= between_lines) {
        const std::chrono::duration<double> since = clock::now() - begun_;
        line(fmt::format("{}, {:.0f} %, {:.0f} s", figures, 100 * share, since.count()));
    }
}

void heartbeat::end_stage() {
    if (stage_.empty()) return;
    const std::chrono::duration<double> since = clock::now() - begun_;
    if (!bar_.is_drawn()) line(fmt::format("{}: done in {:.1f} s", stage_, since.count()));
    stage_.clear();
}

}  // namespace genista::tool
