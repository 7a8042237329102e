// WaldBoost's stages on OpenCL devices against the CPU's: every variant gives the same images, codes and
// candidates.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "base/error.hpp"
#include "kernels/opencl_test.hpp"
#include "support/cascade.hpp"
#include "waldboost/opencl/stages.hpp"

namespace sightline::waldboost {
namespace {

using cascade::make_picture;

// Weak classifiers of which each rejects about every sixth of the windows that are left, with the survivors
// of its own sample.
Model some_model(unsigned seed, int weak, Size window = {24, 24}, bool all_blocks = true) {
  test::Numbers numbers(seed);
  const Image<std::uint8_t> picture = make_picture({160, 140}, seed + 100);
  Model model;
  model.name = "random";
  model.label = "thing";
  model.window = window;
  model.unit = 0.25;
  struct Sample {
    int x, y;
    std::int32_t sum = 0;
  };
  std::vector<Sample> samples;
  for (int i = 0; i < 600; ++i)
    samples.push_back({numbers(0, 160 - window.width), numbers(0, 140 - window.height)});
  const auto all = static_cast<float>(samples.size());
  for (int t = 0; t < weak; ++t) {
    Feature f;
    f.block_width = static_cast<std::uint8_t>(all_blocks ? numbers(1, kMaxBlock) : 2);
    f.block_height = static_cast<std::uint8_t>(all_blocks ? numbers(1, kMaxBlock) : 1);
    f.x = static_cast<std::uint8_t>(numbers(0, window.width - kGrid * f.block_width));
    f.y = static_cast<std::uint8_t>(numbers(0, window.height - kGrid * f.block_height));
    model.features.push_back(f);
    for (int code = 0; code < kCodes; ++code)
      model.responses.push_back(static_cast<std::int16_t>(numbers(-500, 500)));
    for (Sample& s : samples)
      s.sum += model.table(t)[reference::code(FeatureKind::lbp, f, picture.view(), s.x, s.y)];
    std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.sum < b.sum; });
    const std::size_t rejected = samples.size() / 6;
    model.thresholds.push_back(rejected > 0 ? samples[rejected].sum : kNoThreshold);
    std::erase_if(samples, [&](const Sample& s) { return s.sum < model.thresholds.back(); });
    model.survivors.push_back(static_cast<float>(samples.size()) / all);
  }
  return model;
}

KernelTuning tuning_of(const char* scan, int tile_rows, int group, int at_once = 1, int keep = 50,
                       int late = 256, int finish_group = 8, int code_rows = 1) {
  KernelTuning tuning;
  tuning.scan = scan;
  tuning.tile_rows = tile_rows;
  tuning.group = group;
  tuning.at_once = at_once;
  tuning.keep = keep;
  tuning.late = late;
  tuning.finish_group = finish_group;
  tuning.code_rows = code_rows;
  return tuning;
}

const KernelTuning kForms[] = {
    tuning_of("naive", 1, 64, 2),
    tuning_of("queue", 16, 256, 4, 50, 256, 32, 4),
    tuning_of("queue", 3, 48, 3, 80, 4, 8, 2),  // whose items do not divide the tile evenly
    tuning_of("queue", 1, 8, 1, 30, 1 << 20, 4, 1),
};

std::string text_of(const KernelTuning& t) {
  return t.scan + ", " + std::to_string(t.tile_rows) + " rows, " + std::to_string(t.group) + " items, late " +
         std::to_string(t.late);
}

class Comparison
    : public test::CpuAndDevice<WaldboostDetector, OpenClStages, OpenClSlot, WaldboostWorkspace> {
 public:
  using CpuAndDevice::CpuAndDevice;

  // Where the two first differ, with stages [first, last) on the device; "" where nowhere.
  std::string difference(PictureView frame, std::size_t first = kPyramid, std::size_t last = kGroup,
                         Partition partition = {}) {
    WaldboostWorkspace& a = cpu();
    WaldboostWorkspace& b = device();
    const bool searched = detector().prepare(a, frame, partition);
    if (detector().prepare(b, frame, partition) != searched) return "prepare";
    if (!searched) return "";
    for (std::size_t stage = kPyramid; stage <= kGroup; ++stage) detector().run_stage(stage, a);
    StageSet on_device;
    for (std::size_t stage = first; stage < last; ++stage) on_device.set(stage);
    stages().run(slot(), b, on_device);
    if (last == kPyramid + 1) {
      b.bind_images();
      for (std::size_t l = 0; l < a.levels.size(); ++l) {
        const Rows rows = a.levels[l].image_rows;
        const std::string found =
            test::first_difference(std::as_const(a.levels[l].image).view(),
                                   std::as_const(b.levels[l].image).view(), rows.begin, rows.end);
        if (!found.empty()) return "image of level " + std::to_string(l) + ": " + found;
      }
    } else if (const std::string found = difference_of_codes(); !found.empty()) {
      return found;
    }
    if (a.candidates != b.candidates)
      return "candidates: " + std::to_string(a.candidates.size()) + " and " +
             std::to_string(b.candidates.size());
    return a.detections == b.detections ? "" : "detections";
  }

 private:
  std::string difference_of_codes() {
    const Model& model = detector().model();
    const PackedModel packed(model);
    const std::vector<std::uint8_t> codes = stages().read_codes(slot());
    for (std::size_t l = 0; l < cpu().levels.size(); ++l) {
      const Level& level = cpu().levels[l];
      for (int plane = 0; plane < PackedModel::kPlanes; ++plane) {
        if (!packed.uses_plane(plane)) continue;
        Feature f;
        f.block_width = static_cast<std::uint8_t>(plane % kMaxBlock + 1);
        f.block_height = static_cast<std::uint8_t>(plane / kMaxBlock + 1);
        for (int y = level.image_rows.begin; y <= level.image_rows.end - kGrid * f.block_height; ++y) {
          for (int x = 0; x <= level.plan.size.width - kGrid * f.block_width; ++x) {
            const int expected = reference::code(FeatureKind::lbp, f, level.image.view(), x, y);
            const int got = codes[stages().code_at(slot(), l, f, x, y)];
            if (got != expected)
              return "code of plane " + std::to_string(plane) + " of level " + std::to_string(l) + " at " +
                     std::to_string(x) + ", " + std::to_string(y) + ": " + std::to_string(expected) +
                     " and " + std::to_string(got);
          }
        }
      }
    }
    return "";
  }
};

Options some_options(int border = 0, double threshold = -1e6) {
  Options options;
  options.scale_step = 1.3;
  options.border = border;
  options.threshold = options.window_threshold = threshold;
  return options;
}

class WaldboostOpenCl : public test::ExactDevicesTest {
 protected:
  const Model model_ = some_model(3, 30);
};

TEST_F(WaldboostOpenCl, EveryFormFindsTheSame) {
  const Image<std::uint8_t> picture = make_picture({157, 131}, 5);
  const Image<std::uint8_t> other = make_picture({90, 75}, 6);
  for (const opencl::DeviceInfo& device : devices_) {
    for (const KernelTuning& tuning : kForms) {
      SCOPED_TRACE(text_of(tuning));
      Comparison comparison(device, model_, some_options(), tuning);
      ASSERT_EQ(comparison.difference(picture.view()), "");
      EXPECT_GT(comparison.cpu().candidates.size(), 5U);
      ASSERT_EQ(comparison.difference(other.view()), "");
      ASSERT_EQ(comparison.difference(picture.view(), kScan), "");
      ASSERT_EQ(comparison.difference(picture.view(), kPyramid, kScan), "");
    }
  }
}

}  // namespace
}  // namespace sightline::waldboost
