// scratch: a fresh directory for the databases of one test, removed afterwards.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace genista::test {

class scratch {
  public:
    scratch() {
        std::string name = (std::filesystem::temp_directory_path() / "genista-test-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no directory for the test at " << name;
        path_ = name;
    }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    ~scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] std::string path(const std::string& name = "db") const { return (path_ / name).string(); }

  private:
    std::filesystem::path path_;
};

}  // namespace genista::test
