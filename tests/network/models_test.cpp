// Networks of others with their outputs in ONNX Runtime: shared data that is no part of the repository
// ($SIGHTLINE_TEST_DATA).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "detectors/network/detector.hpp"
#include "detectors/network/explain.hpp"
#include "detectors/network/npy.hpp"
#include "media/decoded_picture.hpp"
#include "media/reader.hpp"
#include "support/shared_data.hpp"

namespace sightline::network {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Reference {
  const char* name;
  const char* type;        ///< that is inferred
  bool is_sorted = false;  ///< by scores that rounding may exchange
};

class ReferenceNetwork : public testing::TestWithParam<Reference> {
 protected:
  void SetUp() override {
    const fs::path file = folder_ / (std::string(GetParam().name) + ".onnx");
    if (!fs::exists(file)) GTEST_SKIP() << "no " << file;
    std::ifstream(folder_ / (std::string(GetParam().name) + ".json")) >> json_;
    settings_.file = file;
    settings_.max_bytes = 1 << 28;
  }
  fs::path reference(const std::string& output) const {
    return folder_ / (std::string(GetParam().name) + "." + output + ".npy");
  }

  // Runs the network on the fixed input of the references.
  void run() {
    detector_ = std::make_unique<NetworkDetector>(load_network(settings_));
    workspace_ = detector_->make_workspace();
    Runner& runner = *static_cast<NetworkWorkspace&>(*workspace_).runner;
    fill_fixed(detector_->network(), runner);
    runner.run_all();
    const std::vector<NetworkOutput>& outputs = detector_->network().outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) outputs_[outputs[i].name] = &runner.output(i);
  }

  const fs::path folder_ = test::shared_data() / "networks";
  Json json_;
  Settings settings_;
  std::unique_ptr<NetworkDetector> detector_;
  std::unique_ptr<Workspace> workspace_;
  std::map<std::string, const Tensor*> outputs_;
};

TEST_P(ReferenceNetwork, IsReadAsWhatItIs) {
  const Network network = load_network(settings_);
  EXPECT_EQ(network.scheme.type, GetParam().type);
  const Json& input = json_["input"];
  const bool is_rgb = input["channels"] == "RGB";
  EXPECT_EQ(network.preprocessing.rgb, is_rgb);
  EXPECT_EQ(network.preprocessing.size.height, input["shape"][2]);
  EXPECT_EQ(network.preprocessing.size.width, input["shape"][3]);
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(network.preprocessing.mean[c], input["mean"][c].get<double>(), 1e-6);
    EXPECT_NEAR(1 / network.preprocessing.scale[c], input["scale"][c].get<double>(), 1e-6);
  }
}

TEST_P(ReferenceNetwork, HasTheOutputsOfOnnxRuntime) {
  run();
  for (const auto& [name, output] : outputs_) {
    if (GetParam().is_sorted && name != "scores") continue;
    const OutputDifference difference = difference_to(name, *output, read_npy(reference(name)));
    // ONNX Runtime's own sigmoid is off by so much near 0.
    EXPECT_LE(difference.largest, std::max(2e-7, 1e-4 * difference.largest_value)) << name;
  }
}

// Where scores are sorted and neighbours differ by more than rounding, so do not change places.
class SortedReferenceNetwork : public ReferenceNetwork {};

TEST_P(SortedReferenceNetwork, HasTheSameRowsWhereScoresAreApart) {
  run();
  const Tensor scores = read_npy(reference("scores")), boxes = read_npy(reference("boxes")),
               labels = read_npy(reference("labels"));
  int compared = 0;
  for (std::int64_t i = 1; i + 1 < scores.size(); ++i) {
    const float* s = scores.as<float>().data() + i;
    if (s[-1] - s[0] <= 1e-5F || s[0] - s[1] <= 1e-5F) continue;
    ++compared;
    EXPECT_EQ(number_at(*outputs_["labels"], i), labels.as<float>().data()[i]) << i;
    for (std::int64_t k = 4 * i; k < 4 * i + 4; ++k)
      EXPECT_NEAR(outputs_["boxes"]->as<float>().data()[k], boxes.as<float>().data()[k], 0.07) << i;
  }
  EXPECT_GT(compared, 50);
}

TEST_P(ReferenceNetwork, FindsTheSameObjects) {
  for (const Json& picture : json_["pictures"]) {
    const std::string file = picture["file"];
    SCOPED_TRACE(file);
    settings_.threshold = picture["threshold"].get<double>();
    if (picture.contains("nms") && picture["nms"].is_number())
      settings_.iou_threshold = picture["nms"].get<double>();
    const NetworkDetector detector(load_network(settings_));
    media::Reader reader((test::shared_data() / file.substr(std::string("shared/data/").size())).string());
    const auto frame = reader.read();
    ASSERT_TRUE(frame);
    const std::vector<std::uint8_t> rgb = media::to_rgb(*frame);
    const Size size = frame->size();
    const auto workspace = detector.make_workspace();
    const std::vector<Detection> found = detect(
        detector, *workspace,
        PackedView{rgb.data(), size.width, size.height, 3 * std::ptrdiff_t{size.width}, PackedFormat::rgb24});
    // Decoders differ in the last bit, and in how they interpolate chroma; the pictures of faces are gray.
    const bool is_gray = !media::has_colour(*frame);
    const double score_tolerance = is_gray ? 0.01 : 0.035, box_tolerance = is_gray ? 0.5 : 1.5;
    std::vector<Json> expected;
    for (const Json& one : picture["detections"]) {
      if (is_gray || one["score"].get<double>() > *settings_.threshold + score_tolerance)
        expected.push_back(one);
    }
    EXPECT_GE(found.size(), expected.size());
    EXPECT_LE(found.size(), expected.size() + (is_gray ? 0 : 3));
    for (const Json& one : expected) {
      const Json& corners = one["box"];
      const auto side = [&](std::size_t i) { return corners[i].get<double>(); };
      const Box box{side(0), side(1), side(2) - side(0), side(3) - side(1)};
      const auto best = std::ranges::max_element(
          found, {}, [&](const Detection& other) { return intersection_over_union(other.box, box); });
      ASSERT_NE(best, found.end());
      EXPECT_EQ(detector.info().labels[static_cast<std::size_t>(best->label)],
                one["label"].get<std::string>());
      EXPECT_NEAR(best->score, one["score"].get<double>(), score_tolerance);
      EXPECT_NEAR(best->box.x, box.x, box_tolerance);
      EXPECT_NEAR(best->box.y, box.y, box_tolerance);
      EXPECT_NEAR(best->box.x + best->box.width, side(2), box_tolerance);
      EXPECT_NEAR(best->box.y + best->box.height, side(3), box_tolerance);
    }
  }
}

std::string name_of(const testing::TestParamInfo<Reference>& one) {
  std::string name = one.param.name;
  std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
  return name;
}
constexpr Reference kSorted{"deimv2_atto", "detr", true};
INSTANTIATE_TEST_SUITE_P(Networks, ReferenceNetwork,
                         testing::Values(Reference{"yolox_nano", "yolox"},
                                         Reference{"nanodet_m_0.5x", "nanodet"},
                                         Reference{"yunet_n_320_320", "yunet"},
                                         Reference{"version-RFB-320", "ssd"}, kSorted),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Networks, SortedReferenceNetwork, testing::Values(kSorted), name_of);

}  // namespace
}  // namespace sightline::network
