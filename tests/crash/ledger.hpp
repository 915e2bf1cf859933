// ledger: the operations that a process began and acknowledged before it was killed. It is a file
// mapped into memory, so every store into it survives the SIGKILL of the process, without a system
// call for each operation.
//
//     header    how often each fail point was passed; the first complaint
//     keys      for each key two versions:  acknowledged | begun
//
// A version names a value, and 0 is "absent". The outcome of an operation is written to `begun`
// before it and to `acknowledged` after it. A key must then have its acknowledged version or, if an
// operation was in flight, the begun one. Each key has one writer at a time.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

namespace genista::test {

// The names in base/fail_point.hpp that a write, a snapshot or an opening passes, and those of the
// controls.
inline constexpr std::array fail_point_names = std::to_array<std::string_view>(
    {"guard.entered",       "store.committed",     "guard.inserted",     "store.removed",
     "guard.forgotten",     "snapshotter.marked",  "snapshotter.saved",  "snapshotter.log_synced",
     "snapshotter.written", "snapshotter.renamed", "snapshotter.pruned", "index.started",
     "index.batch",         "index.filled",        "index.ready",        "ingest.announced",
     "ingest.done",         "guard.key_inserted",  "range.committed",    "range.piece_read",
     "range.piece_written", "range.cleared"});
inline constexpr std::size_t points_of_the_clustered_layout = 11;  // the first ones

class ledger {
  public:
    static constexpr std::uint32_t keys = 3000;
    static constexpr std::uint32_t absent = 0;
    static constexpr std::uint32_t nothing = 0xffff'ffff;  // no operation is under way

    struct entry {
        std::atomic<std::uint32_t> acknowledged, begun;
    };
    struct page {
        std::atomic<std::uint32_t> next_version;
        std::atomic<std::uint32_t> checked;  // lives that found no error
        std::atomic<std::uint32_t> from_snapshot, rebuilt;
        std::atomic<std::uint32_t> foreign;  // lives that found writes past the guard, or may have
        std::atomic<std::uint32_t> tasks;    // of threads that repaired, looked or saved beside the writers
        std::array<std::atomic<std::uint64_t>, fail_point_names.size()> passed;
        char complaint[512];
        entry of[keys];
    };

    // Creates the file if it does not exist: every key absent, nothing begun.
    explicit ledger(const std::string& path) {
        const int file = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
        const bool is_new = file >= 0 && ::lseek(file, 0, SEEK_END) == 0;
        if (file < 0 || (is_new && ::ftruncate(file, sizeof(page)) != 0)) {
            std::perror(path.c_str());
            ::_exit(3);
        }
        void* const at = ::mmap(nullptr, sizeof(page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        ::close(file);
        if (at == MAP_FAILED) {
            std::perror(path.c_str());
            ::_exit(3);
        }
        page_ = static_cast<page*>(at);
        if (!is_new) return;
        for (entry& each : page_->of) each.begun.store(nothing);
    }
    ledger(const ledger&) = delete;
    ledger& operator=(const ledger&) = delete;
    ~ledger() { ::munmap(page_, sizeof(page)); }

    [[nodiscard]] page& operator*() const noexcept { return *page_; }
    [[nodiscard]] page* operator->() const noexcept { return page_; }
    [[nodiscard]] entry& of(std::uint32_t key) const noexcept { return page_->of[key]; }

    [[nodiscard]] std::uint32_t new_version() const noexcept { return page_->next_version.fetch_add(1) + 1; }
    void begin(std::uint32_t key, std::uint32_t version) const noexcept { of(key).begun.store(version); }
    void acknowledge(std::uint32_t key) const noexcept {
        of(key).acknowledged.store(of(key).begun.load());
        of(key).begun.store(nothing);
    }
    // Replaces these promises by those of another ledger.
    void take_over(const ledger& other) const noexcept {
        page_->next_version.store(std::max(page_->next_version.load(), other->next_version.load()));
        for (std::uint32_t key = 0; key < keys; ++key) {
            of(key).acknowledged.store(other.of(key).acknowledged.load());
            of(key).begun.store(other.of(key).begun.load());
        }
    }
    void complain(const std::string& text) const noexcept {
        std::strncpy(page_->complaint, text.c_str(), sizeof page_->complaint - 1);
    }
    [[nodiscard]] std::string complaint() const { return page_->complaint; }
    void forget_complaint() const noexcept { page_->complaint[0] = '\0'; }

    [[nodiscard]] static std::string name_of(std::uint32_t key) {
        char text[16];
        std::snprintf(text, sizeof text, "key-%06u", key);
        return text;
    }
    [[nodiscard]] static std::string value_of(std::uint32_t version) {
        std::string value = std::to_string(version) + ":";
        value.append(20 + version * 37 % 280, static_cast<char>('a' + version % 26));
        return value;
    }

  private:
    page* page_ = nullptr;
};

}  // namespace genista::test
