// A page in a real browser: Chromium without a window, driven through its debugging pipe (the
// DevTools protocol: JSON messages, each ended by a zero byte, on the file descriptors 3 and 4).
//
//     chromium browser;
//     browser.open(html, {360, true});               a phone in the dark
//     browser.evaluate("genistaProbe.look()");       what probe.js sees
//
// The browser has no network (its proxy is a port without a listener). Its profile and its folder
// are removed with it. If it does not answer, it is ended. Needs Debian's chromium-headless-shell;
// without it every test fails and says so.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace genista::test {

struct browser_view {
    int width = 1280;
    bool dark = false;
};

// GoogleTest prints it beside the name of a test that takes a view.
inline void PrintTo(const browser_view& view, std::ostream* out) {
    *out << view.width << (view.dark ? " dark" : " light");
}

[[nodiscard]] inline std::string file_text(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

// The first of Chromium's names that is in PATH; empty if there is none.
[[nodiscard]] inline std::string chromium_path() {
    const char* const path = std::getenv("PATH");
    const std::string folders = path == nullptr ? "" : path;
    for (const char* const name : {"chromium-headless-shell", "chromium"}) {
        for (std::size_t start = 0; start < folders.size();) {
            const std::size_t end = std::min(folders.find(':', start), folders.size());
            const std::string candidate = folders.substr(start, end - start) + "/" + name;
            if (::access(candidate.c_str(), X_OK) == 0) return candidate;
            start = end + 1;
        }
    }
    return {};
}

class chromium {
  public:
    using json = nlohmann::ordered_json;

    chromium() {
        std::string name = (std::filesystem::temp_directory_path() / "genista-browser-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) {
            fail("no folder at " + name);
            return;
        }
        folder_ = name;
        start();
    }
    chromium(const chromium&) = delete;
    chromium& operator=(const chromium&) = delete;
    ~chromium() {
        if (child_ > 0) {
            ::close(to_);  // without its pipe the browser ends by itself; this makes it certain and quick
            ::close(from_);
            ::kill(-child_, SIGKILL);
            ::waitpid(child_, nullptr, 0);
        }
        std::error_code ignored;
        if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
    }

    // Loads the page, with probe.js before everything in it. False, and a failed test, if that does
    // not work.
    bool open(const std::string& html, browser_view view) {
        const std::string path = folder_ + "/page.html";
        std::ofstream{path, std::ios::binary} << html;
        const json target = call("Target.createTarget", {{"url", "about:blank"}});
        if (!target.contains("targetId")) return false;
        const json attached = call("Target.attachToTarget", {{"targetId", target["targetId"]}, {"flatten", true}});
        if (!attached.contains("sessionId")) return false;
        session_ = attached["sessionId"];
        for (const char* const domain : {"Page", "Runtime", "Log", "Network"}) call(std::string{domain} + ".enable");
        const bool phone = view.width < 600;
        call("Emulation.setDeviceMetricsOverride",
             {{"width", view.width}, {"height", 900}, {"deviceScaleFactor", phone ? 2 : 1}, {"mobile", phone}});
        set_dark(view.dark);
        call("Page.addScriptToEvaluateOnNewDocument",
             {{"source", file_text(GENISTA_SOURCE_DIR "/tests/report/probe.js")}});
        call("Page.navigate", {{"url", "file://" + path}});
        return wait_for("Page.loadEventFired");
    }

    void set_dark(bool dark) {
        const json scheme{{"name", "prefers-color-scheme"}, {"value", dark ? "dark" : "light"}};
        call("Emulation.setEmulatedMedia", {{"features", json::array({scheme})}});
    }

    void set_width(int width) {
        call("Emulation.setDeviceMetricsOverride",
             {{"width", width}, {"height", 900}, {"deviceScaleFactor", 1}, {"mobile", false}});
    }

    // The value of an expression, awaited; null, and a failed test, if it throws.
    [[nodiscard]] json evaluate(const std::string& expression) {
        const json answer =
            call("Runtime.evaluate", {{"expression", expression}, {"awaitPromise", true}, {"returnByValue", true}});
        if (answer.contains("exceptionDetails"))
            ADD_FAILURE() << expression << ": " << answer["exceptionDetails"].dump();
        return answer.value("/result/value"_json_pointer, json());
    }

    // The answer to a command of the protocol. Messages that arrive in between are kept in events.
    json call(const std::string& method, json parameters = json::object()) {
        if (child_ <= 0) return {};
        const int id = ++last_id_;
        json message{{"id", id}, {"method", method}, {"params", std::move(parameters)}};
        if (!session_.empty()) message["sessionId"] = session_;
        const std::string text = message.dump();
        if (!write_all(text.c_str(), text.size() + 1)) {
            fail("the browser is gone");
            return {};
        }
        for (json got = receive(); !got.is_null(); got = receive()) {
            if (got.contains("method")) events_.push_back(got);
            if (got.value("id", 0) != id) continue;
            if (got.contains("error")) ADD_FAILURE() << method << ": " << got["error"].dump();
            return got.value("result", json::object());
        }
        return {};
    }

    // Console messages, exceptions and browser warnings of the page, one line each.
    [[nodiscard]] std::vector<std::string> complaints() const {
        std::vector<std::string> out;
        for (const json& event : events_) {
            const std::string method = event["method"];
            if (method == "Runtime.consoleAPICalled" || method == "Runtime.exceptionThrown" ||
                method == "Log.entryAdded")
                out.push_back(event["params"].dump().substr(0, 600));
        }
        return out;
    }

    // Every address that the page requested, except its own and data: addresses.
    [[nodiscard]] std::vector<std::string> requests() const {
        std::vector<std::string> out;
        for (const json& event : events_) {
            if (event["method"] != "Network.requestWillBeSent") continue;
            const std::string url = event["params"]["request"]["url"];
            if (!url.starts_with("data:") && !url.ends_with("/page.html")) out.push_back(url);
        }
        return out;
    }

  private:
    void fail(const std::string& why) {
        ADD_FAILURE() << why;
        if (child_ > 0) ::kill(-child_, SIGKILL);
    }

    void start() {
        const std::string browser = chromium_path();
        if (browser.empty()) {
            fail("no Chromium: install Debian's package chromium-headless-shell");
            return;
        }
        std::signal(SIGPIPE, SIG_IGN);  // write() then returns an error if the browser has died
        std::vector<std::string> arguments{browser,
                                           "--headless",
                                           "--remote-debugging-pipe",
                                           "--disable-gpu",
                                           "--disable-dev-shm-usage",  // containers give /dev/shm little room
                                           "--hide-scrollbars",
                                           "--no-first-run",
                                           "--disable-background-networking",
                                           "--proxy-server=127.0.0.1:1",
                                           "--user-data-dir=" + folder_ + "/profile"};
        if (::geteuid() == 0) arguments.emplace_back("--no-sandbox");  // Chromium refuses root otherwise
        std::vector<char*> raw;
        for (std::string& each : arguments) raw.push_back(each.data());
        raw.push_back(nullptr);

        int to[2] = {-1, -1}, from[2] = {-1, -1};
        if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) return fail("no pipe");
        // Moved above 3 and 4, the numbers that the child needs.
        const int reads = ::fcntl(to[0], F_DUPFD_CLOEXEC, 10), writes = ::fcntl(from[1], F_DUPFD_CLOEXEC, 10);
        posix_spawn_file_actions_t files;
        posix_spawnattr_t attributes;
        ::posix_spawn_file_actions_init(&files);
        ::posix_spawnattr_init(&attributes);
        ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
        ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, (folder_ + "/log").c_str(), O_WRONLY | O_CREAT, 0600);
        ::posix_spawn_file_actions_adddup2(&files, reads, 3);
        ::posix_spawn_file_actions_adddup2(&files, writes, 4);
        const int spawned = ::posix_spawn(&child_, raw[0], &files, &attributes, raw.data(), ::environ);
        ::posix_spawn_file_actions_destroy(&files);
        ::posix_spawnattr_destroy(&attributes);
        for (const int end : {to[0], from[1], reads, writes}) ::close(end);
        to_ = to[1];
        from_ = from[0];
        if (spawned != 0) {
            child_ = 0;
            fail(browser + " does not start");
        }
    }

    bool write_all(const char* bytes, std::size_t count) {
        while (count > 0) {
            const ssize_t done = ::write(to_, bytes, count);
            if (done <= 0) return false;
            bytes += done;
            count -= static_cast<std::size_t>(done);
        }
        return true;
    }

    // The next message; null, and a failed test, if none arrives within a minute.
    [[nodiscard]] json receive() {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes{1};
        for (;;) {
            const std::size_t end = received_.find('\0');
            if (end != std::string::npos) {
                json message = json::parse(received_.substr(0, end), nullptr, false);
                received_.erase(0, end + 1);
                return message;
            }
            pollfd waiting{from_, POLLIN, 0};
            const int ready = ::poll(&waiting, 1, 1000);
            char room[65536];
            const ssize_t got = ready > 0 ? ::read(from_, room, sizeof room) : 0;
            if (got > 0) {
                received_.append(room, static_cast<std::size_t>(got));
            } else if (ready > 0 || std::chrono::steady_clock::now() > deadline) {
                fail("the browser does not answer; it said:\n" + file_text(folder_ + "/log").substr(0, 2000));
                return {};
            }
        }
    }

    [[nodiscard]] bool wait_for(const std::string& method) {
        const auto named = [&](const json& event) { return event["method"] == method; };
        while (std::ranges::none_of(events_, named)) {
            json got = receive();
            if (got.is_null()) return false;
            if (got.contains("method")) events_.push_back(std::move(got));
        }
        return true;
    }

    std::string folder_;
    std::string session_;
    std::string received_;
    std::vector<json> events_;
    pid_t child_ = 0;
    int to_ = -1;
    int from_ = -1;
    int last_id_ = 0;
};

}  // namespace genista::test
