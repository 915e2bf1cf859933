// guarded_store: a store on disk that answers for most absent keys from RAM, in thirty lines. Its
// argument is the folder of the data:
//
//     guarded_store /data/users
#include <cstdio>
#include <filesystem>
#include <string>

#include "genista/stores/rocksdb/clustered_db.hpp"

int main(int argc, char** argv) {
    const std::string path = argc > 1 ? argv[1] : std::filesystem::temp_directory_path() / "genista-users";
    auto opened = genista::rocks::clustered_db::open(path, {.filter = {.capacity = 20'000}});
    if (!opened) {
        std::fprintf(stderr, "%.*s\n", static_cast<int>(opened.error().message().size()),
                     opened.error().message().data());
        return 2;
    }
    genista::rocks::clustered_db& users = **opened;

    for (int i = 0; i < 20'000; ++i) {
        if (!users.put("user-" + std::to_string(i), "some value")) return 1;
    }
    for (int round = 1; round <= 3; ++round) {
        const auto before = users.counters().wasted_reads;
        for (int i = 0; i < 100'000; ++i) (void)users.get("nobody-" + std::to_string(i));
        std::printf("round %d: %llu of 100000 absent keys reached the disk\n", round,
                    static_cast<unsigned long long>(users.counters().wasted_reads - before));
    }
    std::printf("user-7 is %s\n", users.get("user-7")->value_or("gone").c_str());
    const auto metrics = users.metrics_text({{"store", "users"}});  // in the format of Prometheus
    if (metrics) std::fputs(metrics->substr(0, 200).c_str(), stdout);
    return users.close() ? 0 : 1;  // saves the filter: reopening is fast, and nothing learnt is lost
}
