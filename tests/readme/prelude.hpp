// What the snippets of the pages use and do not declare (check.sh). It is only declared, because
// nothing is linked.
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
