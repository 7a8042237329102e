// From eyes to template, step by step on one thread: crop, local binary patterns, histograms, normalisation
// and projection (with its share of the float multiply-add peak, measured in the same run); beside them
// OpenCV's LBPH recogniser on the same crop, where it is installed. The same for hard light, which has
// histograms as templates; and the search for the nearest of many templates of both kinds, made of crops of
// a frame. All on one thread; compare processor times where the machine does something else, too.
//
//   bench_recognition [INSTRUCTION_SET]    no more than ssse3, sse4, avx2, ... (default: the best)
#include <benchmark/benchmark.h>

#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/hardware.hpp"
#include "base/random.hpp"
#include "characterisation/peak.hpp"
#include "faces/recognition/crop.hpp"
#include "faces/recognition/face_descriptor.hpp"
#include "faces/recognition/known_people.hpp"
#include "faces/recognition/model.hpp"
#include "faces/recognition/projection.hpp"
#include "faces/recognition/search.hpp"
#include "faces/recognition/training/channels.hpp"
#ifdef SIGHTLINE_OPENCV_FACE
#include <opencv2/face.hpp>
#endif

namespace sightline::recognition {
namespace {

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

FaceModel learned_model() {
  FaceModel model;
  model.channels = learned_channels();
  model.projection = random_projection(FaceDescriptor(model.channels).values());
  return model;
}

// Weights in the shares that the trainer gives them, wherever.
FaceModel light_model() {
  FaceModel model;
  model.geometry = kLightGeometry;
  model.channels = light_channels();
  Random random(5);
  for (int region = FaceDescriptor(model.channels).regions(); region > 0; --region) {
    const double part = random.unit();
    model.region_weights.push_back(part < 0.15 ? 0 : part < 0.6 ? 1 : part < 0.85 ? 2 : 4);
  }
  return model;
}

// From a frame to a template, as a model has it, on one thread.
class Way {
 public:
  explicit Way(FaceModel model) : model_(std::move(model)), descriptor_(model_.channels) {
    if (model_.projection) projector_.emplace(*model_.projection);
    values_.resize(static_cast<std::size_t>(descriptor_.values()));
    template_.resize(bytes_per_template(format_));
  }
  const FaceModel& model() const { return model_; }
  const TemplateFormat& format() const { return format_; }
  const Projector& projector() const { return *projector_; }

  std::span<const std::uint16_t> count(GrayView crop) {
    descriptor_.count(crop, scratch_, values_.data());
    return values_;
  }
  std::span<const std::uint8_t> describe(GrayView frame, const Similarity& place) {
    cropper_.crop(frame, place, crop_.view());
    count(std::as_const(crop_).view());
    write_template(format_, projector_ ? &*projector_ : nullptr, values_, projection_, template_);
    return template_;
  }

 private:
  FaceModel model_;
  FaceDescriptor descriptor_;
  std::optional<Projector> projector_;
  TemplateFormat format_ = template_format(model_);
  Cropper cropper_;
  Image<std::uint8_t> crop_{kCropSize.width, kCropSize.height};
  FaceDescriptor::Scratch scratch_;
  Projector::Scratch projection_;
  std::vector<std::uint16_t> values_;
  std::vector<std::uint8_t> template_;
};

// A frame with edges, texture and noise.
struct Bench {
  Bench()
      : frame(kFrame.width, kFrame.height),
        crop(kCropSize.width, kCropSize.height),
        learned(learned_model()),
        light(light_model()) {
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
  static Similarity face(double eye_distance, const CropGeometry& geometry = {}, Point at = {800, 500}) {
    const std::array<Point, 2> eyes{{at, {at.x + 0.99 * eye_distance, at.y + 0.14 * eye_distance}}};
    return similarity_of(eyes, crop_points(geometry));
  }

  Image<std::uint8_t> frame, crop;
  Cropper cropper;
  Way learned, light;
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

// Descriptors as published: circles of P points at radius 2, regions of a given width and height in pixels.
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

void face_values(benchmark::State& state, Way& way) {
  for (auto _ : state) benchmark::DoNotOptimize(way.count(bench().face_crop()).data());
}

void projection(benchmark::State& state) {
  const Projector& projector = bench().learned.projector();
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
void face_template(benchmark::State& state, Way& way) {
  const Similarity place = Bench::face(80, way.model().geometry);
  for (auto _ : state) benchmark::DoNotOptimize(way.describe(bench().gray(), place).data());
  state.counters["bytes"] = static_cast<double>(bytes_per_template(way.format()));
}

// The nearest of as many templates as the argument says, of 500 different ones.
void search(benchmark::State& state, Way& way) {
  constexpr std::size_t kDifferent = 500;
  Random random(6);
  std::vector<std::vector<std::uint8_t>> templates;
  for (std::size_t i = 0; i <= kDifferent; ++i) {
    const Point at{100 + 1500 * random.unit(), 100 + 700 * random.unit()};
    const auto made =
        way.describe(bench().gray(), Bench::face(60 + 60 * random.unit(), way.model().geometry, at));
    templates.emplace_back(made.begin(), made.end());
  }
  const std::vector<std::uint8_t> query = std::move(templates.back());
  TemplateSet set(way.format());
  while (set.size() < static_cast<std::size_t>(state.range(0)))
    set.append(templates[set.size() % kDifferent]);
  oneapi::tbb::task_arena one_thread(1);
  NearestSearch search;
  Matches matches;
  for (auto _ : state) one_thread.execute([&] { search.find(set, query, kMatches, matches); });
  state.counters["MB"] = 1e-6 * static_cast<double>(set.blocks() * set.block_bytes());
  state.counters["zeros"] =
      static_cast<double>(std::ranges::count(query, std::uint8_t{0})) / static_cast<double>(query.size());
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
BENCHMARK_CAPTURE(face_values, learned, bench().learned)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(face_values, light, bench().light)->Unit(benchmark::kMicrosecond);
BENCHMARK(projection)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(face_template, learned, bench().learned)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(face_template, light, bench().light)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(search, learned, bench().learned)
    ->Arg(100)
    ->Arg(1000)
    ->Arg(10'000)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(search, light, bench().light)
    ->Arg(100)
    ->Arg(1000)
    ->Arg(10'000)
    ->Unit(benchmark::kMicrosecond);

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
