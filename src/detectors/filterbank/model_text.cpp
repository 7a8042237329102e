#include "detectors/filterbank/model_text.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/text.hpp"
#include "model/description.hpp"
#include "model/safetensors.hpp"

namespace sightline::filterbank {
namespace {

template <typename... Values>
std::string format(const char* pattern, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

std::string describe_dictionary(const Model& model) {
  int largest = 0;
  for (const Filter& filter : model.dictionary.filters()) {
    for (const int c : filter) largest = std::max(largest, std::abs(c));
  }
  if (model.dictionary.patch() == 5) return format("%d filters of 5x5, float", model.dictionary.size());
  return format("%d filters of 3x3, 8-bit coefficients up to %d, and their float form",
                model.dictionary.size(), largest);
}

std::string describe_weights(const Model& model) {
  std::size_t positive = 0;
  std::size_t negative = 0;
  for (const int w : model.weights) {
    positive += w > 0;
    negative += w < 0;
  }
  const double percent = 100.0 / static_cast<double>(model.weights.size());
  return format("%zu of 8 bits: %.0f%% above 0, %.0f%% below, %.0f%% zero", model.weights.size(),
                percent * static_cast<double>(positive), percent * static_cast<double>(negative),
                percent * static_cast<double>(model.weights.size() - positive - negative));
}

std::string describe_network(const Network& network) {
  const std::size_t count = network.convolutions.size();
  return format(
      "%zu convolution%s, %.3g million multiply-adds a window%s; first-stage threshold %g, weight %g, limit "
      "%g",
      count, count == 1 ? "" : "s", 1e-6 * network.multiply_adds(),
      network.box.empty() ? "" : ", moves boxes", network.first_stage_threshold, network.weight,
      network.limit);
}

}  // namespace

std::string sizes_text(std::span<const Model> sizes) {
  std::string text = property_line(
      "sizes", std::to_string(sizes.size()) + (sizes.size() > 1 ? ", chosen with --filters" : ""));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto& evaluation = sizes[i].evaluation;
    const std::string size = std::to_string(sizes[i].dictionary.size()) + " filters";
    if (!evaluation) {
      text += detail_line(size, "not evaluated");
      continue;
    }
    text +=
        detail_line(size, "misses " + percent(evaluation->miss_rate_at_1e4) + " at 1e-4 and " +
                              percent(evaluation->miss_rate_at_1e5) + " at 1e-5 false positives a window");
    const bool shared =
        i + 1 < sizes.size() && sizes[i + 1].evaluation && sizes[i + 1].evaluation->data == evaluation->data;
    if (!shared) text += detail_line("measured on", evaluation->data);
  }
  return text;
}

std::string model_text(const std::filesystem::path& file, const Model& model) {
  std::string text;
  const auto print = [&](const char* name, const std::string& value) { text += property_line(name, value); };
  const auto header = Safetensors::load(file).metadata;
  const bool linear = model.classifier == ClassifierKind::linear;
  const Size window = model.window.pixels();
  print("file", file.string() +
                    format(" (%ju bytes)", static_cast<std::uintmax_t>(std::filesystem::file_size(file))));
  print("kind", header.at("kind") + ", version " + header.at("version"));
  print("label", model.label);
  print("window", format("%d x %d pixels: %d x %d cells of 8x8, %d x %d blocks of 2x2 cells", window.width,
                         window.height, model.window.cells_x, model.window.cells_y, model.window.blocks_x(),
                         model.window.blocks_y()));
  print("object", format("%g x %g pixels at (%g, %g) of the window", model.object.width, model.object.height,
                         model.object.x, model.object.y));
  print("dictionary", describe_dictionary(model));
  print("normalisation", header.at("normalisation") + format(", epsilon %d", model.epsilon));
  print("contrast", model.descriptor.contrast_sensitive()
                        ? "sensitive: two bins a filter, for responses above and below 0"
                    : model.descriptor.signed_value()
                        ? "signed: one bin a filter, for the largest response above 0"
                        : "insensitive: one bin a filter");
  if (model.descriptor.patterns) print("patterns", "uniform local binary patterns, 59 bins a block");
  if (!model.descriptor.exact()) {
    print("runs",
          std::string("by the reference method, on the CPU only") +
              (model.descriptor.float_on_devices() ? "; with --arithmetic float on devices, too" : ""));
  }
  print("classifier", linear ? "linear: score = (sum of weight * feature + bias) * scale"
                             : "distance: score = (bias - squared distance to the nearest template) * scale");
  print("templates", std::to_string(model.templates()) + (linear ? " (a linear classifier has one)" : ""));
  print("weights", describe_weights(model));
  print("bias", std::to_string(model.bias) + (linear ? format(" (a flat window scores %.3f)",
                                                              static_cast<double>(model.bias) * model.scale)
                                                     : ""));
  print("scale", format("%g", model.scale));
  print("threshold", format("%g", model.threshold));
  text += provenance_lines("provenance", model.provenance);
  if (model.network.empty()) return text;
  print("network", describe_network(model.network));
  text += provenance_lines("its provenance", model.network.provenance);
  return text;
}

}  // namespace sightline::filterbank
