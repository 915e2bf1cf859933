// The bar. See progress.hpp.
#include "progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace genista::tool {
namespace {

constexpr std::size_t bar_width = 30;
constexpr std::size_t label_width = 40;  // with the bar and the figure, one line of an 80-column terminal
constexpr auto redraw_after = std::chrono::milliseconds{100};

bool stderr_is_a_terminal() {
    const char* terminal = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) == 1 && (terminal == nullptr || std::string_view{terminal} != "dumb");
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
    const auto done = static_cast<std::size_t>(share * static_cast<double>(bar_width));
    const std::string bar = std::string(done, '=') + std::string(bar_width - done, ' ');
    std::fprintf(stderr, "\r\033[K[%s] %3.0f%% %.*s", bar.c_str(), share * 100, static_cast<int>(label_width),
                 label_.c_str());
}

}  // namespace genista::tool
