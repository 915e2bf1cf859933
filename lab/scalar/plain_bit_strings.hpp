// The reference model of bit_strings.hpp: a vector of strings of '0' and '1', and loops. Shared by
// the tests of bit strings and by the experiment broom-words, which compares the word kernels with
// it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "papers/bit_strings/bit_strings.hpp"

namespace genista::lab {

struct plain_bit_strings {
    std::vector<std::string> strings;

    // The slots of all strings, with one after each; they must fit into 64 Words slots.
    [[nodiscard]] std::size_t used_slots() const {
        std::size_t used = strings.size();
        for (const std::string& s : strings) used += s.size();
        return used;
    }
    [[nodiscard]] static std::size_t common_prefix(const std::string& a, const std::string& b) {
        std::size_t length = 0;
        while (length < a.size() && length < b.size() && a[length] == b[length]) ++length;
        return length;
    }
    [[nodiscard]] std::vector<bool> prefix_match(const std::string& query, std::size_t first, std::size_t last) const {
        std::vector<bool> out(strings.size());
        for (std::size_t i = first; i < std::min(last, strings.size()); ++i)
            out[i] = common_prefix(strings[i], query) == strings[i].size();
        return out;
    }
    [[nodiscard]] std::vector<bool> prefix_match_each(const std::vector<std::string>& queries) const {
        std::vector<bool> out(strings.size());
        for (std::size_t i = 0; i < strings.size(); ++i)
            out[i] = common_prefix(strings[i], queries[i]) == strings[i].size();
        return out;
    }
    void insert(std::size_t rank, const std::string& s) { strings.insert(place(rank), s); }
    void erase(std::size_t rank) { strings.erase(place(rank)); }
    void splice(std::size_t rank, std::size_t offset, std::size_t remove, const std::string& s) {
        strings[rank].replace(offset, remove, s);
    }
    void append(std::size_t rank, const std::string& s) { strings[rank] += s; }
    std::size_t drop_front(std::size_t rank, std::size_t x) {
        const std::size_t removed = std::min(x, strings[rank].size());
        strings[rank].erase(0, removed);
        return removed;
    }
    void concatenate(std::size_t rank) {
        strings[rank] += strings[rank + 1];
        erase(rank + 1);
    }
    std::vector<bool> drop_front_all(std::size_t x) {
        for (std::size_t i = 0; i < strings.size(); ++i) drop_front(i, x);
        return nonempty();
    }
    [[nodiscard]] std::vector<bool> nonempty() const {
        std::vector<bool> out;
        for (const std::string& s : strings) out.push_back(!s.empty());
        return out;
    }
    void erase_all(const std::vector<bool>& chosen) {
        for (std::size_t i = strings.size(); i-- > 0;)
            if (chosen[i]) erase(i);
    }
    void concatenate_all(const std::vector<bool>& chosen) {
        for (std::size_t i = strings.size(); i-- > 0;)
            if (chosen[i]) concatenate(i);
    }
    // `is_new` has one entry for each string after the merge.
    void insert_all(const std::vector<bool>& is_new, const std::vector<std::string>& others) {
        std::size_t next = 0;
        for (std::size_t r = 0; r < is_new.size(); ++r)
            if (is_new[r]) insert(r, others[next++]);
    }

  private:
    [[nodiscard]] std::vector<std::string>::iterator place(std::size_t rank) {
        return strings.begin() + static_cast<std::ptrdiff_t>(rank);
    }
};

// ---- between the two worlds; all of it bit by bit, with no help from the kernels ---------------

template <class Strings>
[[nodiscard]] typename Strings::wide to_wide(const std::vector<bool>& flags) {
    typename Strings::wide out;
    for (std::size_t i = 0; i < flags.size(); ++i)
        if (flags[i]) out.words[i / 64] |= std::uint64_t{1} << (i % 64);
    return out;
}
template <class Strings>
[[nodiscard]] typename Strings::string to_string_of(const std::string& text) {
    typename Strings::string out;
    out.length = text.size();
    for (std::size_t i = 0; i < text.size(); ++i)
        if (text[i] == '1') out.bits.words[i / 64] |= std::uint64_t{1} << (i % 64);
    return out;
}
// The words that the layout in bit_strings.hpp demands for these strings.
template <class Strings>
[[nodiscard]] Strings to_bit_strings(const std::vector<std::string>& texts) {
    typename Strings::wide data, ends;
    std::size_t slot = 0;
    for (const std::string& text : texts) {
        for (const char c : text) {
            if (c == '1') data.words[slot / 64] |= std::uint64_t{1} << (slot % 64);
            ++slot;
        }
        ends.words[slot / 64] |= std::uint64_t{1} << (slot % 64);
        ++slot;
    }
    Strings made;
    made.replace(data, ends);
    return made;
}
// Whether the packed strings are, word for word, what the layout demands (which also checks I1 and
// I2).
template <class Strings>
[[nodiscard]] bool same(const Strings& packed, const plain_bit_strings& plain) {
    const Strings demanded = to_bit_strings<Strings>(plain.strings);
    return packed.data().words == demanded.data().words && packed.ends().words == demanded.ends().words;
}
template <class Wide>
[[nodiscard]] bool same_flags(const Wide& packed, const std::vector<bool>& plain) {
    Wide demanded;
    for (std::size_t i = 0; i < plain.size(); ++i)
        if (plain[i]) demanded.words[i / 64] |= std::uint64_t{1} << (i % 64);
    return packed.words == demanded.words;
}

}  // namespace genista::lab
