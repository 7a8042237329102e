// tools/train-network: what it trains is what the program runs.

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "detectors/filterbank/detector.hpp"
#include "media/reader.hpp"
#include "support/media.hpp"
#include "support/program.hpp"
#include "support/thorough.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;
using media::test::make_clip;

class TrainNetwork : public testing::Test {
 protected:
  void SetUp() override {
    if (!is_thorough()) GTEST_SKIP() << "trains with PyTorch: tools/test --thorough";
    ASSERT_EQ(std::system("/usr/bin/python3 -c 'import numpy, PIL, torch' >/dev/null 2>&1"), 0)
        << "there is no PyTorch here: apt-get install python3-torch python3-numpy python3-pil";
    fs::create_directories(folder_ / "positives");
    fs::create_directories(folder_ / "negatives");
    for (int i = 0; i < 4; ++i) {
      const std::string n = std::to_string(i);
      make_clip(folder_ / ("positives/" + n + ".png"),
                "mandelbrot=size=96x160:start_x=0." + n + ",format=gray,trim=end_frame=1");
      make_clip(folder_ / ("negatives/" + n + ".png"),
                "testsrc2=size=15" + n + "x180,hue=h=" + n + "0,trim=end_frame=1");
    }
    media::test::store(folder_ / "list.txt",
                       "positives/0.png\npositives/1.png\npositives/2.png\npositives/3.png\n");
    expect_run(
        0, {"train", "filterbank", "--positives", folder_ / "list.txt", "--negatives", folder_ / "negatives",
            "--patches", "2000", "--filters", "4,8", "--rounds", "1", "-o", folder_ / "first.safetensors"});
  }
  // What it prints.
  std::string script(const std::string& options) {
    const std::string command = "/usr/bin/python3 " SIGHTLINE_SOURCE_DIR "/tools/train-network " + options +
                                " >'" + (folder_ / "log") + "' 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << bytes_of(folder_ / "log");
    return bytes_of(folder_ / "log");
  }
  TempDir folder_;
};

TEST_F(TrainNetwork, GivesAModelAVerificationNetwork) {
  script("--model '" + (folder_ / "first.safetensors") + "' --positives '" + (folder_ / "list.txt") +
         "' --negatives '" + (folder_ / "negatives") + "' --program " SIGHTLINE_PROGRAM +
         " --from -9 --gate -8 --threshold -0.5 --channels 16,16,32,16 --steps 3 --batch 16 --output '" +
         (folder_ / "second.safetensors") + "'");
  const std::vector<filterbank::Model> first = filterbank::load_models(folder_ / "first.safetensors");
  const std::vector<filterbank::Model> models = filterbank::load_models(folder_ / "second.safetensors");
  ASSERT_EQ(models.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(models[i].weights, first[i].weights);
    EXPECT_EQ(models[i].threshold, -0.5);
    ASSERT_EQ(models[i].network.convolutions.size(), 4u);
    EXPECT_EQ(models[i].network.convolutions[2].outputs, 32);
    EXPECT_EQ(models[i].network.first_stage_threshold, -8);
    EXPECT_EQ(models[i].network, models[0].network);
    EXPECT_EQ(models[i].network.box.size(), filterbank::kBoxHeads);
  }
  const std::string shown = expect_run(0, {"model", "show", folder_ / "second.safetensors"}).out;
  EXPECT_NE(shown.find("network        4 convolutions"), std::string::npos) << shown;

  // The same windows, judged by the script's own arithmetic.
  std::ofstream(folder_ / "ask.py") << R"(
import importlib.machinery, importlib.util, sys, torch
script, model, *pictures = sys.argv[1:]
loader = importlib.machinery.SourceFileLoader("train_network", script)
tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("train_network", loader))
loader.exec_module(tool)
metadata, arrays = tool.load_safetensors(model)
for picture in pictures:
    crop = torch.from_numpy(tool.load_gray(picture)[16:144, 16:80].copy()).double()[None, None]
    values = tool.normalise(crop.float()).double()
    for i, stride in enumerate(metadata["network.strides"].split(",")):
        weight = torch.from_numpy(arrays[f"network.{i}.weights"].copy()).double().permute(0, 3, 1, 2)
        bias = torch.from_numpy(arrays[f"network.{i}.bias"].copy()).double()
        scale = torch.from_numpy(arrays[f"network.{i}.scale"].copy())[None, :, None, None]
        sums = torch.nn.functional.conv2d(values, weight, bias, int(stride), weight.shape[2] // 2)
        values = (sums.float() * scale).round().clamp(0, 255).double()
    heads = [arrays["network.head"], *arrays["network.box"]]
    print(*(int((values[0] * torch.from_numpy(head.copy()).double().permute(2, 0, 1)).sum()) for head in heads))
)";
  std::string said, pictures;
  for (int i = 0; i < 4; ++i) {
    const std::string picture = folder_ / ("positives/" + std::to_string(i) + ".png");
    pictures += " '" + picture + "'";
    media::Reader reader(picture);
    const Image<std::uint8_t> gray = to_gray(*reader.read());
    const GrayView window(gray.view().row(16) + 16, 64, 128, gray.view().stride());
    const filterbank::NetworkSums sums = filterbank::reference::run_network(models[0].network, window);
    said += std::to_string(sums.logit);
    for (const std::int32_t sum : sums.box) said += " " + std::to_string(sum);
    said += "\n";
  }
  const std::string command =
      "/usr/bin/python3 '" + (folder_ / "ask.py") + "' " SIGHTLINE_SOURCE_DIR "/tools/train-network '" +
      (folder_ / "second.safetensors") + "'" + pictures + " >'" + (folder_ / "answer") + "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(bytes_of(folder_ / "answer"), said);
}

}  // namespace
}  // namespace sightline::test
