// See heartbeat.hpp.
#include "store/heartbeat.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "table.hpp"

namespace genista::tool {

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
