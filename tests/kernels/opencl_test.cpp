#include "kernels/opencl_test.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace sightline::test {
namespace {

std::map<std::pair<void*, std::uint64_t>, opencl::Context> contexts;

// Drivers do not outlive main: oclgrind crashes when a context is released after it.
struct ReleaseContexts final : testing::Environment {
  void TearDown() override { contexts.clear(); }
};
[[maybe_unused]] testing::Environment* const registered =
    testing::AddGlobalTestEnvironment(std::make_unique<ReleaseContexts>().release());

}  // namespace

std::vector<opencl::DeviceInfo> exact_devices() {
  std::vector<opencl::DeviceInfo> usable;
  for (const opencl::DeviceInfo& device : opencl::list_devices()) {
    const bool exact = device.correctly_rounded_divide_sqrt || device.platform == "Oclgrind";
    if (device.compiler_available && exact) usable.push_back(device);
  }
  return usable;
}

const opencl::Context& shared_context(const opencl::DeviceInfo& device) {
  const std::pair key(device.handle, device.local_memory_bytes);  // tests change the latter
  return contexts.try_emplace(key, opencl::ChosenDevice{device, 0, ""}).first->second;
}

opencl::ProgramCache program_cache() {
  return opencl::ProgramCache(std::filesystem::temp_directory_path() /
                              ("sightline-test-kernels-" + std::to_string(getuid())));
}

}  // namespace sightline::test

namespace sightline::filterbank {
namespace {

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
  std::string found;
  if (cpu.is_computed) {
    // Only rows that somebody reads are made.
    const auto [image_begin, image_end] = cpu.rows.image;
    found =
        test::first_difference(with_border(cpu), with_border(device), image_begin == 0 ? 0 : image_begin + 1,
                               image_end == size.height ? size.height + 2 : image_end + 1);
    if (!found.empty()) return place("image with border", index, found);

    const auto [begin, end] = cpu.rows.response_map;
    found = test::first_difference(cpu.response_map.view(), device.response_map.view(), begin, end);
    if (!found.empty()) return place("response_map", index, found);
  }

  const Grid& grid = cpu.grid;
  const auto words = [&](const Level& level) {
    return ImageView<const std::uint32_t>(reinterpret_cast<const std::uint32_t*>(level.features.data()),
                                          grid.blocks_x(), grid.blocks_y() * grid.quads(), grid.pitch());
  };
  found = test::first_difference(words(cpu), words(device), 0, grid.blocks_y() * grid.quads());
  if (!found.empty()) return place("features (block row * quads + quad)", index, found);

  const auto scores = [&](const Level& level) {
    return ImageView<const std::int32_t>(level.scores.data(), level.windows_x, level.windows_y, grid.pitch());
  };
  found = test::first_difference(scores(cpu), scores(device), 0, cpu.windows_y);
  return found.empty() ? "" : place("scores", index, found);
}

}  // namespace

std::vector<Descriptor> rich_descriptors() {
  Descriptor signs, patterns, both;
  signs.contrast = both.contrast = Contrast::sensitive;
  patterns.patterns = both.patterns = true;
  return {signs, patterns, both};
}

Model make_model(Dictionary dictionary, unsigned seed, WindowShape window, ClassifierKind kind, int templates,
                 const Descriptor& descriptor) {
  test::Numbers numbers(seed);
  Model model;
  model.label = "thing";
  model.window = window;
  model.object = {1, 1, window.pixels().width - 2.0, window.pixels().height - 2.0};
  model.classifier = kind;
  model.descriptor = descriptor;
  model.dictionary = std::move(dictionary);
  model.weights.resize(model.weights_per_template() * templates);
  const int lowest = kind == ClassifierKind::linear ? -90 : 0;
  for (std::int8_t& w : model.weights) w = static_cast<std::int8_t>(numbers(lowest, 90));
  return model;
}

Image<std::uint8_t> picture(Size size, test::Pattern pattern, unsigned seed) {
  test::Numbers numbers(seed);
  Image<std::uint8_t> image(size.width, size.height);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) image.view().at(x, y) = test::pixel_of(pattern, x, y, numbers);
  }
  return image;
}

std::string Comparison::difference(PictureView frame) {
  const std::vector<Detection> expected = detect(detector(), cpu(), frame);
  found_.clear();
  if (!detector().prepare(device(), frame)) return cpu().levels.empty() ? "" : "prepare refuses the frame";
  runner().run();
  found_ = detector().take_detections(device());
  stages().download(slot(), device());
  if (device().levels.size() != cpu().levels.size()) return "the numbers of levels";
  for (std::size_t l = 0; l < cpu().levels.size(); ++l) {
    const std::string different = difference_of_levels(cpu().levels[l], device().levels[l], l);
    if (!different.empty()) return different;
  }
  return found_ == expected ? ""
                            : std::to_string(expected.size()) + " detections and " +
                                  std::to_string(found_.size()) + ", not the same";
}

double threshold_for(const Model& model, Options options, GrayView frame, int part) {
  options.threshold = 0;
  const FilterbankDetector detector(model, options);
  FilterbankWorkspace w;
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

Options some_options(const Model& model, GrayView frame, double scale_step) {
  Options options;
  options.scale_step = scale_step;
  options.threshold = threshold_for(model, options, frame, 4);
  return options;
}

std::string text_of(const KernelTuning& t) {
  const auto n = [](int value) { return " " + std::to_string(value); };
  return "filter " + t.filter + n(t.filter_width) + n(t.filter_rows) + n(t.filter_group) +
         n(t.filter_group_rows) + ", histogram " + t.histogram + n(t.histogram_cells) + ", normalise " +
         t.normalise + n(t.normalise_width) + ", classify " + t.classify + " " + t.dot + n(t.classify_width) +
         n(t.classify_rows) + n(t.classify_group) + ", network " + t.network_dot + n(t.network_pixels) +
         n(t.network_outputs) + n(t.network_group);
}

}  // namespace sightline::filterbank
