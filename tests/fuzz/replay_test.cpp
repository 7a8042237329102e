// Every input that the fuzzers begin with, and every one that they found something with, once more.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/thorough.hpp"
#include "targets.hpp"

namespace sightline::fuzz {
namespace {

namespace fs = std::filesystem;

struct Target {
  const char* name;
  void (*run)(Bytes);
};

constexpr Target kTargets[] = {{"cascade", cascade},
                               {"waldboost", waldboost},
                               {"census", census},
                               {"network", network},
                               {"landmarks", landmarks},
                               {"recognition", recognition},
                               {"model", model},
                               {"gallery", gallery},
                               {"tiles", tiles},
                               {"config", config},
                               {"truth", truth},
                               {"textures", textures},
                               {"processors", processors},
                               {"kept", kept},
                               {"power_log", power_log},
                               {"settings", settings},
                               {"command_line", command_line}};

std::vector<std::uint8_t> bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

class Replay : public testing::TestWithParam<Target> {};

TEST_P(Replay, TakesOrRefusesAllOfItsCorpus) {
  std::vector<fs::path> files;
  for (const auto& entry :
       fs::directory_iterator(fs::path(SIGHTLINE_SOURCE_DIR) / "tests/fuzz/corpus" / GetParam().name))
    files.push_back(entry.path());
  ASSERT_FALSE(files.empty());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.filename().string());
    EXPECT_NO_THROW(GetParam().run(bytes_of(file)));
  }
}

// A cheap stand-in for a fuzzer: cut at every length, and with every byte changed; in a sample in turn.
TEST_P(Replay, TakesOrRefusesDamagedSeeds) {
  for (const auto& entry :
       fs::directory_iterator(fs::path(SIGHTLINE_SOURCE_DIR) / "tests/fuzz/corpus" / GetParam().name)) {
    const std::vector<std::uint8_t> whole = bytes_of(entry);
    SCOPED_TRACE(entry.path().filename().string());
    const auto step =
        static_cast<std::size_t>(test::sampling_step(static_cast<long>(whole.size() / 300) + 1));
    for (std::size_t i = 0, place = 0; i < whole.size(); i += step, ++place) {
      const bool is_both = test::is_thorough();
      if (is_both || place % 2 == 0) {
        EXPECT_NO_THROW(GetParam().run(Bytes(whole).first(i)));
      }
      if (!is_both && place % 2 == 0) continue;
      std::vector<std::uint8_t> changed = whole;
      changed[i] ^= static_cast<std::uint8_t>(1 + i % 255);
      EXPECT_NO_THROW(GetParam().run(changed)) << "at " << i;
    }
  }
}

// Parsers that recurse for each level overflow the stack.
TEST_P(Replay, RefusesDeepNesting) {
  constexpr int kLevels = 100'000;
  const auto repeated = [](const std::string& text) {
    std::string all;
    for (int i = 0; i < kLevels; ++i) all += text;
    return all;
  };
  for (const std::string& text :
       {repeated("[") + repeated("]"), "{\"a\":" + repeated("[") + repeated("]") + "}",
        repeated("{\"images\":") + "1" + repeated("}"), repeated("<a>") + repeated("</a>"),
        "[detector" + repeated(".inside") + "]\n", "[[detector" + repeated(".inside") + "]]\n",
        "[detector]\nmodel = " + repeated("[") + repeated("]") + "\n",
        "[detector]\nmodel = " + repeated("{a=") + "1" + repeated("}") + "\n"}) {
    SCOPED_TRACE(text.substr(0, 30));
    EXPECT_NO_THROW(GetParam().run(Bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size())));
  }
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Replay, testing::ValuesIn(kTargets),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace sightline::fuzz
