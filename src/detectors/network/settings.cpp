#include <charconv>

#include "base/error.hpp"
#include "base/text.hpp"
#include "detection/candidate_limit.hpp"
#include "detectors/network/labels.hpp"
#include "detectors/network/network.hpp"
#include "detectors/network/onnx_file.hpp"
#include "detectors/network/published.hpp"
#include "model/size_limit.hpp"

namespace sightline::network {
namespace {

constexpr const char* kSection = "detector";
constexpr int kSmallestInput = 8, kLargestInput = 8192;

// "640x480", or "640" for both sides.
std::optional<Size> size_from(const std::string& text, const std::string& where) {
  if (text.empty()) return {};
  Size size;
  const char* const end = text.data() + text.size();
  auto read = std::from_chars(text.data(), end, size.width);
  size.height = size.width;
  if (read.ec == std::errc() && read.ptr != end && *read.ptr == 'x')
    read = std::from_chars(read.ptr + 1, end, size.height);
  const auto fits = [](int side) { return side >= kSmallestInput && side <= kLargestInput; };
  if (read.ec != std::errc() || read.ptr != end || !fits(size.width) || !fits(size.height))
    throw Error(ExitCode::usage, where + ": input_size '" + text + "' is not a size",
                "give WIDTHxHEIGHT, each from 8 to 8192");
  return size;
}

// "10x13 16x30": widths and heights in pixels.
std::vector<double> anchors_from(const std::string& text, const std::string& where) {
  constexpr std::size_t kMost = 1024;
  std::vector<double> anchors;
  for (const std::string& one : split(text, ' ')) {
    if (one.empty()) continue;
    const char* const end = one.data() + one.size();
    double width = 0, height = 0;
    auto read = std::from_chars(one.data(), end, width);
    const bool has_both = read.ec == std::errc() && read.ptr != end && *read.ptr == 'x';
    if (has_both) read = std::from_chars(read.ptr + 1, end, height);
    const auto fits = [](double side) { return side > 0 && side <= kLargestInput; };
    if (!has_both || read.ec != std::errc() || read.ptr != end || !fits(width) || !fits(height) ||
        anchors.size() >= kMost)
      throw Error(ExitCode::usage, where + ": anchors '" + text.substr(0, 100) + "' are no list of sizes",
                  "give widths and heights in pixels, by rising stride: \"10x13 16x30 33x23 ...\"");
    anchors.insert(anchors.end(), {width, height});
  }
  return anchors;
}

std::optional<bool> optional_flag(const Config& config, const char* key) {
  // A flag that is not there differs from one that is false.
  const bool one = config.flag(kSection, key, true), other = config.flag(kSection, key, false);
  if (one != other) return {};
  return one;
}

// A file of that name comes before a published network.
std::filesystem::path model_file(const Config& config) {
  std::filesystem::path file = config.model_path(kSection, "model", "");
  std::error_code error;
  const PublishedNetwork* const known = find_published(config.text(kSection, "model", ""));
  if (!known || std::filesystem::is_regular_file(file, error)) return file;
  file = downloaded_file(*known);
  config.note_file(kSection, "model", file);
  return file;
}

}  // namespace

Settings read_settings(const Config& config) {
  Settings settings;
  const auto text = [&](const char* key) { return config.text(kSection, key, ""); };
  settings.file = model_file(config);
  settings.max_bytes =
      std::uint64_t(config.optional_whole_number(kSection, "max_model_size", 1, kLargestModelSize)
                        .value_or(kMaxModelSize))
      << 20;
  settings.model_type = text("model_type");
  settings.input_size = size_from(text("input_size"), config.name());
  settings.resize_type = text("resize_type");
  settings.pad_value = config.optional_number(kSection, "pad_value", 0, 255);
  settings.reverse_input_channels = optional_flag(config, "reverse_input_channels");
  settings.mean_values = config.optional_numbers(kSection, "mean_values", 3, -1e6, 1e6);
  settings.scale_values = config.optional_numbers(kSection, "scale_values", 3, 1e-6, 1e6);
  settings.anchors = anchors_from(text("anchors"), config.name());
  if (!text("labels").empty())
    settings.labels =
        labels_from(text("labels"), config.path(kSection, "labels", "").string(), config.name());
  settings.classes = text("classes");
  settings.class_thresholds = text("class_thresholds");
  settings.threshold = config.optional_number(kSection, "threshold", -1e9, 1e9);
  const auto confidence = config.optional_number(kSection, "confidence_threshold", 0, 1);
  if (!settings.threshold) settings.threshold = confidence;
  settings.iou_threshold = config.optional_number(kSection, "iou_threshold", 0, 1);
  settings.class_agnostic = config.flag(kSection, "class_agnostic", false);
  settings.max_candidates = config.optional_whole_number(kSection, "max_candidates", 1, kMostCandidates)
                                .value_or(settings.max_candidates);
  return settings;
}

}  // namespace sightline::network
