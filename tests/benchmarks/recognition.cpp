// From eyes to template, step by step on one thread: crop, local binary patterns, histograms, normalisation
// and projection (with its share of the float multiply-add peak, measured in the same run); beside them
// OpenCV's LBPH recogniser on the same crop, where it is installed.
//
//   bench_recognition [INSTRUCTION_SET]    no more than ssse3, sse4, avx2, ... (default: the best)
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "base/hardware.hpp"
#include "characterisation/peak.hpp"
#include "recognition/crop.hpp"
#include "recognition/face_descriptor.hpp"
#include "recognition/projection.hpp"
#include "recognition/training/channels.hpp"
#include "training/random.hpp"
#ifdef SIGHTLINE_OPENCV_FACE
#include <opencv2/face.hpp>
#endif

namespace sightline::recognition {
namespace {

using training::Random;

constexpr Size kFrame{1920, 1080};
constexpr int kDims = 256;

Projection random_projection(int values) {
  Random random(3);
  Projection projection;
  projection.dims = kDims;
  projection.values = values;
  for (int i = 0; i < kDims * values; ++i)
    projection.weights.push_back(static_cast<std::int8_t>(static_cast<int>(random.below(255)) - 127));
  projection.bias.resize(kDims);
  projection.scale.assign(kDims, 1000);
  return projection;
}

// A frame with edges, texture and noise.
struct Bench {
  Bench() : frame(kFrame.width, kFrame.height), crop(kCropSize.width, kCropSize.height) {
    Random random(2);
    for (int y = 0; y < kFrame.height; ++y) {
      for (int x = 0; x < kFrame.width; ++x) {
        const double wave = 60 * std::sin(x * 0.05 + y * 0.03) + ((x / 40 + y / 60) % 2) * 40;
        frame.view().at(x, y) = static_cast<std::uint8_t>(90 + wave + 10 * random.unit());
      }
    }
    cropper.crop(gray(), face(80), crop.view());
  }
  GrayView gray() const { return frame.view(); }
  GrayView face_crop() const { return crop.view(); }
  // Turned a little.
  static Similarity face(double eye_distance) {
    const std::array<Point, 2> eyes{{{800, 500}, {800 + 0.99 * eye_distance, 500 + 0.14 * eye_distance}}};
    return similarity_of(eyes);
  }

  Image<std::uint8_t> frame, crop;
  Cropper cropper;
  FaceDescriptor learned{learned_channels()};
  Projector projector{random_projection(learned.values())};
};

Bench& bench() {
  static Bench b;
  return b;
}

void per_pixel(benchmark::State& state) {
  state.counters["ns/pixel"] =
      benchmark::Counter(1e-9 * kCropSize.width * kCropSize.height,
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void crop(benchmark::State& state) {
  Bench& b = bench();
  Image<std::uint8_t> target(kCropSize.width, kCropSize.height);
  const Similarity from = Bench::face(static_cast<double>(state.range(0)));
  for (auto _ : state) b.cropper.crop(b.gray(), from, target.view());
  per_pixel(state);
}

void patterns(benchmark::State& state) {
  const CircularLbp circle(static_cast<int>(state.range(0)), 2);
  std::vector<std::uint16_t> codes(static_cast<std::size_t>(kCropSize.width));
  for (auto _ : state) {
    for (int y = 2; y < kCropSize.height - 2; ++y)
      circular_lbp_row(bench().face_crop(), circle, y, 2, kCropSize.width - 2, codes.data());
    benchmark::DoNotOptimize(codes.data());
  }
  per_pixel(state);
}

// The seed's descriptors: circles of P points at radius 2, regions of so many pixels side by side.
void histograms(benchmark::State& state) {
  const Size region{static_cast<int>(state.range(1)), static_cast<int>(state.range(2))};
  const Descriptor descriptor(
      {{{static_cast<int>(state.range(0)), 2}}, LbpMapping::uniform, kCropSize, 2, region, region});
  Descriptor::Scratch scratch;
  std::vector<std::uint16_t> counts(static_cast<std::size_t>(descriptor.values()));
  for (auto _ : state) descriptor.count(bench().face_crop(), scratch, counts.data());
  per_pixel(state);
}

void normalisation(benchmark::State& state) {
  const Normalisation normalisation{static_cast<int>(state.range(0)), static_cast<int>(state.range(1))};
  Normaliser normaliser;
  for (auto _ : state) benchmark::DoNotOptimize(normaliser.run(bench().face_crop(), normalisation).data());
  per_pixel(state);
}

void face_values(benchmark::State& state) {
  const FaceDescriptor& descriptor = bench().learned;
  FaceDescriptor::Scratch scratch;
  std::vector<std::uint16_t> values(static_cast<std::size_t>(descriptor.values()));
  for (auto _ : state) descriptor.count(bench().face_crop(), scratch, values.data());
}

void projection(benchmark::State& state) {
  const Projector& projector = bench().projector;
  const double peak = characterisation::peak_multiply_adds();
  Random random(4);
  std::vector<std::uint16_t> counts(static_cast<std::size_t>(projector.values()));
  for (std::uint16_t& count : counts) count = static_cast<std::uint16_t>(random.below(30));
  Projector::Scratch scratch;
  std::vector<std::int8_t> result(kDims);
  for (auto _ : state) projector.project(counts.data(), scratch, result.data());
  const double operations = static_cast<double>(projector.values()) * projector.dims();
  state.counters["GMAC/s"] =
      benchmark::Counter(operations * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["float_peak_share"] =
      benchmark::Counter(operations / peak, benchmark::Counter::kIsIterationInvariantRate);
}

// A face of a frame, whose eyes are 80 pixels apart, to its template.
void face_template(benchmark::State& state) {
  Bench& b = bench();
  FaceDescriptor::Scratch scratch;
  Projector::Scratch projector_scratch;
  std::vector<std::uint16_t> values(static_cast<std::size_t>(b.learned.values()));
  std::vector<std::int8_t> result(kDims);
  Image<std::uint8_t> target(kCropSize.width, kCropSize.height);
  for (auto _ : state) {
    b.cropper.crop(b.gray(), Bench::face(80), target.view());
    b.learned.count(std::as_const(target).view(), scratch, values.data());
    b.projector.project(values.data(), projector_scratch, result.data());
  }
}

BENCHMARK(crop)->Arg(40)->Arg(80)->Arg(160)->Arg(320)->Unit(benchmark::kMicrosecond);
BENCHMARK(patterns)->Arg(8)->Arg(16)->Unit(benchmark::kMicrosecond);
BENCHMARK(histograms)
    ->Args({8, 18, 21})
    ->Args({8, 11, 13})
    ->Args({8, 26, 30})
    ->Args({16, 18, 21})
    ->Args({16, 26, 30})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(normalisation)->Args({1, 0})->Args({2, 4})->Unit(benchmark::kMicrosecond);
BENCHMARK(face_values)->Unit(benchmark::kMicrosecond);
BENCHMARK(projection)->Unit(benchmark::kMicrosecond);
BENCHMARK(face_template)->Unit(benchmark::kMicrosecond);

#ifdef SIGHTLINE_OPENCV_FACE
// OpenCV's recogniser learns one crop, which is to make its histograms: 8 points at radius 2, 7x7 regions.
void opencv_lbph(benchmark::State& state) {
  cv::setNumThreads(1);
  const GrayView view = bench().face_crop();
  const cv::Mat crop(view.height(), view.width(), CV_8UC1, const_cast<std::uint8_t*>(view.data()),
                     static_cast<std::size_t>(view.stride()));
  const auto recogniser = cv::face::LBPHFaceRecognizer::create(2, 8, 7, 7);
  const std::vector<cv::Mat> crops{crop};
  const std::vector<int> labels{0};
  for (auto _ : state) recogniser->train(crops, labels);
  per_pixel(state);
}
BENCHMARK(opencv_lbph)->Unit(benchmark::kMicrosecond);
#endif

}  // namespace
}  // namespace sightline::recognition

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc > 1) sightline::limit_instruction_set(argv[1]);
  std::printf("%s, %s\n", sightline::cpu_name().c_str(), sightline::instruction_set().c_str());
  benchmark::RunSpecifiedBenchmarks();
}
