// What recording costs the thread that offers frames: 1080p at 30 frames a second, 10 objects in each.
//
//   bench_recorder     time of Recorder::offer, which must not keep the detector waiting
#include <benchmark/benchmark.h>

#include <chrono>
#include <thread>
#include <vector>

#include "media/reader.hpp"
#include "media/recorder.hpp"
#include "support/media.hpp"

namespace sightline::media {
namespace {

using Clock = std::chrono::steady_clock;

void offer(benchmark::State& state) {
  const test::TempDir dir;
  Reader reader("lavfi:testsrc2=size=1920x1080:rate=30:duration=10,format=yuv420p");
  std::vector<Frame> source;
  for (int i = 0; i < 30; ++i) source.push_back(*reader.read());
  const std::vector<std::string> labels(10, "some label");
  const std::vector<Detection> objects(10, {{100, 100, 200, 400}, 1.5, 0});
  RecordOptions options;
  options.path = dir / "a.mp4";
  Recorder recorder(reader.info(), options);
  recorder.start();
  int i = 0;
  for (auto _ : state) {
    const Frame frame =
        source[static_cast<std::size_t>(i) % source.size()].renumbered(i + 1).retimed(i / 30.0);
    const Clock::time_point start = Clock::now();
    recorder.offer(frame, objects, labels);
    state.SetIterationTime(std::chrono::duration<double>(Clock::now() - start).count());
    ++i;
    std::this_thread::sleep_for(std::chrono::milliseconds(33));
  }
  recorder.finish();
  state.counters["written"] = static_cast<double>(recorder.status().written);
  state.counters["busy"] = static_cast<double>(recorder.status().busy);
}
BENCHMARK(offer)->Iterations(150)->UseManualTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace sightline::media

BENCHMARK_MAIN();
