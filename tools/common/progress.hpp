// A progress bar: one line on stderr, redrawn in place, erased when the work is done.
//
// Drawn only if stderr is a terminal. Nothing is written to a log or a pipe, nor to stdout.
#pragma once

#include <chrono>
#include <string>

namespace genista::tool {

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

}  // namespace genista::tool
