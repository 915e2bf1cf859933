// replacing_map: a remote map that returns, in place of one record of a range, another one that
// does exist: its predecessor, which then comes twice, or a record from outside the range.
// (faulty_map adds such a record, and leaves out none.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "genista/remote/memory_map.hpp"

namespace genista::test {

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

}  // namespace genista::test
