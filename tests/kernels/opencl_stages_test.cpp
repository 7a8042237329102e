// The detector's stages on OpenCL devices against the CPU, bit for bit: what frames hold and how they lie in
// memory, models, options, the interface. The forms of the kernels are compared in opencl_forms_test.cpp.
#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "kernels/opencl_test.hpp"
#include "media/reader.hpp"
#include "opencl/error.hpp"
#include "support/thorough.hpp"

namespace sightline::filterbank {
namespace {

using test::Pattern;
using test::random_dictionary;

TEST_F(OpenClStagesTest, DefaultFormOfTheDevice) {
  const Frames frames;
  const Model model = make_model(random_dictionary(9, 1), 1);
  compare_default(model, some_options(model, frames.views[0]), frames.views);
}

// The same with all that exact arithmetic has: models of many and of few bins, what frames hold, octaves.
TEST_F(OpenClStagesTest, DefaultFormWithRichDescriptors) {
  Frames frames;
  for (const Pattern pattern : test::kPatterns) frames.add({67, 45}, pattern);
  bool is_small = false;
  for (const Descriptor& descriptor : rich_descriptors()) {
    is_small = !is_small;
    for (const int filters : {1, 128}) {
      // Each builds kernels of its own: in a sample, one size of each descriptor.
      if (!test::is_thorough() && is_small != (filters == 1)) continue;
      SCOPED_TRACE(describe(descriptor) + ", " + std::to_string(filters) + " filters");
      const Model model = make_model(random_dictionary(filters, 1), 1, kSmallWindow, {}, 1, descriptor);
      compare_default(model, some_options(model, frames.views[0]), frames.views);
    }
  }
  const Descriptor patterns = rich_descriptors()[1];
  const Model largest = make_model(random_dictionary(256, 1), 1, kSmallWindow, {}, 1, patterns);
  compare_default(largest, some_options(largest, frames.views[0]), frames.views);
  const Model wide = make_model(random_dictionary(25, 1), 1, {8, 16}, {}, 1, patterns);
  const Frames larger({{150, 170}, {64, 128}, {97, 260}});
  compare_default(wide, some_options(wide, larger.views[0], 1.1), larger.views);
}

TEST_F(OpenClStagesTest, ComputedScalesAndScreenWithRichDescriptors) {
  const Frames large({{150, 141}, {97, 260}, {33, 48}});
  const Model model = make_model(random_dictionary(9, 1), 1, {4, 6}, {}, 1, rich_descriptors()[2]);
  for (const int computed_scales : {0, 1, 3}) {
    Options options = some_options(model, large.views[0], 1.1);
    options.computed_scales = computed_scales;
    compare_default(model, options, large.views);
    options.rejection_margin = 0.3 * std::abs(options.threshold) + 1;
    compare_default(model, options, large.views);
  }
}

// Levels without responses of their own, and windows that an estimate rejects.
TEST_F(OpenClStagesTest, ComputedScalesAndScreen) {
  const Model model = make_model(random_dictionary(9, 1), 1, {4, 6});
  const Frames large({{150, 141}, {97, 260}, {33, 48}});
  for (const int computed_scales : {1, 2, 3}) {
    Options options = some_options(model, large.views[0], 1.1);
    options.computed_scales = computed_scales;
    options.border = 8 * (computed_scales - 1);
    compare_default(model, options, large.views);
    // Scores of random weights are large; the margin rejects some of what would reach the threshold, and not
    // all.
    options.rejection_margin = 0.3 * std::abs(options.threshold) + 1;
    compare_default(model, options, large.views);
  }
  Options options = some_options(model, large.views[0]);
  options.rejection_margin = 0;
  for (const opencl::DeviceInfo& device : devices_) {
    for (const char* variant : {"plain", "unrolled", "vector", "local"}) {
      KernelTuning tuning = tuning_table().defaults(device);
      tuning.classify = variant;
      tuning.histogram = "atomic";
      compare_on(device, model, options, {tuning}, large.views);
    }
    Comparison comparison(device, model, options, tuning_table().defaults(device));
    ASSERT_EQ(comparison.difference(large.views[0]), "");
    const auto rejected = [&] {
      std::size_t count = 0, all = 0;
      for (const Level& level : comparison.device().levels) {
        for (int y = 0; y < level.windows_y; ++y) {
          for (int x = 0; x < level.windows_x; ++x, ++all)
            count += level.scores[static_cast<std::size_t>(y) * level.grid.pitch() + x] == kRejected ? 1 : 0;
        }
      }
      return std::pair(count, all);
    }();
    EXPECT_GT(rejected.first, 0u);
    EXPECT_LT(rejected.first, rejected.second);
  }
}

// --- what the frames hold, and how they lie in memory ---------------------------------------------------

TEST_F(OpenClStagesTest, Contents) {
  Frames frames(std::vector<Size>{});
  for (const Pattern pattern : test::kPatterns) frames.add({67, 45}, pattern);
  const Model model = make_model(random_dictionary(9, 1), 1);
  Options options;
  options.threshold = -1e9;  // every window
  compare_default(model, options, frames.views);
}

TEST_F(OpenClStagesTest, BottomUpFrames) {
  const Model model = make_model(random_dictionary(9, 1), 1);
  const Image<std::uint8_t> image = picture({83, 59}, Pattern::noise);
  const GrayView upright = image.view();
  const GrayView flipped(upright.row(58), 83, 59, -upright.stride());
  compare_default(model, some_options(model, upright), {flipped, upright, flipped});
}

// Random packed pixels with rows apart by more than they hold, upright and bottom-up.
struct ColourFrame {
  ColourFrame(Size s, PackedFormat f, unsigned seed)
      : size(s), format(f), stride(s.width * bytes_per_pixel(f) + 5), bytes(stride * s.height) {
    test::Numbers numbers(seed);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(numbers(0, 255));
  }
  PackedView upright() const { return {bytes.data(), size.width, size.height, stride, format}; }
  PackedView bottom_up() const {
    return {bytes.data() + (size.height - 1) * stride, size.width, size.height, -stride, format};
  }
  Size size;
  PackedFormat format;
  std::ptrdiff_t stride;
  std::vector<std::uint8_t> bytes;
};

// What CPU and device both make of a frame in colour is what the CPU makes of its luma by the reference, also
// after frames of other formats and sizes in the same slot, mapped where device and host share memory and
// copied.
TEST_F(OpenClStagesTest, ColourOfChangingFormats) {
  const Model model = make_model(random_dictionary(9, 1), 1);
  const Image<std::uint8_t> noise = picture({90, 70}, Pattern::noise);
  Options options = some_options(model, noise.view());
  const FilterbankDetector detector(model, options);
  const auto workspace = detector.make_workspace();
  constexpr PackedFormat kFormats[] = {PackedFormat::rgb24, PackedFormat::bgra, PackedFormat::bgr24,
                                       PackedFormat::rgba};
  std::vector<opencl::DeviceInfo> devices = devices_;
  for (opencl::DeviceInfo device : devices_) {
    device.name += ", copied";
    if (std::exchange(device.unified_memory, false)) devices.push_back(device);
  }
  for (const opencl::DeviceInfo& device : devices) {
    Comparison comparison(device, model, options, tuning_table().defaults(device));
    unsigned seed = 0;
    std::size_t found = 0;
    for (const Size size : {Size{90, 70}, {90, 70}, {33, 16}, {131, 67}, {16, 33}, {15, 40}, {129, 130}}) {
      for (const PackedFormat format : kFormats) {
        const ColourFrame frame(size, format, ++seed);
        for (const PackedView& view : {frame.upright(), frame.bottom_up()}) {
          SCOPED_TRACE(device.name + ", " + std::to_string(size.width) + "x" + std::to_string(size.height) +
                       ", format " + std::to_string(static_cast<int>(format)));
          EXPECT_EQ(comparison.difference(view), "");
          Image<std::uint8_t> luma(size.width, size.height);
          to_gray_reference(view, luma.view(), 0, size.height);
          EXPECT_EQ(comparison.found(), detect(detector, *workspace, luma.view()));
          found += comparison.detections();
        }
      }
      EXPECT_EQ(comparison.difference(picture(size, Pattern::noise, ++seed).view()), "") << "gray";
    }
    EXPECT_GT(found, 0u);
  }
}

// The conversion is counted as the pyramid's.
TEST_F(OpenClStagesTest, ColourIsConvertedByThePyramidStage) {
  const Model model = make_model(random_dictionary(9, 1), 1);
  const ColourFrame frame({90, 70}, PackedFormat::bgr24, 1);
  for (const opencl::DeviceInfo& device : devices_) {
    Comparison comparison(device, model, Options{}, tuning_table().defaults(device));
    ASSERT_EQ(comparison.difference(frame.upright()), "");
    const std::vector<DeviceSpan>& spans = comparison.slot().spans;
    ASSERT_GE(spans.size(), 2u);
    EXPECT_EQ(spans[0].name, "upload");
    EXPECT_EQ(spans[1].name, "pyramid");
    EXPECT_EQ(spans[1].stage, kPyramid);
  }
}

TEST_F(OpenClStagesSmall, Colour) {
  const Model model = make_model(random_dictionary(3, 1), 1);
  const ColourFrame frame({21, 19}, PackedFormat::rgb24, 1);
  for (const opencl::DeviceInfo& device : devices_) {
    Comparison comparison(device, model, Options{}, tuning_table().defaults(device));
    EXPECT_EQ(comparison.difference(frame.bottom_up()), "");
  }
}

// Two frames of one size, then others: what an earlier frame left in the buffers must not show.
TEST_F(OpenClStagesTest, SizesChangeInOneSlot) {
  const Frames frames({{90, 70}, {90, 70}, {33, 16}, {200, 120}, {15, 40}, {16, 33}, {90, 70}, {41, 200}});
  const Model model = make_model(random_dictionary(9, 1), 1);
  compare_default(model, some_options(model, frames.views[0]), frames.views);
}

// Drivers of CPUs compile kernels for each size of their work-groups.
TEST_F(OpenClStagesTest, HeightsAndPartsNeedNoFurtherCompilation) {
  const Frames frames({{200, 120}, {200, 90}, {200, 77}});
  const Model model = make_model(random_dictionary(9, 1), 1, kSmallWindow, ClassifierKind::distance);
  for (const opencl::DeviceInfo& device : devices_) {
    if (device.type != DeviceType::cpu) continue;
    const opencl::Context& context = test::shared_context(device);
    Comparison comparison(device, model, some_options(model, frames.views[0]),
                          tuning_table().defaults(device));
    EXPECT_EQ(comparison.difference(frames.views[0]), "");
    const std::uint64_t launches = context.first_launches();
    for (const GrayView frame : frames.views) {
      EXPECT_EQ(comparison.run(frame, {0, 0.3}, kPyramid, kVerify, kPyramid, kVerify), std::nullopt);
      EXPECT_EQ(comparison.run(frame, {0.3, 1}, kPyramid, kVerify, kPyramid, kVerify), std::nullopt);
    }
    EXPECT_EQ(context.first_launches(), launches);
  }
}

TEST_F(OpenClStagesTest, SlotsInFlightTogether) {
  const Frames frames({{90, 70}, {131, 50}, {48, 48}});
  const Model model = make_model(random_dictionary(9, 1), 1);
  const FilterbankDetector detector(model, some_options(model, frames.views[0]));
  for (const opencl::DeviceInfo& device : devices_) {
    const opencl::Context& context = test::shared_context(device);
    const OpenClStages stages(detector, context, nullptr, tuning_table().defaults(device));
    std::deque<OpenClSlot> slots;
    std::vector<std::unique_ptr<Workspace>> workspaces;
    for (const GrayView frame : frames.views) {
      slots.emplace_back(stages);
      workspaces.push_back(detector.make_workspace());
      auto& w = static_cast<FilterbankWorkspace&>(*workspaces.back());
      ASSERT_TRUE(detector.prepare(w, frame));
      stages.prepare(slots.back(), w, stages.supported());
      stages.submit(slots.back(), w, kPyramid, kVerify);
    }
    const auto cpu = detector.make_workspace();
    for (std::size_t k = slots.size(); k-- > 0;) {
      auto& w = static_cast<FilterbankWorkspace&>(*workspaces[k]);
      opencl::Queue(context).wait(slots[k].done);
      stages.complete(slots[k], w);
      for (const std::size_t stage : {kVerify, kGroup}) detector.run_stage(stage, w);
      const std::vector<Detection> found = detector.take_detections(w);
      EXPECT_FALSE(found.empty());
      EXPECT_EQ(found, detect(detector, *cpu, frames.views[k])) << "slot " << k;
    }
  }
}

// --- models and options ---------------------------------------------------------------------------------

TEST_F(OpenClStagesTest, DictionarySizes) {
  const Frames frames({{65, 50}, {16, 16}});
  for (const int filters : {1, 3, 70, 100, 256}) {
    SCOPED_TRACE(std::to_string(filters) + " filters");
    const Model model = make_model(random_dictionary(filters, 7), 3);
    compare_default(model, some_options(model, frames.views[0]), frames.views);
  }
}

// Windows as high as the kernels take, and the most filters: sums are largest here.
TEST_F(OpenClStagesTest, LargestWindow) {
  const Frames frames({{150, 150}, {16, 136}});
  const Model model = make_model(random_dictionary(256, 7), 3, {2, 17});
  compare_default(model, some_options(model, frames.views[0]), frames.views);
}

TEST_F(OpenClStagesTest, Epsilon) {
  Frames frames({{65, 50}});
  frames.add({65, 50}, Pattern::black);
  frames.add({65, 50}, Pattern::flat_areas);
  for (const int epsilon : {1, 5000, 1 << 20}) {
    Model model = make_model(random_dictionary(9, 1), 1);
    model.epsilon = epsilon;
    compare_default(model, some_options(model, frames.views[0]), frames.views);
  }
}

TEST_F(OpenClStagesTest, DistanceClassifier) {
  const Frames frames({{65, 129}, {24, 32}, {150, 41}, {65, 129}});
  for (const int templates : {1, 5}) {
    SCOPED_TRACE(std::to_string(templates) + " templates");
    const Model model = make_model(random_dictionary(9, 1), 1, {3, 4}, ClassifierKind::distance, templates);
    const Options options = some_options(model, frames.views[0]);
    compare_default(model, options, frames.views);
  }
}

TEST_F(OpenClStagesTest, ManyOctaves) {
  const Frames frames({{64, 300}, {311, 265}});
  const Model model = make_model(random_dictionary(9, 1), 1);
  for (const double step : {1.1, 1.9, 4.5}) {
    SCOPED_TRACE("step " + std::to_string(step));
    const Options options = some_options(model, frames.views[0], step);
    for (const opencl::DeviceInfo& device : devices_) {
      Comparison comparison(device, model, options, tuning_table().defaults(device));
      for (const GrayView frame : frames.views) EXPECT_EQ(comparison.difference(frame), "");
      EXPECT_GE(comparison.octaves(), 2u);
      EXPECT_GT(comparison.detections(), 0u);
    }
  }
}

TEST_F(OpenClStagesTest, EnlargedFrames) {
  const Frames frames({{61, 47}, {9, 11}});
  const Model model = make_model(random_dictionary(9, 1), 1);
  Options options = some_options(model, frames.views[0]);
  options.min_size = 5;
  compare_default(model, options, frames.views);
}

// More candidates than the first transfer holds, all of which must arrive; then few, then many again.
TEST_F(OpenClStagesTest, CandidatesBeyondTheFirstCapacity) {
  Frames frames({{640, 480}, {640, 480}, {40, 40}, {640, 480}});
  const Model model = make_model(random_dictionary(3, 1), 1);
  Options options;
  options.scale_step = 1.9;
  options.threshold = -1e9;
  options.max_overlap = 0.1;
  for (const opencl::DeviceInfo& device : devices_) {
    Comparison comparison(device, model, options, tuning_table().defaults(device));
    for (const GrayView frame : frames.views) {
      EXPECT_EQ(comparison.difference(frame), "");
      if (frame.width() == 640) {
        EXPECT_GT(comparison.candidates(), 4096u + 1024u);
      }
    }
  }
  // Half of the windows, a few, and none.
  for (const int part : {2, 1000}) {
    options.threshold = threshold_for(model, options, frames.views[0], part);
    compare_default(model, options, frames.views);
  }
  options.threshold = 1e9;
  compare_default(model, options, frames.views);
}

// --- the interface --------------------------------------------------------------------------------------

TEST_F(OpenClStagesTest, EventsNameTheStagesInOrder) {
  const Frames frames({{90, 70}});
  const Model model = make_model(random_dictionary(9, 1), 1);
  for (const opencl::DeviceInfo& device : devices_) {
    Comparison comparison(device, model, some_options(model, frames.views[0]),
                          tuning_table().defaults(device));
    ASSERT_EQ(comparison.difference(frames.views[0]), "");
    std::vector<std::string> names;
    std::uint64_t before = 0;
    for (const DeviceSpan& span : comparison.slot().spans) {
      names.emplace_back(span.name);
      const auto first = span.first.times(device.name);
      const auto last = span.end().times(device.name);
      EXPECT_LE(before, first.started) << span.name;
      EXPECT_LE(first.started, last.ended) << span.name;
      before = last.ended;
    }
    const std::vector<std::string> expected{"upload",    "pyramid",  "filter",     "histogram",
                                            "normalise", "classify", "candidates", "download"};
    EXPECT_EQ(names, expected);
  }
}

TEST_F(OpenClStagesTest, RefusesWhatRunsOnTheCpuOnly) {
  const Model high = make_model(random_dictionary(9, 1), 1, {2, 18});
  EXPECT_THROW(Comparison(devices_[0], high, Options{}, KernelTuning{}), Error);
}

TEST_F(OpenClStagesTest, UnknownFormsAreDeviceErrors) {
  const Model model = make_model(random_dictionary(9, 1), 1);
  KernelTuning tuning;
  tuning.filter_width = 7;  // no such vector type
  tuning.dot = "integer";
  EXPECT_THROW(Comparison(devices_[0], model, Options{}, tuning), opencl::DeviceError);
}

// --- real frames ----------------------------------------------------------------------------------------

TEST_F(OpenClStagesTest, PeopleInRealFrames) {
  namespace fs = std::filesystem;
  const fs::path root = SIGHTLINE_SOURCE_DIR;
  const fs::path folder = root / "../shared/data/people/pets09";
  const fs::path model_file = root / "configs/models/people.safetensors";
  std::string video;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(folder, error)) {
    if (file.path().extension() == ".avi") video = file.path().string();
  }
  if (video.empty() || !fs::exists(model_file)) GTEST_SKIP() << "there is no video in " << folder;
  const Model model = load_model(model_file);
  Options options;
  options.scale_step = 1.2;
  options.threshold = model.threshold;
  for (const opencl::DeviceInfo& device : devices_) {
    media::ReadOptions reading;
    reading.every = 20;
    media::Reader reader(video, reading);
    Comparison comparison(device, model, options, tuning_table().defaults(device));
    std::size_t people = 0;
    for (int k = 0; k < 5; ++k) {
      const auto frame = reader.read();
      ASSERT_TRUE(frame);
      EXPECT_EQ(comparison.difference(frame->view()), "") << "frame " << frame->number();
      people += comparison.detections();
    }
    EXPECT_GT(people, 0u);
  }
}

}  // namespace
}  // namespace sightline::filterbank
