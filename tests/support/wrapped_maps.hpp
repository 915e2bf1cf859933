// Remote maps around another one, for tests: scripted_map runs a hook inside a call, and
// disordered_map and replacing_map give wrong ranges of kinds that faulty_map does not have. Also
// store_over, a store on any of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "genista/hash/hasher.hpp"
#include "genista/remote/memory_map.hpp"
#include "genista/remote/remote.hpp"

namespace genista::test {

// Runs a hook at a chosen moment inside a call, so that a test can play a race in a fixed order. A
// filter's operation calls R in the middle. Whatever another thread could do at that moment the
// hook does through the wrapped map. Each hook runs once.
template <remote_map R>
class scripted_map {
  public:
    explicit scripted_map(R& wrapped) noexcept : inner_{wrapped} {}

    std::function<void()> after_range;  // R was read, and the filter has not received the answer
    std::function<void()> after_erase;  // R has erased the key, and the filter has not received the answer

    result<bool> put(const digest& where, key_view key) { return inner_.put(where, key); }
    result<bool> contains(const digest& where, key_view key) { return inner_.contains(where, key); }
    result<bool> erase(const digest& where, key_view key) {
        const result<bool> outcome = inner_.erase(where, key);
        run(after_erase);
        return outcome;
    }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        const result<void> outcome = inner_.for_each(first, last, visit);
        run(after_range);
        return outcome;
    }

  private:
    static void run(std::function<void()>& hook) {
        if (const auto once = std::exchange(hook, nullptr); once) once();
    }

    R& inner_;
};

// The right records in a wrong order: in a range two neighbours are swapped.
class disordered_map {
  public:
    // Swaps in every range, or only in those that hold this position.
    explicit disordered_map(memory_map& wrapped, std::optional<std::uint64_t> position = std::nullopt) noexcept
        : inner_{wrapped}, position_{position} {}

    result<bool> put(const digest& where, key_view key) { return inner_.put(where, key); }
    result<bool> erase(const digest& where, key_view key) { return inner_.erase(where, key); }
    result<bool> contains(const digest& where, key_view key) { return inner_.contains(where, key); }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        std::vector<std::pair<digest, std::string>> records;
        const auto read = inner_.for_each(first, last, [&](const digest& where, key_view key) {
            records.emplace_back(where, key.text());
            return true;
        });
        const bool lies = !position_ || (first <= *position_ && *position_ <= last);
        if (lies && records.size() > 3) std::swap(records[1], records[2]);
        for (const auto& [where, key] : records) {
            if (!visit(where, key_view{key})) break;
        }
        return read;
    }

  private:
    memory_map& inner_;
    std::optional<std::uint64_t> position_;
};

// Returns, in place of one record of a range, another one that does exist: its predecessor, which
// then comes twice, or a record from outside the range. (faulty_map adds such a record, and leaves
// out none.)
class replacing_map : public memory_map {
  public:
    enum class with : unsigned char { itself, its_predecessor, a_stray };
    using record = std::pair<digest, std::string>;

    void replace(with by, std::optional<record> stray = std::nullopt) {
        by_ = by;
        stray_ = std::move(stray);
    }
    [[nodiscard]] std::uint64_t replaced() const noexcept { return replaced_; }

    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        if (by_ == with::itself) return memory_map::for_each(first, last, visit);
        std::vector<record> records;
        const auto read = memory_map::for_each(first, last, [&](const digest& where, key_view key) {
            records.emplace_back(where, std::string{key.text()});
            return true;
        });
        if (by_ == with::its_predecessor && records.size() > 1) {
            // Another record in every read.
            const std::size_t which = 1 + replaced_++ % (records.size() - 1);
            records[which] = records[which - 1];
        }
        if (by_ == with::a_stray && !records.empty() &&
            !(first <= stray_->first.position && stray_->first.position <= last))
            records[replaced_++ % records.size()] = *stray_;
        for (const auto& [where, key] : records) {
            if (!visit(where, key_view{key})) break;
        }
        return read;
    }

  private:
    with by_ = with::itself;
    std::optional<record> stray_;
    std::uint64_t replaced_ = 0;
};

// What memory_store is (guard/memory_store.hpp), on an R of another type: a store that keeps no
// values.
template <remote_map R>
class store_over {
  public:
    // The R is made from `arguments`.
    template <class... Arguments>
    explicit store_over(const hasher& hash, Arguments&&... arguments)
        : hash_{hash}, remote_(std::forward<Arguments>(arguments)...) {}

    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }
    [[nodiscard]] R& remote() noexcept { return remote_; }
    result<bool> read(const digest& where, key_view key, std::string&) { return remote_.contains(where, key); }
    result<void> write(const digest& where, key_view key, std::string_view) {
        if (const auto put = remote_.put(where, key); !put) return put.error();
        return {};
    }
    result<void> remove(const digest& where, key_view key) {
        if (const auto gone = remote_.erase(where, key); !gone) return gone.error();
        return {};
    }

  private:
    hasher hash_;
    R remote_;
};

}  // namespace genista::test
