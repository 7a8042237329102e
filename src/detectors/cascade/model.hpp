#pragma once
/// A boosted cascade in memory, and its loader: OpenCV's cascade XML, in the new layout (stageType BOOST,
/// featureType HAAR or LBP) and in the old one of Haar cascades (opencv-haar-classifier).
///
/// A window passes a boosting stage where the sum of its trees reaches the stage's threshold; what passes all
/// of them is found (P. Viola and M. Jones, "Robust Real-Time Face Detection", IJCV 57(2), 2004; for LBP: S.
/// Liao et al., "Learning Multi-scale Block Local Binary Patterns for Face Recognition", ICB 2007).

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "image/view.hpp"

namespace sightline::cascade {

/// Limits of a model file, far above real cascades. Default size limit in MiB (see detection/keys.hpp): XML
/// takes up to twenty times its file's size in memory while it is read.
inline constexpr int kMaxModelSize = 16;
inline constexpr int kMinWindowSide =
    3;  ///< a window has an inside: its variance is taken without its border
/// Squares of a window of 8-bit pixels still sum up to less than 2^32.
inline constexpr int kMaxWindowSide = 256;
inline constexpr int kMaxStages = 1000;
inline constexpr int kMaxTrees = 100'000;  ///< trees of all boosting stages
inline constexpr int kMaxNodes = 256;      ///< nodes of a tree
inline constexpr int kMaxFeatures = 250'000;
inline constexpr float kMaxNumber = 1e9F;  ///< magnitude of thresholds, leaves and weights

enum class FeatureKind { haar, lbp };

struct Rect {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
  friend bool operator==(const Rect&, const Rect&) = default;
};

/// Sum of weighted sums of pixels in two or three rectangles. Upright ones lie in the window; a tilted one is
/// turned by 45 degrees: its corners are (x, y), (x + width, y + width), (x - height, y + height) and
/// (x + width - height, y + width + height), all in the window.
struct HaarFeature {
  static constexpr int kMaxRects = 3;
  std::array<Rect, kMaxRects> rects;
  std::array<float, kMaxRects> weights{};  ///< the third is 0 if there are two
  bool tilted = false;
};

/// Words of a set of the 256 local binary patterns: pattern p is in where bit p % 32 of word p / 32 is set.
inline constexpr int kSubsetWords = 8;

/// A decision. Haar: to the left where the feature, in units of the window's standard deviation times its
/// area, is below the threshold. LBP: to the left where the pattern is in the set.
struct Node {
  std::int32_t feature = 0;
  float threshold = 0;    ///< Haar
  std::int32_t left = 0;  ///< a later node of the tree if positive, else leaf -left of the tree
  std::int32_t right = 0;
};

struct Tree {
  std::int32_t first_node = 0;  ///< index in Model::nodes
  std::int32_t nodes = 0;       ///< 1: a stump
  std::int32_t first_leaf = 0;  ///< index in Model::leaves; there are nodes + 1
};

/// A sum of trees that a window must reach to stay in the running.
struct BoostingStage {
  std::int32_t first_tree = 0;
  std::int32_t trees = 0;
  float threshold = 0;  ///< the lowest sum that passes: the file's less kThresholdEpsilon
};

/// OpenCV takes this off every stage's threshold as it reads it.
inline constexpr float kThresholdEpsilon = 1e-5F;

/// Every index is valid: features of nodes, nodes and leaves of trees, trees of stages; there is at least one
/// of each. A stump's leaves are 0 (left) and 1 (right). All numbers are finite.
struct Model {
  FeatureKind kind = FeatureKind::haar;
  Size window;
  std::vector<BoostingStage> stages;
  std::vector<Tree> trees;             ///< trees of all stages, in order
  std::vector<Node> nodes;             ///< nodes of all trees, in order
  std::vector<float> leaves;           ///< likewise
  std::vector<std::uint32_t> subsets;  ///< LBP: kSubsetWords a node
  std::vector<HaarFeature> haar;       ///< features by Node::feature; one of the two is empty
  /// The block at the top left of a 3x3 grid of equal blocks; the whole grid lies in the window.
  std::vector<Rect> lbp;
  bool has_tilted = false;
  int max_tree_nodes = 1;
  std::string name;  ///< the file's, without folder and ending

  const std::uint32_t* subset(std::int32_t node) const {
    return subsets.data() + static_cast<std::size_t>(node) * kSubsetWords;
  }
};

/// Whether a file's beginning looks like XML, which tells cascades from Sightline's own models.
bool looks_like_cascade(const std::filesystem::path& file);

/// Reads a file. Throws Error (model) with file, line and reason for whatever is not a complete cascade of a
/// supported kind within the limits above. Nothing of the file is used before it has been checked.
///
/// Stages of the old layout name a parent and a next one; as in OpenCV 4, they are run in the order of the
/// file all the same.
/// @param max_bytes  larger files are refused
Model load_model(const std::filesystem::path& file, std::size_t max_bytes = std::size_t{kMaxModelSize} << 20);

/// Parses a file in memory; `name` is the file's name in errors.
Model parse_model(std::string_view xml, const std::string& name);

}  // namespace sightline::cascade
