// The whole people detector against OpenCV's HOG people detector: same frames, same scale step, same threads,
// in one run. Beside it, what tracking adds to a frame.
//
//   bench_detector [VIDEO [THREADS]]     every fifth frame of VIDEO, 16 of them, in turn, scaled to 768x576
//                                        (default: a drawn street with people), on THREADS threads (default:
//                                        all)
#include <benchmark/benchmark.h>

#include <cmath>
#include <numbers>
#include <optional>
#include <random>
#include <vector>

#include "detection/tracker.hpp"
#include "detectors/filterbank/model.hpp"
#include "detectors/registry.hpp"
#include "versus_opencv.hpp"
#ifdef SIGHTLINE_OPENCV
#include <opencv2/objdetect.hpp>
#endif

namespace sightline {
namespace {

// The frames in turn, so that an iteration's time is the mean of theirs. Counts objects a frame.
template <typename Search>
void search_frames(benchmark::State& state, const Search& search) {
  auto& frames = benchmarks::frames();
  std::size_t next = 0, objects = 0;
  for (auto _ : state) objects += search(frames[next++ % frames.size()]);
  state.counters["objects"] = static_cast<double>(objects) / static_cast<double>(next);
}

void sightline_people(benchmark::State& state, double step, std::optional<int> filters, bool exact) {
  Config config = Config::load(SIGHTLINE_SOURCE_DIR "/configs/people.toml");
  config.set("detector", "scale_step", step);
  if (filters) config.set("detector", "filters", static_cast<double>(*filters));
  if (exact) config.set("detector", "exact", 1.0);
  const auto detector = make_detector(config);
  const auto workspace = detector->make_workspace();
  search_frames(state, [&](const Image<std::uint8_t>& frame) {
    return detect(*detector, *workspace, frame.view()).size();
  });
}

#ifdef SIGHTLINE_OPENCV
void opencv_hog(benchmark::State& state, double step) {
  cv::HOGDescriptor hog;
  hog.setSVMDetector(cv::HOGDescriptor::getDefaultPeopleDetector());
  std::vector<cv::Rect> found;
  search_frames(state, [&](Image<std::uint8_t>& frame) {
    hog.detectMultiScale(benchmarks::as_mat(frame), found, 0, cv::Size(8, 8), cv::Size(), step, 2);
    return found.size();
  });
}
#endif

// People who walk to and fro; a tenth of them is missed, and some false alarms are found. The last frame
// joins the first.
std::vector<std::vector<Detection>> crowd(int people) {
  constexpr int kFrames = 256;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<Detection> start;
  for (int i = 0; i < people; ++i) {
    start.push_back({{uniform(random) * 1900, uniform(random) * 900, 41, 100}, uniform(random), 0});
  }
  std::vector<std::vector<Detection>> frames(kFrames);
  for (int f = 0; f < kFrames; ++f) {
    const double step = 100 * std::sin(2 * std::numbers::pi * f / kFrames);
    for (std::size_t i = 0; i < start.size(); ++i) {
      Detection object = start[i];
      object.box.x += (i % 2 ? step : -step) + 4 * uniform(random);
      object.box.y += 4 * uniform(random);
      if (uniform(random) < 0.02) object.box.x = uniform(random) * 1900;
      if (uniform(random) > 0.1) frames[static_cast<std::size_t>(f)].push_back(object);
    }
  }
  return frames;
}

void tracker_update(benchmark::State& state) {
  const auto frames = crowd(static_cast<int>(state.range(0)));
  Tracker tracker;
  std::size_t frame_number = 0;
  for (auto _ : state) {
    const auto& objects = frames[frame_number % frames.size()];
    benchmark::DoNotOptimize(tracker.update(0.04 * static_cast<double>(frame_number++), objects).data());
  }
  state.counters["tracks"] = static_cast<double>(tracker.tracks());
}
BENCHMARK(tracker_update)->Arg(20)->Arg(100)->Arg(300)->Unit(benchmark::kMicrosecond);

void settle(benchmark::internal::Benchmark* b) {
  b->Unit(benchmark::kMillisecond)->UseRealTime()->Repetitions(5)->ReportAggregatesOnly(true);
}

std::string suffix_of(double step) {
  return "/step:" + std::to_string(step).substr(0, 4);
}

// Every size that the shipped model has.
void add_sizes(double step) {
  for (const filterbank::Model& model :
       filterbank::load_models(SIGHTLINE_SOURCE_DIR "/configs/models/people.safetensors")) {
    const int filters = model.dictionary.size();
    const std::string name = "sightline_people/filters:" + std::to_string(filters) + suffix_of(step);
    settle(benchmark::RegisterBenchmark(name.c_str(), sightline_people, step, filters, false));
  }
}

void add(double step) {
  const std::string suffix = suffix_of(step);
  settle(benchmark::RegisterBenchmark(("sightline_people" + suffix).c_str(), sightline_people, step,
                                      std::nullopt, false));
  settle(benchmark::RegisterBenchmark(("sightline_people/exact" + suffix).c_str(), sightline_people, step,
                                      std::nullopt, true));
#ifdef SIGHTLINE_OPENCV
  settle(benchmark::RegisterBenchmark(("opencv_hog" + suffix).c_str(), opencv_hog, step));
#endif
}

}  // namespace
}  // namespace sightline

int main(int argc, char** argv) {
  constexpr char kStreet[] = SIGHTLINE_SOURCE_DIR "/tools/pictures/street.jpg";
  return sightline::benchmarks::run(argc, argv, kStreet, 16, [] {
    for (const double step : {1.05, 1.1, 1.2}) sightline::add(step);
    sightline::add_sizes(1.1);
  });
}
