// Accuracy against speed, side by side on the same frames and threads: our people detector in its settings
// and OpenCV's HOG detector, or face detectors and OpenCV's cascade. See tools/compare.
#include <oneapi/tbb/global_control.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/objdetect.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/median.hpp"
#include "detection/grouping.hpp"
#include "detectors/cascade/detector.hpp"
#include "detectors/filterbank/model.hpp"
#include "detectors/registry.hpp"
#include "evaluation/curves.hpp"
#include "evaluation/ground_truth.hpp"
#include "evaluation/matching.hpp"
#include "evaluation/report.hpp"
#include "media/reader.hpp"
#include "trade_off.hpp"

namespace sightline {
namespace {

constexpr double kScaleSteps[] = {1.05, 1.1, 1.2};
constexpr const char* kHogFamily = "OpenCV HOG";

struct Arguments {
  std::string video;
  std::string truth;
  std::string model = SIGHTLINE_SOURCE_DIR "/configs/models/people.safetensors";
  std::string output;
  std::string data;
  double first_pixel = 0;
  double min_size = 72;
  int threads = hardware_threads();
  int repetitions = 7;
  bool faces = false;
};

struct MarkedFrame {
  Image<std::uint8_t> luma;
  std::vector<TruthBox> truth;
};

std::vector<MarkedFrame> load_frames(const Arguments& a) {
  const GroundTruth truth = a.faces ? load_box_list(a.truth) : load_mot_truth(a.truth, a.first_pixel);
  std::vector<MarkedFrame> frames;
  media::Reader reader(a.video);
  while (const auto frame = reader.read()) {
    const auto* boxes = a.faces ? truth.find(std::filesystem::path(frame->name()).filename().string())
                                : truth.find(frame->number());
    if (boxes) frames.push_back({to_gray(*frame), *boxes});
  }
  if (frames.empty())
    throw Error(ExitCode::input, "no frame of '" + a.video + "' is marked in '" + a.truth + "'");
  return frames;
}

using Search = std::function<std::vector<Detection>(GrayView)>;

/// Speed is measured at the threshold that a detector comes with, accuracy at one that is low enough for the
/// whole curve.
enum class Purpose { speed, accuracy };

struct Setting {
  TradeOff measured;
  std::function<Search(Purpose)> make;
};

// --- Ours

/// As `sightline evaluate frames` has it: below lie the easy negatives.
constexpr double kLowThreshold = -1;

struct Mode {
  const char* family;
  const char* key;  // of the configuration; null: as it is
  double value;
};

constexpr Mode kModes[] = {{"Sightline", nullptr, 0},
                           {"Sightline --computed-scales 2", "computed_scales", 2},
                           {"Sightline --exact", "exact", 1}};

Search make_ours(const Arguments& a, const Mode& mode, int filters, double step, Purpose purpose) {
  Config config = Config::load(SIGHTLINE_SOURCE_DIR "/configs/people.toml");
  config.set("detector", "model", a.model);
  config.set("detector", "filters", static_cast<double>(filters));
  config.set("detector", "scale_step", step);
  config.set("detector", "min_size", a.min_size);
  if (mode.key) config.set("detector", mode.key, mode.value);
  if (purpose == Purpose::accuracy) config.set("detector", "threshold", kLowThreshold);
  const std::shared_ptr<Detector> detector = make_detector(config);
  const std::shared_ptr<Workspace> workspace = detector->make_workspace();
  return [detector, workspace](GrayView frame) { return detect(*detector, *workspace, frame); };
}

void add_ours(const Arguments& a, std::vector<Setting>& settings) {
  const std::vector<filterbank::Model> sizes = filterbank::load_models(a.model);
  for (const Mode& mode : kModes) {
    for (const filterbank::Model& model : sizes) {
      const int filters = model.dictionary.size();
      const std::string label = sizes.size() > 1 ? std::to_string(filters) : "";
      const std::string line = label.empty() ? "" : label + " filters";
      for (const double step : kScaleSteps) {
        settings.push_back(
            {{mode.family, line, step, "", 0, 0, 0, 0, label}, [&a, &mode, filters, step](Purpose purpose) {
               return make_ours(a, mode, filters, step, purpose);
             }});
      }
    }
  }
}

// --- HOG

/// The people of its training set fill 96 of the window's 128 rows.
constexpr double kHogWindow = 128;
constexpr double kHogPerson = 96;

struct HogVariant {
  const char* line;
  const char* name;
  double hit_threshold;  ///< for accuracy; for speed it is 0, the default
  bool suppress;         ///< as ours: the best box of those that overlap, instead of OpenCV's groups
};

// What was tried for HOG. Of each line, the best at each scale step enters the picture. Left out is what is
// far worse: boxes without grouping.
constexpr HogVariant kHogVariants[] = {
    {"own grouping", "defaults", 0, false},
    {"own grouping", "hit threshold -0.5", -0.5, false},
    {"our grouping", "", -0.5, true},
};

/// Frames are resized so that the smallest person has the size that the detector was trained on, as ours
/// does.
Search make_hog(double min_size, const HogVariant& variant, double step, Purpose purpose) {
  const auto hog = std::make_shared<cv::HOGDescriptor>();
  hog->setSVMDetector(cv::HOGDescriptor::getDefaultPeopleDetector());
  const double enlarge = kHogPerson / min_size;
  const double hit_threshold = purpose == Purpose::speed ? 0 : variant.hit_threshold;
  return [=](GrayView frame) {
    const cv::Mat given(frame.height(), frame.width(), CV_8UC1, const_cast<std::uint8_t*>(frame.data()),
                        static_cast<std::size_t>(frame.stride()));
    cv::Mat image = given;
    if (enlarge != 1) cv::resize(given, image, cv::Size(), enlarge, enlarge, cv::INTER_LINEAR);
    std::vector<cv::Rect> windows;
    std::vector<double> scores;
    hog->detectMultiScale(image, windows, scores, hit_threshold, cv::Size(8, 8), cv::Size(), step,
                          variant.suppress ? 0 : 2);
    std::vector<Detection> found;
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const double window = windows[i].height;
      const double height = window * kHogPerson / kHogWindow;
      const double top = windows[i].y + (window - height) / 2;
      found.push_back({{windows[i].x / enlarge, top / enlarge, windows[i].width / enlarge, height / enlarge},
                       scores[i],
                       0});
    }
    return variant.suppress ? suppress_non_maxima(std::move(found), 0.65) : found;
  };
}

void add_hog(const Arguments& a, std::vector<Setting>& settings) {
  for (const HogVariant& variant : kHogVariants) {
    for (const double step : kScaleSteps) {
      settings.push_back(
          {{kHogFamily, variant.line, step, variant.name},
           [&a, &variant, step](Purpose purpose) { return make_hog(a.min_size, variant, step, purpose); }});
    }
  }
}

// --- Faces

constexpr const char* kHaarFamily = "alt2 in OpenCV";
constexpr double kFaceSteps[] = {1.1, 1.15, 1.2};

struct FaceModel {
  const char* family;
  const char* config;
  const char* model;
  double min_size;  // 0: the model's own, and the model is a file
};

constexpr double kLowFaceThreshold = -100;
constexpr FaceModel kFaceModels[] = {
    {"census", "faces", "models/faces.safetensors", 0},
    {"waldboost", "faces-waldboost", "models/faces-waldboost.safetensors", 0},
    {"alt2 in Sightline", "faces-opencv", "haarcascade_frontalface_alt2", 20},
};

Search make_face_search(const FaceModel& face, double step, Purpose purpose) {
  Config config = Config::load(SIGHTLINE_SOURCE_DIR "/configs/" + std::string(face.config) + ".toml");
  config.set("detector", "model",
             face.min_size > 0 ? std::string(face.model)
                               : SIGHTLINE_SOURCE_DIR "/configs/" + std::string(face.model));
  config.set("detector", "scale_step", step);
  if (face.min_size > 0) config.set("detector", "min_size", face.min_size);
  // A cascade's is of windows that agree, and stays as OpenCV has it.
  if (purpose == Purpose::accuracy && face.min_size == 0)
    config.set("detector", "threshold", kLowFaceThreshold);
  const std::shared_ptr<Detector> detector = make_detector(config);
  const std::shared_ptr<Workspace> workspace = detector->make_workspace();
  return [detector, workspace](GrayView frame) { return detect(*detector, *workspace, frame); };
}

// Our cascades find what OpenCV's do (tests/opencv) and have scores besides: how much OpenCV's misses is ours
// to say, its speed is its own.
Search make_opencv_cascade(double step, Purpose purpose) {
  const FaceModel& haar = std::end(kFaceModels)[-1];
  if (purpose == Purpose::accuracy) return make_face_search(haar, step, purpose);
  const auto cascade = std::make_shared<cv::CascadeClassifier>(cascade::find_model({}, haar.model).string());
  return [=](GrayView frame) {
    const cv::Mat image(frame.height(), frame.width(), CV_8UC1, const_cast<std::uint8_t*>(frame.data()),
                        static_cast<std::size_t>(frame.stride()));
    std::vector<cv::Rect> found;
    cascade->detectMultiScale(image, found, step, 3, 0, cv::Size(20, 20));
    return std::vector<Detection>();
  };
}

void add_faces(std::vector<Setting>& settings) {
  for (const double step : kFaceSteps) {
    for (const FaceModel& face : kFaceModels) {
      settings.push_back({{face.family, "", step, ""},
                          [&face, step](Purpose purpose) { return make_face_search(face, step, purpose); }});
    }
    settings.push_back({{kHaarFamily, "", step, ""},
                        [step](Purpose purpose) { return make_opencv_cascade(step, purpose); }});
  }
}

// --- Measuring

double miss_rate(const std::vector<MarkedFrame>& frames, const Search& search, const MatchOptions& matching) {
  ImageScores scores;
  for (const MarkedFrame& frame : frames) {
    const std::vector<Detection> found = search(frame.luma.view());
    scores.add(found, match_detections(found, frame.truth, matching));
  }
  return log_average_miss_rate(miss_rate_per_image(scores));
}

/// Frames/s, one frame after the other; the first one is searched once more before, to warm up.
double rate(const std::vector<MarkedFrame>& frames, const Search& search) {
  search(frames.front().luma.view());
  const auto start = std::chrono::steady_clock::now();
  for (const MarkedFrame& frame : frames) search(frame.luma.view());
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return static_cast<double>(frames.size()) / taken.count();
}

/// Every repetition goes through all settings, so that what else the machine does meets them all alike.
void measure_rates(const std::vector<MarkedFrame>& frames, int repetitions, std::span<Setting*> settings) {
  std::vector<std::vector<double>> rates(settings.size());
  for (int repetition = 1; repetition <= repetitions; ++repetition) {
    std::fprintf(stderr, "speed, repetition %d of %d\n", repetition, repetitions);
    for (std::size_t i = 0; i < settings.size(); ++i)
      rates[i].push_back(rate(frames, settings[i]->make(Purpose::speed)));
  }
  for (std::size_t i = 0; i < settings.size(); ++i) {
    TradeOff& m = settings[i]->measured;
    const auto [slowest, fastest] = std::minmax_element(rates[i].begin(), rates[i].end());
    m.slowest = *slowest;
    m.fastest = *fastest;
    m.rate = sightline::median(rates[i]);
  }
}

std::vector<TradeOff> results_of(std::span<const Setting> settings) {
  std::vector<TradeOff> results;
  for (const Setting& setting : settings) results.push_back(setting.measured);
  return results;
}

/// The miss rates of all settings, and the speed of those that are best of their variants.
std::vector<TradeOff> measure(const Arguments& a, const std::vector<MarkedFrame>& frames) {
  std::vector<Setting> settings;
  if (a.faces) {
    add_faces(settings);
  } else {
    add_ours(a, settings);
    add_hog(a, settings);
  }
  for (Setting& setting : settings) {
    TradeOff& m = setting.measured;
    m.miss_rate = miss_rate(frames, setting.make(Purpose::accuracy),
                            a.faces ? MatchOptions::faces() : MatchOptions::people());
    std::fprintf(stderr, "%s, scale step %g: miss rate %.3f\n", name_of(m).c_str(), m.scale_step,
                 m.miss_rate);
  }
  std::vector<Setting*> best;
  for (const std::size_t i : best_variants(results_of(settings))) best.push_back(&settings[i]);
  measure_rates(frames, a.repetitions, best);
  return results_of(settings);
}

std::vector<std::string> captions(const Arguments& a, const std::vector<MarkedFrame>& frames) {
  std::size_t marked = 0;
  for (const MarkedFrame& frame : frames) {
    for (const TruthBox& box : frame.truth) marked += box.ignore ? 0 : 1;
  }
  const Size size = frames.front().luma.view().size();
  char sizes[200];
  if (a.faces)
    std::snprintf(sizes, sizeof sizes, "%zu pictures with %zu faces, one after the other", frames.size(),
                  marked);
  else
    std::snprintf(sizes, sizeof sizes, "%zu frames of %dx%d with %zu people, from %g pixels high",
                  frames.size(), size.width, size.height, marked, a.min_size);
  return {a.data + ": " + sizes + ", on " + std::to_string(a.threads) +
              (a.threads == 1 ? " thread of" : " threads of"),
          cpu_name() + " (" + instruction_set() + "); OpenCV " + CV_VERSION +
              ". Miss rates are log-averages from 0.01 to 1 false positives a frame."};
}

void run(const Arguments& a) {
  std::filesystem::create_directories(a.output);
  const std::filesystem::path folder = a.output;
  const std::vector<MarkedFrame> frames = load_frames(a);
  const std::vector<TradeOff> measured = measure(a, frames);
  std::vector<TradeOff> best;
  for (const std::size_t i : best_variants(measured)) best.push_back(measured[i]);
  const std::vector<std::string> lines = captions(a, frames);
  std::vector<std::string> shown = lines;
  if (std::any_of(best.begin(), best.end(), [](const TradeOff& m) { return !m.label.empty(); }))
    shown.push_back("Numbers at the lines: filters in the dictionary.");
  const std::string table = trade_offs_as_markdown(best, a.faces ? kHaarFamily : kHogFamily);
  write_report(folder / "compare.csv", trade_offs_as_csv(measured));
  write_report(folder / "compare.md", lines[0] + "\n" + lines[1] + "\n\n" + table);
  write_report(
      folder / "compare.svg",
      trade_offs_as_svg(
          best, (a.faces ? "Face" : "People") + std::string(" detectors: accuracy against speed"), shown));
  std::fputs(table.c_str(), stdout);
}

}  // namespace
}  // namespace sightline

int main(int argc, char** argv) {
  using namespace sightline;
  Arguments a;
  CLI::App app("Measures accuracy and speed of our detectors and of OpenCV's, side by side.");
  app.add_option("video", a.video, "Video with people")->required();
  app.add_option("truth", a.truth, "The people in it, in MOT format")->required();
  app.add_flag("--faces", a.faces, "A folder of pictures with faces and their boxes: name x1 y1 x2 y2");
  app.add_option("--output", a.output, "Folder for compare.csv, compare.md, compare.svg")->required();
  app.add_option("--model", a.model, "Model file, in all its sizes")->capture_default_str();
  app.add_option("--data", a.data, "What the video is called in the picture (default: its file name)");
  app.add_option("--first-pixel", a.first_pixel, "1 where the MOT file counts pixels from 1")
      ->check(CLI::IsMember({0.0, 1.0}));
  app.add_option("--min-size", a.min_size, "Height in pixels of the smallest person")
      ->check(CLI::Range(10.0, 1000.0))
      ->capture_default_str();
  app.add_option("--threads", a.threads, "CPU threads")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--repetitions", a.repetitions, "Of each setting's speed, of which the median counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (a.data.empty()) a.data = std::filesystem::path(a.video).stem().string();
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                          static_cast<std::size_t>(a.threads));
  cv::setNumThreads(a.threads);
  try {
    run(a);
    return 0;
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return static_cast<int>(e.code());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
