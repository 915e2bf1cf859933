// error: the texts of errors, shared by the copies of an error and counted. Making an error cannot
// fail.
#include "genista/base/result.hpp"

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <new>

namespace genista {

// An error's text is on the heap. Without memory it is one of a few reserved texts, and if those
// are used up it is the text of its code, which all such errors share.
struct error::shared_text {
    enum class home : unsigned char { heap, kept_back, shared_by_all };

    std::atomic<std::uint32_t> users{0};  // kept_back: 0 means free; shared_by_all: not counted
    home lives = home::heap;
    error_code code{};
    char text[most_text + 1] = {};

    [[nodiscard]] static shared_text* claim(error_code wanted) noexcept;
    void add_user() noexcept {
        if (lives != home::shared_by_all) users.fetch_add(1, std::memory_order_relaxed);
    }
    void drop_user() noexcept {
        if (lives == home::shared_by_all) return;
        // acq_rel: every read of the text happens before it is freed or reused.
        if (users.fetch_sub(1, std::memory_order_acq_rel) == 1 && lives == home::heap) delete this;
    }

  private:
    struct without_memory;
};

// Made at the first error. Takes no memory from the allocator and needs no destructor.
struct error::shared_text::without_memory {
    static constexpr std::size_t kept_back_texts = 16;
    static constexpr std::size_t codes = static_cast<std::size_t>(error_code::timeout) + 1;

    std::array<shared_text, kept_back_texts> kept_back;
    std::array<shared_text, codes> of_code;

    without_memory() noexcept {
        for (shared_text& each : kept_back) each.lives = home::kept_back;
        for (std::size_t i = 0; i < codes; ++i) {
            of_code[i].lives = home::shared_by_all;
            of_code[i].code = static_cast<error_code>(i);
            to_string(of_code[i].code).copy(of_code[i].text, most_text);
        }
    }

    [[nodiscard]] shared_text* claim_without_memory(error_code wanted) noexcept {
        for (shared_text& each : kept_back) {
            std::uint32_t free = 0;
            if (each.users.compare_exchange_strong(free, 1, std::memory_order_acquire)) return &each;
        }
        return &of_code[static_cast<std::size_t>(wanted)];
    }
};

error::shared_text* error::shared_text::claim(error_code wanted) noexcept {
    static without_memory reserve;
    shared_text* const made = new (std::nothrow) shared_text;
    if (made == nullptr) return reserve.claim_without_memory(wanted);
    made->users.store(1, std::memory_order_relaxed);
    return made;
}

error error::make(error_code code, const char* format, ...) noexcept {
    shared_text* const text = shared_text::claim(code);
    if (text->lives != shared_text::home::shared_by_all) {
        text->code = code;
        va_list arguments;
        va_start(arguments, format);
        if (std::vsnprintf(text->text, sizeof text->text, format, arguments) < 0) text->text[0] = '\0';
        va_end(arguments);
    }
    return error{text};
}

error::error(const error& other) noexcept : text_{other.text_} {
    text_->add_user();
}

// The new text has its user before the old one loses it: an error may be assigned to itself.
// NOLINTNEXTLINE(bugprone-unhandled-self-assignment)
error& error::operator=(const error& other) noexcept {
    other.text_->add_user();
    text_->drop_user();
    text_ = other.text_;
    return *this;
}

error::~error() {
    text_->drop_user();
}

error_code error::code() const noexcept {
    return text_->code;
}

std::string_view error::message() const noexcept {
    return text_->text;
}

}  // namespace genista
