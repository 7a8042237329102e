#include "detectors/waldboost/model.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "detectors/waldboost/haar.hpp"
#include "detectors/waldboost/xml.hpp"
#include "image/lbp.hpp"
#include "model/check.hpp"
#include "model/header.hpp"
#include "model/safetensors.hpp"
#include "model/xml.hpp"

namespace sightline::waldboost {
namespace {

constexpr std::string_view kVersion = "1";
constexpr std::int64_t kFeatureNumbers = 6;  // numbers per row of `features`
constexpr int kMiddle = kBlocks / 2;
constexpr double kSmallestUnit = 1e-30;
constexpr double kLargestUnit = 1e30;
constexpr double kSmallestBoxScale = 0.25, kLargestBoxScale = 4;
constexpr double kLargestThreshold = 1e30;
constexpr std::size_t kHead = 4096;  // bytes in which an XML's first element must begin

// @param fail  called with problem and remedy
void check_feature(const Feature& feature, FeatureKind kind, Size window, const auto& fail) {
  const auto number = [](int value) { return std::to_string(value); };
  const bool is_haar = kind == FeatureKind::haar;
  if (is_haar && (feature.first >= kHaarShapes.size() || feature.second != 0)) {
    fail("has shape " + number(feature.first) + " and " + number(feature.second),
         "with Haar features, the shape must be 0 to 4 and the other number 0");
  }
  const int largest = is_haar ? kMaxWindow : kMaxBlock;
  for (const int side : {feature.block_width, feature.block_height}) {
    if (side < 1 || side > largest) {
      fail("has blocks of " + number(feature.block_width) + "x" + number(feature.block_height) + " pixels",
           is_haar ? "each side must be at least 1, and not larger than the window"
                   : "each side must be 1 or " + number(kMaxBlock));
    }
  }
  const Size grid = grid_of(kind, feature);
  if (feature.x + grid.width * feature.block_width > window.width ||
      feature.y + grid.height * feature.block_height > window.height) {
    fail("has " + number(grid.width) + "x" + number(grid.height) + " blocks of " +
             number(feature.block_width) + "x" + number(feature.block_height) + " pixels at (" +
             number(feature.x) + ", " + number(feature.y) + "), which are not inside the window",
         "the window has " + number(window.width) + "x" + number(window.height) + " pixels");
  }
  if (is_haar) return;
  const bool usable = kind == FeatureKind::lbp ? feature.first == 0 && feature.second == 0
                                               : feature.first < kBlocks && feature.second < kBlocks &&
                                                     feature.first != feature.second;
  if (usable) return;
  fail("compares blocks " + number(feature.first) + " and " + number(feature.second),
       kind == FeatureKind::lbp ? "with LBP, both must be 0"
                                : "with LRP and LRD, they must be two different numbers from 0 to 8");
}

// Checks everything except the shapes of arrays.
void check_model(const Model& model, const ModelCheck& check) {
  check.label(model.label, kMaxLabel);
  check.window(model.window, kMinWindow, kMaxWindow);
  check.count("weak classifiers", std::ssize(model.features), kMaxWeakClassifiers);
  check.range("'unit' is ", model.unit, kSmallestUnit, kLargestUnit);
  check.range("'box_scale' is ", model.box_scale, kSmallestBoxScale, kLargestBoxScale);
  check.range("'threshold' is ", model.threshold, -kLargestThreshold, kLargestThreshold);
  for (std::size_t i = 0; i < model.features.size(); ++i) {
    check_feature(model.features[i], model.kind, model.window,
                  [&](const std::string& problem, const std::string& remedy) {
                    check.fail("weak classifier " + std::to_string(i) + " (counted from 0) " + problem,
                               remedy);
                  });
  }
  check.falling_shares("survivors", model.survivors);
}

FeatureKind read_kind(const ModelHeader& header) {
  const std::string name = header.text("feature");
  for (const FeatureKind kind : kFeatureKinds) {
    if (name == to_string(kind)) return kind;
  }
  header.fail("'feature' is '" + name + "'", "it must be 'lbp', 'lrp', 'lrd' or 'haar'");
}

std::vector<Feature> read_features(const Safetensors& file) {
  const auto numbers = file.array<std::uint8_t>("features", {Safetensors::kAny, kFeatureNumbers});
  std::vector<Feature> features;
  for (std::size_t at = 0; at < numbers.size(); at += kFeatureNumbers) {
    const auto row = numbers.subspan(at, kFeatureNumbers);
    features.push_back({row[0], row[1], row[2], row[3], row[4], row[5]});
  }
  return features;
}

Model load_own(const std::filesystem::path& path, std::uint64_t max_bytes) {
  const Safetensors file = Safetensors::load(path, max_bytes);
  const ModelHeader header(file, path);
  header.expect("kind", kModelKind,
                "choose a model of the WaldBoost detector, or the configuration that fits this model");
  header.expect("version", kVersion, "train it again, or use the version that made it");
  Model model;
  model.label = header.text("label");
  model.window = read_window(header, kMinWindow, kMaxWindow);
  model.kind = read_kind(header);
  model.unit = header.number("unit", kSmallestUnit, kLargestUnit);
  model.threshold = header.number("threshold", -kLargestThreshold, kLargestThreshold);
  model.calibration = ScoreCalibration::read(header);
  if (header.find("box_scale"))
    model.box_scale = header.number("box_scale", kSmallestBoxScale, kLargestBoxScale);
  if (const std::string* provenance = header.find("provenance")) model.provenance = *provenance;
  model.features = read_features(file);
  const auto count = static_cast<std::int64_t>(model.features.size());
  const auto responses = file.array<std::int16_t>("responses", {count, kCodes});
  model.responses.assign(responses.begin(), responses.end());
  const auto thresholds = file.array<std::int32_t>("thresholds", {count});
  model.thresholds.assign(thresholds.begin(), thresholds.end());
  if (file.contains("survivors")) {
    const auto survivors = file.array<float>("survivors", {count});
    model.survivors.assign(survivors.begin(), survivors.end());
  }
  check_model(model, ModelCheck(header));
  return model;
}

// The first bytes of a file; fewer where it is shorter, none if it cannot be read.
std::string read_head(const std::filesystem::path& file) {
  refuse_special_file(file, ExitCode::model);
  std::ifstream stream(file, std::ios::binary);
  std::string head(kHead, '\0');
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(stream.gcount()));
  return head;
}

// A safetensors file begins with the length of its header in 8 bytes, which may well begin with a '<', but
// not without a 0 among them.
bool is_xml(std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first != std::string_view::npos && head[first] == '<' &&
         head.substr(0, 8).find('\0') == std::string_view::npos;
}

// The text after the next `end`; empty if there is none.
std::string_view after(std::string_view text, std::string_view end) {
  const std::size_t at = text.find(end);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + end.size());
}

// The name of an XML's first element, past declaration, comments and document type; empty if it does not
// begin in this text.
std::string_view first_element(std::string_view text) {
  for (text = after(text, "<"); !text.empty(); text = after(text, "<")) {
    if (text.starts_with("?")) {
      text = after(text, "?>");
    } else if (text.starts_with("!--")) {
      text = after(text.substr(3), "-->");
    } else if (text.starts_with("!")) {
      text = after(text, text.find('[') < text.find('>') ? "]>" : ">");
    } else {
      return text.substr(0, text.find_first_of(" \t\r\n/>"));
    }
  }
  return {};
}

}  // namespace

const char* to_string(FeatureKind kind) {
  switch (kind) {
    case FeatureKind::lbp:
      return "lbp";
    case FeatureKind::lrp:
      return "lrp";
    case FeatureKind::lrd:
      return "lrd";
    case FeatureKind::haar:
      return "haar";
  }
  return "";
}

int code_of(FeatureKind kind, const Feature& feature, const std::array<std::uint32_t, kBlocks>& sums) {
  if (kind == FeatureKind::haar) return haar_code(kHaarShapes[feature.first], sums.data());
  if (kind == FeatureKind::lbp) {
    unsigned code = 0;
    for (std::size_t i = 0; i < kLbpNeighbours.size(); ++i) {
      const auto [dx, dy] = kLbpNeighbours[i];
      code |= unsigned{sums[kMiddle + kGrid * dy + dx] >= sums[kMiddle]} << i;
    }
    return static_cast<int>(code);
  }
  const auto rank = [&](int block) {
    return static_cast<int>(
        std::ranges::count_if(sums, [&](std::uint32_t sum) { return sum > sums[block]; }));
  };
  return code_of_ranks(kind == FeatureKind::lrp, rank(feature.first), rank(feature.second));
}

Model load_model(const std::filesystem::path& file, std::uint64_t max_bytes) {
  Model model = is_xml(read_head(file))
                    ? parse_xml_model(read_xml(file, "WaldBoost model", max_bytes), file.string())
                    : load_own(file, max_bytes);
  model.name = file.stem().string();
  return model;
}

bool looks_like_model(const std::filesystem::path& file) {
  if (safetensors_kind(file) == kModelKind) return true;
  const std::string head = read_head(file);
  return is_xml(head) && first_element(head) == kXmlRoot;
}

void save_model(const Model& model, const std::filesystem::path& file) {
  const std::size_t size = model.features.size();
  if (model.responses.size() != size * kCodes || model.thresholds.size() != size ||
      (!model.survivors.empty() && model.survivors.size() != size))
    throw std::invalid_argument("a model's arrays must be of one length");
  check_model(model, ModelCheck());
  std::vector<std::uint8_t> features;
  for (const Feature& f : model.features)
    features.insert(features.end(), {f.x, f.y, f.block_width, f.block_height, f.first, f.second});
  const auto count = static_cast<std::int64_t>(size);
  Safetensors container;
  container.metadata = {
      {"kind", std::string(kModelKind)},
      {"version", std::string(kVersion)},
      {"label", model.label},
      {"window", std::to_string(model.window.width) + "x" + std::to_string(model.window.height)},
      {"feature", to_string(model.kind)},
      {"unit", join_numbers({model.unit}, ',')},
      {"threshold", join_numbers({model.threshold}, ',')},
  };
  if (model.box_scale != 1) container.metadata["box_scale"] = join_numbers({model.box_scale}, ',');
  if (!model.calibration.empty()) container.metadata["calibration"] = model.calibration.to_text();
  if (!model.provenance.empty()) container.metadata["provenance"] = model.provenance;
  container.set<std::uint8_t>("features", {count, kFeatureNumbers}, features);
  container.set<std::int16_t>("responses", {count, kCodes}, model.responses);
  container.set<std::int32_t>("thresholds", {count}, model.thresholds);
  if (!model.survivors.empty()) container.set<float>("survivors", {count}, model.survivors);
  container.save(file);
}

}  // namespace sightline::waldboost
