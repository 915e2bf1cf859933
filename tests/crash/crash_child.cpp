// The child of the kill harness: runs one life (life.hpp) in a process of its own. Arguments are
// name=value, as kill_sweep_test.cpp writes them.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/crash/life.hpp"

namespace {

std::uint64_t to_number(std::string_view text) {
    std::uint64_t number = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), number).ptr != text.data() + text.size()) {
        std::fprintf(stderr, "%.*s is not a number\n", static_cast<int>(text.size()), text.data());
        std::exit(2);
    }
    return number;
}

bool take(genista::test::life_plan& plan, std::string_view name, std::string_view value) {
    if (name == "folder") {
        plan.folder = value;
        return true;
    }
    if (name == "point") {
        plan.point = value;
        return true;
    }
    const std::uint64_t number = to_number(value);
    if (name == "indexed")
        plan.store.arrangement = number != 0 ? genista::rocks::layout::indexed : genista::rocks::layout::clustered;
    else if (name == "snapshotter_ms")
        plan.store.snapshotter_ms = static_cast<unsigned>(number);
    else if (name == "sync")
        plan.store.sync = number != 0;
    else if (name == "wal_kept_mb")
        plan.store.wal_kept_mb = number;
    else if (name == "rebuild_index")
        plan.store.rebuild_index = number != 0;
    else if (name == "background")
        plan.store.adapt = number != 0 ? genista::adapting::in_background : genista::adapting::on_read;
    else if (name == "seed")
        plan.seed = number;
    else if (name == "threads")
        plan.threads = static_cast<unsigned>(number);
    else if (name == "operations")
        plan.operations = number;
    else if (name == "pass")
        plan.pass = number;
    else if (name == "closes")
        plan.closes = number != 0;
    else if (name == "audits")
        plan.audits = number != 0;
    else if (name == "foreign")
        plan.foreign = number != 0;
    else if (name == "repairs")
        plan.repairs = number != 0;
    else if (name == "build_behind")
        plan.store.build_behind = number != 0;
    else if (name == "filter_first")
        plan.filter_first = number != 0;
    else
        return false;
    return true;
}

}  // namespace

int main(int count, char** arguments) {
    genista::test::life_plan plan;
    for (int i = 1; i < count; ++i) {
        const std::string_view argument{arguments[i]};
        const auto equals = argument.find('=');
        if (equals == std::string_view::npos || !take(plan, argument.substr(0, equals), argument.substr(equals + 1))) {
            std::fprintf(stderr, "unknown argument %s\n", arguments[i]);
            return 2;
        }
    }
    genista::test::life one{plan};
    // Exits without destructors: a life that did not close its store leaves it as a killed process
    // does.
    std::_Exit(one.run());
}
