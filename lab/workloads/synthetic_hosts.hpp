// Synthetic host names of two kinds, where there are no real lists: popular sites (short, of
// syllables, under common endings) and names to block (trackers, long random labels, cheap
// endings). About one in ten of each kind looks like the other: no model can separate all of them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "lab/workloads/random.hpp"

namespace genista::lab {

// The same name for the same number, different ones for different numbers below 2^31.
class synthetic_hosts {
  public:
    explicit synthetic_hosts(std::uint64_t seed) noexcept : seed_{seed} {}

    [[nodiscard]] std::string popular(std::uint64_t number) const { return name(number, false); }
    [[nodiscard]] std::string blocked(std::uint64_t number) const { return name(number, true); }

  private:
    [[nodiscard]] std::string name(std::uint64_t number, bool to_block) const {
        random_stream chance{seed_ ^ (number * 2 + (to_block ? 1 : 0)) * 0xd6e8feb86659fd93};
        const bool looks_bad = chance.below(10) == 0 ? !to_block : to_block;
        std::string made = looks_bad ? bad(chance) : good(chance);
        // Its number keeps names different. Scrambled, it reveals neither the kind nor how many
        // there are.
        return made.insert(made.rfind('.'), scrambled(static_cast<std::uint32_t>(number * 2 + (to_block ? 1 : 0))));
    }
    // A permutation of the 32-bit numbers, as seven letters and digits.
    static std::string scrambled(std::uint32_t x) {
        x = (x ^ x >> 16) * 0x85ebca6b;
        x = (x ^ x >> 13) * 0xc2b2ae35;
        x ^= x >> 16;
        std::string made;
        for (int i = 0; i < 7; ++i, x /= 36) made += "0123456789abcdefghijklmnopqrstuvwxyz"[x % 36];
        return made;
    }
    static std::string good(random_stream& chance) {
        constexpr std::array<std::string_view, 16> syllables = {"ma",   "ri",   "to",   "shop", "news", "ka",
                                                                "lo",   "book", "ber",  "sen",  "go",   "ple",
                                                                "wiki", "an",   "home", "ti"};
        constexpr std::array<std::string_view, 6> endings = {".com", ".org", ".de", ".co.uk", ".net", ".edu"};
        std::string made = chance.below(3) == 0 ? "www." : "";
        for (auto parts = 2 + chance.below(2); parts > 0; --parts) made += syllables[chance.below(syllables.size())];
        return made.append(endings[chance.below(endings.size())]);
    }
    static std::string bad(random_stream& chance) {
        constexpr std::array<std::string_view, 8> heads = {"ads.",  "track.",  "click-", "pixel.",
                                                           "stat.", "banner.", "x",      "beacon."};
        constexpr std::array<std::string_view, 6> endings = {".xyz", ".top", ".info", ".com", ".ru", ".biz"};
        constexpr std::string_view letters = "qwzxkvj0123456789bcdfghmnp";
        std::string made{heads[chance.below(heads.size())]};
        for (auto length = 5 + chance.below(9); length > 0; --length) made += letters[chance.below(letters.size())];
        return made.append(endings[chance.below(endings.size())]);
    }

    std::uint64_t seed_;
};

}  // namespace genista::lab
