// The cascade detector, the WaldBoost detector and the census detector against OpenCV's CascadeClassifier:
// same frames, same cascades, same options, same threads, in one run; and where their time goes, stage by
// stage.
//
//   bench_cascade [VIDEO [THREADS]]     frames of VIDEO, scaled to 768x576 (default: a test pattern), on
//                                       THREADS threads (default: all)
#include <benchmark/benchmark.h>

#include <functional>
#include <string>
#include <vector>

#include "detectors/cascade/detector.hpp"
#include "detectors/census/detector.hpp"
#include "detectors/waldboost/detector.hpp"
#include "versus_opencv.hpp"
#ifdef SIGHTLINE_OPENCV
#include <opencv2/objdetect.hpp>
#endif

namespace sightline {
namespace {

using benchmarks::frames;

constexpr int kFrames = 16;
constexpr double kStep = 1.1;
constexpr int kMinNeighbors = 3;

std::filesystem::path file_of(const std::string& name) {
  return cascade::find_model({}, name);
}

std::unique_ptr<Detector> make(const std::string& name, int early_stages) {
  cascade::Options options;
  options.search.scale_step = kStep;
  options.min_neighbors = kMinNeighbors;
  options.early_stages = early_stages;
  return std::make_unique<cascade::CascadeDetector>(cascade::load_model(file_of(name)), options);
}

std::unique_ptr<Detector> make_waldboost(const std::string& name, double min_size) {
  waldboost::Options options;
  options.scale_step = kStep;
  options.min_size = min_size;
  const std::filesystem::path models = SIGHTLINE_SOURCE_DIR "/configs/models";
  waldboost::Model model = waldboost::load_model(models / (name + ".safetensors"), 16 << 20);
  options.threshold = options.window_threshold = model.threshold;
  return std::make_unique<waldboost::WaldboostDetector>(std::move(model), options);
}

// @param early_stages  0: what is best
std::unique_ptr<Detector> make_census(const std::string& name, int early_stages) {
  census::Options options;
  options.early_stages = early_stages;
  const std::filesystem::path models = SIGHTLINE_SOURCE_DIR "/configs/models";
  census::Model model = census::load_model(models / (name + ".safetensors"), 16 << 20);
  options.threshold = options.window_threshold = model.threshold;
  return std::make_unique<census::CensusDetector>(std::move(model), options);
}

// One iteration is one frame.
void search(benchmark::State& state, const std::function<std::unique_ptr<Detector>()>& make_detector) {
  const auto detector = make_detector();
  const auto workspace = detector->make_workspace();
  std::size_t next = 0, objects = 0;
  for (auto _ : state)
    objects += detect(*detector, *workspace, std::as_const(frames()[next++ % frames().size()]).view()).size();
  state.counters["objects"] =
      benchmark::Counter(static_cast<double>(objects), benchmark::Counter::kAvgIterations);
}

void run_one_stage(benchmark::State& state, const std::function<std::unique_ptr<Detector>()>& make_detector,
                   std::size_t stage) {
  const auto detector = make_detector();
  const auto workspace = detector->make_workspace();
  std::size_t next = 0;
  for (auto _ : state) {
    state.PauseTiming();
    detector->prepare(*workspace, std::as_const(frames()[next++ % frames().size()]).view());
    for (std::size_t s = 0; s < stage; ++s) detector->run_stage(s, *workspace);
    state.ResumeTiming();
    detector->run_stage(stage, *workspace);
  }
}

#ifdef SIGHTLINE_OPENCV
void opencv_cascade(benchmark::State& state, const std::string& name, double step) {
  cv::CascadeClassifier classifier(file_of(name).string());
  std::vector<cv::Rect> found;
  std::size_t next = 0, objects = 0;
  for (auto _ : state) {
    classifier.detectMultiScale(benchmarks::as_mat(frames()[next++ % frames().size()]), found, step,
                                kMinNeighbors);
    objects += found.size();
  }
  state.counters["objects"] =
      benchmark::Counter(static_cast<double>(objects), benchmark::Counter::kAvgIterations);
}
#endif

void settle(benchmark::internal::Benchmark* b) {
  b->Unit(benchmark::kMillisecond)->UseRealTime();
}

void add_stages(const std::string& name, const std::function<std::unique_ptr<Detector>()>& make_detector) {
  for (std::size_t stage = 0; stage < make_detector()->stages().size(); ++stage)
    settle(benchmark::RegisterBenchmark(("stage:" + std::to_string(stage) + "/" + name).c_str(),
                                        run_one_stage, make_detector, stage));
}

void add(const std::string& name) {
  settle(benchmark::RegisterBenchmark(("sightline/" + name).c_str(), search, [=] { return make(name, 0); }));
#ifdef SIGHTLINE_OPENCV
  settle(benchmark::RegisterBenchmark(("opencv/" + name).c_str(), opencv_cascade, name, kStep));
#endif
  for (const int k : {1, 2, 3, 4, 6, 8, 12})
    settle(benchmark::RegisterBenchmark(("early_stages:" + std::to_string(k) + "/" + name).c_str(), search,
                                        [=] { return make(name, k); }));
  add_stages(name, [=] { return make(name, 0); });
}

void add_waldboost(const std::string& name) {
  for (const int pixels : {24, 45})
    settle(
        benchmark::RegisterBenchmark(("waldboost/" + name + "/from_pixels:" + std::to_string(pixels)).c_str(),
                                     search, [=] { return make_waldboost(name, pixels); }));
  add_stages(name, [=] { return make_waldboost(name, 24); });
}

// Beside OpenCV's cascade at the same step, from 20 pixels on, of which it skips every other window below 40.
void add_census(const std::string& name) {
  settle(
      benchmark::RegisterBenchmark(("census/" + name).c_str(), search, [=] { return make_census(name, 0); }));
#ifdef SIGHTLINE_OPENCV
  const std::string haar = "haarcascade_frontalface_alt2";
  settle(benchmark::RegisterBenchmark(("opencv/" + haar + "/step:1.15").c_str(), opencv_cascade, haar,
                                      census::Options().scale_step));
#endif
  for (const int k : {1, 2, 3, 4})
    settle(benchmark::RegisterBenchmark(("early_stages:" + std::to_string(k) + "/" + name).c_str(), search,
                                        [=] { return make_census(name, k); }));
  add_stages(name, [=] { return make_census(name, 0); });
}

}  // namespace
}  // namespace sightline

int main(int argc, char** argv) {
  constexpr char kPattern[] = "lavfi:testsrc2=size=768x576:duration=4";
  return sightline::benchmarks::run(argc, argv, kPattern, sightline::kFrames, [] {
    for (const char* name : {"lbpcascade_frontalface_improved", "haarcascade_frontalface_alt2",
                             "haarcascade_frontalface_default"})
      sightline::add(name);
    sightline::add_waldboost("faces-waldboost");
    sightline::add_census("faces");
  });
}
