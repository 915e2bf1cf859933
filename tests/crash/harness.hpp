// harness: the parent's half of the kill harness. It starts one life after the other over the same
// folder, each in a process of its own, and kills them. Between lives it can copy store and ledger,
// run lives over the copy (a fork of history), and bring parts of the copy back.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/crash/forks.hpp"
#include "tests/crash/ledger.hpp"
#include "tests/stores/scratch.hpp"
#include "tests/support/scale.hpp"

namespace genista::test {

// The value of the environment variable, or else the quick or the thorough figure.
[[nodiscard]] inline std::uint64_t amount(const char* variable, std::uint64_t quick, std::uint64_t thorough) {
    const char* const value = std::getenv(variable);
    return value != nullptr && *value != '\0' ? std::strtoull(value, nullptr, 10) : scaled(quick, thorough);
}

enum class end_of_life { killed, lived, complained };

class kill_harness {
  public:
    kill_harness() : ledger_{scratch_.path("ledger")} {}

    // Starts a child with these arguments, and kills it if it is still running after that time.
    end_of_life live(const std::vector<std::string>& arguments,
                     std::optional<std::chrono::microseconds> kill_after = std::nullopt) {
        return live_in(folder(), ledger_, arguments, kill_after);
    }

    // Copies the store and its ledger.
    void fork() {
        std::filesystem::create_directories(apart());
        copy_folder(folder() + "/db", apart() + "/db");
        std::filesystem::copy_file(folder() + "/ledger", apart() + "/ledger",
                                   std::filesystem::copy_options::overwrite_existing);
        is_forked_ = true;
        ++forks_;
    }
    [[nodiscard]] bool is_forked() const noexcept { return is_forked_; }
    // Runs a life over the copy, checked against the copy's ledger.
    end_of_life live_apart(const std::vector<std::string>& arguments,
                           std::optional<std::chrono::microseconds> kill_after = std::nullopt) {
        const ledger own{apart() + "/ledger"};
        const end_of_life end = live_in(apart(), own, arguments, kill_after);
        if (end == end_of_life::complained) ledger_.complain("apart: " + own.complaint());
        return end;
    }
    // Ends the fork: its snapshots are copied to the store.
    void bring_back_snapshots(mixing how) {
        bring_snapshots(snapshots_of(apart() + "/db"), folder() + "/db", how);
        is_forked_ = false;
    }
    // Ends the fork: the copy replaces the store, which leaves its snapshots behind.
    void go_over(mixing how) {
        const std::string kept = scratch_.path("kept");
        copy_folder(snapshots_of(folder() + "/db"), kept);
        copy_folder(apart() + "/db", folder() + "/db");
        bring_snapshots(kept, folder() + "/db", how);
        ledger_.take_over(ledger{apart() + "/ledger"});
        is_forked_ = false;
    }

    [[nodiscard]] std::string folder() const { return scratch_.path("."); }
    [[nodiscard]] std::string apart() const { return scratch_.path("apart"); }
    [[nodiscard]] ledger& book() noexcept { return ledger_; }
    [[nodiscard]] std::uint64_t kills() const noexcept { return kills_; }
    [[nodiscard]] std::uint64_t lives() const noexcept { return lives_; }
    [[nodiscard]] std::uint64_t forks() const noexcept { return forks_; }
    // The command line of the last child, and its complaints.
    [[nodiscard]] std::string story() const {
        return ledger_.complaint() + "\n  life " + std::to_string(lives_) + ": " + last_;
    }

  private:
    end_of_life live_in(const std::string& where, const ledger& book, const std::vector<std::string>& arguments,
                        std::optional<std::chrono::microseconds> kill_after) {
        std::vector<std::string> all{GENISTA_BINARY_DIR "/bin/crash_child", "folder=" + where};
        all.insert(all.end(), arguments.begin(), arguments.end());
        last_.clear();
        std::vector<char*> raw;
        for (std::string& each : all) {
            raw.push_back(each.data());
            last_ += each + " ";
        }
        raw.push_back(nullptr);
        if (kill_after) last_ += "killed after " + std::to_string(kill_after->count()) + " us";
        pid_t child = 0;
        if (::posix_spawn(&child, raw[0], nullptr, nullptr, raw.data(), ::environ) != 0) {
            ADD_FAILURE() << raw[0] << " does not start";
            return end_of_life::complained;
        }
        if (kill_after) {
            std::this_thread::sleep_for(*kill_after);
            ::kill(child, SIGKILL);
        }
        int state = 0;
        ::waitpid(child, &state, 0);
        ++lives_;
        if (WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL) {
            ++kills_;
            return end_of_life::killed;
        }
        if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return end_of_life::lived;
        if (book.complaint().empty()) book.complain("wait status " + std::to_string(state));
        return end_of_life::complained;
    }

    scratch scratch_;
    ledger ledger_;
    std::uint64_t kills_ = 0, lives_ = 0, forks_ = 0;
    bool is_forked_ = false;
    std::string last_;
};

}  // namespace genista::test
