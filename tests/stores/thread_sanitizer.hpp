// Suppressions of the thread sanitizer for RocksDB. Debian's library is not instrumented, so its
// locks and atomics are not seen, and every block or batch that passes from one thread to another
// inside it looks like a race. Reports with a frame of RocksDB are suppressed. Races between
// threads in our own code have no such frame.
//
// Include it in ONE test file of an executable: the sanitizer calls the function by its name.
#pragma once

#include <string>

#if defined(__SANITIZE_THREAD__)
// RocksDB moves its batches with std::string. In libstdc++ those calls are not instrumented either,
// and a report would not show that RocksDB made them. So this executable has instrumented ones, and
// the loader gives them to RocksDB too.
template class std::basic_string<char>;
#endif

// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming)
extern "C" const char* __tsan_default_suppressions();

// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming)
extern "C" const char* __tsan_default_suppressions() {
    return "race:librocksdb.so\n";
}
