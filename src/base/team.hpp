// in_team: runs one piece of work on each of T threads. The calling thread is the first of them.
#pragma once

#include <exception>
#include <thread>
#include <vector>

namespace genista {

// Calls work(0) … work(team - 1), each once. REQUIRES: work does not throw. If the system has no
// more threads, the calling thread does the rest. May throw std::bad_alloc before any work is done.
template <class Work>
void in_team(unsigned team, const Work& work) {
    std::vector<std::jthread> others;
    others.reserve(team);
    for (unsigned t = 1; t < team; ++t) {
        try {
            others.emplace_back([&work, t] { work(t); });
        } catch (const std::exception&) {
            break;
        }
    }
    const auto helped = static_cast<unsigned>(others.size());
    work(0);
    for (unsigned t = helped + 1; t < team; ++t) work(t);
}

}  // namespace genista
