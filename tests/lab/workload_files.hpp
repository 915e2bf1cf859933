// Shared by the tests of traces and data: files in a folder of their own, gzip, and checks of error
// texts.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>

#include "lab/workloads/scratch_folder.hpp"

namespace genista::lab {

class workload_files {
  public:
    // Both return the path.
    std::string put(const std::string& name, std::string_view bytes) const {
        const std::filesystem::path path = std::filesystem::path{folder_.path()} / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream{path, std::ios::binary} << bytes;
        return path.string();
    }
    std::string put_gzip(const std::string& name, std::string_view bytes) const {
        std::string path = put(name, "");
        gzFile const file = ::gzopen(path.c_str(), "wb");
        if (file == nullptr || ::gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())) < 0) ADD_FAILURE();
        if (::gzclose(file) != Z_OK) ADD_FAILURE();
        return path;
    }
    [[nodiscard]] const std::string& folder() const { return folder_.path(); }

  private:
    scratch_folder folder_;
};

[[nodiscard]] inline std::string bytes_of(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

template <class T>
void expect_error(const result<T>& got, std::initializer_list<std::string_view> words) {
    ASSERT_FALSE(got) << "expected an error about " << *words.begin();
    for (const std::string_view word : words) {
        EXPECT_NE(got.error().message().find(word), std::string_view::npos) << word << "\n" << got.error().message();
    }
    EXPECT_EQ(got.error().message().find('\n'), std::string_view::npos) << got.error().message();
}

}  // namespace genista::lab
