// What a network proposes to `sightline label`, in a window.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <set>

#include "evaluation/ground_truth.hpp"
#include "network/onnx_builder.hpp"
#include "support/desktop.hpp"
#include "support/patience.hpp"
#include "support/program.hpp"
#include "support/temp_dir.hpp"

namespace sightline::test {
namespace {

TEST(LabelWithANetwork, ProposesOnlyTheClassesThatTheUserMarks) {
  if (!Desktop::is_installed()) GTEST_SKIP() << "no Xvfb and xdotool to try windows with";
  const TempDir folder;
  OnnxBuilder builder = small_yolox(64, 2);
  builder.metadata("names", "{0: 'ball', 1: 'box'}");
  builder.save(folder / "small.onnx");
  std::filesystem::create_directory(folder / "in");
  std::filesystem::copy_file(std::string(SIGHTLINE_SOURCE_DIR) + "/tools/pictures/street.jpg",
                             folder / "in/a.jpg");
  const auto proposed = [&](const std::string& classes) {
    std::filesystem::remove(folder / "in/boxes.txt");
    Desktop desktop;
    ChildProcess program(Words{SIGHTLINE_PROGRAM, "label", folder / "in", "--model", folder / "small.onnx",
                               "--threshold", "0.1", "--classes", classes},
                         desktop.environment());
    const auto press = [&](const std::string& key) {
      desktop.act(
          {"search", "--sync", "--onlyvisible", "--name", "Sightline label", "windowfocus", "key", key},
          kPatience);
    };
    std::set<std::string> labels;
    EXPECT_TRUE(becomes_true([&] {
      press("space");  // accepts the proposal that is selected, once there is one
      return std::filesystem::exists(folder / "in/boxes.txt") || !program.is_running();
    })) << program.output();
    press("Return");
    press("q");
    EXPECT_EQ(program.wait(kPatience), 0) << program.output();
    const GroundTruth truth = load_box_list(folder / "in/boxes.txt");
    for (const auto& [picture, objects] : truth.images) {
      for (const auto& object : objects) labels.insert(truth.labels.at(object.label));
    }
    return labels;
  };
  EXPECT_EQ(proposed("cup,box"), std::set<std::string>{"box"});
  EXPECT_EQ(proposed("ball,box"), (std::set<std::string>{"ball", "box"}));
  EXPECT_EQ(proposed("cup"), std::set<std::string>{"cup"});  // where it knows none of them
}

}  // namespace
}  // namespace sightline::test
