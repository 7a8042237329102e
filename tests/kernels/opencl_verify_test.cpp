// With a network in the model: candidates and detections after a device's stages are the CPU's. The second
// look, on the CPU, then makes its own luma and octaves.
#include <cmath>
#include <vector>

#include "kernels/opencl_test.hpp"
#include "support/network.hpp"

namespace sightline::filterbank {
namespace {

using test::Pattern;

class OpenClVerifyTest : public OpenClStagesTest {
 protected:
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
      Comparison with(device, model, options, default_tuning(device));
      Comparison without(device, model, off, default_tuning(device));
      ASSERT_TRUE(with.detector().verifies());
      std::size_t found = 0, other = 0;
      for (const PictureView& frame : frames) {
        EXPECT_EQ(with.difference(frame), "");
        const std::vector<Candidate>& cpu = with.cpu().candidates;
        const std::vector<Candidate>& here = with.device().candidates;
        ASSERT_EQ(here.size(), cpu.size());
        for (std::size_t i = 0; i < cpu.size(); ++i) {
          EXPECT_FALSE(here[i] < cpu[i] || cpu[i] < here[i]) << i;
          EXPECT_EQ(here[i].score, cpu[i].score) << i;
        }
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

}  // namespace
}  // namespace sightline::filterbank
