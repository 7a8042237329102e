#include "detectors/cascade/model.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <utility>

#include "base/input_file.hpp"
#include "model/xml.hpp"

namespace sightline::cascade {
namespace {

using pugi::xml_node;

constexpr char kItem[] = "_";  // the name of a sequence's elements
constexpr int kPatterns = 256;
constexpr std::int32_t kAnyMinimum = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kAnyMaximum = std::numeric_limits<std::int32_t>::max();

/// Builds a model element by element; both layouts share it.
class Builder {
 public:
  explicit Builder(const XmlDocument& xml) : xml_(xml) {}

  Model take() { return std::move(model_); }
  Model& model() { return model_; }

  void set_window(const xml_node& at, int width, int height) {
    for (const int side : {width, height}) {
      if (side < kMinWindowSide || side > kMaxWindowSide) {
        xml_.refuse(at, "the window's size " + std::to_string(width) + " x " + std::to_string(height) +
                            " is not between " + std::to_string(kMinWindowSide) + " and " +
                            std::to_string(kMaxWindowSide));
      }
    }
    model_.window = {width, height};
  }

  void begin_stage(const xml_node& at, float threshold) {
    if (model_.stages.size() == kMaxStages) refuse_count(at, kMaxStages, "stages");
    model_.stages.push_back(
        {static_cast<std::int32_t>(model_.trees.size()), 0, threshold - kThresholdEpsilon});
  }

  void begin_tree(const xml_node& at) {
    if (model_.trees.size() == kMaxTrees) refuse_count(at, kMaxTrees, "trees");
    model_.trees.push_back(
        {static_cast<std::int32_t>(model_.nodes.size()), 0, static_cast<std::int32_t>(model_.leaves.size())});
    ++model_.stages.back().trees;
  }

  void add_node(const xml_node& at, const Node& node) {
    Tree& tree = model_.trees.back();
    if (tree.nodes == kMaxNodes) refuse_count(at, kMaxNodes, "nodes in a tree");
    model_.nodes.push_back(node);
    ++tree.nodes;
  }

  void add_leaf(const xml_node& at, float value) {
    const std::size_t leaves = model_.leaves.size() - model_.trees.back().first_leaf;
    if (leaves == kMaxNodes + 1) refuse_count(at, kMaxNodes + 1, "leaves in a tree");
    model_.leaves.push_back(value);
  }

  void end_tree(const xml_node& at) {
    const Tree& tree = model_.trees.back();
    const std::size_t leaves = model_.leaves.size() - tree.first_leaf;
    if (tree.nodes == 0) xml_.refuse(at, "a tree without a node");
    if (leaves != static_cast<std::size_t>(tree.nodes) + 1) {
      xml_.refuse(at, "a tree of " + std::to_string(tree.nodes) +
                          " node(s) needs one leaf more than that, not " + std::to_string(leaves));
    }
    for (int i = 0; i < tree.nodes; ++i) {
      const Node& node = model_.nodes[static_cast<std::size_t>(tree.first_node) + i];
      for (const std::int32_t next : {node.left, node.right}) check_child(at, tree, i, next);
    }
    model_.max_tree_nodes = std::max(model_.max_tree_nodes, static_cast<int>(tree.nodes));
  }

  void end_stage(const xml_node& at) {
    if (model_.stages.back().trees == 0) xml_.refuse(at, "a stage without a tree");
  }

  void add_feature(const xml_node& at, const HaarFeature& feature) {
    check_feature_count(at, model_.haar.size());
    model_.haar.push_back(feature);
    model_.has_tilted = model_.has_tilted || feature.tilted;
  }

  void add_feature(const xml_node& at, const Rect& block) {
    check_feature_count(at, model_.lbp.size());
    if (!fits(block, 3 * std::int64_t{block.width}, 3 * std::int64_t{block.height}))
      xml_.refuse(at, "the 3x3 blocks of " + text_of(block) + " are not inside the window");
    model_.lbp.push_back(block);
  }

  /// A Haar feature's rectangles, as <rects> lists them.
  HaarFeature read_haar(const xml_node& rects, bool tilted) const {
    HaarFeature feature;
    feature.tilted = tilted;
    int count = 0;
    for (const xml_node& element : rects.children(kItem)) {
      if (count == HaarFeature::kMaxRects) refuse_count(element, HaarFeature::kMaxRects, "rectangles");
      NumberReader reader(xml_, element);
      const Rect rect = read_rect(reader);
      const float weight = reader.number(kMaxNumber);
      reader.expect_end();
      const bool inside = tilted ? fits_tilted(rect) : fits(rect, rect.width, rect.height);
      if (!inside) {
        xml_.refuse(element, std::string(tilted ? "the tilted rectangle " : "the rectangle ") +
                                 text_of(rect) + " is not inside the window");
      }
      feature.rects[count] = rect;
      feature.weights[count] = weight;
      ++count;
    }
    if (count < 2) xml_.refuse(rects, "a feature of fewer than two rectangles");
    return feature;
  }

  Rect read_rect(NumberReader& reader) const {
    Rect rect;
    rect.x = reader.whole_number(0, kMaxWindowSide);
    rect.y = reader.whole_number(0, kMaxWindowSide);
    rect.width = reader.whole_number(1, kMaxWindowSide);
    rect.height = reader.whole_number(1, kMaxWindowSide);
    return rect;
  }

 private:
  [[noreturn]] void refuse_count(const xml_node& at, int most, const char* what) const {
    xml_.refuse(at, "more than " + std::to_string(most) + " " + what);
  }

  void check_feature_count(const xml_node& at, std::size_t count) const {
    if (count == kMaxFeatures) refuse_count(at, kMaxFeatures, "features");
  }

  // Children come after their parents: a tree ends.
  void check_child(const xml_node& at, const Tree& tree, int node, std::int32_t child) const {
    const bool valid = child > 0 ? child > node && child < tree.nodes : child >= -tree.nodes;
    if (valid) return;
    xml_.refuse(at, "node " + std::to_string(node) + " of a tree of " + std::to_string(tree.nodes) +
                        " leads to " + std::to_string(child) + ": neither a later node nor, negated, a leaf");
  }

  bool fits(const Rect& rect, std::int64_t width, std::int64_t height) const {
    return rect.x + width <= model_.window.width && rect.y + height <= model_.window.height;
  }
  bool fits_tilted(const Rect& rect) const {
    return rect.x - rect.height >= 0 && rect.x + rect.width <= model_.window.width &&
           rect.y + rect.width + rect.height <= model_.window.height;
  }
  static std::string text_of(const Rect& rect) {
    return std::to_string(rect.width) + " x " + std::to_string(rect.height) + " at (" +
           std::to_string(rect.x) + ", " + std::to_string(rect.y) + ")";
  }

  const XmlDocument& xml_;
  Model model_;
};

// --- the new layout
// -----------------------------------------------------------------------------------------

class NewLayout {
 public:
  NewLayout(const XmlDocument& xml, Builder& builder) : xml_(xml), builder_(builder) {}

  void read(const xml_node& cascade) {
    read_kind(cascade);
    const xml_node width = xml_.child(cascade, "width");
    builder_.set_window(width, xml_.whole_number(width, 0, kAnyMaximum),
                        xml_.whole_number(xml_.child(cascade, "height"), 0, kAnyMaximum));
    const xml_node stages = xml_.child(cascade, "stages");
    const xml_node features = xml_.child(cascade, "features");
    for (const xml_node& feature : features.children(kItem)) read_feature(feature);
    features_ =
        static_cast<std::int32_t>(is_lbp() ? builder_.model().lbp.size() : builder_.model().haar.size());
    if (features_ == 0) xml_.refuse(features, "a cascade without a feature");
    for (const xml_node& stage : stages.children(kItem)) read_stage(stage);
    if (builder_.model().stages.empty()) xml_.refuse(stages, "a cascade without a stage");
    check_stage_number(cascade);
  }

 private:
  bool is_lbp() const { return builder_.model().kind == FeatureKind::lbp; }

  void read_kind(const xml_node& cascade) {
    const xml_node stage_type = xml_.child(cascade, "stageType");
    if (xml_.text(stage_type) != "BOOST")
      xml_.refuse(stage_type, "stages of this type are not supported; only BOOST is");
    const xml_node feature_type = xml_.child(cascade, "featureType");
    const std::string_view kind = xml_.text(feature_type);
    if (kind != "HAAR" && kind != "LBP")
      xml_.refuse(feature_type, "features of this type are not supported; only HAAR and LBP are");
    builder_.model().kind = kind == "LBP" ? FeatureKind::lbp : FeatureKind::haar;
    const xml_node categories = xml_.child(xml_.child(cascade, "featureParams"), "maxCatCount");
    const int expected = is_lbp() ? kPatterns : 0;
    if (xml_.whole_number(categories, 0, kAnyMaximum) != expected)
      xml_.refuse(categories, "maxCatCount of these features must be " + std::to_string(expected));
  }

  // A file that says how many stages it has is complete when it has them.
  void check_stage_number(const xml_node& cascade) const {
    const xml_node number = cascade.child("stageNum");
    if (!number) return;
    const auto found = builder_.model().stages.size();
    if (xml_.whole_number(number, 0, kAnyMaximum) != static_cast<int>(found))
      xml_.refuse(number,
                  "stageNum does not agree with the " + std::to_string(found) + " stage(s) in the file");
  }

  void read_feature(const xml_node& element) {
    if (is_lbp()) {
      NumberReader reader(xml_, xml_.child(element, "rect"));
      const Rect block = builder_.read_rect(reader);
      reader.expect_end();
      builder_.add_feature(element, block);
    } else {
      const xml_node tilted = element.child("tilted");
      const bool is_tilted = tilted && xml_.whole_number(tilted, 0, 1) == 1;
      builder_.add_feature(element, builder_.read_haar(xml_.child(element, "rects"), is_tilted));
    }
  }

  void read_stage(const xml_node& element) {
    builder_.begin_stage(element, xml_.number(xml_.child(element, "stageThreshold"), kMaxNumber));
    for (const xml_node& tree : xml_.child(element, "weakClassifiers").children(kItem)) read_tree(tree);
    builder_.end_stage(element);
  }

  void read_tree(const xml_node& element) {
    builder_.begin_tree(element);
    const xml_node nodes = xml_.child(element, "internalNodes");
    NumberReader reader(xml_, nodes);
    while (!reader.at_end()) {
      Node node;
      node.left = reader.whole_number(kAnyMinimum, kAnyMaximum);
      node.right = reader.whole_number(kAnyMinimum, kAnyMaximum);
      node.feature = reader.whole_number(0, features_ - 1);
      if (is_lbp()) {
        for (int i = 0; i < kSubsetWords; ++i) {
          builder_.model().subsets.push_back(
              static_cast<std::uint32_t>(reader.whole_number(kAnyMinimum, kAnyMaximum)));
        }
      } else {
        node.threshold = reader.number(kMaxNumber);
      }
      builder_.add_node(nodes, node);
    }
    NumberReader leaves(xml_, xml_.child(element, "leafValues"));
    while (!leaves.at_end()) builder_.add_leaf(element, leaves.number(kMaxNumber));
    builder_.end_tree(nodes);
  }

  const XmlDocument& xml_;
  Builder& builder_;
  std::int32_t features_ = 0;
};

// --- the old layout of Haar cascades
// ------------------------------------------------------------------------

class OldLayout {
 public:
  OldLayout(const XmlDocument& xml, Builder& builder) : xml_(xml), builder_(builder) {}

  void read(const xml_node& cascade) {
    const xml_node size = xml_.child(cascade, "size");
    NumberReader reader(xml_, size);
    const int width = reader.whole_number(0, kAnyMaximum);
    builder_.set_window(size, width, reader.whole_number(0, kAnyMaximum));
    reader.expect_end();
    const xml_node stages = xml_.child(cascade, "stages");
    for (const xml_node& stage : stages.children(kItem)) read_stage(stage);
    if (builder_.model().stages.empty()) xml_.refuse(stages, "a cascade without a stage");
    const int count = static_cast<int>(builder_.model().stages.size());
    for (const xml_node& stage : stages.children(kItem)) {
      for (const char* link : {"parent", "next"}) {
        if (const xml_node element = stage.child(link)) xml_.whole_number(element, -1, count - 1);
      }
    }
  }

 private:
  void read_stage(const xml_node& element) {
    builder_.begin_stage(element, xml_.number(xml_.child(element, "stage_threshold"), kMaxNumber));
    for (const xml_node& tree : xml_.child(element, "trees").children(kItem)) read_tree(tree);
    builder_.end_stage(element);
  }

  void read_tree(const xml_node& element) {
    builder_.begin_tree(element);
    leaves_ = 0;
    for (const xml_node& node : element.children(kItem)) {
      const xml_node feature = xml_.child(node, "feature");
      const xml_node tilted = feature.child("tilted");
      const bool is_tilted = tilted && xml_.whole_number(tilted, 0, 1) == 1;
      builder_.add_feature(feature, builder_.read_haar(xml_.child(feature, "rects"), is_tilted));
      Node made;
      made.feature = static_cast<std::int32_t>(builder_.model().haar.size()) - 1;
      made.threshold = xml_.number(xml_.child(node, "threshold"), kMaxNumber);
      made.left = read_branch(node, "left_val", "left_node");
      made.right = read_branch(node, "right_val", "right_node");
      builder_.add_node(node, made);
    }
    builder_.end_tree(element);
  }

  std::int32_t read_branch(const xml_node& node, const char* value, const char* next) {
    if (node.child(value)) {
      if (node.child(next))
        xml_.refuse(node.child(next), std::string("both <") + value + "> and <" + next + ">");
      builder_.add_leaf(node, xml_.number(xml_.child(node, value), kMaxNumber));
      return -leaves_++;
    }
    return xml_.whole_number(xml_.child(node, next), 1, kMaxNodes - 1);
  }

  const XmlDocument& xml_;
  Builder& builder_;
  std::int32_t leaves_ = 0;  // leaves of the tree
};

// OpenCV looks at no child of a stump: its leaves lie left and right in the order of the file. It does so
// only where all trees are stumps.
void order_stumps(Model& model) {
  if (model.max_tree_nodes > 1) return;
  for (Node& node : model.nodes) {
    node.left = 0;
    node.right = -1;
  }
}

}  // namespace

Model parse_model(std::string_view xml, const std::string& name) {
  const XmlDocument document(xml, name, "use a cascade XML that OpenCV can read");
  const xml_node storage = document.child(document.root(), "opencv_storage");
  xml_node cascade = storage.first_child();
  while (cascade && cascade.type() != pugi::node_element) cascade = cascade.next_sibling();
  if (!cascade) document.refuse(storage, "<opencv_storage> is empty");
  Builder builder(document);
  if (cascade.child("stageType")) {
    NewLayout(document, builder).read(cascade);
  } else if (cascade.child("size") && cascade.child("stages")) {
    OldLayout(document, builder).read(cascade);
  } else {
    document.refuse(cascade, "<" + std::string(cascade.name()) + "> is not a cascade");
  }
  Model model = builder.take();
  order_stumps(model);
  model.name = std::filesystem::path(name).stem().string();
  return model;
}

Model load_model(const std::filesystem::path& file, std::size_t max_bytes) {
  return parse_model(read_xml(file, "cascade", max_bytes), file.string());
}

bool looks_like_cascade(const std::filesystem::path& file) {
  refuse_special_file(file, ExitCode::model);
  std::ifstream stream(file, std::ios::binary);
  char head[64] = {};
  stream.read(head, sizeof head);
  const std::string_view text(head, static_cast<std::size_t>(stream.gcount()));
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first != std::string_view::npos && text[first] == '<';
}

}  // namespace sightline::cascade
