#include <charconv>

#include "base/error.hpp"
#include "base/text.hpp"
#include "detectors/network/labels.hpp"
#include "detectors/network/network.hpp"
#include "detectors/network/published.hpp"
#include "image/size_text.hpp"

namespace sightline::network {
namespace {

constexpr int kSmallestInput = 8, kLargestInput = 8192;

// "640x480", or "640" for both sides.
std::optional<Size> size_from(const std::string& text, const std::string& where) {
  if (text.empty()) return {};
  const bool has_both = text.find('x') != std::string::npos;
  const std::optional<Size> size = to_size(has_both ? text : text + 'x' + text);
  const auto fits = [](int side) { return side >= kSmallestInput && side <= kLargestInput; };
  if (!size || !fits(size->width) || !fits(size->height))
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

// A file of that name comes before a published network.
std::filesystem::path model_file(const Config& config) {
  std::filesystem::path file = config.model_path("detector", "model", "");
  std::error_code error;
  const PublishedNetwork* const known = find_published(config.text("detector", "model", ""));
  if (!known || std::filesystem::is_regular_file(file, error)) return file;
  file = downloaded_file(*known);
  config.note_file("detector", "model", file);
  return file;
}

}  // namespace

Settings read_settings(const Config& config) {
  Settings settings;
  settings.file = model_file(config);
  settings.max_bytes = std::uint64_t(keys::kMaxModelSize.read(config, kMaxModelSize)) << 20;
  settings.model_type = kModelType.read(config, "");
  settings.input_size = size_from(kInputSize.read(config, ""), config.name());
  settings.resize_type = kResizeType.read(config, "");
  settings.pad_value = kPadValue.read(config);
  settings.reverse_input_channels = kReverseInputChannels.read(config);
  settings.mean_values = kMeanValues.read(config);
  settings.scale_values = kScaleValues.read(config);
  settings.crop_fraction = kCropFraction.read(config);
  settings.anchors = anchors_from(kAnchors.read(config, ""), config.name());
  if (const std::string labels = kLabels.read(config, ""); !labels.empty())
    settings.labels = labels_from(labels, config.path("detector", "labels", "").string(), config.name());
  settings.classes = kClasses.read(config, "");
  settings.class_thresholds = kClassThresholds.read(config, "");
  settings.threshold = keys::kThreshold.read(config);
  const auto confidence = kConfidenceThreshold.read(config);
  if (!settings.threshold) settings.threshold = confidence;
  settings.iou_threshold = kIouThreshold.read(config);
  settings.class_agnostic = kClassAgnostic.read(config, false);
  settings.top = kTop.read(config);
  settings.max_candidates = kMaxCandidates.read(config, settings.max_candidates);
  return settings;
}

}  // namespace sightline::network
