// Progress of long work, on stderr: a bar on a terminal, and for very long work lines in a log.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace genista::tool {

// One line, redrawn in place, and erased when the work is done. Drawn only if stderr is a terminal:
// nothing is written to a log or a pipe.
class progress {
  public:
    explicit progress(std::string label);
    ~progress();
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    // Whether there is a terminal to draw on.
    [[nodiscard]] bool is_drawn() const noexcept { return on_terminal_; }

    // share in 0..1. Redraws at most ten times a second.
    void update(double share);
    void update(double share, std::string label);

  private:
    std::string label_;
    bool shown_ = false;
    const bool on_terminal_;
    std::chrono::steady_clock::time_point drawn_at_{};
};

// The bar on a terminal; else a line when a stage begins, when it ends, and every ten seconds
// between.
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
