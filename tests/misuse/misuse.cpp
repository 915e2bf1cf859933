// Calls that must not compile, one a line and marked: check.cmake compiles this file twice, with
// them and without, and wants an error in every marked line and in no other. (All filters and all
// types: tests/filters/key_arguments_test.cpp.)
#include <cstdint>

#include "genista/filters/bloom.hpp"
#include "genista/filters/broom.hpp"
#include "genista/guard/guarded.hpp"
#include "genista/guard/memory_store.hpp"
#include "genista/remote/memory_map.hpp"

using guard = genista::guarded<genista::broom_filter, genista::memory_store>;

// The control.
void keys(genista::bloom_filter& plain, genista::broom_filter& learning, genista::memory_map& remote, guard& store) {
    (void)plain.insert("ada");
    (void)plain.insert(7u);
    (void)plain.insert(0u);
    (void)plain.insert(genista::signed_key(-1));
    (void)plain.insert(genista::digest{1, 2});
    (void)learning.may_contain(std::uint64_t{7});
    (void)learning.insert("ada", remote);
    (void)learning.erase(0u, remote);
    (void)learning.adapt(7u, remote);
    (void)learning.forget(7u, remote);
    (void)store.get(7u);
    (void)store.put("ada", "1815");
}

#if defined(GENISTA_MISUSE)

void fractions(genista::bloom_filter& plain, genista::broom_filter& learning, genista::memory_map& remote,
               guard& store) {
    (void)plain.may_contain(3.5);        // misuse
    (void)plain.insert(3.5);             // misuse
    (void)learning.insert(3.5, remote);  // misuse
    (void)learning.erase(3.5, remote);   // misuse
    (void)learning.adapt(3.5, remote);   // misuse
    (void)learning.forget(3.5, remote);  // misuse
    (void)store.get(3.5);                // misuse
    (void)store.put(3.5, "value");       // misuse
}

void signed_integers(genista::bloom_filter& plain, genista::broom_filter& learning, genista::memory_map& remote,
                     guard& store) {
    (void)plain.may_contain(-1);        // misuse
    (void)plain.insert(-1);             // misuse
    (void)learning.insert(-1, remote);  // misuse
    (void)learning.erase(-1, remote);   // misuse
    (void)learning.adapt(-1, remote);   // misuse
    (void)learning.forget(-1, remote);  // misuse
    (void)store.get(-1);                // misuse
    (void)store.put(-1, "value");       // misuse
}

void characters(genista::bloom_filter& plain, genista::broom_filter& learning, genista::memory_map& remote,
                guard& store) {
    (void)plain.may_contain('a');        // misuse
    (void)plain.insert('a');             // misuse
    (void)learning.insert('a', remote);  // misuse
    (void)learning.erase('a', remote);   // misuse
    (void)learning.adapt('a', remote);   // misuse
    (void)learning.forget('a', remote);  // misuse
    (void)store.get('a');                // misuse
    (void)store.put('a', "value");       // misuse
}

void booleans(genista::bloom_filter& plain, genista::broom_filter& learning, genista::memory_map& remote,
              guard& store) {
    (void)plain.may_contain(true);        // misuse
    (void)plain.insert(true);             // misuse
    (void)learning.insert(true, remote);  // misuse
    (void)learning.erase(true, remote);   // misuse
    (void)learning.adapt(true, remote);   // misuse
    (void)learning.forget(true, remote);  // misuse
    (void)store.get(true);                // misuse
    (void)store.put(true, "value");       // misuse
}

void pairs(genista::bloom_filter& plain, genista::broom_filter& learning, genista::memory_map& remote, guard& store) {
    (void)plain.may_contain({1, 2});        // misuse
    (void)plain.insert({1, 2});             // misuse
    (void)learning.insert({1, 2}, remote);  // misuse
    (void)learning.erase({1, 2}, remote);   // misuse
    (void)learning.adapt({1, 2}, remote);   // misuse
    (void)learning.forget({1, 2}, remote);  // misuse
    (void)store.get({1, 2});                // misuse
    (void)store.put({1, 2}, "value");       // misuse
}

void null_pointers(genista::bloom_filter& plain, genista::broom_filter& learning, genista::memory_map& remote,
                   guard& store) {
    (void)plain.may_contain(nullptr);        // misuse
    (void)plain.insert(nullptr);             // misuse
    (void)learning.insert(nullptr, remote);  // misuse
    (void)learning.erase(nullptr, remote);   // misuse
    (void)learning.adapt(nullptr, remote);   // misuse
    (void)learning.forget(nullptr, remote);  // misuse
    (void)store.get(nullptr);                // misuse
    (void)store.put(nullptr, "value");       // misuse
}

void zeros(genista::bloom_filter& plain) {
    (void)plain.insert(genista::key_view{0});     // misuse
    (void)plain.insert(genista::key_view{0u});    // misuse
    (void)plain.insert(genista::key_view{NULL});  // misuse
}

#endif
