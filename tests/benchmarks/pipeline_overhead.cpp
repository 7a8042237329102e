// What the graph costs a frame: frames from memory, stages that do nothing, no sinks.
//
//   bench_pipeline     time a frame, with 1 and 4 frames in flight, on 1 and on all threads
#include <benchmark/benchmark.h>

#include "base/hardware.hpp"
#include "pipeline/session/pipeline.hpp"
#include "pipeline/session/sources.hpp"
#include "support/no_detector.hpp"

namespace sightline::pipeline {
namespace {

void graph(benchmark::State& state) {
  constexpr std::int64_t kFrames = 20'000;
  const test::NoDetector detector;
  Schedule schedule;
  schedule.in_flight = static_cast<int>(state.range(0));
  PipelineOptions options;
  options.threads = static_cast<int>(state.range(1));
  Pipeline pipeline(detector, nullptr, schedule, options);
  Image<std::uint8_t> picture(16, 16);
  MemorySource source({frame_from_gray(picture.view())}, kFrames);
  for (auto _ : state) {
    source.rewind();
    pipeline.run({&source, "memory", {}, {}});
  }
  state.counters["time_a_frame"] =
      benchmark::Counter(static_cast<double>(state.iterations() * kFrames),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

}  // namespace
}  // namespace sightline::pipeline

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  auto* const graph = benchmark::RegisterBenchmark("graph", sightline::pipeline::graph);
  graph->Unit(benchmark::kMillisecond)->UseRealTime()->ArgNames({"in_flight", "threads"});
  for (const int in_flight : {1, 4}) {
    graph->Args({in_flight, 1});
    if (sightline::hardware_threads() > 1) graph->Args({in_flight, sightline::hardware_threads()});
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
