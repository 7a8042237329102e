// Every stage of the filter-bank detector on one thread, with the work it does and the share it reaches of
// the processor's multiply-add peak, measured right beside it. 600x416 and 100 filters, as in the literature.
//
//   bench_filterbank [INSTRUCTION_SET]     no more than ssse3, sse4, avx2, ... (default: the best)
#include <benchmark/benchmark.h>

#include <cstdio>

#include "base/hardware.hpp"
#include "base/random.hpp"
#include "characterisation/peak.hpp"
#include "detectors/filterbank/kernels.hpp"
#include "image/pyramid.hpp"
#include "made_up.hpp"

namespace sightline::filterbank {

namespace {

constexpr Size kFrame{600, 416};
constexpr int kFilters = 100;

// All stages' inputs and outputs for one frame with edges, texture and noise.
struct Bench {
  Bench() {
    Random random(2);
    response_map.resize(kFrame.width, kFrame.height);
    responses.resize(kFrame.width, kFrame.height);
    indices.resize(kFrame.width, kFrame.height);
    roots.resize(grid.roots_row() * grid.cells_y);
    patterns.resize(grid.patterns_row() * grid.cells_y);
    totals.resize(grid.totals_row() * grid.cells_y);
    features.resize(grid.features_row() * grid.cells_y);
    scores.resize(static_cast<std::size_t>(grid.pitch()) * grid.cells_y);
    std::vector<std::int8_t> values(static_cast<std::size_t>(WindowShape().blocks()) * kBlockCells *
                                    kFilters);
    for (std::int8_t& v : values)
      v = static_cast<std::int8_t>(static_cast<int>(random.below(2 * kMaxWeight + 1)) - kMaxWeight);
    weights = PackedWeights(values, WindowShape(), kFilters);
    filter();
    histogram();
    normalise();
  }
  GrayView gray() const { return image.view(); }
  void filter() {
    filter_rows(gray(), dictionary, ContrastMode::insensitive, 0, kFrame.height, response_map.view());
  }
  CellRow cells(int y) {
    return {roots.data() + y * grid.roots_row(), patterns.data() + y * grid.patterns_row(),
            totals.data() + y * grid.totals_row()};
  }
  void histogram() {
    for (int y = 0; y < grid.cells_y; ++y) {
      histogram_row(response_map.view(), CellEdges(grid), grid, y, cells(y));
    }
  }
  void normalise() {
    for (int y = 0; y < grid.blocks_y(); ++y) {
      normalise_row(cells(y), cells(y + 1), grid, 0, features.data() + y * grid.features_row());
    }
  }

  Dictionary dictionary = benchmarks::made_up_dictionary(kFilters);
  Grid grid{kFrame, kFilters};
  PaddedImage image = benchmarks::made_up_frame(kFrame);
  Image<std::uint32_t> response_map;
  Image<float> responses;
  Image<std::uint8_t> indices;
  AlignedBuffer<float> roots;
  AlignedBuffer<std::int32_t> totals, scores;
  AlignedBuffer<std::uint8_t> patterns, features;
  PackedWeights weights;
};

Bench& bench() {
  static Bench b;
  return b;
}

// Sets rate and share of the peak; `operations` a second call of the benchmarked work.
void report(benchmark::State& state, double operations, double peak) {
  state.counters["GMAC/s"] =
      benchmark::Counter(operations * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["peak_share"] =
      benchmark::Counter(operations / peak, benchmark::Counter::kIsIterationInvariantRate);
}

constexpr double kFilterOperations = 9.0 * kFilters * kFrame.width * kFrame.height;

void filter_exact(benchmark::State& state) {
  const double dot_peak = characterisation::peak_dot_products();
  for (auto _ : state) bench().filter();
  // A response of nine taps takes the eight elements of two dot products.
  report(state, kFilterOperations, dot_peak > 0 ? dot_peak * 9 / 8 : characterisation::peak_multiply_adds());
}

void filter_float(benchmark::State& state) {
  const double peak = characterisation::peak_multiply_adds();
  Bench& b = bench();
  for (auto _ : state)
    filter_rows_float(b.gray(), b.dictionary, ResponseMode::magnitude, 0, kFrame.height, b.responses.view(),
                      b.indices.view());
  report(state, kFilterOperations, peak);
}

void histogram(benchmark::State& state) {
  for (auto _ : state) bench().histogram();
  state.counters["ns/pixel"] =
      benchmark::Counter(1e-9 * kFrame.width * kFrame.height,
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void normalise(benchmark::State& state) {
  for (auto _ : state) bench().normalise();
  state.counters["ns/block"] =
      benchmark::Counter(1e-9 * bench().grid.blocks_x() * bench().grid.blocks_y(),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void classify(benchmark::State& state) {
  const double dot_peak = characterisation::peak_dot_products();
  Bench& b = bench();
  const WindowShape window;
  const int rows = b.grid.cells_y - window.cells_y + 1;
  const int columns = b.grid.cells_x - window.cells_x + 1;
  for (auto _ : state) {
    std::fill(b.scores.data(), b.scores.data() + b.scores.size(), 0);
    for (int y = 0; y < rows; y += 16) {
      classify_rows(b.features.data(), b.grid, b.weights, y, std::min(y + 16, rows), b.scores.data());
    }
  }
  report(state, static_cast<double>(window.blocks()) * kBlockCells * kFilters * rows * columns,
         dot_peak > 0 ? dot_peak : characterisation::peak_multiply_adds());
}

// One level at scale 1.2.
void pyramid_level(benchmark::State& state) {
  const Size target{500, 347};
  const Resizer resizer(kFrame, target, 1.2);
  PaddedImage level;
  level.resize(target);
  for (auto _ : state) resizer.run(bench().gray(), level.view(), 0, target.height);
  state.counters["ns/pixel"] =
      benchmark::Counter(1e-9 * target.width * target.height,
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

BENCHMARK(filter_float)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(filter_exact)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(histogram)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(normalise)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(classify)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(pyramid_level)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace sightline::filterbank

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc > 1) sightline::limit_instruction_set(argv[1]);
  std::printf("%s; one thread: %.1f float GMAC/s, %.1f 8-bit GMAC/s\n", sightline::instruction_set().c_str(),
              1e-9 * sightline::characterisation::peak_multiply_adds(),
              1e-9 * sightline::characterisation::peak_dot_products());
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
