// The cascade detector against OpenCV's CascadeClassifier: same frames, same cascade, same options, same
// threads, in one run; and where its time goes, stage by stage.
//
//   bench_cascade [VIDEO [THREADS]]     frames of VIDEO, scaled to 768x576 (default: a test pattern), on
//                                       THREADS threads (default: all)
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "cascade/detector.hpp"
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

std::unique_ptr<cascade::CascadeDetector> make(const std::string& name, int early_stages) {
  cascade::Options options;
  options.search.scale_step = kStep;
  options.min_neighbors = kMinNeighbors;
  options.early_stages = early_stages;
  return std::make_unique<cascade::CascadeDetector>(cascade::load_model(file_of(name)), options);
}

// One iteration is one frame.
void sightline_cascade(benchmark::State& state, const std::string& name, int early_stages) {
  const auto detector = make(name, early_stages);
  const auto workspace = detector->make_workspace();
  std::size_t next = 0, objects = 0;
  for (auto _ : state)
    objects += detect(*detector, *workspace, std::as_const(frames()[next++ % frames().size()]).view()).size();
  state.counters["objects"] =
      benchmark::Counter(static_cast<double>(objects), benchmark::Counter::kAvgIterations);
}

void sightline_stage(benchmark::State& state, const std::string& name, std::size_t stage) {
  const auto detector = make(name, 0);
  const auto workspace = detector->make_workspace();
  std::size_t next = 0;
  for (auto _ : state) {
    state.PauseTiming();
    detector->prepare(*workspace, std::as_const(frames()[next++ % frames().size()]).view());
    for (std::size_t s = 0; s < stage; ++s) detector->run_stage(s, *workspace);
    state.ResumeTiming();
    detector->run_stage(stage, *workspace);
  }
  const auto& w = static_cast<const cascade::CascadeWorkspace&>(*workspace);
  if (stage == cascade::kScan) state.counters["survivors"] = static_cast<double>(w.survivors.size());
}

#ifdef SIGHTLINE_OPENCV
void opencv_cascade(benchmark::State& state, const std::string& name) {
  cv::CascadeClassifier classifier(file_of(name).string());
  std::vector<cv::Rect> found;
  std::size_t next = 0, objects = 0;
  for (auto _ : state) {
    classifier.detectMultiScale(benchmarks::as_mat(frames()[next++ % frames().size()]), found, kStep,
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

void add(const std::string& name) {
  settle(benchmark::RegisterBenchmark(("sightline/" + name).c_str(), sightline_cascade, name, 0));
#ifdef SIGHTLINE_OPENCV
  settle(benchmark::RegisterBenchmark(("opencv/" + name).c_str(), opencv_cascade, name));
#endif
  for (const int k : {1, 2, 3, 4, 6, 8, 12})
    settle(benchmark::RegisterBenchmark(("early_stages:" + std::to_string(k) + "/" + name).c_str(),
                                        sightline_cascade, name, k));
  for (std::size_t stage = cascade::kPyramid; stage <= cascade::kGroup; ++stage)
    settle(benchmark::RegisterBenchmark(("stage:" + std::to_string(stage) + "/" + name).c_str(),
                                        sightline_stage, name, stage));
}

}  // namespace
}  // namespace sightline

int main(int argc, char** argv) {
  constexpr char kPattern[] = "lavfi:testsrc2=size=768x576:duration=4";
  return sightline::benchmarks::run(argc, argv, kPattern, sightline::kFrames, [] {
    for (const char* name : {"lbpcascade_frontalface_improved", "haarcascade_frontalface_alt2",
                             "haarcascade_frontalface_default"})
      sightline::add(name);
  });
}
