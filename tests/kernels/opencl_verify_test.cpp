// With a network in the model: candidates and detections after a device's stages are the CPU's, whichever of
// the stages run there.
#include <gmock/gmock.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "kernels/opencl_test.hpp"
#include "support/network.hpp"

namespace sightline::filterbank {
namespace {

using test::ConvolutionShape;

using test::Pattern;
using test::random_dictionary;

// The logit is limited nowhere, so that a final score shows the head's sum. Scales leave most outputs between
// their ends. With heads of boxes where the seed is odd.
Network network_of(Size window, const std::vector<ConvolutionShape>& shapes, unsigned seed) {
  std::mt19937_64 engine(seed);
  Network network;
  network.window = window;
  int inputs = 1;
  for (const ConvolutionShape& shape : shapes) {
    network.convolutions.push_back(
        test::random_convolution(shape.size, shape.stride, inputs, shape.outputs, engine));
    Convolution& c = network.convolutions.back();
    const double spread = 64 * 100 * std::sqrt(static_cast<double>(shape.size * shape.size * inputs));
    for (int i = 0; i < shape.outputs; ++i) {
      c.bias[i] /= 50;
      c.scale[i] *= static_cast<float>(60'000 / spread);
    }
    inputs = shape.outputs;
  }
  const Size size = network.output_size();
  for (int i = 0; i < size.width * size.height * inputs; ++i)
    network.head.weights.push_back(static_cast<std::int8_t>(static_cast<int>(engine() % 129) - 64));
  network.head.bias = -321;
  network.head.scale = 1e-5;
  network.first_stage_threshold = -1e9;
  network.weight = 0.5;
  network.limit = 1e12;
  if (seed % 2 == 1) test::add_boxes(network, 3, seed);
  return network;
}

std::string candidate_difference(const std::vector<Candidate>& cpu, const std::vector<Candidate>& device) {
  if (cpu.size() != device.size())
    return std::to_string(cpu.size()) + " and " + std::to_string(device.size()) + " candidates";
  for (std::size_t i = 0; i < cpu.size(); ++i) {
    if (cpu[i] < device[i] || device[i] < cpu[i] || cpu[i].score != device[i].score ||
        !(cpu[i].shift == device[i].shift))
      return "candidate " + std::to_string(i);
  }
  return "";
}

class OpenClVerifyTest : public OpenClStagesTest {
 protected:
  static KernelTuning network_tuning(int pixels, int outputs, int group) {
    KernelTuning tuning;
    tuning.filter = tuning.classify = "plain";
    tuning.dot = tuning.network_dot = "integer";
    tuning.network_pixels = pixels;
    tuning.network_outputs = outputs;
    tuning.network_group = group;
    return tuning;
  }

  // All windows of the frames are verified, or all peaks, and reported with what the network says.
  // @param local_memory  bytes that the device is said to have; 0: as it says itself
  void compare_networks(const Model& model, const KernelTuning& tuning, const std::vector<GrayView>& frames,
                        const Options& options, std::uint64_t local_memory = 0) {
    for (opencl::DeviceInfo device : devices_) {
      SCOPED_TRACE(device.name + ": " + text_of(tuning) + ", " + std::to_string(local_memory) + " bytes");
      if (local_memory > 0) device.local_memory_bytes = local_memory;
      Comparison comparison(device, model, options, tuning);
      ASSERT_TRUE(comparison.stages().supported()[kVerify]);
      for (const GrayView frame : frames) {
        SCOPED_TRACE(std::to_string(frame.width()) + "x" + std::to_string(frame.height()));
        EXPECT_EQ(comparison.difference(frame), "");
        EXPECT_EQ(candidate_difference(comparison.cpu().candidates, comparison.device().candidates), "");
      }
    }
  }

  // About half of the frame's windows are looked at, and the network decides of most of them.
  static Model model_for(GrayView frame) {
    Model model = make_model(test::random_dictionary(9, 1), 1, {4, 6});
    Options options;
    options.scale_step = 1.3;
    const double gate = threshold_for(model, options, frame, 2);
    const double spread = threshold_for(model, options, frame, 4) - gate;
    EXPECT_GT(spread, 0);
    model.network = test::random_network(model.window.pixels(), 3);
    test::centre_logit(model.network, frame);
    test::add_boxes(model.network, 6, 5);
    model.network.first_stage_threshold = gate;
    model.network.weight = spread;
    model.network.limit = 1.5;
    return model;
  }
  static Options options_for(const Model& model) {
    Options options;
    options.scale_step = 1.3;
    options.threshold = model.network.first_stage_threshold + model.network.weight;
    return options;
  }

  // The frames one after the other in one slot; with a network and without.
  void compare_verified(const Model& model, const Options& options, const std::vector<PictureView>& frames) {
    Options off = options;
    off.verify = false;
    for (const opencl::DeviceInfo& device : devices_) {
      SCOPED_TRACE(device.name);
      Comparison with(device, model, options, tuning_table().defaults(device));
      Comparison without(device, model, off, tuning_table().defaults(device));
      ASSERT_TRUE(with.detector().verifies());
      std::size_t found = 0, other = 0;
      for (const PictureView& frame : frames) {
        EXPECT_EQ(with.difference(frame), "");
        EXPECT_EQ(candidate_difference(with.cpu().candidates, with.device().candidates), "");
        EXPECT_EQ(without.difference(frame), "");
        found += with.detections();
        other += with.found() == without.found() ? 0 : 1;
      }
      EXPECT_GT(found, 5u);
      EXPECT_GT(other, 0u) << "the network changes nothing";
    }
  }
};

// Rows of red, green and blue.
std::vector<std::uint8_t> colours(Size size, unsigned seed) {
  const Image<std::uint8_t> noise = picture({3 * size.width, size.height}, Pattern::noise, seed);
  std::vector<std::uint8_t> bytes;
  for (int y = 0; y < size.height; ++y) {
    const std::uint8_t* const row = noise.view().row(y);
    bytes.insert(bytes.end(), row, row + 3 * size.width);
  }
  return bytes;
}

TEST_F(OpenClVerifyTest, GrayAndColourInTurn) {
  const Frames gray({{97, 151}, {97, 151}, {32, 48}, {150, 141}});
  const Model model = model_for(gray.views[0]);
  std::vector<std::vector<std::uint8_t>> bytes;
  std::vector<PictureView> frames;
  for (const GrayView view : gray.views) {
    const Size size = view.size();
    bytes.push_back(colours(size, static_cast<unsigned>(bytes.size()) + 50));
    frames.emplace_back(
        PackedView{bytes.back().data(), size.width, size.height, 3 * size.width, PackedFormat::rgb24});
    frames.emplace_back(view);
  }
  compare_verified(model, options_for(model), frames);
}

TEST_F(OpenClVerifyTest, LevelsThatAreNotFilteredAndTheScreen) {
  const Frames gray({{150, 141}, {97, 260}});
  const Model model = model_for(gray.views[0]);
  Options options = options_for(model);
  options.scale_step = 1.1;
  options.computed_scales = 2;
  compare_verified(model, options, {gray.views[0], gray.views[1]});
  options.rejection_margin = model.network.weight;
  compare_verified(model, options, {gray.views[0], gray.views[1]});
}

TEST_F(OpenClVerifyTest, EnlargedFramesAndLargeObjects) {
  const Frames gray({{60, 66}});
  const Model model = model_for(gray.views[0]);
  Options options = options_for(model);
  options.min_size = 20;
  compare_verified(model, options, {gray.views[0]});
  const Frames large({{260, 300}});
  options.min_size = 2.1 * model.object.height;
  compare_verified(model, options, {large.views[0]});
}

// --- the network ---

Options all_verified(double scale_step = 1.3) {
  Options options;
  options.scale_step = scale_step;
  options.threshold = -1e9;
  options.max_overlap = 1;
  return options;
}

// Kernels of every size and stride, sides that tiles do not divide, channels beyond a tile's.
TEST_F(OpenClVerifyTest, NetworksOfManyShapes) {
  const Frames frames({{70, 90}, {26, 34}});
  struct Case {
    WindowShape window;
    std::vector<ConvolutionShape> shapes;
    KernelTuning tuning;
  };
  const Case cases[] = {
      {{2, 3}, {{3, 1, 16}, {1, 2, 48}}, network_tuning(4, 4, 1)},
      {{3, 4}, {{5, 2, 16}, {3, 2, 32}}, network_tuning(8, 4, 5)},
      {{3, 2}, {{5, 1, 16}, {5, 2, 16}}, network_tuning(4, 8, 4)},
      {{2, 2}, {{3, 2, 32}, {3, 1, 16}}, network_tuning(4, 16, 64)},
  };
  unsigned seed = 0;
  for (const Case& c : cases) {
    SCOPED_TRACE("network " + std::to_string(seed));
    Model model = make_model(random_dictionary(3, 1), 1, c.window);
    model.network = network_of(model.window.pixels(), c.shapes, ++seed);
    ASSERT_EQ(what_is_wrong(model.network), "");
    compare_networks(model, c.tuning, frames.views, all_verified());
  }
}

// Pictures that do not fit into local memory lie in global memory: the largest ones, or all.
TEST_F(OpenClVerifyTest, LittleLocalMemory) {
  const Frames frames({{60, 70}});
  Model model = make_model(random_dictionary(3, 1), 1, {3, 4});
  model.network = network_of(model.window.pixels(), {{3, 2, 16}, {1, 1, 32}}, 7);
  for (const std::uint64_t bytes : {64, 2000})
    compare_networks(model, network_tuning(4, 4, 8), frames.views, all_verified(), bytes);
}

// The largest outputs and sums, and inputs of the least contrast.
TEST_F(OpenClVerifyTest, Extremes) {
  Frames frames({{40, 40}});
  for (const Pattern pattern : test::kPatterns) frames.add({40, 40}, pattern);
  Model model = make_model(random_dictionary(3, 1), 1, {2, 2});
  model.network = network_of(model.window.pixels(), {{5, 1, 16}, {3, 2, 16}}, 3);
  for (Convolution& c : model.network.convolutions) {
    for (std::size_t i = 0; i < c.weights.size(); ++i) c.weights[i] = i % 7 == 0 ? -64 : 64;
    c.scale.assign(c.scale.size(), 1e30F);
    c.scale[1] = 1e-30F;
    c.scale[2] = 1.0F / 4096;
  }
  ASSERT_EQ(what_is_wrong(model.network), "");
  compare_networks(model, network_tuning(4, 4, 8), frames.views, all_verified());
}

// --- which windows ---

// Also where neighbours have the same score, and where some were rejected on the estimate.
TEST_F(OpenClVerifyTest, PeaksAlone) {
  Frames frames({{150, 141}});
  for (const Pattern pattern : {Pattern::checkerboard, Pattern::flat_areas, Pattern::black})
    frames.add({97, 120}, pattern);
  Model model = make_model(random_dictionary(3, 1), 1);
  model.network = network_of(model.window.pixels(), {{1, 2, 16}}, 5);
  Options options = all_verified(1.1);
  options.verify_all = false;
  compare_networks(model, network_tuning(4, 4, 4), frames.views, options);
  model.network.first_stage_threshold = threshold_for(model, options, frames.views[0], 4);
  compare_networks(model, network_tuning(4, 4, 4), frames.views, options);
  options.computed_scales = 2;
  options.rejection_margin = 0.1 * std::abs(model.network.first_stage_threshold);
  compare_networks(model, network_tuning(4, 4, 4), frames.views, options);
  options.border = 16;
  compare_networks(model, network_tuning(4, 4, 4), frames.views, options);
  options.border = 0;
  Comparison all(devices_[0], model, all_verified(1.1), network_tuning(4, 4, 4));
  Comparison peaks(devices_[0], model, options, network_tuning(4, 4, 4));
  EXPECT_EQ(all.difference(frames.views[0]), "");
  EXPECT_EQ(peaks.difference(frames.views[0]), "");
  EXPECT_GT(peaks.candidates(), 10u);
  EXPECT_LT(peaks.candidates(), all.candidates() / 2);
}

// The best ones stay, before peaks are looked for: the CPU does so with what the device has found. Before and
// after frames with fewer.
TEST_F(OpenClVerifyTest, MoreCandidatesThanTheLimit) {
  const Frames frames({{30, 36}, {120, 90}, {30, 36}});
  Model model = make_model(random_dictionary(3, 1), 1);
  model.network = network_of(model.window.pixels(), {{1, 2, 16}}, 5);
  for (const bool all : {false, true}) {
    Options options = all_verified();
    options.verify_all = all;
    options.max_candidates = 40;
    compare_networks(model, network_tuning(4, 4, 4), frames.views, options);
  }
}

// More than the lists have room for at first, then few and none.
TEST_F(OpenClVerifyTest, CandidatesBeyondTheFirstCapacity) {
  const Frames frames({{640, 480}, {640, 480}, {40, 40}, {15, 15}});
  Model model = make_model(random_dictionary(3, 1), 1);
  model.network = network_of(model.window.pixels(), {{1, 2, 16}}, 5);
  Options options = all_verified(1.9);
  for (const bool all : {false, true}) {
    options.verify_all = all;
    compare_networks(model, network_tuning(4, 4, 4), frames.views, options);
  }
  options.threshold = 1e300;
  compare_networks(model, network_tuning(4, 4, 4), frames.views, options);
}

// --- with other stages on the CPU ---

TEST_F(OpenClVerifyTest, EveryMappingGivesTheSame) {
  const Frames frames({{97, 120}});
  Model model = make_model(random_dictionary(3, 1), 1);
  model.network = network_of(model.window.pixels(), {{1, 2, 16}}, 5);
  Options options = all_verified(1.2);
  options.computed_scales = 2;
  for (const bool limited : {false, true}) {
    if (limited) options.max_candidates = 30;
    options.verify_all = limited;
    for (const opencl::DeviceInfo& device : devices_) {
      Comparison comparison(device, model, options, network_tuning(4, 4, 4));
      ASSERT_EQ(comparison.difference(frames.views[0]), "");
      const OpenClStages& stages = comparison.stages();
      int refused = 0;
      for (unsigned bits = 0; bits < 32; ++bits) {
        const StageSet mapping(bits);
        SCOPED_TRACE(mapping.to_string());
        if (const auto conflict = stages.check(mapping)) {
          EXPECT_TRUE(mapping[kVerify] && !mapping[kClassify]);
          EXPECT_EQ(conflict, (MappingConflict{MappingConflict::Kind::input, kVerify, kClassify}));
          ++refused;
          continue;
        }
        ASSERT_TRUE(comparison.detector().prepare(comparison.device(), frames.views[0]));
        comparison.runner().map(mapping);
        comparison.runner().run();
        EXPECT_EQ(candidate_difference(comparison.cpu().candidates, comparison.device().candidates), "");
      }
      EXPECT_EQ(refused, 8);
    }
  }
}

TEST_F(OpenClVerifyTest, SpansHaveTheStagesNames) {
  const Frames frames({{97, 120}});
  Model model = make_model(random_dictionary(3, 1), 1);
  model.network = network_of(model.window.pixels(), {{1, 2, 16}}, 5);
  Options options = all_verified(1.2);
  options.verify_all = false;
  Comparison comparison(devices_[0], model, options, network_tuning(4, 4, 4));
  const auto names = [&](const StageSet& mapping) {
    EXPECT_TRUE(comparison.detector().prepare(comparison.device(), frames.views[0]));
    comparison.runner().map(mapping);
    comparison.runner().run();
    std::vector<std::string> found;
    for (const DeviceSpan& span : comparison.slot().spans) {
      found.emplace_back(span.name);
      if (span.name == "peaks" || span.name == "verify" || span.name == "octaves") {
        EXPECT_EQ(span.stage, kVerify);
      }
    }
    return found;
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(names(StageSet(0b11111)), ElementsAre("upload", "pyramid", "filter", "histogram", "normalise",
                                                    "classify", "candidates", "peaks", "verify", "download"));
  EXPECT_THAT(names(StageSet(0b11000)),
              ElementsAre("upload", "classify", "candidates", "octaves", "peaks", "verify", "download"));
}

// --- small sizes, for a simulator ---

class OpenClSmallVerify : public OpenClVerifyTest {};

TEST_F(OpenClSmallVerify, NetworkInLocalAndGlobalMemory) {
  const Frames frames({{35, 18}});
  Model model = make_model(random_dictionary(3, 1), 1);
  model.network = network_of(model.window.pixels(), {{5, 2, 16}, {3, 2, 16}, {3, 1, 16}}, 2);
  Options options = all_verified(1.9);
  options.computed_scales = 1;
  compare_networks(model, network_tuning(4, 4, 8), frames.views, options, 2000);
}

TEST_F(OpenClSmallVerify, Peaks) {
  const Frames frames({{44, 36}});
  Model model = make_model(random_dictionary(3, 1), 1);
  model.network = network_of(model.window.pixels(), {{1, 2, 16}}, 2);
  Options options = all_verified(1.2);
  options.verify_all = false;
  compare_networks(model, network_tuning(4, 4, 4), frames.views, options);
  options.rejection_margin = 0;
  model.network.first_stage_threshold = threshold_for(model, options, frames.views[0], 2);
  compare_networks(model, network_tuning(4, 4, 4), frames.views, options);
}

}  // namespace
}  // namespace sightline::filterbank
