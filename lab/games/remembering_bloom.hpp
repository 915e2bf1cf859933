// remembering_bloom: a Bloom filter and a cache of some of its mistakes, in a given number of bits;
// and its arena, "bloom_cache".
//
// A local filter can only remember its false positives [broom18 §6]: it learns of each that it was
// one, and nothing else. With room for all of them it is a whitelist; with less it has to drop
// some, and this one has two simple ways: the oldest, or any. It is made to be attacked: how many
// bits does it need until the attack in rounds (rounds.hpp) does not harm it?
//
// Its universe is real. Keys are texts of log u bits: up to 64 bits the adversary's number itself,
// which has to lie below u; above, a number stands for a text of that many bits drawn from it. The
// Bloom filter is given the text, and the cache keeps the text. Bits are counted in its favour:
// those of the Bloom filter, and those of the texts kept, as if a set of keys in memory cost no
// more than the keys.
//
// `kept_bits` below log u is a control: it keeps this many bits of a text, has room for more of
// them, and treats every key with the same first bits as remembered. In a universe that is dense
// enough some of those are stored keys, and are denied: Theorem 5 rests on this. (In a universe of
// 2^64 and more with few stored keys this is never seen, and 40 bits would do; the promise never to
// deny a stored key requires all of them.)
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "genista/filters/bloom.hpp"
#include "lab/experiment.hpp"
#include "lab/games/arena.hpp"
#include "lab/workloads/random.hpp"

namespace genista::lab {

enum class replacement : unsigned char { oldest, any };

struct remembering_options {
    std::uint64_t keys = 10'000;
    std::uint64_t total_bits = 100'000;
    double bloom_share = 0.8;  // of the bits; the rest is the cache
    unsigned universe_bits = 64;
    unsigned kept_bits = 0;  // of a key that is remembered; 0: all
    replacement replaces = replacement::oldest;
    std::uint64_t seed = 1;
};

class remembering_bloom {
  public:
    explicit remembering_bloom(const remembering_options& options)
        : bloom_{make_bloom(options)},
          universe_bits_{options.universe_bits},
          kept_bits_{options.kept_bits == 0 ? options.universe_bits : options.kept_bits},
          replaces_{options.replaces},
          chance_{options.seed} {
        const std::uint64_t left = options.total_bits - std::min(options.total_bits, bloom_bits());
        room_ = options.bloom_share >= 1 ? 0 : left / kept_bits_;
        bits_ = bloom_bits() + room_ * kept_bits_;
    }

    [[nodiscard]] bool may_contain(std::uint64_t key) const {
        const std::string text = text_of(key);
        return bloom_.may_contain(key_view{text}) && !places_.contains(kept_of(text));
    }
    void insert(std::uint64_t key) {
        const std::string text = text_of(key);
        (void)bloom_.insert(key_view{text});
        const auto known = places_.find(kept_of(text));
        if (known == places_.end()) return;
        remembered_[known->second].clear();
        places_.erase(known);
    }
    // Remembers a false positive.
    void remember(std::uint64_t key) {
        std::string kept = kept_of(text_of(key));
        if (room_ == 0 || places_.contains(kept)) return;
        if (remembered_.size() < room_) {
            places_[kept] = remembered_.size();
            remembered_.push_back(std::move(kept));
            return;
        }
        const std::uint64_t place = replaces_ == replacement::oldest ? next_++ % room_ : chance_.below(room_);
        if (!remembered_[place].empty()) places_.erase(remembered_[place]);
        places_[kept] = place;
        remembered_[place] = std::move(kept);
    }

    [[nodiscard]] std::uint64_t bits() const noexcept { return bits_; }
    [[nodiscard]] std::uint64_t room() const noexcept { return room_; }  // keys it can remember
    [[nodiscard]] std::uint64_t remembered() const noexcept { return places_.size(); }
    [[nodiscard]] double bloom_rate() const noexcept { return bloom_.stats().false_positive_rate; }

    // The key that a number stands for: log u bits, rounded up to bytes; the highest bits first,
    // the unused bits of the last byte 0.
    [[nodiscard]] std::string text_of(std::uint64_t number) const {
        std::string text((universe_bits_ + 7) / 8, '\0');
        std::uint64_t word = number << (64 - std::min(universe_bits_, 64u));
        random_stream more{number};
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (i > 0 && i % 8 == 0) word = more();
            text[i] = static_cast<char>(word >> (56 - 8 * (i % 8)));
        }
        return text;
    }

  private:
    // The best Bloom filter for its share.
    [[nodiscard]] static bloom_filter make_bloom(const remembering_options& options) {
        const auto share = static_cast<std::uint64_t>(options.bloom_share * static_cast<double>(options.total_bits));
        const double rate = std::min(max_false_positive_rate, bloom_filter::fpr_for(options.keys, share));
        return must(bloom_filter::make({options.keys, rate, hasher{hash_key::from_seed(options.seed)}}));
    }
    [[nodiscard]] std::uint64_t bloom_bits() const noexcept {
        return 8 * (bloom_.stats().local_bytes - sizeof(bloom_filter));
    }
    [[nodiscard]] std::string kept_of(std::string text) const {
        if (kept_bits_ == universe_bits_) return text;
        text.resize((kept_bits_ + 7) / 8);
        if (kept_bits_ % 8 != 0)
            text.back() = static_cast<char>(static_cast<unsigned char>(text.back()) & (0xff00u >> (kept_bits_ % 8)));
        return text;
    }

    bloom_filter bloom_;
    unsigned universe_bits_, kept_bits_;
    replacement replaces_;
    random_stream chance_;
    std::uint64_t room_ = 0, bits_ = 0, next_ = 0;
    std::vector<std::string> remembered_;                    // empty: nothing, since an insert
    std::unordered_map<std::string, std::uint64_t> places_;  // where in `remembered_`
};

class remembering_arena final : public counting_arena {
  public:
    // `rate`: the promise; the experiment measures whether it is kept.
    remembering_arena(const remembering_options& options, double rate) : filter_{options}, rate_{rate} {}

    [[nodiscard]] std::string_view filter_name() const noexcept override { return "bloom_cache"; }
    [[nodiscard]] double rate() const noexcept override { return rate_; }

    reply query(std::uint64_t key) override {
        const reply seen{.maybe = filter_.may_contain(key), .member = members_.contains(key), .reads = 0};
        if (count(seen)) filter_.remember(key);
        return seen;
    }
    unsigned insert(std::uint64_t key) override {
        ++score_.operations;
        if (members_.insert(key)) filter_.insert(key);
        return 0;
    }
    unsigned erase(std::uint64_t key) override {  // the filter does not learn of it, as in a store
        ++score_.operations;
        members_.erase(key);
        return 0;
    }

    [[nodiscard]] const remembering_bloom& filter() const noexcept { return filter_; }

  private:
    remembering_bloom filter_;
    double rate_;
};

}  // namespace genista::lab
