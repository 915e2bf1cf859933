// The search for false positives, on all cores if the filter does not learn. See attack.hpp.
#include "compare/attack.hpp"

#include <rocksdb/perf_level.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "compare/workload.hpp"

namespace genista::tool::compare {
namespace {

constexpr std::uint64_t questions_a_round = 1 << 16;  // a thread

struct search {
    std::uint64_t begin = 0;
    std::vector<fresh_key> hits;
    std::optional<error> failure;
};

void look(contender& victim, const key_table& stored, const fresh_keys& questions, std::uint64_t wanted, search& mine) {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    for (std::uint64_t i = 0; i < questions_a_round; ++i) {
        const fresh_key key = questions.at(mine.begin + i);
        const auto got = victim.ask(key.text());
        if (!got) {
            mine.failure = got.error();
            return;
        }
        if (got->let_through && !got->found && !stored.find(key.text())) mine.hits.push_back(key);
        if (mine.hits.size() == wanted) return;
    }
}

}  // namespace

result<pool> find_pool(contender& victim, const key_table& stored, const request& asked, const tick& tell) {
    const fresh_keys questions{asked.seed, fresh_keys::stream::attack};
    // A filter that learns is queried in one order, so that a run can be repeated.
    const std::size_t threads = victim.learns() ? 1 : std::clamp(std::thread::hardware_concurrency(), 1u, 16u);
    pool found;
    while (found.keys.size() < asked.pool && found.asked < asked.most_questions) {
        std::vector<search> searches(threads);
        {
            std::vector<std::jthread> running;
            for (search& each : searches) {
                each.begin = found.asked;
                found.asked += questions_a_round;
                running.emplace_back([&] { look(victim, stored, questions, asked.pool, each); });
            }
        }
        for (const search& each : searches) {
            if (each.failure) return *each.failure;
            for (const fresh_key& key : each.hits) {
                if (found.keys.size() < asked.pool) found.keys.add(key.text());
            }
        }
        tell(std::max(static_cast<double>(found.keys.size()) / static_cast<double>(asked.pool),
                      static_cast<double>(found.asked) / static_cast<double>(asked.most_questions)),
             victim.name());
    }
    return found;
}

std::vector<key_number> replay_of(const pool& found, std::uint64_t queries) {
    std::vector<key_number> made;
    if (found.keys.size() == 0) return made;
    made.reserve(queries);
    for (std::uint64_t i = 0; i < queries; ++i) made.push_back(static_cast<key_number>(i % found.keys.size()));
    return made;
}

}  // namespace genista::tool::compare
