// guarded_store: what a guard asks of the slow dictionary behind it.
//
// A store keeps values under keys and, in the same commit, the record of each key in R
// (remote/remote.hpp), which teaches the filter. It has the hash that orders R, because that order
// is on disk and must not change.
//   write    value and record of R in one atomic step; idempotent. On an error it may or may not
//            have happened.
//   remove   the same the other way; of an absent key it is no error.
//   read     false: there is no such key; `value` is then unspecified.
// Any number of threads at once. What is committed when a call returns is seen by every call that
// begins afterwards.
//
//   memory_store.hpp                      in RAM: tests and examples
//   stores/rocksdb, clustered_store.hpp   RocksDB
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "genista/base/result.hpp"
#include "genista/hash/hasher.hpp"
#include "genista/remote/remote.hpp"

namespace genista {

template <class S>
concept guarded_store = requires(S& store, const S& constant, const digest& where, key_view key, std::string_view value,
                                 std::string& out) {
    { store.read(where, key, out) } -> std::same_as<result<bool>>;
    { store.write(where, key, value) } -> std::same_as<result<void>>;
    { store.remove(where, key) } -> std::same_as<result<void>>;
    { constant.hash() } -> std::same_as<const hasher&>;
    requires remote_map<std::remove_reference_t<decltype(store.remote())>>;
};

template <guarded_store Store>
using remote_of = std::remove_reference_t<decltype(std::declval<Store&>().remote())>;

}  // namespace genista
