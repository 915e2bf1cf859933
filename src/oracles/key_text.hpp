// key_text: a key inside an error message: its text, or its bytes in hexadecimal if they are not
// printable; long keys are cut.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "genista/hash/key.hpp"

namespace genista {

class key_text {
  public:
    explicit key_text(key_view key) noexcept {
        const auto* const end = key.data + std::min(key.size, most);
        const bool is_printable = key.size != 0 && std::all_of(key.data, end, [](std::byte b) {
                                      return b >= std::byte{0x20} && b != std::byte{0x7f};  // UTF-8 passes
                                  });
        std::size_t at = 0;
        if (!is_printable) text_[at++] = '0', text_[at++] = 'x';
        for (const std::byte* b = key.data; b != end; ++b) {
            if (is_printable) {
                text_[at++] = static_cast<char>(*b);
            } else {
                constexpr const char* digits = "0123456789abcdef";
                text_[at++] = digits[std::to_integer<unsigned>(*b) >> 4];
                text_[at++] = digits[std::to_integer<unsigned>(*b) & 15];
            }
        }
        for (int dots = 0; key.size > most && dots < 3; ++dots) text_[at++] = '.';
    }
    [[nodiscard]] const char* c_str() const noexcept { return text_.data(); }

  private:
    static constexpr std::size_t most = 40;
    std::array<char, 2 + 2 * most + 3 + 1> text_{};
};

}  // namespace genista
