// Score models for tests: logs of made-up host names, and a second, simple reader of a model's
// bytes.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "genista/detail/oracles/score_training.hpp"
#include "lab/workloads/synthetic_hosts.hpp"

namespace genista::test {

// Owns its keys and gives views of them.
struct key_log {
    std::vector<std::string> keys;
    [[nodiscard]] std::vector<key_view> views() const { return {keys.begin(), keys.end()}; }
};

struct two_logs {
    key_log stored, asked;
};

// Names to block are stored, popular ones queried; numbered from `first`.
inline two_logs host_logs(std::uint64_t count, std::uint64_t first = 0, std::uint64_t seed = 1) {
    const lab::synthetic_hosts hosts{seed};
    two_logs made;
    for (std::uint64_t i = first; i < first + count; ++i) {
        made.stored.keys.push_back(hosts.blocked(i));
        made.asked.keys.push_back(hosts.popular(i));
    }
    return made;
}

inline trained_score trained_on(const two_logs& logs, const score_options& options = {.weights = 2048}) {
    auto made = train_score(options, logs.stored.views(), logs.asked.views());
    EXPECT_TRUE(made) << made.error().message();
    return *std::move(made);
}

template <class Saved>
std::vector<std::byte> saved_bytes(const Saved& what) {
    vector_sink out;
    const result<void> written = what.save(out);
    EXPECT_TRUE(written) << written.error().message();
    return std::move(out).take();
}

}  // namespace genista::test
