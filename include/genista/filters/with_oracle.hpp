// with_oracle: a filter of classes and the oracle that names them, as one filter of keys.
//
// The filter underneath takes (digest, class). Here a key alone is enough: the oracle gives its
// odds, daisy_class() its class. Asked twice about the same key the oracle answers the same
// (oracle.hpp, I1), so a key is looked for where it was put: no false negatives, however wrong the
// oracle is.
//
// A digest does not tell a class, so there is no look-up by digest alone; callers that have hashed
// the key pass a hashed_key.
//
// save() writes the filter and the marks of the oracle (oracle_identity.hpp), not the oracle;
// load() refuses another one, with which stored keys would be looked for where they are not. What
// filter().save() writes has no such mark.
#pragma once

#include <algorithm>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "genista/detail/filters/asked_with_key.hpp"
#include "genista/detail/oracles/oracle_identity.hpp"
#include "genista/filters/filter.hpp"
#include "genista/format/sink.hpp"
#include "genista/oracles/daisy_plan.hpp"

namespace genista {

// What the daisy filters offer. A class is 0 .. plan().largest_class(); 0 is "always maybe".
template <class F>
concept class_filter = requires(F& f, const F& constant, const digest& d, unsigned its_class) {
    { F::name } -> std::convertible_to<std::string_view>;
    { f.insert(d, its_class) }
    noexcept->std::same_as<insert_outcome>;
    { constant.may_contain(d, its_class) }
    noexcept->std::same_as<bool>;
    { constant.terms() }
    noexcept->std::same_as<const daisy_terms&>;
    { constant.plan() }
    noexcept->std::convertible_to<daisy_plan>;
    { constant.hash() }
    noexcept->std::same_as<const hasher&>;
    { constant.stats() }
    noexcept->std::same_as<filter_stats>;
    { constant.size() }
    noexcept->std::same_as<std::uint64_t>;
    { constant.empty() }
    noexcept->std::same_as<bool>;
}
&&clearable_filter<F>;

// The envelope of such a snapshot: the marks, and the filter's own snapshot inside.
struct marked_snapshot {
    oracle_marks oracle;
    std::span<const std::byte> filter{};  // borrowed from the bytes that were read
};
[[nodiscard]] result<void> write_marked(sink& out, const hasher& hash, const oracle_marks& oracle,
                                        std::span<const std::byte> filter) noexcept;
[[nodiscard]] result<marked_snapshot> read_marked(std::span<const std::byte> bytes) noexcept;

template <class_filter Filter, key_oracle Oracle>
class with_oracle {
  public:
    static constexpr std::string_view name = Filter::name;

    with_oracle(Filter filter, std::shared_ptr<const Oracle> oracle) noexcept
        : filter_{std::move(filter)}, oracle_{std::move(oracle)} {
        assert(oracle_ != nullptr);
    }

    insert_outcome insert(const hashed_key& key) noexcept {
        assert(key.is_of(hash()));
        return filter_.insert(key.where(), class_of(key.view()));
    }
    insert_outcome insert(key_view key) noexcept { return insert(hashed_key{hash(), key}); }
    insert_outcome insert(integer_key key) noexcept { return insert(hashed_key{hash(), key}); }
    void clear() noexcept { filter_.clear(); }

    [[nodiscard]] bool may_contain(const hashed_key& key) const noexcept {
        assert(key.is_of(hash()));
        return filter_.may_contain(key.where(), class_of(key.view()));
    }
    [[nodiscard]] bool may_contain(key_view key) const noexcept { return may_contain(hashed_key{hash(), key}); }
    [[nodiscard]] bool may_contain(integer_key key) const noexcept { return may_contain(hashed_key{hash(), key}); }
    void may_contain(std::span<const key_view> keys, std::span<std::uint64_t> out_bits) const noexcept {
        answer_by_class(
            filter_, keys, [this](key_view key) { return class_of(key); }, out_bits);
    }
    void may_contain(std::span<const std::uint64_t> keys, std::span<std::uint64_t> out_bits) const noexcept {
        answer_by_class(
            filter_, keys, [this](key_view key) { return class_of(key); }, out_bits);
    }

    [[nodiscard]] unsigned class_of(key_view key) const noexcept {
        return daisy_class(oracle_->odds(key), filter_.terms());
    }
    // The oracle's bytes are part of what the filter takes.
    [[nodiscard]] filter_stats stats() const noexcept {
        filter_stats now = filter_.stats();
        now.local_bytes += oracle_->memory_bytes();
        return now;
    }
    [[nodiscard]] std::uint64_t size() const noexcept { return filter_.size(); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    // `asserted_identity` as in marks_of(): for an oracle that cannot say which one it is.
    [[nodiscard]] result<void> save(
        sink& out, const std::optional<oracle_identity>& asserted_identity = std::nullopt) const noexcept {
        const auto marks = marks_of(name, *oracle_, asserted_identity, filter_.terms());
        if (!marks) return marks.error();
        vector_sink own;
        if (const auto saved = filter_.save(own); !saved) return saved.error();
        return write_marked(out, hash(), *marks, own.bytes());
    }
    [[nodiscard]] static result<with_oracle> load(
        std::span<const std::byte> bytes, std::shared_ptr<const Oracle> oracle,
        const std::optional<oracle_identity>& asserted_identity = std::nullopt) noexcept {
        assert(oracle != nullptr);
        const auto read = read_marked(bytes);
        if (!read) return read.error();
        auto filter = Filter::load(read->filter);
        if (!filter) return filter.error();
        const auto marks = marks_of(name, *oracle, asserted_identity, filter->terms());
        if (!marks) return marks.error();
        if (const auto same = check_marks(name, read->oracle, *marks); !same) return same.error();
        return with_oracle{*std::move(filter), std::move(oracle)};
    }

    [[nodiscard]] const hasher& hash() const noexcept { return filter_.hash(); }
    [[nodiscard]] Filter& filter() noexcept { return filter_; }
    [[nodiscard]] const Filter& filter() const noexcept { return filter_; }
    [[nodiscard]] const Oracle& oracle() const noexcept { return *oracle_; }

  private:
    Filter filter_;
    std::shared_ptr<const Oracle> oracle_;
};

}  // namespace genista
