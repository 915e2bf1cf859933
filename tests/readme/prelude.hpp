// What the snippets of README.md use and do not declare (check.sh): only declared, for nothing is
// linked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "genista/hash/key.hpp"
#include "genista/remote/memory_map.hpp"

int report(std::string_view message);
extern const std::string key;
extern genista::memory_map store;
bool store_has(genista::key_view key);
