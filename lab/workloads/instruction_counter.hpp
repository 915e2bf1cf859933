// instruction_counter: how many instructions a piece of work takes, exactly, by single steps.
//
// Performance counters are not available everywhere (virtual machines, containers) and differ a
// little from run to run. The processor's trap flag needs no permission and is exact: while it is
// set, every instruction of this thread ends in a SIGTRAP, whose handler adds one. About a
// microsecond an instruction, so it serves for samples of operations, not for long runs. Linux on
// x86-64 only; see available(). One counter at a time, in one thread, and no debugger beside it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "genista/base/result.hpp"
#include "genista/hash/key.hpp"
#include "genista/remote/remote.hpp"

namespace genista::lab {

class instruction_counter {
  public:
    // Tries it.
    [[nodiscard]] static bool available() noexcept;

    instruction_counter() noexcept;
    instruction_counter(const instruction_counter&) = delete;
    instruction_counter& operator=(const instruction_counter&) = delete;
    ~instruction_counter();

    // Instructions between resume() and pause(), without what these two cost themselves.
    template <class Work>
    [[nodiscard]] std::uint64_t of(Work&& work) {
        clear();
        resume();
        work();
        pause();
        return counted();
    }

    static void resume() noexcept;
    static void pause() noexcept;

  private:
    static void clear() noexcept;
    [[nodiscard]] static std::uint64_t counted() noexcept;
};

// Wraps R so that R's own work is not counted. Visitors, which belong to the filter, are counted.
template <remote_map R>
class uncounted_map {
  public:
    explicit uncounted_map(R& inner) noexcept : inner_{inner} {}

    result<bool> put(const digest& where, key_view key) {
        return aside([&] { return inner_.put(where, key); });
    }
    result<bool> erase(const digest& where, key_view key) {
        return aside([&] { return inner_.erase(where, key); });
    }
    result<bool> contains(const digest& where, key_view key) {
        return aside([&] { return inner_.contains(where, key); });
    }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first_position, std::uint64_t last_position, Visit&& visit) {
        return aside([&] {
            return inner_.for_each(first_position, last_position, [&](const digest& where, key_view key) {
                instruction_counter::resume();
                const bool go_on = visit(where, key);
                instruction_counter::pause();
                return go_on;
            });
        });
    }

  private:
    template <class Call>
    auto aside(Call call) {
        instruction_counter::pause();
        auto made = call();
        instruction_counter::resume();
        return made;
    }

    R& inner_;
};

// Of a sample. REQUIRES: at least one value.
[[nodiscard]] inline double mean_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The lower one of two.
[[nodiscard]] inline double median_of(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace genista::lab
