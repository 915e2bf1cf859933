// Workloads for a bit_strings_driver: every case for few slots, random cases for full ones.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "lab/scalar/bit_strings_driver.hpp"

namespace genista::lab {

// All bit strings of up to `longest` bits, the empty one first.
[[nodiscard]] inline std::vector<std::string> all_strings(std::size_t longest) {
    std::vector<std::string> out{""};
    for (std::size_t i = 0; i < out.size(); ++i)
        if (out[i].size() < longest) {
            const std::string base = out[i];  // push_back may move out[i]
            out.push_back(base + '0');
            out.push_back(base + '1');
        }
    return out;
}

// All sequences of strings that use exactly `slots` slots: each slot 0, 1 or a terminator, the last
// one a terminator.
[[nodiscard]] inline std::vector<std::vector<std::string>> all_sequences(std::size_t slots) {
    if (slots == 0) return {{}};
    std::vector<std::vector<std::string>> out;
    for (std::size_t first = 0; first < slots; ++first)
        for (const auto& rest : all_sequences(slots - first - 1))
            for (const std::string& s : all_strings(first))
                if (s.size() == first) {
                    out.push_back(rest);
                    out.back().insert(out.back().begin(), s);
                }
    return out;
}

// Bit i of `number`, as flags.
[[nodiscard]] inline std::vector<bool> flags_of(std::uint64_t number, std::size_t size) {
    std::vector<bool> out(size);
    for (std::size_t i = 0; i < size; ++i) out[i] = (number >> i & 1) != 0;
    return out;
}

// Every query up to `longest_query` bits over every range of ranks.
template <class Strings>
void exhaust_queries(bit_strings_driver<Strings>& driver, const std::vector<std::string>& texts,
                     std::size_t longest_query) {
    driver.reset(texts);
    for (const std::string& query : all_strings(longest_query))
        for (std::size_t first = 0; first <= texts.size(); ++first)
            for (std::size_t last = first; last <= texts.size() + 1; ++last) {
                driver.prefix_match(query, first, last);
                driver.prefix_lengths(query, first, last);
            }
}

// Every single edit: all ranks, offsets and lengths, with every string up to two bits.
template <class Strings>
void exhaust_edits(bit_strings_driver<Strings>& driver, const std::vector<std::string>& texts) {
    static const std::vector<std::string> pieces = all_strings(2);
    const auto fresh = [&]() -> bit_strings_driver<Strings>& {
        driver.reset(texts);
        return driver;
    };
    for (std::size_t rank = 0; rank <= texts.size(); ++rank)
        for (const std::string& piece : pieces) fresh().insert(rank, piece);
    for (std::size_t rank = 0; rank < texts.size(); ++rank) {
        fresh().erase(rank);
        if (rank + 1 < texts.size()) fresh().concatenate(rank);
        const std::size_t length = texts[rank].size();
        for (std::size_t x = 0; x <= length + 1; ++x) fresh().drop_front(rank, x);
        for (const std::string& piece : pieces) {
            fresh().append(rank, piece);
            for (std::size_t offset = 0; offset <= length; ++offset)
                for (std::size_t remove = 0; remove <= length + 1 - offset; ++remove)
                    fresh().splice(rank, offset, remove, piece);
        }
    }
}

// Every parallel edit: all lengths, all sets of ranks, and all merges with sequences of up to
// `other_slots` slots.
template <class Strings>
void exhaust_parallel_edits(bit_strings_driver<Strings>& driver, const std::vector<std::string>& texts,
                            std::size_t other_slots) {
    const std::size_t count = texts.size();
    const auto fresh = [&]() -> bit_strings_driver<Strings>& {
        driver.reset(texts);
        return driver;
    };
    for (std::size_t x = 0; x <= 8; ++x) fresh().drop_front_all(x);
    for (std::uint64_t set = 0; set < std::uint64_t{1} << count; ++set) fresh().erase_all(flags_of(set, count));
    for (std::uint64_t set = 0; count > 0 && set < std::uint64_t{1} << (count - 1); ++set)
        fresh().concatenate_all(flags_of(set, count));
    for (std::size_t slots = 0; slots <= other_slots; ++slots)
        for (const auto& others : all_sequences(slots)) {
            const std::size_t total = count + others.size();
            for (std::uint64_t set = 0; set < std::uint64_t{1} << total; ++set)
                if (static_cast<std::size_t>(std::popcount(set)) == others.size())
                    fresh().insert_all(flags_of(set, total), others);
        }
}

// Every pair of sequences of one count: each string asked its own query.
template <class Strings>
void exhaust_parallel_queries(bit_strings_driver<Strings>& driver, std::size_t most_slots) {
    std::vector<std::vector<std::string>> all;
    for (std::size_t slots = 0; slots <= most_slots; ++slots)
        for (auto& texts : all_sequences(slots)) all.push_back(std::move(texts));
    for (const auto& texts : all) {
        driver.reset(texts);
        for (const auto& queries : all)
            if (queries.size() == texts.size()) driver.prefix_match_each(queries);
    }
}

// Random cases, for strings that fill all their words.
template <class Strings>
class random_bit_strings_workload {
  public:
    explicit random_bit_strings_workload(std::uint64_t seed) : random_{seed} {}

    bit_strings_driver<Strings> driver;

    // One query of each kind and one change, chosen by chance; now and then the state is rebuilt.
    void step() {
        if (below(200) == 0) fill(below(Strings::slots + 1), 1 + below(Strings::slots / 2));
        ask();
        change();
    }
    // Strings that take exactly `slots` slots, most of them about `typical` bits long.
    void fill(std::size_t slots, std::size_t typical) {
        std::vector<std::string> texts;
        while (slots > 0) {
            const std::size_t length = std::min(below(2 * typical + 1), slots - 1);
            texts.push_back(text(length));
            slots -= length + 1;
        }
        driver.reset(texts);
    }
    // Exactly `count` strings in exactly `slots` slots, the lengths drawn at random (count <=
    // slots).
    void fill_exactly(std::size_t slots, std::size_t count) {
        std::vector<std::string> texts(count);
        for (std::size_t extra = slots - count; count > 0 && extra > 0; --extra) texts[below(count)] += '0';
        for (std::string& s : texts) s = text(s.size());
        driver.reset(texts);
    }
    void ask() {
        const std::size_t first = below(driver.count() + 1), last = first + below(driver.count() - first + 2);
        const std::string q = query();
        driver.prefix_match(q, first, last);
        driver.prefix_match(q, 0, Strings::slots);
        driver.prefix_lengths(q, first, last);
        ask_each();
    }
    void change() {
        const std::size_t n = driver.count();
        const std::size_t what = n == 0 ? 0 : below(10);
        const std::size_t rank = n == 0 ? 0 : below(n);
        switch (what) {
            case 0:
            case 1:
                driver.insert(below(n + 1), text(some_length()));
                break;
            case 2:
                driver.append(rank, text(some_length()));
                break;
            case 3:
                driver.erase(rank);
                break;
            case 4:
                splice(rank);
                break;
            case 5:
                driver.drop_front(rank, some_length());
                break;
            case 6:
                if (rank + 1 < n) driver.concatenate(rank);
                break;
            case 7:
                if (below(4) == 0) driver.drop_front_all(some_length());
                break;
            case 8:
                change_a_set();
                break;
            default:
                merge();
                break;
        }
    }
    // Every operation, each on the state that the fill left, with arguments that fit into three
    // free slots and queries of the shortest and the longest kind: for step counts at a given
    // shape.
    void each_operation_once() {
        const std::vector<std::string> texts = driver.plain.strings;
        const std::size_t n = texts.size(), rank = below(n), longest = Strings::slots;
        for (const std::size_t length : {std::size_t{0}, std::size_t{1}, longest / 2 + 1, longest - 1, longest}) {
            driver.prefix_match(text(length), 0, n);
            driver.prefix_lengths(text(length), 0, n);
        }
        ask_each();
        const auto on_a_copy = [&](auto operation) {
            operation();
            driver.reset(texts);
        };
        on_a_copy([&] { driver.insert(rank, text(1)); });
        on_a_copy([&] { driver.erase(rank); });
        on_a_copy([&] { driver.splice(rank, texts[rank].size() / 2, 1, text(2)); });
        on_a_copy([&] { driver.append(rank, text(1)); });
        on_a_copy([&] { driver.drop_front(rank, 1); });
        if (n > 1) on_a_copy([&] { driver.concatenate(below(n - 1)); });
        for (const std::size_t x : {std::size_t{1}, longest / 2, longest}) on_a_copy([&] { driver.drop_front_all(x); });
        on_a_copy([&] { driver.erase_all(some_flags(n)); });
        on_a_copy([&] { driver.concatenate_all(some_flags(n, 1)); });
        std::vector<bool> is_new(n, false);
        for (int twice = 0; twice < 2; ++twice)
            is_new.insert(is_new.begin() + static_cast<std::ptrdiff_t>(below(is_new.size() + 1)), true);
        on_a_copy([&] { driver.insert_all(is_new, {"", text(1)}); });
    }

  private:
    std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }
    // Mostly short, sometimes up to all bits, word boundaries included.
    std::size_t some_length() {
        static constexpr std::size_t edges[] = {0, 1, 31, 32, 62, 63, 64, 65, 126, 127, 128, 191, 192, 255};
        switch (below(8)) {
            case 0:
                return below(Strings::slots);
            case 1:
                return std::min(edges[below(std::size(edges))], Strings::slots - 1);
            default:
                return below(10);
        }
    }
    std::string text(std::size_t length) {
        std::string out(length, '0');
        const std::size_t style = below(6);  // equal strings have the longest carries
        for (char& c : out) c = style == 0 ? '0' : style == 1 ? '1' : below(2) != 0 ? '1' : '0';
        return out;
    }
    // Half of the queries extend, cut or change a stored string.
    std::string query() {
        if (driver.count() == 0 || below(2) == 0)
            return text(below(4) == 0 ? below(Strings::slots + 1) : some_length());
        std::string q = driver.plain.strings[below(driver.count())];
        if (below(3) == 0 && !q.empty()) q.resize(below(q.size() + 1));
        if (below(3) == 0 && !q.empty()) q[below(q.size())] ^= 1;
        if (below(3) != 0) q += text(some_length());
        if (q.size() > Strings::slots) q.resize(Strings::slots);
        return q;
    }
    // One query for each string, similar to it, while all of them fit.
    void ask_each() {
        std::vector<std::string> queries;
        std::size_t room = Strings::slots - driver.count();
        for (const std::string& s : driver.plain.strings) {
            std::string q = s;
            if (below(4) == 0 && !q.empty()) q[below(q.size())] ^= 1;
            if (below(4) == 0) q.resize(below(q.size() + 1));
            if (below(3) == 0) q += text(some_length());
            q.resize(std::min(q.size(), room));
            room -= q.size();
            queries.push_back(q);
        }
        driver.prefix_match_each(queries);
    }
    void splice(std::size_t rank) {
        const std::size_t offset = below(driver.plain.strings[rank].size() + 1);
        driver.splice(rank, offset, some_length(), text(some_length()));
    }
    std::vector<bool> some_flags(std::size_t n, std::size_t none_at_the_end = 0) {
        std::vector<bool> out(n);
        const std::size_t one_in = 1 + below(6);
        for (std::size_t i = 0; i + none_at_the_end < n; ++i) out[i] = below(one_in) == 0;
        return out;
    }
    void change_a_set() {
        if (below(2) == 0)
            driver.erase_all(some_flags(driver.count()));
        else
            driver.concatenate_all(some_flags(driver.count(), 1));
    }
    void merge() {
        std::vector<std::string> others;
        const std::size_t room = below(8) == 0 ? Strings::slots : driver.free_slots();  // sometimes too much
        for (std::size_t used = 0, wanted = below(12); others.size() < wanted;) {
            const std::string s = text(some_length());
            if ((used += s.size() + 1) > room) break;
            others.push_back(s);
        }
        std::vector<bool> is_new(driver.count(), false);
        for (std::size_t t = 0; t < others.size(); ++t)
            is_new.insert(is_new.begin() + static_cast<std::ptrdiff_t>(below(is_new.size() + 1)), true);
        driver.insert_all(is_new, others);
    }

    std::mt19937_64 random_;
};

}  // namespace genista::lab
