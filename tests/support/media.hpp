#pragma once
// Clips made at test time, in a folder of their own.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "media/reader.hpp"
#include "media/writer.hpp"

namespace sightline::media::test {

namespace fs = std::filesystem;

/// A folder that goes with the test.
class TempDir {
 public:
  TempDir() {
    std::string name = (fs::temp_directory_path() / "sightline-test-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TempDir() {
    std::error_code ignored;
    fs::permissions(path_, fs::perms::owner_all, ignored);
    fs::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

inline std::vector<Frame> read_all(Reader& reader) {
  std::vector<Frame> frames;
  while (auto frame = reader.read()) frames.push_back(std::move(*frame));
  return frames;
}

inline std::vector<Frame> read_all(const std::string& input, const ReadOptions& options = {}) {
  Reader reader(input, options);
  return read_all(reader);
}

/// Encodes what a filter graph generates. Returns the number of frames.
inline std::int64_t make_clip(const std::string& path, const std::string& graph, WriteOptions options = {},
                              bool sound = false) {
  ReadOptions read;
  read.keep_audio = sound;
  Reader reader("lavfi:" + graph, read);
  options.audio = reader.audio();
  Writer writer(path, reader.info(), options);
  while (auto frame = reader.read()) writer.write(*frame);
  writer.finish();
  return writer.frames();
}

inline std::vector<char> load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void store(const std::string& path, const std::vector<char>& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline void store(const std::string& path, const std::string& text) {
  store(path, std::vector<char>(text.begin(), text.end()));
}

inline double mean_difference(GrayView a, GrayView b) {
  if (a.size() != b.size()) return 1e9;
  double sum = 0;
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x) sum += std::abs(a.at(x, y) - b.at(x, y));
  return sum / a.width() / a.height();
}

inline double mean_difference(const Frame& a, const Frame& b) {
  return mean_difference(GrayView(to_gray(a).view()), GrayView(to_gray(b).view()));
}

inline double mean(GrayView a) {
  double sum = 0;
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x) sum += a.at(x, y);
  return sum / a.width() / a.height();
}

/// The error that `action` throws must have the code, and the words in its message.
template <typename Action>
void expect_error(ExitCode code, const std::string& words, Action action) {
  try {
    action();
    ADD_FAILURE() << "no error; expected one about '" << words << "'";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

}  // namespace sightline::media::test
