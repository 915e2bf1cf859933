// scratch: a folder for the files of a run, removed at its end, also after an error or Ctrl-C.
//
// A signal handler can do very little, so a thread waits for SIGINT, SIGTERM, SIGHUP and SIGUSR1
// instead; it removes the folder and raises the signal again with its default action.
// REQUIRES: created before any other thread, which inherits the mask; destroyed before results are
// printed, because a closed pipe (`| head`) ends the process without a clean-up.
#pragma once

#include <csignal>

#include <atomic>
#include <string>
#include <thread>

#include "genista/base/result.hpp"

namespace genista::tool {

class scratch {
  public:
    scratch() = default;
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    ~scratch();

    // Creates the folder in the system's folder for temporary files (TMPDIR).
    result<void> make();

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    // An empty file in it, for trials.
    [[nodiscard]] std::string probe() const { return path_ + "/probe"; }
    [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  private:
    void watch();

    std::string path_;
    sigset_t mask_before_{};
    std::atomic<bool> done_{false};
    std::thread watcher_;
};

}  // namespace genista::tool
