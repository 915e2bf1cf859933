// fork, pipes and waitpid. See parts.hpp.
#include "report/parts.hpp"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <optional>

namespace genista::tool {
namespace {

constexpr std::array ending{SIGINT, SIGTERM, SIGHUP};
constexpr int poll_milliseconds = 200;
constexpr double least_step = 0.005;  // of a share that is worth a message

std::atomic<int> caught{0};
static_assert(std::atomic<int>::is_always_lock_free);  // a handler may touch it

// Records the signals that end a run, during its lifetime.
class signal_watch {
  public:
    signal_watch() {
        caught = 0;
        struct sigaction record {};
        record.sa_handler = [](int which) { caught = which; };
        for (std::size_t i = 0; i < ending.size(); ++i) ::sigaction(ending[i], &record, &before_[i]);
    }
    signal_watch(const signal_watch&) = delete;
    signal_watch& operator=(const signal_watch&) = delete;
    ~signal_watch() {
        for (std::size_t i = 0; i < ending.size(); ++i) ::sigaction(ending[i], &before_[i], nullptr);
    }

  private:
    std::array<struct sigaction, ending.size()> before_{};
};

// TMPDIR of the workers: a worker that is killed does not clean up.
class worker_scratch {
  public:
    worker_scratch() {
        std::error_code failure;
        std::string name = (std::filesystem::temp_directory_path(failure) / "genista-lab-XXXXXX").string();
        if (!failure && ::mkdtemp(name.data()) != nullptr) path_ = name;
    }
    worker_scratch(const worker_scratch&) = delete;
    worker_scratch& operator=(const worker_scratch&) = delete;
    ~worker_scratch() {
        std::error_code ignored;
        if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

  private:
    std::string path_;
};

void write_all(int file, const std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t wrote = ::write(file, text.data() + done, text.size() - done);
        if (wrote <= 0 && errno != EINTR) return;
        done += wrote > 0 ? static_cast<std::size_t>(wrote) : 0;
    }
}

// Messages to the parent: "p 0.25\n" and, at most once, "f why\n".
[[noreturn]] void be_worker(const job& what, int to_parent, pid_t parent, const std::string& scratch) {
    for (const int each : ending) ::signal(each, SIG_DFL);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    if (!scratch.empty()) ::setenv("TMPDIR", scratch.c_str(), 1);
    std::string failure;
    double reported = 0;
    try {
        failure = what.work([&](double share) {
            if (!(share >= reported + least_step)) return;
            reported = share;
            char line[32];
            std::snprintf(line, sizeof line, "p %.4f\n", share);
            write_all(to_parent, line);
        });
    } catch (const std::exception& problem) {
        failure = problem.what();
        if (failure.empty()) failure = "an unknown failure";
    }
    std::replace(failure.begin(), failure.end(), '\n', ' ');
    if (!failure.empty()) write_all(to_parent, "f " + failure + "\n");
    ::_exit(failure.empty() ? 0 : 1);
}

struct worker {
    const job* what = nullptr;
    pid_t process = -1;
    int from = -1;
    double share = 0;
    std::string unread{};
    std::string failure{};

    void take(std::string_view text) {
        unread += text;
        for (std::size_t end = unread.find('\n'); end != std::string::npos; end = unread.find('\n')) {
            const std::string line = unread.substr(0, end);
            unread.erase(0, end + 1);
            if (line.starts_with("p ")) share = std::clamp(std::strtod(line.c_str() + 2, nullptr), 0.0, 1.0);
            if (line.starts_with("f ")) failure = line.substr(2);
        }
    }
    // Waits for its end. Its message, or the signal that ended it.
    void reap() {
        ::close(from);
        int state = 0;
        while (::waitpid(process, &state, 0) < 0 && errno == EINTR) {
        }
        if (!failure.empty()) return;
        if (WIFSIGNALED(state)) failure = std::string{"ended by a signal: "} + ::strsignal(WTERMSIG(state));
        if (WIFEXITED(state) && WEXITSTATUS(state) != 0) failure = "ended without a word";
    }
};

std::optional<worker> start(const job& what, const std::string& scratch) {
    int ends[2];
    if (::pipe(ends) != 0) return std::nullopt;
    std::fflush(nullptr);  // else the worker would inherit unwritten lines and write them again
    const pid_t parent = ::getpid(), made = ::fork();
    if (made == 0) {
        ::close(ends[0]);
        be_worker(what, ends[1], parent, scratch);
    }
    ::close(ends[1]);
    if (made < 0) {
        ::close(ends[0]);
        return std::nullopt;
    }
    return worker{.what = &what, .process = made, .from = ends[0]};
}

// Reads once more. False once its pipe is closed.
bool listen(worker& to) {
    char buffer[1024];
    const ssize_t got = ::read(to.from, buffer, sizeof buffer);
    if (got < 0) return errno == EINTR || errno == EAGAIN;
    to.take({buffer, static_cast<std::size_t>(got)});
    return got > 0;
}

}  // namespace

int run_jobs(const std::vector<job>& jobs, unsigned at_a_time, const job_events& events) {
    std::vector<const job*> waiting;
    double expected = 0, done = 0;
    for (const job& each : jobs) {
        waiting.push_back(&each);
        expected += each.expected_seconds;
    }
    // Those that need the machine for themselves come last, the others from long to short, so that
    // no long one is left over.
    std::stable_sort(waiting.begin(), waiting.end(), [](const job* a, const job* b) {
        return a->alone != b->alone ? b->alone : a->expected_seconds > b->expected_seconds;
    });
    const signal_watch watch;
    const worker_scratch scratch;
    std::vector<worker> working;
    const auto may_start = [&] {
        if (waiting.empty() || working.size() >= at_a_time) return false;
        return working.empty() || (!waiting.front()->alone && !working.front().what->alone);
    };
    while (caught == 0 && (!waiting.empty() || !working.empty())) {
        while (may_start()) {
            const job* const next = waiting.front();
            waiting.erase(waiting.begin());
            if (auto begun = start(*next, scratch.path())) {
                working.push_back(*std::move(begun));
            } else {
                events.finished(*next, "no process could be started for it");
            }
        }
        std::vector<pollfd> ears;
        for (const worker& each : working) ears.push_back({.fd = each.from, .events = POLLIN, .revents = 0});
        (void)::poll(ears.data(), ears.size(), poll_milliseconds);
        for (std::size_t i = ears.size(); i-- > 0;) {
            if (caught != 0 || ears[i].revents == 0 || listen(working[i])) continue;
            worker ended = std::move(working[i]);
            working.erase(working.begin() + static_cast<std::ptrdiff_t>(i));
            ended.reap();
            // The terminal's Ctrl-C reaches the worker too, sometimes first: that is no failure of
            // the worker.
            if (caught != 0) break;
            done += ended.what->expected_seconds;
            events.finished(*ended.what, ended.failure);
        }
        double share = done;
        std::vector<std::string> names;
        for (const worker& each : working) {
            share += each.share * each.what->expected_seconds;
            names.push_back(each.what->name);
        }
        events.progress(expected > 0 ? share / expected : 1, names);
    }
    for (worker& each : working) {
        ::kill(each.process, SIGKILL);
        each.reap();
    }
    return caught;
}

}  // namespace genista::tool
