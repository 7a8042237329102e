// The OpenCL kernels against the CPU, stage by stage and bit for bit, on every OpenCL device of the machine.
//
// `OpenClStagesSmall` holds the same comparisons on frames so small that a simulator (oclgrind, see
// tools/check-kernels) gets through them in minutes.

#include "filterbank/opencl_stages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "filterbank/detector.hpp"
#include "filterbank/model.hpp"
#include "kernels/kernel_test.hpp"
#include "kernels/opencl_test.hpp"
#include "media/reader.hpp"
#include "opencl/context.hpp"
#include "opencl/error.hpp"

namespace sightline::filterbank {
namespace {

using test::dictionary_of;
using test::first_difference;
using test::Numbers;
using test::Pattern;
using test::random_dictionary;

constexpr WindowShape kSmallWindow{2, 2};  // 16x16 pixels

Model make_model(Dictionary dictionary, unsigned seed, WindowShape window = kSmallWindow,
                 ClassifierKind kind = ClassifierKind::linear, int templates = 1) {
  Numbers numbers(seed);
  Model model;
  model.label = "thing";
  model.window = window;
  model.object = {1, 1, window.pixels().width - 2.0, window.pixels().height - 2.0};
  model.classifier = kind;
  model.dictionary = std::move(dictionary);
  model.weights.resize(model.weights_per_template() * templates);
  const int lowest = kind == ClassifierKind::linear ? -90 : 0;
  for (std::int8_t& w : model.weights) w = static_cast<std::int8_t>(numbers(lowest, 90));
  return model;
}

Image<std::uint8_t> picture(Size size, Pattern pattern, unsigned seed = 1) {
  Numbers numbers(seed);
  Image<std::uint8_t> image(size.width, size.height);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) image.view().at(x, y) = test::pixel_of(pattern, x, y, numbers);
  }
  return image;
}

std::string place(const char* what, std::size_t level, const std::string& difference) {
  return std::string(what) + " of level " + std::to_string(level) + ": " + difference;
}

// Where the two first differ, CPU's value first; "" where they are equal.
std::string difference_of_levels(const Level& cpu, const Level& device, std::size_t index) {
  const Size size = cpu.plan.size;
  const auto with_border = [&](const Level& level) {
    const GrayView image = level.image.view();
    return GrayView(image.row(-1) - 1, size.width + 2, size.height + 2, image.stride());
  };
  std::string found = first_difference(with_border(cpu), with_border(device), 0, size.height + 2);
  if (!found.empty()) return place("image with border", index, found);

  found = first_difference(cpu.votes.view(), device.votes.view(), 0, size.height);
  if (!found.empty()) return place("votes", index, found);

  const Grid& grid = cpu.grid;
  const auto words = [&](const Level& level) {
    return ImageView<const std::uint32_t>(reinterpret_cast<const std::uint32_t*>(level.features.data()),
                                          grid.blocks_x(), grid.blocks_y() * grid.quads(), grid.pitch());
  };
  found = first_difference(words(cpu), words(device), 0, grid.blocks_y() * grid.quads());
  if (!found.empty()) return place("features (block row * quads + quad)", index, found);

  const auto scores = [&](const Level& level) {
    return ImageView<const std::int32_t>(level.scores.data(), level.windows_x, level.windows_y, grid.pitch());
  };
  found = first_difference(scores(cpu), scores(device), 0, cpu.windows_y);
  return found.empty() ? "" : place("scores", index, found);
}

// One detector on the CPU and on a device, with one slot that all frames go through.
class Comparison {
 public:
  Comparison(const opencl::DeviceInfo& device, const Model& model, const Options& options,
             const KernelTuning& tuning)
      : detector_(model, options),
        context_(opencl::ChosenDevice{device, 0, ""}),
        cache_(test::program_cache()),
        stages_(detector_, context_, &cache_, tuning),
        slot_(stages_),
        cpu_(detector_.make_workspace()),
        device_(detector_.make_workspace()) {}

  // Where the results of a frame differ; "" where they do not.
  std::string difference(GrayView frame) {
    FilterbankWorkspace& cpu = cpu_workspace();
    FilterbankWorkspace& device = device_workspace();
    const std::vector<Detection> expected = detect(detector_, cpu, frame);
    if (!detector_.prepare(device, frame)) return cpu.levels.empty() ? "" : "prepare refuses the frame";
    stages_.prepare(slot_, device);
    stages_.enqueue(slot_, device);
    stages_.finish(slot_, device);
    const std::vector<Detection> found = detector_.take_detections(device);
    stages_.download(slot_, device);
    if (device.levels.size() != cpu.levels.size()) return "the numbers of levels";
    for (std::size_t l = 0; l < cpu.levels.size(); ++l) {
      const std::string different = difference_of_levels(cpu.levels[l], device.levels[l], l);
      if (!different.empty()) return different;
    }
    detections_ = found.size();
    return found == expected ? ""
                             : std::to_string(expected.size()) + " detections and " +
                                   std::to_string(found.size()) + ", not the same";
  }

  std::size_t detections() const { return detections_; }
  std::size_t candidates() { return cpu_workspace().candidates.size(); }
  std::size_t levels() { return cpu_workspace().levels.size(); }
  std::size_t octaves() { return cpu_workspace().octaves.size(); }
  const FilterbankDetector& detector() const { return detector_; }
  const OpenClStages& stages() const { return stages_; }
  OpenClSlot& slot() { return slot_; }
  FilterbankWorkspace& device_workspace() { return static_cast<FilterbankWorkspace&>(*device_); }

 private:
  FilterbankWorkspace& cpu_workspace() { return static_cast<FilterbankWorkspace&>(*cpu_); }

  FilterbankDetector detector_;
  opencl::Context context_;
  opencl::ProgramCache cache_;
  OpenClStages stages_;
  OpenClSlot slot_;
  std::unique_ptr<Workspace> cpu_, device_;
  std::size_t detections_ = 0;
};

// About every `part`-th window is a candidate: the scores of a frame are sorted, and one of them is the
// threshold.
double threshold_for(const Model& model, Options options, GrayView frame, int part) {
  options.threshold = 0;
  const FilterbankDetector detector(model, options);
  const auto workspace = detector.make_workspace();
  auto& w = static_cast<FilterbankWorkspace&>(*workspace);
  if (!detector.prepare(w, frame)) return 0;
  detector.score_windows(w);
  std::vector<double> scores;
  for (const Level& level : w.levels) {
    for (int y = 0; y < level.windows_y; ++y) {
      for (int x = 0; x < level.windows_x; ++x) scores.push_back(detector.score(level, x, y));
    }
  }
  std::sort(scores.begin(), scores.end(), std::greater<>());
  return scores[scores.size() / part];
}

KernelTuning filter_form(const std::string& variant, int width, int rows, int group, int group_rows) {
  KernelTuning tuning;
  tuning.filter = variant;
  tuning.filter_width = width;
  tuning.filter_rows = rows;
  tuning.filter_group = group;
  tuning.filter_group_rows = group_rows;
  // The cheapest forms of the other stages.
  tuning.dot = "integer";
  return tuning;
}

KernelTuning histogram_form(const std::string& variant, int cells) {
  KernelTuning tuning = filter_form("vector", 4, 2, 8, 4);
  tuning.histogram = variant;
  tuning.histogram_cells = cells;
  return tuning;
}

KernelTuning normalise_form(int width) {
  KernelTuning tuning = filter_form("vector", 4, 2, 8, 4);
  tuning.normalise_width = width;
  return tuning;
}

KernelTuning classify_form(const std::string& variant, const std::string& dot, int width, int rows,
                           int group) {
  KernelTuning tuning = filter_form("vector", 4, 2, 8, 4);
  tuning.classify = variant;
  tuning.dot = dot;
  tuning.classify_width = width;
  tuning.classify_rows = rows;
  tuning.classify_group = group;
  return tuning;
}

std::string text_of(const KernelTuning& t) {
  const auto n = [](int value) { return " " + std::to_string(value); };
  return "filter " + t.filter + n(t.filter_width) + n(t.filter_rows) + n(t.filter_group) +
         n(t.filter_group_rows) + ", histogram " + t.histogram + n(t.histogram_cells) + ", normalise" +
         n(t.normalise_width) + ", classify " + t.classify + " " + t.dot + n(t.classify_width) +
         n(t.classify_rows) + n(t.classify_group);
}

class OpenClStagesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    devices_ = test::exact_devices();
    if (devices_.empty()) GTEST_SKIP() << "there is no OpenCL device here whose results are exact";
  }

  // Runs every form over all frames on every device.
  void compare(const Model& model, const Options& options, const std::vector<KernelTuning>& forms,
               const std::vector<GrayView>& frames) {
    for (const opencl::DeviceInfo& device : devices_) compare_on(device, model, options, forms, frames);
  }
  void compare_on(const opencl::DeviceInfo& device, const Model& model, const Options& options,
                  const std::vector<KernelTuning>& forms, const std::vector<GrayView>& frames) {
    for (const KernelTuning& form : forms) {
      SCOPED_TRACE(device.name + ": " + text_of(form));
      Comparison comparison(device, model, options, form);
      for (const GrayView frame : frames) {
        EXPECT_EQ(comparison.difference(frame), "") << "frame " << frame.width() << "x" << frame.height();
      }
    }
  }
  // The default form of every device.
  void compare_default(const Model& model, const Options& options, const std::vector<GrayView>& frames) {
    for (const opencl::DeviceInfo& device : devices_) {
      compare_on(device, model, options, {default_tuning(device)}, frames);
    }
  }

  std::vector<opencl::DeviceInfo> devices_;
};

// --- the forms of every kernel --------------------------------------------------------------------------

// Sizes around the widths of vectors, tiles and cells; the order makes buffers grow and shrink.
struct Frames {
  std::vector<Image<std::uint8_t>> images;
  std::vector<GrayView> views;

  Frames() {
    for (const Size size : {Size{65, 129}, {16, 16}, {17, 16}, {16, 33}, {31, 47}, {150, 41}}) add(size);
  }
  explicit Frames(const std::vector<Size>& sizes) {
    for (const Size size : sizes) add(size);
  }
  void add(Size size, Pattern pattern = Pattern::noise) {
    images.push_back(picture(size, pattern, static_cast<unsigned>(images.size()) + 1));
    views.clear();
    for (const auto& image : images) views.emplace_back(image.view());
  }
};

Options some_options(const Model& model, GrayView frame, double scale_step = 1.3) {
  Options options;
  options.scale_step = scale_step;
  options.threshold = threshold_for(model, options, frame, 4);
  return options;
}

TEST_F(OpenClStagesTest, FilterForms) {
  const Frames frames;
  const Model model = make_model(random_dictionary(9, 1), 1);
  compare(model, some_options(model, frames.views[0]),
          {filter_form("plain", 1, 1, 64, 1), filter_form("plain", 1, 1, 32, 4),
           filter_form("unrolled", 1, 1, 32, 4), filter_form("vector", 1, 1, 32, 4),
           filter_form("vector", 2, 2, 16, 2), filter_form("vector", 4, 3, 8, 4),
           filter_form("vector", 8, 4, 1, 8), filter_form("vector", 16, 1, 8, 4),
           filter_form("local", 1, 8, 8, 1), filter_form("local", 4, 4, 32, 8),
           filter_form("local", 8, 2, 8, 4), filter_form("local", 16, 3, 1, 1)},
          frames.views);
}

TEST_F(OpenClStagesTest, HistogramForms) {
  const Frames frames;
  const Model model = make_model(random_dictionary(9, 1), 1);
  compare(model, some_options(model, frames.views[0]),
          {histogram_form("owner", 16), histogram_form("owner", 32), histogram_form("atomic", 16),
           histogram_form("atomic", 32)},
          frames.views);
}

// The published form loses votes on devices that run work-items at once: it need only run.
TEST_F(OpenClStagesTest, RacyHistogramRuns) {
  const Frames frames;
  const Model model = make_model(random_dictionary(9, 1), 1);
  for (const opencl::DeviceInfo& device : devices_) {
    for (const int cells : {16, 32}) {
      Comparison comparison(device, model, some_options(model, frames.views[0]),
                            histogram_form("racy", cells));
      const std::string difference = comparison.difference(frames.views[0]);
      EXPECT_TRUE(difference.empty() || difference.starts_with("features")) << difference;
    }
  }
}

TEST_F(OpenClStagesTest, NormaliseForms) {
  const Frames frames;
  const Model model = make_model(random_dictionary(9, 1), 1);
  compare(model, some_options(model, frames.views[0]),
          {normalise_form(1), normalise_form(2), normalise_form(4), normalise_form(8), normalise_form(16)},
          frames.views);
}

// Every variant with every way to sum products that needs no special instruction.
std::vector<KernelTuning> portable_classify_forms() {
  std::vector<KernelTuning> forms;
  for (const std::string dot : {"integer", "float"}) {
    forms.push_back(classify_form("plain", dot, 1, 1, 32));
    forms.push_back(classify_form("unrolled", dot, 1, 1, 16));
    for (const std::string variant : {"vector", "local"}) {
      forms.push_back(classify_form(variant, dot, 1, 16, 64));
      forms.push_back(classify_form(variant, dot, 4, 3, 8));
      forms.push_back(classify_form(variant, dot, 8, 16, 4));
      forms.push_back(classify_form(variant, dot, 16, 1, 2));
    }
  }
  return forms;
}

TEST_F(OpenClStagesTest, ClassifyForms) {
  const Model model = make_model(random_dictionary(9, 1), 1, {3, 4});
  const Frames frames({{65, 129}, {24, 32}, {25, 71}, {160, 41}});
  compare(model, some_options(model, frames.views[0]), portable_classify_forms(), frames.views);
}

TEST_F(OpenClStagesTest, ClassifyFormsOfTheDistanceClassifier) {
  const Model model = make_model(random_dictionary(9, 1), 1, {3, 4}, ClassifierKind::distance, 3);
  const Frames frames({{65, 129}, {24, 32}, {25, 71}});
  compare(model, some_options(model, frames.views[0]), portable_classify_forms(), frames.views);
}

TEST_F(OpenClStagesTest, ClassifyWithTheDevicesOwnDotProduct) {
  const Frames frames({{65, 129}, {24, 32}, {25, 71}});
  const Model model = make_model(random_dictionary(9, 1), 1, {3, 4});
  const Options options = some_options(model, frames.views[0]);
  bool any = false;
  for (const opencl::DeviceInfo& device : devices_) {
    const bool ptx = device.vendor.find("NVIDIA") != std::string::npos;
    const bool khr = device.integer_dot_product;
    for (const std::string dot : {"ptx", "khr", "auto"}) {
      if ((dot == "ptx" && !ptx) || (dot == "khr" && !khr)) continue;
      any = any || dot != "auto";
      compare_on(device, model, options,
                 {classify_form("plain", dot, 1, 1, 64), classify_form("unrolled", dot, 1, 1, 64),
                  classify_form("vector", dot, 1, 4, 32), classify_form("vector", dot, 1, 16, 64),
                  classify_form("local", dot, 1, 8, 32), classify_form("local", dot, 1, 16, 64)},
                 frames.views);
    }
    // No instruction takes several windows: "auto" means integers then.
    compare_on(device, model, options, {classify_form("vector", "auto", 4, 4, 8)}, frames.views);
  }
  if (!any) GTEST_SKIP() << "no device here has an instruction for 8-bit dot products; only 'auto' was run";
}

TEST_F(OpenClStagesTest, DefaultFormOfTheDevice) {
  const Frames frames;
  const Model model = make_model(random_dictionary(9, 1), 1);
  compare_default(model, some_options(model, frames.views[0]), frames.views);
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

// Two frames of one size, then others: what an earlier frame left in the buffers must not show.
TEST_F(OpenClStagesTest, SizesChangeInOneSlot) {
  const Frames frames({{90, 70}, {90, 70}, {33, 16}, {200, 120}, {15, 40}, {16, 33}, {90, 70}, {41, 200}});
  const Model model = make_model(random_dictionary(9, 1), 1);
  compare_default(model, some_options(model, frames.views[0]), frames.views);
}

TEST_F(OpenClStagesTest, SlotsInFlightTogether) {
  const Frames frames({{90, 70}, {131, 50}, {48, 48}});
  const Model model = make_model(random_dictionary(9, 1), 1);
  const FilterbankDetector detector(model, some_options(model, frames.views[0]));
  opencl::ProgramCache cache = test::program_cache();
  for (const opencl::DeviceInfo& device : devices_) {
    const opencl::Context context(opencl::ChosenDevice{device, 0, ""});
    const OpenClStages stages(detector, context, &cache, default_tuning(device));
    std::vector<OpenClSlot> slots;
    std::vector<std::unique_ptr<Workspace>> workspaces;
    for (const GrayView frame : frames.views) {
      slots.emplace_back(stages);
      workspaces.push_back(detector.make_workspace());
      auto& w = static_cast<FilterbankWorkspace&>(*workspaces.back());
      ASSERT_TRUE(detector.prepare(w, frame));
      stages.prepare(slots.back(), w);
      stages.enqueue(slots.back(), w);
    }
    const auto cpu = detector.make_workspace();
    for (std::size_t k = slots.size(); k-- > 0;) {
      auto& w = static_cast<FilterbankWorkspace&>(*workspaces[k]);
      stages.finish(slots[k], w);
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

// Each filter once more, and once with all signs changed: ties at every pixel, the lowest index wins.
TEST_F(OpenClStagesTest, TiesGoToTheLowestIndex) {
  Frames frames({{65, 50}});
  frames.add({65, 50}, Pattern::flat_areas);
  const Dictionary single = random_dictionary(3, 5);
  std::vector<Filter> filters(single.filters().begin(), single.filters().end());
  for (int copy = 0; copy < 2; ++copy) {
    for (int k = 0; k < 3; ++k) {
      Filter filter = single.filters()[k];
      if (copy == 1) {
        for (auto& c : filter) c = static_cast<std::remove_reference_t<decltype(c)>>(-c);
      }
      filters.push_back(filter);
    }
  }
  const Model model = make_model(dictionary_of(filters), 1);
  std::vector<KernelTuning> forms{filter_form("plain", 1, 1, 32, 4), filter_form("unrolled", 1, 1, 32, 4),
                                  filter_form("vector", 8, 2, 8, 4), filter_form("local", 4, 2, 8, 4)};
  compare(model, some_options(model, frames.views[0]), forms, frames.views);
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
    compare(model, options, {classify_form("vector", "integer", 1, 16, 32)}, frames.views);
  }
}

TEST_F(OpenClStagesTest, ManyOctaves) {
  const Frames frames({{64, 300}, {311, 265}});
  const Model model = make_model(random_dictionary(9, 1), 1);
  for (const double step : {1.1, 1.9, 4.5}) {
    SCOPED_TRACE("step " + std::to_string(step));
    const Options options = some_options(model, frames.views[0], step);
    for (const opencl::DeviceInfo& device : devices_) {
      Comparison comparison(device, model, options, default_tuning(device));
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
    Comparison comparison(device, model, options, default_tuning(device));
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
    Comparison comparison(device, model, some_options(model, frames.views[0]), default_tuning(device));
    ASSERT_EQ(comparison.difference(frames.views[0]), "");
    std::vector<std::string> names;
    std::uint64_t before = 0;
    for (const OpenClSlot::StageEvents& events : comparison.slot().events()) {
      names.push_back(events.name);
      const auto first = events.first.times(device.name);
      const auto last = events.last ? events.last.times(device.name) : first;
      EXPECT_LE(before, first.started) << events.name;
      EXPECT_LE(first.started, last.ended) << events.name;
      before = last.ended;
    }
    const std::vector<std::string> expected{"upload",    "pyramid",  "filter",    "histogram",
                                            "normalise", "classify", "candidates"};
    EXPECT_EQ(names, expected);
  }
}

TEST_F(OpenClStagesTest, RefusesWhatRunsOnTheCpuOnly) {
  const Model model = make_model(random_dictionary(9, 1), 1);
  Options floats;
  floats.arithmetic = Arithmetic::floating_point;
  EXPECT_THROW(Comparison(devices_[0], model, floats, KernelTuning{}), Error);
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

// --- small sizes, for a simulator -----------------------------------------------------------------------

using OpenClStagesSmall = OpenClStagesTest;

TEST_F(OpenClStagesSmall, EveryFilterForm) {
  const Frames frames({{35, 18}});
  const Model model = make_model(random_dictionary(3, 1), 1);
  Options options;
  options.scale_step = 1.9;
  compare(model, options,
          {filter_form("plain", 1, 1, 8, 4), filter_form("unrolled", 1, 1, 8, 4),
           filter_form("vector", 4, 3, 4, 2), filter_form("vector", 16, 2, 2, 2),
           filter_form("local", 8, 4, 4, 2)},
          frames.views);
}

TEST_F(OpenClStagesSmall, EveryHistogramAndNormaliseForm) {
  const Frames frames({{35, 18}});
  const Model model = make_model(random_dictionary(3, 1), 1);
  Options options;
  options.scale_step = 1.9;
  std::vector<KernelTuning> forms{histogram_form("owner", 16), histogram_form("owner", 32),
                                  histogram_form("atomic", 16), histogram_form("atomic", 32)};
  for (std::size_t k = 0; k < forms.size(); ++k) forms[k].normalise_width = 2 << k;
  compare(model, options, forms, frames.views);
}

TEST_F(OpenClStagesSmall, EveryClassifyForm) {
  const Frames frames({{36, 33}});
  const Model model = make_model(random_dictionary(3, 1), 1, {2, 3});
  Options options;
  options.scale_step = 1.9;
  options.threshold = -1e9;
  compare(model, options,
          {classify_form("plain", "integer", 1, 1, 4), classify_form("plain", "float", 1, 1, 2),
           classify_form("unrolled", "integer", 1, 1, 4), classify_form("unrolled", "float", 1, 1, 4),
           classify_form("vector", "integer", 1, 4, 4), classify_form("vector", "float", 16, 4, 1),
           classify_form("local", "integer", 4, 3, 2), classify_form("local", "float", 1, 8, 4)},
          frames.views);
  const Model distance = make_model(random_dictionary(3, 1), 1, {2, 3}, ClassifierKind::distance, 2);
  compare(distance, options, {classify_form("local", "integer", 1, 4, 4)}, frames.views);
}

TEST_F(OpenClStagesSmall, OctavesAndChangingSizes) {
  const Frames frames({{70, 68}, {16, 17}});
  const Model model = make_model(random_dictionary(3, 1), 1);
  Options options;
  options.scale_step = 1.9;
  compare(model, options, {filter_form("vector", 4, 2, 4, 4)}, frames.views);
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
    Comparison comparison(device, model, options, default_tuning(device));
    std::size_t people = 0;
    for (int k = 0; k < 5; ++k) {
      const auto frame = reader.read();
      ASSERT_TRUE(frame);
      EXPECT_EQ(comparison.difference(frame->gray()), "") << "frame " << frame->number();
      people += comparison.detections();
    }
    EXPECT_GT(people, 0u);
  }
}

}  // namespace
}  // namespace sightline::filterbank
