// parts: what `genista lab report` has finished so far, one file a result, beside the page.
//
//     lab.html.parts/broom-words.json     {"part": 1, "id", "stamp", "seconds", "content", "check"}
//
// I1  A file appears whole or not at all (format/sink.hpp): an interrupted run loses only the
//     parts in progress.
// I2  A part is used only if it is whole and of the same program, seed and mode. Else the reason is
//     printed and its work is done again: results of two programs are never on one page.
// I3  One run at a time: a second one would repeat the work of the first and disturb its times.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "genista/base/result.hpp"

namespace genista::tool {

// Two results with equal stamps may stand on one page.
struct part_stamp {
    std::string version;
    std::string build;
    std::uint64_t seed = 1;
    bool quick = false;
    std::string data{};  // the folder of traces, for what replays some

    friend bool operator==(const part_stamp&, const part_stamp&) = default;
};

// A digest of the running program, 16 hex digits; "unknown" where the system does not show it.
[[nodiscard]] std::string program_digest();

struct part {
    nlohmann::ordered_json content;
    double seconds = 0;
    bool usable = false;
    std::string why_not{};  // empty if there is simply none
};

class parts_folder {
  public:
    explicit parts_folder(std::string path) : path_{std::move(path)} {}

    parts_folder(const parts_folder&) = delete;
    parts_folder& operator=(const parts_folder&) = delete;
    ~parts_folder();

    // Makes the folder if there is none, and holds it (I3) for as long as this lives.
    [[nodiscard]] result<void> open();
    [[nodiscard]] part read(const std::string& id, const part_stamp& wanted) const;
    [[nodiscard]] result<void> write(const std::string& id, const part_stamp& stamp, double seconds,
                                     const nlohmann::ordered_json& content) const;
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

  private:
    [[nodiscard]] std::string file(const std::string& id) const { return path_ + "/" + id + ".json"; }

    std::string path_;
    int held_ = -1;
};

}  // namespace genista::tool
