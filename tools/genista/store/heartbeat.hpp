// heartbeat: progress of long work, on stderr: a bar on a terminal (progress.hpp), else a line when
// a stage begins, when it ends, and every ten seconds between.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "progress.hpp"

namespace genista::tool {

class heartbeat {
  public:
    static constexpr std::chrono::seconds between_lines{10};

    ~heartbeat() { end_stage(); }
    heartbeat() = default;
    heartbeat(const heartbeat&) = delete;
    heartbeat& operator=(const heartbeat&) = delete;

    // done of all, in keys; all is an estimate. Another `stage` ends the one before.
    void update(std::string_view stage, std::uint64_t done, std::uint64_t all);
    void end_stage();

  private:
    using clock = std::chrono::steady_clock;
    void line(std::string_view text);

    progress bar_{""};
    std::string stage_;
    clock::time_point begun_{}, last_line_{};
};

}  // namespace genista::tool
