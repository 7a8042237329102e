// What training a cascade takes, on one thread: features of samples, and the comparison of all features,
// beside the rate at which this processor adds to a histogram with nothing else to do.
#include <benchmark/benchmark.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <array>

#include "base/random.hpp"
#include "detectors/cascade/training/boosting.hpp"

namespace sightline::cascade {
namespace {

constexpr Size kWindow{24, 24};
constexpr std::size_t kSamples = 2'000;  // of each class

// Walks of brightness: objects fall, others rise.
training::WindowSamples make_samples() {
  training::WindowSamples samples(kWindow);
  Random random(1);
  for (std::size_t i = 0; i < 2 * kSamples; ++i) {
    Image<std::uint8_t> window(kWindow.width, kWindow.height);
    int value = 128;
    for (int y = 0; y < kWindow.height; ++y) {
      for (int x = 0; x < kWindow.width; ++x) {
        value += static_cast<int>(random.below(41)) - (i < kSamples ? 21 : 20);
        value = std::clamp(value, 0, 255);
        window.view().at(x, y) = static_cast<std::uint8_t>(value);
      }
    }
    samples.add(window.view());
  }
  return samples;
}

struct Trained {
  explicit Trained(FeatureKind kind)
      : pool(all_features(kind, kWindow)), integrals(kind, kWindow), table(pool) {
    integrals.assign(make_samples());
    table.assign(integrals, kSamples);
  }
  FeaturePool pool;
  SampleIntegrals integrals;
  BinTable table;
};

Trained& trained(FeatureKind kind) {
  static Trained lbp(FeatureKind::lbp), haar(FeatureKind::haar);
  return kind == FeatureKind::lbp ? lbp : haar;
}

void features_of_samples(benchmark::State& state, FeatureKind kind) {
  Trained& t = trained(kind);
  for (auto _ : state) t.table.assign(t.integrals, kSamples);
  state.counters["features/s"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * static_cast<double>(t.pool.size()) * 2 * kSamples,
      benchmark::Counter::kIsRate);
}

// @param state  per cent of the samples that are not trimmed
void best_feature_of_all(benchmark::State& state, FeatureKind kind) {
  const Trained& t = trained(kind);
  std::vector<double> weights;
  Random random(2);
  for (std::size_t i = 0; i < 2 * kSamples; ++i)
    weights.push_back(std::cmp_less(random.below(100), state.range(0)) ? 1 : 1e-12);
  const WeighedSamples samples = weigh(weights, kSamples, 0.999);
  for (auto _ : state) benchmark::DoNotOptimize(best_feature(t.table, samples));
  const double kept = static_cast<double>(samples.positives.size() + samples.negatives.size());
  state.counters["increments/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(t.pool.size()) * kept,
                         benchmark::Counter::kIsRate);
}

// The bound: eight histograms in turn, so that no sum waits for the one before.
void increments_alone(benchmark::State& state) {
  std::array<std::array<std::uint32_t, kBins>, 8> sums{};
  std::vector<std::uint8_t> bins(std::size_t{1} << 12);
  Random random(3);
  for (std::uint8_t& bin : bins) bin = static_cast<std::uint8_t>(random.below(256));
  for (auto _ : state) {
    for (std::size_t i = 0; i < bins.size(); i += 8) {
      for (std::size_t r = 0; r < 8; ++r) sums[r][bins[i + r]] += 3;
    }
    benchmark::DoNotOptimize(sums);
  }
  state.counters["increments/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(bins.size()),
                         benchmark::Counter::kIsRate);
}

BENCHMARK(increments_alone);
BENCHMARK_CAPTURE(features_of_samples, lbp, FeatureKind::lbp)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(features_of_samples, haar, FeatureKind::haar)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(best_feature_of_all, lbp, FeatureKind::lbp)
    ->Arg(100)
    ->Arg(30)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(best_feature_of_all, haar, FeatureKind::haar)
    ->Arg(100)
    ->Arg(30)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sightline::cascade

int main(int argc, char** argv) {
  const oneapi::tbb::global_control one(oneapi::tbb::global_control::max_allowed_parallelism, 1);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
