#include "support/filterbank.hpp"

#include <algorithm>
#include <cmath>

namespace sightline::test {

int random_int(std::mt19937_64& engine, int low, int high) {
  return low + static_cast<int>(engine() % static_cast<std::uint64_t>(high - low + 1));
}

template <typename FilterType>
std::vector<FilterType> random_filters(int count, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::vector<FilterType> filters(count);
  for (FilterType& filter : filters) {
    float mean = 0;
    for (float& c : filter) mean += c = static_cast<float>(random_int(engine, -1000, 1000));
    float energy = 0;
    for (float& c : filter) {
      c -= mean / static_cast<float>(filter.size());
      energy += c * c;
    }
    for (float& c : filter) c /= std::sqrt(energy);
  }
  return filters;
}

template std::vector<filterbank::FloatFilter> random_filters(int, unsigned);
template std::vector<filterbank::LargeFilter> random_filters(int, unsigned);

filterbank::Model random_model(int filters, unsigned seed, filterbank::ClassifierKind kind, int templates,
                               filterbank::WindowShape window) {
  std::mt19937_64 engine(seed + 1);
  filterbank::Model model;
  model.label = "thing";
  model.window = window;
  const Size pixels = window.pixels();
  model.object = {4, 4, pixels.width - 8.0, pixels.height - 8.0};
  model.classifier = kind;
  const auto floats = random_filters(filters, seed);
  model.dictionary = filterbank::Dictionary(filterbank::quantise(floats), floats);
  model.weights.resize(model.weights_per_template() * templates);
  const int lowest = kind == filterbank::ClassifierKind::linear ? -90 : 0;
  for (std::int8_t& w : model.weights) w = static_cast<std::int8_t>(random_int(engine, lowest, 90));
  model.bias = -12345;
  model.scale = 1e-4;
  model.threshold = 0.25;
  model.provenance = R"({"data":"made up"})";
  return model;
}

filterbank::Model random_model(int filters, unsigned seed, const filterbank::Descriptor& descriptor) {
  filterbank::Model model = random_model(filters, seed);
  model.descriptor = descriptor;
  if (descriptor.patch == 5)
    model.dictionary = filterbank::Dictionary(random_filters<filterbank::LargeFilter>(filters, seed));
  std::mt19937_64 engine(seed + 2);
  model.weights.resize(model.weights_per_template());
  for (std::int8_t& w : model.weights) w = static_cast<std::int8_t>(random_int(engine, -90, 90));
  return model;
}

std::vector<filterbank::Model> random_sizes(const std::vector<int>& sizes, unsigned seed,
                                            filterbank::ClassifierKind kind, int templates) {
  const filterbank::Dictionary dictionary = random_model(sizes.back(), seed).dictionary;
  std::vector<filterbank::Model> models;
  for (const int size : sizes) {
    filterbank::Model& model =
        models.emplace_back(random_model(size, seed + static_cast<unsigned>(size), kind, templates));
    model.dictionary = dictionary.first(size);
    model.bias = -1000 * size;
    model.scale = 1.0 / size;
    model.threshold = 0.01 * size;
    model.provenance = "size " + std::to_string(size);
  }
  return models;
}

Image<std::uint8_t> random_picture(Size size, unsigned seed) {
  std::mt19937_64 engine(seed);
  Image<std::uint8_t> picture(size.width, size.height);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x)
      picture.view().at(x, y) = static_cast<std::uint8_t>(100 + random_int(engine, 0, 20));
  }
  for (int i = 0; i < size.width * size.height / 400; ++i) {
    const int left = random_int(engine, -10, size.width - 1);
    const int top = random_int(engine, -10, size.height - 1);
    const int right = std::min(size.width, left + random_int(engine, 2, 30));
    const int bottom = std::min(size.height, top + random_int(engine, 2, 50));
    const int offset = random_int(engine, -100, 100);
    for (int y = std::max(top, 0); y < bottom; ++y) {
      for (int x = std::max(left, 0); x < right; ++x) {
        std::uint8_t& pixel = picture.view().at(x, y);
        pixel = static_cast<std::uint8_t>(std::clamp(pixel + offset, 0, 255));
      }
    }
  }
  return picture;
}

Image<std::uint8_t> flat_picture(Size size, std::uint8_t value) {
  Image<std::uint8_t> picture(size.width, size.height);
  for (int y = 0; y < size.height; ++y) std::fill_n(picture.view().row(y), size.width, value);
  return picture;
}

std::vector<Detection> detect_fresh(const Detector& detector, PictureView frame) {
  return detect(detector, *detector.make_workspace(), frame);
}

filterbank::FilterbankWorkspace& scored(const filterbank::FilterbankDetector& detector, Workspace& workspace,
                                        GrayView frame) {
  EXPECT_TRUE(detector.prepare(workspace, frame));
  auto& own = static_cast<filterbank::FilterbankWorkspace&>(workspace);
  detector.score_windows(own);
  return own;
}

}  // namespace sightline::test
