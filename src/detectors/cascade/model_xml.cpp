#include "detectors/cascade/model_xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

#include "base/atomic_file.hpp"
#include "base/markup.hpp"

namespace sightline::cascade {
namespace {

class XmlWriter {
 public:
  XmlWriter(const Model& model, const StageParameters& parameters) : model_(model), parameters_(parameters) {}

  std::string write(const std::string& note) {
    add("<?xml version=\"1.0\"?>\n");
    if (!note.empty()) add("<!-- {} -->\n", without_double_hyphens(note));
    add("<opencv_storage>\n<cascade type_id=\"opencv-cascade-classifier\">\n");
    write_parameters();
    add("  <stageNum>{}</stageNum>\n  <stages>\n", model_.stages.size());
    for (const BoostingStage& stage : model_.stages) write_stage(stage);
    add("  </stages>\n  <features>\n");
    if (is_lbp()) {
      for (const Rect& r : model_.lbp)
        add("    <_>\n      <rect>\n        {} {} {} {}</rect></_>\n", r.x, r.y, r.width, r.height);
    } else {
      for (const HaarFeature& feature : model_.haar) write_haar(feature);
    }
    add("  </features>\n</cascade>\n</opencv_storage>\n");
    return std::move(text_);
  }

 private:
  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }
  bool is_lbp() const { return model_.kind == FeatureKind::lbp; }

  // A comment ends at two of them.
  static std::string without_double_hyphens(const std::string& note) {
    std::string text = escape_markup(note);
    for (std::size_t at = 0; (at = text.find("--", at)) != std::string::npos;) text.replace(at, 2, "- ");
    return text;
  }

  // Nine digits tell all floats apart.
  static std::string number(float value) { return fmt::format("{:.9g}", value); }

  // Inverse of the reader's subtraction of kThresholdEpsilon.
  static float file_threshold(float threshold) {
    float file = threshold + kThresholdEpsilon;
    while (file - kThresholdEpsilon > threshold)
      file = std::nextafter(file, -std::numeric_limits<float>::infinity());
    while (file - kThresholdEpsilon < threshold)
      file = std::nextafter(file, std::numeric_limits<float>::infinity());
    return file;
  }

  void write_parameters() {
    add("  <stageType>BOOST</stageType>\n  <featureType>{}</featureType>\n", is_lbp() ? "LBP" : "HAAR");
    add("  <height>{}</height>\n  <width>{}</width>\n", model_.window.height, model_.window.width);
    add("  <stageParams>\n    <boostType>GAB</boostType>\n    <minHitRate>{}</minHitRate>\n"
        "    <maxFalseAlarm>{}</maxFalseAlarm>\n    <weightTrimRate>{}</weightTrimRate>\n"
        "    <maxDepth>1</maxDepth>\n    <maxWeakCount>{}</maxWeakCount></stageParams>\n",
        parameters_.min_hit_rate, parameters_.max_false_alarm, parameters_.trimmed_weight,
        parameters_.max_weak_classifiers);
    add("  <featureParams>\n    <maxCatCount>{}</maxCatCount>\n    "
        "<featSize>1</featSize>{}</featureParams>\n",
        is_lbp() ? 256 : 0,
        is_lbp() ? "" : fmt::format("\n    <mode>{}</mode>", model_.has_tilted ? "ALL" : "CORE"));
  }

  void write_stage(const BoostingStage& stage) {
    add("    <_>\n      <maxWeakCount>{}</maxWeakCount>\n      <stageThreshold>{}</stageThreshold>\n"
        "      <weakClassifiers>\n",
        stage.trees, number(file_threshold(stage.threshold)));
    for (int t = 0; t < stage.trees; ++t)
      write_tree(model_.trees[static_cast<std::size_t>(stage.first_tree) + t]);
    add("      </weakClassifiers></_>\n");
  }

  void write_tree(const Tree& tree) {
    add("        <_>\n          <internalNodes>\n           ");
    for (std::int32_t n = tree.first_node; n < tree.first_node + tree.nodes; ++n) {
      const Node& node = model_.nodes[n];
      add(" {} {} {}", node.left, node.right, node.feature);
      if (is_lbp()) {
        for (int i = 0; i < kSubsetWords; ++i) add(" {}", std::bit_cast<std::int32_t>(model_.subset(n)[i]));
      } else {
        add(" {}", number(node.threshold));
      }
    }
    add("</internalNodes>\n          <leafValues>\n           ");
    for (std::int32_t leaf = 0; leaf <= tree.nodes; ++leaf)
      add(" {}", number(model_.leaves[static_cast<std::size_t>(tree.first_leaf) + leaf]));
    add("</leafValues></_>\n");
  }

  void write_haar(const HaarFeature& feature) {
    add("    <_>\n      <rects>\n");
    for (int i = 0; i < HaarFeature::kMaxRects; ++i) {
      if (i == 2 && feature.weights[2] == 0) break;
      const Rect& r = feature.rects[i];
      add("        <_>\n          {} {} {} {} {}</_>\n", r.x, r.y, r.width, r.height,
          number(feature.weights[i]));
    }
    add("      </rects>\n      <tilted>{}</tilted></_>\n", feature.tilted ? 1 : 0);
  }

  const Model& model_;
  const StageParameters& parameters_;
  std::string text_;
};

}  // namespace

std::string model_xml(const Model& model, const StageParameters& parameters, const std::string& note) {
  return XmlWriter(model, parameters).write(note);
}

void save_model(const Model& model, const StageParameters& parameters, const std::string& note,
                const std::filesystem::path& file) {
  write_whole(file, model_xml(model, parameters, note), "model");
}

}  // namespace sightline::cascade
