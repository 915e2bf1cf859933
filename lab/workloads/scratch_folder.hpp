// scratch_folder: a new empty folder, removed by the destructor.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace genista::lab {

class scratch_folder {
  public:
    scratch_folder() : path_{(std::filesystem::temp_directory_path() / "genista-lab-XXXXXX").string()} {
        if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error{"cannot make the folder " + path_};
    }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;
    ~scratch_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

  private:
    std::string path_;
};

}  // namespace genista::lab
