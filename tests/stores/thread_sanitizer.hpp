// What a thread sanitizer has to know of RocksDB: Debian's library is not instrumented, so that its
// locks and atomics are not seen, and every block or batch that goes from one thread to another
// inside it looks like a race. Reports with a frame of RocksDB in them are left out; races between
// our own threads in our own code have none.
//
// Include it in ONE test file of an executable: the function is the sanitizer's way to ask.
#pragma once

#include <string>

#if defined(__SANITIZE_THREAD__)
// RocksDB moves its batches with std::string. In libstdc++ those calls are not instrumented either,
// and a report would not say that it was RocksDB who called. So this executable brings instrumented
// ones, and the loader gives them to RocksDB too.
template class std::basic_string<char>;
#endif

// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming)
extern "C" const char* __tsan_default_suppressions();

// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming)
extern "C" const char* __tsan_default_suppressions() {
    return "race:librocksdb.so\n";
}
