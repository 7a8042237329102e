// The histogram kernel as published by E. Totoni, M. Dikmen and M. J. Garzaran (section 3.2), whose
// work-items add to the same sum without atomics, beside the exact ones: time, wrong sums, other boxes, miss
// rate.
//
//   bench_racy --positives FOLDER|LIST --negatives FOLDER|LIST [--folder FOLDER] [--device DEVICE]
//              [--model FILE] [--filters N] [--pictures N]
//
// Positives have one person in the middle each (pictures of a list are in --folder). Of negatives, the first
// N are searched: all scales, every window, without the model's network. Sums and boxes are compared with
// those of `atomic`; miss rates are those of the variant's own threshold at the given false positive rate.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "detectors/filterbank/centre_window.hpp"
#include "detectors/filterbank/detector.hpp"
#include "detectors/filterbank/opencl/stages.hpp"
#include "evaluation/curves.hpp"
#include "opencl/device.hpp"
#include "processing/frame_runner.hpp"
#include "processing/opencl/opencl_tuner.hpp"
#include "training/file_image_set.hpp"

namespace sightline::filterbank {
namespace {

constexpr const char* kVariants[] = {"atomic", "owner", "racy"};
constexpr double kScaleStep = 1.2;  // as `evaluate windows`
constexpr int kTimedPictures = 8;

struct Arguments {
  std::map<std::string, std::string> values{{"--positives", ""},  {"--negatives", ""}, {"--folder", ""},
                                            {"--device", "gpu"},  {"--model", ""},     {"--filters", "0"},
                                            {"--pictures", "100"}};
  const std::string& text(const char* name) const { return values.at(name); }
  int number(const char* name) const { return std::atoi(text(name).c_str()); }
};

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; i += 2) {
    const auto value = a.values.find(argv[i]);
    if (value == a.values.end() || i + 1 == argc)
      throw Error(ExitCode::usage, "'" + std::string(argv[i]) + "' is unknown, or has no value");
    value->second = argv[i + 1];
  }
  for (const char* name : {"--positives", "--negatives", "--model"}) {
    if (a.text(name).empty()) throw Error(ExitCode::usage, "'" + std::string(name) + "' is missing");
  }
  return a;
}

Options options_of(double max_size) {
  Options options;
  options.scale_step = kScaleStep;
  options.max_size = max_size;
  options.verify = false;
  return options;
}

// A detector's stages with one variant of the histogram.
class OnDevice {
 public:
  OnDevice(const FilterbankDetector& detector, const opencl::Context& context, const std::string& variant)
      : detector_(detector),
        stages_(detector, context, nullptr, tuning_of(context, variant)),
        runner_(detector, &stages_, stages_.supported()) {}

  /// All windows' scores are in the workspace's levels then. False where the picture is too small.
  bool run(GrayView picture) {
    if (!runner_.prepare(picture)) return false;
    runner_.run();
    detections_ = detector_.take_detections(workspace());
    stages_.download(slot(), workspace());
    return true;
  }
  const std::vector<Detection>& detections() const { return detections_; }
  FilterbankWorkspace& workspace() { return static_cast<FilterbankWorkspace&>(runner_.workspace()); }
  const OpenClStages& stages() const { return stages_; }

  /// Square roots of all cells' sums, padding included, which is 0.
  std::vector<float> roots() {
    std::vector<float> values(static_cast<std::size_t>(slot().sizes.roots));
    slot().queue.wait(slot().queue.read(slot().roots, values.data(), values.size() * sizeof(float)));
    return values;
  }

 private:
  static KernelTuning tuning_of(const opencl::Context& context, const std::string& variant) {
    KernelTuning tuning = tuning_table().defaults(context.device());
    tuning.histogram = variant;
    return tuning;
  }
  OpenClSlot& slot() { return static_cast<OpenClSlot&>(runner_.slot()); }

  const FilterbankDetector& detector_;
  OpenClStages stages_;
  FrameRunner runner_;
  std::vector<Detection> detections_;
};

// What a variant gives for all pictures.
struct Found {
  std::vector<std::vector<float>> roots;      ///< by negative picture
  std::vector<std::vector<Detection>> boxes;  ///< by picture, positives first
  std::vector<double> positives;
  NegativeScores negatives;
  VariantTimer::Parts seconds;
};

std::vector<Image<std::uint8_t>> load(const training::FileImageSet& set, std::size_t most) {
  std::vector<Image<std::uint8_t>> pictures;
  for (std::size_t i = 0; i < std::min(most, set.size()); ++i) pictures.push_back(set.load(i));
  return pictures;
}

using Pictures = std::vector<Image<std::uint8_t>>;

Found search(const Model& model, const opencl::Context& context, const std::string& variant,
             const Pictures& positives, const Pictures& negatives) {
  Found found;
  const FilterbankDetector single(model, options_of(model.object.height)), scanner(model, options_of(0));
  OnDevice centre(single, context, variant), whole(scanner, context, variant);
  for (const Image<std::uint8_t>& picture : positives) {
    const auto window = centre_window(picture.view(), model.window);
    if (!window || !centre.run(window->view)) throw Error(ExitCode::input, "a positive is too small");
    found.boxes.push_back(centre.detections());
    found.positives.push_back(single.score(centre.workspace().levels[0], window->x, window->y));
  }
  std::vector<PictureView> timed;
  for (const Image<std::uint8_t>& picture : negatives) {
    if (!whole.run(picture.view())) continue;
    found.boxes.push_back(whole.detections());
    found.roots.push_back(whole.roots());
    for (const Level& level : whole.workspace().levels) {
      for (int y = 0; y < level.windows_y; ++y) {
        for (int x = 0; x < level.windows_x; ++x) found.negatives.add(scanner.score(level, x, y));
      }
    }
    if (timed.size() < kTimedPictures) timed.emplace_back(picture.view());
  }
  found.seconds = VariantTimer(scanner, timed).time(whole.stages(), variant, false);
  return found;
}

struct Difference {
  std::size_t sums = 0, wrong = 0;   ///< sums above 0 in either, and those that differ
  std::size_t boxes = 0, other = 0;  ///< of the exact variant, and boxes that only one of the two has
  double lost = 0;                   ///< of all responses, 0 to 1
};

Difference compare(const Found& exact, const Found& variant) {
  Difference d;
  double before = 0, after = 0;
  for (std::size_t i = 0; i < exact.roots.size(); ++i) {
    for (std::size_t k = 0; k < exact.roots[i].size(); ++k) {
      const double a = exact.roots[i][k], b = variant.roots[i][k];
      d.sums += a > 0 || b > 0;
      d.wrong += a != b;
      before += a * a;
      after += b * b;
    }
  }
  for (std::size_t i = 0; i < exact.boxes.size(); ++i) {
    const auto &a = exact.boxes[i], &b = variant.boxes[i];
    const auto lacks = [](const auto& in) {
      return [&in](const Detection& one) {
        return std::ranges::none_of(in, [&](const Detection& other) { return other.box == one.box; });
      };
    };
    d.boxes += a.size();
    d.other += std::count_if(a.begin(), a.end(), lacks(b)) + std::count_if(b.begin(), b.end(), lacks(a));
  }
  d.lost = before > 0 ? 1 - after / before : 0;
  return d;
}

void run(const Arguments& a) {
  const auto chosen =
      opencl::choose_device(opencl::parse_device_choice(a.text("--device")), opencl::list_devices());
  if (!chosen) throw Error(ExitCode::usage, "'--device " + a.text("--device") + "' names no device");
  const opencl::Context context(*chosen);
  const int filters = a.number("--filters");
  const Model model = load_model(a.text("--model"), filters > 0 ? std::optional(filters) : std::nullopt);
  const Pictures positives =
      load(training::FileImageSet(a.text("--positives"), a.text("--folder")), static_cast<std::size_t>(-1));
  const Pictures negatives = load(training::FileImageSet(a.text("--negatives")),
                                  static_cast<std::size_t>(std::max(a.number("--pictures"), 1)));
  std::printf("%s; %d filters; %zu positive windows; %zu negative pictures\n\n", context.name().c_str(),
              model.dictionary.size(), positives.size(), negatives.size());
  std::printf(
      "| variant | histogram, ms | wrong sums | responses lost | boxes | differ | missed at 1e-4 | at 1e-5 "
      "|\n"
      "|---|---|---|---|---|---|---|---|\n");
  Found exact;
  for (const std::string variant : kVariants) {
    Found found = search(model, context, variant, positives, negatives);
    if (variant == kVariants[0]) exact = found;
    const Difference d = compare(exact, found);
    const auto missed =
        miss_rates_per_window(found.positives, found.negatives, std::vector<double>{1e-4, 1e-5});
    std::printf("| `%s` | %.4f | %.4f%% of %zu | %.5f%% | %zu | %zu | %.2f%% | %.2f%% |\n", variant.c_str(),
                1e3 * found.seconds.at("histogram"), 100.0 * d.wrong / std::max<std::size_t>(d.sums, 1),
                d.sums, 100 * d.lost, d.boxes, d.other, 100 * missed[0].miss_rate(),
                100 * missed[1].miss_rate());
    std::fflush(stdout);
  }
  std::printf("\n%llu negative windows\n", static_cast<unsigned long long>(exact.negatives.windows()));
}

}  // namespace
}  // namespace sightline::filterbank

int main(int argc, char** argv) {
  try {
    sightline::filterbank::run(sightline::filterbank::parse(argc, argv));
    return 0;
  } catch (const sightline::Error& e) {
    std::fprintf(stderr, "bench_racy: %s\n", e.what());
    return static_cast<int>(e.code());
  }
}
