// The cascade's stages on OpenCL devices against the CPU's: every form, every number of stages that `scan`
// runs, and every cut between device and CPU give the same images, integrals, windows and candidates.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "detectors/cascade/opencl/stages.hpp"
#include "kernels/opencl_test.hpp"
#include "support/cascade.hpp"
#include "support/thorough.hpp"

namespace sightline::cascade {
namespace {

namespace fs = std::filesystem;

KernelTuning tuning_of(const std::string& scan, bool tiled, int tile_rows, int group, int first_stages = 1,
                       bool packed = false, int unrolled = 0) {
  KernelTuning tuning;
  tuning.packed = packed;
  tuning.unrolled = unrolled;
  tuning.scan = scan;
  tuning.tiled = tiled;
  tuning.tile_rows = tile_rows;
  tuning.group = group;
  tuning.first_stages = first_stages;
  return tuning;
}

const KernelTuning kForms[] = {
    tuning_of("naive", false, 8, 256),
    tuning_of("naive", true, 4, 128),
    tuning_of("compacted", false, 32, 256),
    tuning_of("compacted", true, 8, 64, 2),
    tuning_of("compacted", false, 1, 32, 3),  // a queue of 32 windows
    tuning_of("compacted", false, 5, 48),     // whose items do not divide the tile evenly
    tuning_of("naive", false, 4, 128, 1, true),
    tuning_of("compacted", true, 8, 64, 1, true),
    tuning_of("compacted", true, 8, 64, 1, false,
              2),  // some stages in columns, others through the other queue
    tuning_of("compacted", true, 5, 96, 1, true, 100),  // all in columns, whose rows the items do not divide
    tuning_of("reduced", false, 8, 64),
    tuning_of("reduced", true, 3, 32, 1, true),  // has rows, items and place of its own
};

std::string text_of(const KernelTuning& t) {
  return t.scan + (t.tiled ? ", tiled" : "") + (t.packed ? ", packed" : "") + ", " +
         std::to_string(t.tile_rows) + " rows, " + std::to_string(t.group) + " items, first " +
         std::to_string(t.first_stages);
}

std::string difference_of_images(CascadeWorkspace& cpu, CascadeWorkspace& device) {
  for (int l = 0; l < static_cast<int>(cpu.levels.size()); ++l) {
    const Rows rows = cpu.levels[l].image;
    const std::string found = test::first_difference(cpu.image(l), device.image(l), rows.begin, rows.end);
    if (!found.empty()) return "image of level " + std::to_string(l) + ": " + found;
  }
  return "";
}

template <typename Sum>
std::string difference_of_integrals(CascadeWorkspace& cpu, CascadeWorkspace& device) {
  const auto* const a = reinterpret_cast<const Sum*>(cpu.integrals.data());
  const auto* const b = reinterpret_cast<const Sum*>(device.integrals.data());
  const Layout& layout = cpu.layout;
  for (int p = 0; p < layout.planes; ++p) {
    for (std::size_t l = 0; l < layout.levels.size(); ++l) {
      const Level& level = layout.levels[l];
      const Rows rows = cpu.levels[l].image;
      for (int y = rows.begin; !rows.empty() && y <= rows.end; ++y) {
        for (int x = 0; x <= level.size.width; ++x) {
          const std::int64_t at = p * layout.plane + level.origin + std::int64_t{y} * layout.stride +
                                  layout.column(level.step, x);
          if (a[at] != b[at])
            return "plane " + std::to_string(p) + " of level " + std::to_string(l) + " at " +
                   std::to_string(x) + ", " + std::to_string(y);
        }
      }
    }
  }
  return "";
}

class Comparison : public test::CpuAndDevice<CascadeDetector, OpenClStages, OpenClSlot, CascadeWorkspace> {
 public:
  using CpuAndDevice::CpuAndDevice;

  // Where the two first differ, with stages [first, last) on the device; "" where nowhere.
  std::string difference(PictureView frame, std::size_t first = kPyramid, std::size_t last = kGroup,
                         Partition partition = {}) {
    if (const auto over = run(frame, partition, kPyramid, kGroup + 1, first, last)) return *over;
    CascadeWorkspace& a = cpu();
    CascadeWorkspace& b = device();
    // What the device keeps to itself is not there to be compared.
    if (last == kPyramid + 1) {
      const std::string images = difference_of_images(a, b);
      if (!images.empty()) return images;
    }
    if (last == kIntegral + 1 || last == kScan + 1) {
      const std::string integrals = a.layout.element_bytes == 2
                                        ? difference_of_integrals<std::uint16_t>(a, b)
                                        : difference_of_integrals<std::uint32_t>(a, b);
      if (!integrals.empty()) return integrals;
    }
    if (last <= kFinish && a.survivors != b.survivors)
      return "survivors: " + std::to_string(a.survivors.size()) + " and " +
             std::to_string(b.survivors.size());
    return difference_of_results();
  }
};

Options some_options(int early_stages = 0) {
  Options options;
  options.early_stages = early_stages;
  options.min_neighbors = 0;
  return options;
}

// One in three forms, others for each model: every form is compared in every run, and with every model in a
// thorough one. Most of the time goes into building the kernels.
std::vector<KernelTuning> some_forms(std::span<const KernelTuning> forms, std::size_t model) {
  const std::size_t step = test::is_thorough() ? 1 : 3;
  std::vector<KernelTuning> some;
  for (std::size_t i = model % step; i < forms.size(); i += step) some.push_back(forms[i]);
  return some;
}

// A number of a shape, by which shapes of either kind get different forms.
std::size_t number_of(const Shape& shape) {
  const auto has_its_name = [&](const Shape& one) { return std::string_view(one.name) == shape.name; };
  const auto at = static_cast<std::size_t>(std::ranges::find_if(kShapes, has_its_name) - std::begin(kShapes));
  return at + at / 3;
}

// Haar, small trees, sums that are exact.
bool can_unroll(const Shape& shape) {
  return shape.kind == FeatureKind::haar && shape.max_nodes <= 4 && shape.weight == std::floor(shape.weight);
}

class CascadeOpenCl : public test::ExactDevicesTest, public testing::WithParamInterface<Shape> {};

TEST_P(CascadeOpenCl, EveryFormFindsTheSame) {
  const Model model = make_model(GetParam());
  const Image<std::uint8_t> picture = make_picture({157, 131}, 5);
  const Image<std::uint8_t> other = make_picture({90, 75}, 6);
  for (const opencl::DeviceInfo& device : devices_) {
    for (const KernelTuning& tuning : some_forms(kForms, number_of(GetParam()))) {
      SCOPED_TRACE(text_of(tuning));
      Comparison comparison(device, model, some_options(), tuning);
      if (can_unroll(GetParam())) {
        EXPECT_EQ(comparison.stages().tuning().unrolled,
                  std::min<int>(tuning.unrolled, static_cast<int>(model.stages.size())));
      }
      for (const std::size_t last : {kPyramid + 1, kIntegral + 1, kScan + 1, kFinish + 1})
        ASSERT_EQ(comparison.difference(picture.view(), kPyramid, last), "") << "up to " << last;
      EXPECT_GT(comparison.cpu().candidates.size(), 5U);
      ASSERT_EQ(comparison.difference(other.view()), "");
      ASSERT_EQ(comparison.difference(picture.view()), "");
    }
  }
}

TEST_P(CascadeOpenCl, EveryNumberOfStagesFindsTheSame) {
  const Model model = make_model(GetParam());
  const Image<std::uint8_t> picture = make_picture({101, 120}, 2);
  const int all = static_cast<int>(model.stages.size());
  const KernelTuning forms[] = {kForms[0], kForms[3], kForms[8], kForms[9], kForms[10]};
  for (const opencl::DeviceInfo& device : devices_) {
    for (int k = 1; k <= all; ++k) {
      for (const KernelTuning& tuning :
           some_forms(forms, number_of(GetParam()) + static_cast<std::size_t>(k))) {
        SCOPED_TRACE(std::to_string(k) + " stages, " + text_of(tuning));
        Comparison comparison(device, model, some_options(k), tuning);
        ASSERT_EQ(comparison.difference(picture.view()), "");
        ASSERT_EQ(comparison.difference(picture.view(), kPyramid, kFinish), "");
      }
    }
  }
}

TEST_P(CascadeOpenCl, EveryCutFindsTheSame) {
  const Model model = make_model(GetParam());
  const Image<std::uint8_t> picture = make_picture({133, 99}, 3);
  const opencl::DeviceInfo& device = devices_[0];
  Comparison comparison(device, model, some_options(2), tuning_table(model.kind).defaults(device));
  for (std::size_t first = kPyramid; first <= kScan; ++first) {
    for (std::size_t last = first + 1; last <= kGroup; ++last)
      ASSERT_EQ(comparison.difference(picture.view(), first, last), "")
          << "[" << first << ", " << last << ")";
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, CascadeOpenCl, testing::ValuesIn(kShapes),
                         [](const auto& test) { return std::string(test.param.name); });

class CascadeOpenClFrames : public CascadeOpenCl {};
INSTANTIATE_TEST_SUITE_P(Shapes, CascadeOpenClFrames, testing::Values(kShapes[0], kShapes[3], kShapes[6]),
                         [](const auto& test) { return std::string(test.param.name); });

// Sizes around those of windows, words of bits, tiles and chunks of rows; the order makes buffers grow and
// shrink.
TEST_P(CascadeOpenClFrames, AwkwardSizes) {
  const Model model = make_model(GetParam());
  const Size window = model.window;
  const Size sizes[] = {{1, 1},    {window.width, window.height}, {window.width + 1, window.height + 1},
                        {700, 33}, {window.width - 1, 300},       {window.width + 63, window.height},
                        {41, 530}, {window.width, window.height}, {129, 65},
                        {2, 2}};
  for (const opencl::DeviceInfo& device : devices_) {
    const KernelTuning forms[] = {kForms[0], kForms[2], kForms[3], kForms[8], kForms[10]};
    for (const KernelTuning& tuning : some_forms(forms, number_of(GetParam()))) {
      Comparison comparison(device, model, some_options(), tuning);
      for (const Size size : sizes) {
        const Image<std::uint8_t> picture = make_picture(size, 4);
        EXPECT_EQ(comparison.difference(picture.view()), "") << size.width << "x" << size.height;
        EXPECT_EQ(comparison.difference(picture.view(), kPyramid, kFinish), "")
            << size.width << "x" << size.height;
      }
    }
  }
}

TEST_P(CascadeOpenClFrames, SharesFitTogether) {
  const Model model = make_model(GetParam());
  const Image<std::uint8_t> picture = make_picture({157, 131}, 5);
  const opencl::DeviceInfo& device = devices_[0];
  for (const KernelTuning& tuning : {tuning_table(model.kind).defaults(device), kForms[10]}) {
    Comparison comparison(device, model, some_options(), tuning);
    test::expect_shares_fit_together(comparison, picture.view(), kPyramid, kGroup);
  }
}

// Lists far too short for what is found lose nothing: the frame is done again with room for all.
TEST_P(CascadeOpenClFrames, ShortListsLoseNothing) {
  const Model model = make_model(GetParam());
  const Image<std::uint8_t> picture = make_picture({157, 131}, 5);
  const Image<std::uint8_t> small = make_picture({50, 50}, 6);
  for (const opencl::DeviceInfo& device : devices_) {
    for (const int capacity : {1, 7}) {
      KernelTuning tuning = kForms[4];
      tuning.first_capacity = capacity;
      for (const int k : {1, 0}) {
        Comparison comparison(device, model, some_options(k), tuning);
        ASSERT_EQ(comparison.difference(small.view()), "");
        ASSERT_EQ(comparison.difference(picture.view()), "");
        ASSERT_EQ(comparison.difference(picture.view(), kPyramid, kFinish), "");
        EXPECT_GT(comparison.cpu().survivors.size(), 20U);
        ASSERT_EQ(comparison.difference(small.view(), kPyramid, kFinish), "");
      }
    }
  }
}

// More windows than are read back at once.
TEST_P(CascadeOpenClFrames, LongListsComeBackWhole) {
  const Model model = make_model(GetParam());
  const Image<std::uint8_t> picture = make_picture({300, 280}, 5);
  Comparison comparison(devices_[0], model, some_options(1), tuning_table(model.kind).defaults(devices_[0]));
  ASSERT_EQ(comparison.difference(picture.view(), kPyramid, kFinish), "");
  EXPECT_GT(comparison.cpu().survivors.size(), 1100U);
  ASSERT_EQ(comparison.difference(picture.view(), kPyramid, kFinish), "");
}

// Leaves so different in size that their sums are rounded: these are of doubles, in the order of the trees.
TEST_P(CascadeOpenClFrames, SumsThatAreRounded) {
  Model model = make_model(GetParam());
  for (std::size_t i = 0; i < model.leaves.size(); i += 3) model.leaves[i] = std::ldexp(model.leaves[i], -40);
  const Image<std::uint8_t> picture = make_picture({157, 131}, 5);
  for (const opencl::DeviceInfo& device : devices_) {
    const KernelTuning forms[] = {kForms[0], kForms[2], kForms[3], kForms[8]};
    for (const KernelTuning& tuning : some_forms(forms, number_of(GetParam()))) {
      Comparison comparison(device, model, some_options(), tuning);
      ASSERT_EQ(comparison.difference(picture.view()), "");
      EXPECT_GT(comparison.cpu().candidates.size(), 5U);
    }
  }
}

TEST_P(CascadeOpenClFrames, SpansNameTheStagesInOrder) {
  const Model model = make_model(GetParam());
  const Image<std::uint8_t> picture = make_picture({90, 70}, 5);
  Comparison comparison(devices_[0], model, some_options(), tuning_table(model.kind).defaults(devices_[0]));
  ASSERT_EQ(comparison.difference(picture.view()), "");
  std::vector<std::string> names;
  for (const DeviceSpan& span : comparison.slot().spans) names.emplace_back(span.name);
  const std::vector<std::string> expected{"upload", "pyramid", "integral", "scan", "finish", "download"};
  EXPECT_EQ(names, expected);
}

TEST_P(CascadeOpenClFrames, FinishAloneIsRefused) {
  const Model model = make_model(GetParam());
  Comparison comparison(devices_[0], model, some_options(), tuning_table(model.kind).defaults(devices_[0]));
  StageSet finish;
  finish.set(kFinish);
  EXPECT_EQ(comparison.stages().check(finish),
            (MappingConflict{MappingConflict::Kind::input, kFinish, kScan}));
  finish.set(kScan);
  EXPECT_FALSE(comparison.stages().check(finish));
}

// Little enough for a simulator that watches every access (tools/check-kernels), whose processors share
// tests: one for each kind.
class OpenClSmallCascade : public test::ExactDevicesTest {
 protected:
  void expect_every_form(const Shape& shape) {
    const Image<std::uint8_t> picture = make_picture({29, 23}, 5);
    const Model model = make_model(shape);
    for (const KernelTuning& tuning :
         {tuning_of("naive", false, 2, 64), tuning_of("naive", true, 2, 64, 1, true),
          tuning_of("reduced", false, 8, 64), tuning_of("compacted", true, 3, 32),
          tuning_of("compacted", false, 3, 32), tuning_of("compacted", true, 3, 64, 1, false, 1)}) {
      SCOPED_TRACE(text_of(tuning));
      Comparison comparison(devices_[0], model, some_options(2), tuning);
      EXPECT_EQ(comparison.difference(picture.view()), "");
    }
  }
};

TEST_F(OpenClSmallCascade, EveryFormOfHaar) {
  expect_every_form({"haar", FeatureKind::haar, {12, 12}, 3, 2, 2, true});
}

TEST_F(OpenClSmallCascade, EveryFormOfLbp) {
  expect_every_form({"lbp", FeatureKind::lbp, {12, 12}, 3, 3, 1});
}

// OpenCV's own cascades, where they are installed: every kind and every shape.
using CascadeOpenClModels = test::ExactDevicesTest;
TEST_F(CascadeOpenClModels, OpenCvsCascades) {
  std::size_t models = 0;
  const Image<std::uint8_t> picture = make_picture({231, 190}, 5);
  for (const char* name :
       {"haarcascade_frontalface_alt2", "haarcascade_frontalface_default", "lbpcascade_frontalface_improved",
        "haarcascade_frontalface_alt_tree", "haarcascade_lefteye_2splits", "haarcascade_fullbody"}) {
    SCOPED_TRACE(name);
    fs::path file;
    try {
      file = find_model({}, name);
    } catch (const Error&) {
      continue;
    }
    ++models;
    const KernelTuning forms[] = {kForms[0], kForms[2], kForms[3], kForms[6], kForms[8]};
    for (const int k : {0, 2}) {
      for (const KernelTuning& tuning : some_forms(forms, models + static_cast<std::size_t>(k))) {
        Comparison comparison(devices_[0], load_model(file), some_options(k), tuning);
        ASSERT_EQ(comparison.difference(picture.view()), "") << text_of(tuning);
        ASSERT_EQ(comparison.difference(picture.view(), kPyramid, kFinish), "") << text_of(tuning);
      }
    }
  }
  if (models == 0) GTEST_SKIP() << "OpenCV's cascades are not installed (opencv-data)";
}

}  // namespace
}  // namespace sightline::cascade
