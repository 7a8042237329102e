// The float method on OpenCL devices. Nothing in it is left to the compiler or to chance (order of sums,
// fused multiply-adds, rounding of roots and divisions), so that no tolerance is needed: every value must
// equal the CPU's. The CPU's filter comes from its scalar reference, which fuses on every processor.
#include <string>
#include <vector>

#include "kernels/opencl_test.hpp"

namespace sightline::filterbank {
namespace {

using test::first_difference;
using test::Pattern;
using test::random_dictionary;

constexpr std::size_t kPyramid = 0, kHistogram = 2, kClassify = 3, kVerify = 4,
                      kGroup = 5;  // stages of the detector

std::vector<Detection> detect_on_cpu(const FilterbankDetector& detector, FilterbankWorkspace& w) {
  detector.run_stage(kPyramid, w);
  const ResponseMode mode =
      detector.model().descriptor.signed_value() ? ResponseMode::value : ResponseMode::magnitude;
  for (Level& level : w.levels) {
    reference::filter_rows_float(std::as_const(level.image).view(), detector.model().dictionary, mode, 0,
                                 level.plan.size.height, level.responses.view(), level.indices.view());
  }
  for (const std::size_t stage : {kHistogram, kClassify, kVerify, kGroup}) detector.run_stage(stage, w);
  return detector.take_detections(w);
}

// CPU's value first; "" where all are equal.
std::string difference_of(const Level& cpu, const Level& device, int filters) {
  const int height = cpu.plan.size.height;
  std::string found = first_difference(cpu.responses.view(), device.responses.view(), 0, height);
  if (!found.empty()) return "responses: " + found;
  found = first_difference(cpu.indices.view(), device.indices.view(), 0, height);
  if (!found.empty()) return "indices: " + found;
  const Grid& grid = cpu.grid;
  const auto rows = [](const auto& values, int width, int count, int stride) {
    return ImageView(values.data(), width, count, stride);
  };
  const int cells = grid.cells_x * filters;
  found = first_difference(rows(cpu.float_histograms, cells, grid.cells_y, cells),
                           rows(device.float_histograms, cells, grid.cells_y, cells), 0, grid.cells_y);
  if (!found.empty()) return "histograms: " + found;
  const int blocks = grid.blocks_x() * kBlockCells * filters;
  const int stride = cells * kBlockCells;
  found = first_difference(rows(cpu.float_features, blocks, grid.blocks_y(), stride),
                           rows(device.float_features, blocks, grid.blocks_y(), stride), 0, grid.blocks_y());
  if (!found.empty()) return "features: " + found;
  found = first_difference(rows(cpu.float_scores, cpu.windows_x, cpu.windows_y, grid.pitch()),
                           rows(device.float_scores, cpu.windows_x, cpu.windows_y, grid.pitch()), 0,
                           cpu.windows_y);
  return found.empty() ? "" : "scores: " + found;
}

class OpenClFloatMethod : public OpenClStagesTest {
 protected:
  void compare(const Model& model, Options options, const std::vector<GrayView>& frames) {
    options.arithmetic = Arithmetic::floating_point;
    const FilterbankDetector detector(model, options);
    for (const opencl::DeviceInfo& info : devices_) {
      if (info.extensions.find("cl_khr_fp64") == std::string::npos) continue;
      SCOPED_TRACE(info.name);
      const opencl::Context& context = test::shared_context(info);
      const OpenClStages stages(detector, context, nullptr, tuning_table().defaults(info));
      FrameRunner runner(detector, &stages, stages.supported());
      auto& slot = static_cast<OpenClSlot&>(runner.slot());
      FilterbankWorkspace cpu;
      auto& device = static_cast<FilterbankWorkspace&>(runner.workspace());
      for (const GrayView frame : frames) {
        SCOPED_TRACE(std::to_string(frame.width()) + "x" + std::to_string(frame.height()));
        ASSERT_TRUE(detector.prepare(cpu, frame));
        ASSERT_TRUE(runner.prepare(frame));
        const std::vector<Detection> expected = detect_on_cpu(detector, cpu);
        runner.run();
        EXPECT_EQ(detector.take_detections(device), expected);
        stages.download(slot, device);
        for (std::size_t l = 0; l < cpu.levels.size(); ++l) {
          EXPECT_EQ(difference_of(cpu.levels[l], device.levels[l], model.dictionary.size()), "")
              << "level " << l;
        }
        found_ += expected.size();
        compared_ = true;
      }
    }
    if (!compared_) GTEST_SKIP() << "no OpenCL device here computes in double precision";
  }

  std::size_t found_ = 0;
  bool compared_ = false;
};

TEST_F(OpenClFloatMethod, EqualsTheCpu) {
  Frames frames;
  frames.add({65, 50}, Pattern::flat_areas);
  frames.add({65, 50}, Pattern::black);
  const Model model = make_model(random_dictionary(9, 1), 1);
  compare(model, some_options(model, frames.views[0]), frames.views);
  EXPECT_GT(found_, 0u);
}

TEST_F(OpenClFloatMethod, DictionarySizesAndWindows) {
  const Frames frames({{90, 165}});
  for (const int filters : {1, 3, 70, 256}) {
    const Model model = make_model(random_dictionary(filters, 7), 3, {3, 20});
    compare(model, some_options(model, frames.views[0]), frames.views);
  }
}

TEST_F(OpenClFloatMethod, SignedResponses) {
  Frames frames({{90, 165}});
  frames.add({65, 50}, Pattern::flat_areas);
  frames.add({65, 50}, Pattern::white);
  const Descriptor by_value{3, Contrast::signed_value, {}};
  for (const int filters : {9, 70}) {
    const Model model =
        make_model(random_dictionary(filters, 7), 3, kSmallWindow, ClassifierKind::linear, 1, by_value);
    compare(model, some_options(model, frames.views[0]), frames.views);
  }
}

TEST_F(OpenClFloatMethod, DistanceClassifier) {
  const Frames frames({{65, 129}, {24, 32}});
  const Model model = make_model(random_dictionary(9, 1), 1, {3, 4}, ClassifierKind::distance, 3);
  Options options;
  options.threshold = -1e12;
  compare(model, options, frames.views);
  EXPECT_GT(found_, 0u);
}

class OpenClSmallFloatMethod : public OpenClFloatMethod {};

TEST_F(OpenClSmallFloatMethod, ForASimulator) {
  const Frames frames({{35, 18}});
  const Model model = make_model(random_dictionary(3, 1), 1);
  Options options;
  options.scale_step = 1.9;
  options.threshold = -1e9;
  compare(model, options, frames.views);
}

}  // namespace
}  // namespace sightline::filterbank
