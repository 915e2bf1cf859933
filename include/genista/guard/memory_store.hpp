// memory_store: a guarded store in RAM, for tests, examples and a first look. Nothing survives the
// process.
#pragma once

#include <map>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <string>

#include "genista/base/result.hpp"
#include "genista/hash/hasher.hpp"
#include "genista/remote/memory_map.hpp"

namespace genista {

class memory_store {
  public:
    explicit memory_store(const hasher& hash) : hash_{hash} {}

    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }
    [[nodiscard]] memory_map& remote() noexcept { return remote_; }

    result<bool> read(const digest&, key_view key, std::string& value) try {
        const std::shared_lock held{mutex_};
        const auto found = values_.find(key.text());
        if (found == values_.end()) return false;
        value = found->second;
        return true;
    } catch (const std::bad_alloc&) {
        return no_memory();
    }

    result<void> write(const digest& where, key_view key, std::string_view value) try {
        const std::lock_guard held{mutex_};
        if (const auto put = remote_.put(where, key); !put) return put.error();
        values_.insert_or_assign(std::string{key.text()}, std::string{value});
        return {};
    } catch (const std::bad_alloc&) {
        return no_memory();
    }

    result<void> remove(const digest& where, key_view key) {
        const std::lock_guard held{mutex_};
        if (const auto gone = remote_.erase(where, key); !gone) return gone.error();
        if (const auto found = values_.find(key.text()); found != values_.end()) values_.erase(found);
        return {};
    }

  private:
    static error no_memory() noexcept { return error::make(error_code::out_of_memory, "memory_store: no memory"); }

    hasher hash_;
    std::shared_mutex mutex_;
    std::map<std::string, std::string, std::less<>> values_;
    memory_map remote_;
};

}  // namespace genista
