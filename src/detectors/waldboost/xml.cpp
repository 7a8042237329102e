#include "detectors/waldboost/xml.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>
#include <vector>

#include "model/xml.hpp"

namespace sightline::waldboost {
namespace {

using pugi::xml_node;

constexpr double kInfinite = 1e30;          // thresholds that are at least so large stand for infinity
constexpr double kLargestPrediction = 1e9;  // magnitude
constexpr int kLargestResponse = std::numeric_limits<std::int16_t>::max();
constexpr int kMaxExponent = 100;             // limit of the unit's exponent: predictions may all be 0
constexpr std::size_t kShownCharacters = 40;  // shown characters of an unexpected name

// The largest k with which predictions of up to this magnitude are at most kLargestResponse times 2^-k.
int unit_exponent(double largest) {
  int exponent = 0;
  const double mantissa = std::frexp(largest, &exponent);  // largest = mantissa * 2^exponent, mantissa < 1
  const int k = (std::ldexp(mantissa, 15) <= kLargestResponse ? 15 : 14) - exponent;
  return largest > 0 ? std::min(k, kMaxExponent) : 0;
}

class Reader {
 public:
  explicit Reader(const XmlDocument& xml) : xml_(xml) {}

  Model read() {
    for (const xml_node& element : xml_.root().children()) {
      if (element.name() != std::string_view(kXmlRoot))
        xml_.refuse(element, name_of(element) + " is not a <" + kXmlRoot + ">");
    }
    const xml_node root = xml_.child(xml_.root(), kXmlRoot);
    read_root(root);
    for (const xml_node& stage : root.children()) read_stage(stage);
    if (model_.features.empty()) xml_.refuse(root, "a classifier without a stage");
    set_units();
    return std::move(model_);
  }

 private:
  // Unknown attributes might change the meaning of a file.
  void check_attributes(const xml_node& element, std::initializer_list<std::string_view> known) const {
    for (const pugi::xml_attribute& attribute : element.attributes()) {
      const std::string_view name = attribute.name();
      if (std::ranges::find(known, name) == known.end())
        xml_.refuse(element,
                    name_of(element) + " has an unknown " + std::string(name.substr(0, kShownCharacters)));
    }
  }

  void check_element(const xml_node& element, std::string_view name) const {
    if (element.type() != pugi::node_element)
      xml_.refuse(element.parent(), "text in " + name_of(element.parent()));
    if (element.name() != name)
      xml_.refuse(element, name_of(element) + " in " + name_of(element.parent()) +
                               " is not supported; only <" + std::string(name) + "> is");
  }

  // The only thing in an element.
  xml_node only_child(const xml_node& parent, const char* name) const {
    for (const xml_node& element : parent.children()) check_element(element, name);
    return xml_.child(parent, name);
  }

  static std::string name_of(const xml_node& element) {
    return "<" + std::string(element.name()).substr(0, kShownCharacters) + ">";
  }

  void read_root(const xml_node& root) {
    check_attributes(root, {"classifierName", "minStdDev", "imageSizeX", "imageSizeY", "type"});
    if (xml_.attribute(root, "type") != "LBP")
      xml_.refuse(root, "features of this type are not supported; only LBP is");
    if (root.attribute("minStdDev") && xml_.real(root, "minStdDev") != 0)
      xml_.refuse(root, "a minStdDev other than 0 is not supported");
    model_.label = "object";
    if (root.attribute("classifierName")) model_.label = xml_.attribute(root, "classifierName");
    if (model_.label.empty()) model_.label = "object";
    if (model_.label.size() > kMaxLabel)
      xml_.refuse(root, "classifierName has more than " + std::to_string(kMaxLabel) + " characters");
    model_.window.width = xml_.whole_number(root, "imageSizeX", kMinWindow, kMaxWindow);
    model_.window.height = xml_.whole_number(root, "imageSizeY", kMinWindow, kMaxWindow);
  }

  void read_stage(const xml_node& stage) {
    check_element(stage, "stage");
    check_attributes(stage, {"posT", "negT"});
    if (model_.features.size() == std::size_t{kMaxWeakClassifiers})
      xml_.refuse(stage, "more than " + std::to_string(kMaxWeakClassifiers) + " stages");
    if (!(xml_.real(stage, "posT") >= kInfinite))
      xml_.refuse(stage, "a stage that accepts early is not supported: posT must be at least 1e30");
    const double threshold = xml_.real(stage, "negT");
    if (!(threshold < kInfinite)) xml_.refuse(stage, "negT is neither finite nor -1e30 or less");
    const xml_node weak = only_child(stage, "HistogramWeakHypothesis");
    check_attributes(weak, {"predictionValues"});
    const xml_node feature = only_child(weak, "LBPFeature");
    read_predictions(weak);
    read_feature(feature);
    stages_.push_back(stage);
    thresholds_.push_back(threshold);
  }

  void read_predictions(const xml_node& weak) {
    const std::size_t before = predictions_.size();
    NumberReader values(xml_, weak, "predictionValues");
    while (!values.at_end()) {
      predictions_.push_back(values.real());
      if (!(std::abs(predictions_.back()) <= kLargestPrediction))
        xml_.refuse(weak, "predictionValues holds a number that is too large or not finite");
    }
    const std::size_t count = predictions_.size() - before;
    if (count != kCodes) {
      xml_.refuse(weak, "predictionValues holds " + std::to_string(count) + " numbers instead of " +
                            std::to_string(kCodes));
    }
  }

  void read_feature(const xml_node& element) {
    check_attributes(element, {"positionX", "positionY", "blockWidth", "blockHeight", "binMappingType"});
    for (const xml_node& inside : element.children())
      xml_.refuse(inside.parent(), "<LBPFeature> must be empty");
    if (element.attribute("binMappingType")) {
      const std::string_view mapping = xml_.attribute(element, "binMappingType");
      if (mapping != "0" && mapping != "NONE")
        xml_.refuse(element, "a binMappingType other than 0 or NONE is not supported");
    }
    const auto number = [&](const char* name, int smallest, int largest) {
      return static_cast<std::uint8_t>(xml_.whole_number(element, name, smallest, largest));
    };
    Feature feature;
    feature.x = number("positionX", 0, kMaxWindow);
    feature.y = number("positionY", 0, kMaxWindow);
    feature.block_width = number("blockWidth", 1, kMaxBlock);
    feature.block_height = number("blockHeight", 1, kMaxBlock);
    if (feature.x + kGrid * feature.block_width > model_.window.width ||
        feature.y + kGrid * feature.block_height > model_.window.height)
      xml_.refuse(element, "the 3x3 blocks are not inside the window");
    model_.features.push_back(feature);
  }

  // Predictions and thresholds as whole numbers.
  void set_units() {
    double largest = 0;
    for (const double prediction : predictions_) largest = std::max(largest, std::abs(prediction));
    const int exponent = unit_exponent(largest);
    model_.unit = std::ldexp(1.0, -exponent);
    for (const double prediction : predictions_)
      model_.responses.push_back(static_cast<std::int16_t>(std::nearbyint(std::ldexp(prediction, exponent))));
    for (std::size_t i = 0; i < stages_.size(); ++i)
      model_.thresholds.push_back(whole_threshold(stages_[i], thresholds_[i], exponent));
  }

  std::int32_t whole_threshold(const xml_node& stage, double threshold, int exponent) const {
    const double units = std::ceil(std::ldexp(threshold, exponent));
    if (units > std::numeric_limits<std::int32_t>::max())
      xml_.refuse(stage, "negT is larger than any sum of predictions");
    // A threshold that no sum can fall below rejects nothing.
    return threshold <= -kInfinite || units <= kNoThreshold ? kNoThreshold : static_cast<std::int32_t>(units);
  }

  const XmlDocument& xml_;
  Model model_;
  std::vector<double> predictions_;
  std::vector<xml_node> stages_;
  std::vector<double> thresholds_;
};

}  // namespace

Model parse_xml_model(std::string_view xml, const std::string& name) {
  const XmlDocument document(xml, name,
                             "use the XML of a WaldBoost classifier of LBP features, or train a model");
  return Reader(document).read();
}

}  // namespace sightline::waldboost
