// The folder, and the thread that waits for signals. See scratch.hpp.
#include "scratch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace genista::tool {
namespace {

// Signals that would end the process. One that is ignored (nohup) stays ignored. SIGUSR1 also wakes
// the watcher.
constexpr int wake_up = SIGUSR1;
sigset_t ending_signals() noexcept {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int each : {SIGINT, SIGTERM, SIGHUP, wake_up}) {
        struct sigaction now {};
        if (::sigaction(each, nullptr, &now) == 0 && (each == wake_up || now.sa_handler != SIG_IGN))
            ::sigaddset(&set, each);
    }
    return set;
}

// Other threads may still write files: the next round removes those.
void remove_folder(const std::string& path) noexcept {
    for (int round = 0; round < 100; ++round) {
        std::error_code failure;
        std::filesystem::remove_all(path, failure);
        if (!failure) return;
    }
}

}  // namespace

result<void> scratch::make() {
    const char* const given = std::getenv("TMPDIR");
    const std::string parent = given != nullptr && *given != '\0' ? given : "/tmp";
    std::string name = parent + "/genista-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
        return error::make(error_code::invalid_argument, "no folder can be made in '%.120s' (TMPDIR): %.60s",
                           parent.c_str(), std::strerror(errno));
    }
    path_ = name;
    if (const int file = ::open(probe().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600); file >= 0) ::close(file);
    const sigset_t set = ending_signals();
    ::pthread_sigmask(SIG_BLOCK, &set, &mask_before_);
    watcher_ = std::thread{[this] { watch(); }};
    return {};
}

scratch::~scratch() {
    if (path_.empty()) return;
    done_.store(true);
    ::pthread_kill(watcher_.native_handle(), wake_up);
    watcher_.join();
    remove_folder(path_);
    ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);  // a signal that is pending ends the process here
}

void scratch::watch() {
    const sigset_t set = ending_signals();
    int which = 0;
    if (::sigwait(&set, &which) != 0 || done_.load()) return;
    remove_folder(path_);
    struct sigaction end {};
    end.sa_handler = SIG_DFL;
    ::sigaction(which, &end, nullptr);
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    ::raise(which);
}

}  // namespace genista::tool
