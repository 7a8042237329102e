#pragma once
/// A WaldBoost classifier (J. Sochman and J. Matas, "WaldBoost - Learning for Time Constrained Sequential
/// Detection", CVPR 2005): weak classifiers in the order in which they look at a window, each with a
/// threshold below which the sum of all responses so far rejects it.
///
/// A weak classifier looks at a grid of 3x3 blocks of 1 or 2 pixels a side, or at two to four cells of any
/// size, makes a code of their exact sums, and looks its response up in a table. Responses are whole numbers
/// in a unit of the model's, so that sums are exact: the same on every processor, in whatever order they add
/// up.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "detection/score_calibration.hpp"
#include "image/view.hpp"

namespace sightline::waldboost {

/// Kind of code computed from the blocks or cells.
enum class FeatureKind {
  lbp,   ///< local binary pattern, 0..255: bit i is set where the i-th neighbour's sum is at least the middle
         ///< one's; neighbours as kLbpNeighbours has them, clockwise from the upper left
  lrp,   ///< local rank pattern of two blocks, 0..80: 9 r(first) + r(second), where r(k) is how many blocks
         ///< have a larger sum than block k (A. Herout et al., "Low-level image features for real-time object
         ///< detection", 2010)
  lrd,   ///< local rank difference, 0..16: r(first) - r(second) + 8
  haar,  ///< Haar-like feature of shape `first`, 0..63: the share of its brightness in bright cells, see
         ///< haar.hpp
};
inline constexpr std::array kFeatureKinds = {FeatureKind::lbp, FeatureKind::lrp, FeatureKind::lrd,
                                             FeatureKind::haar};
const char* to_string(FeatureKind kind);

inline constexpr int kCodes = 256;  ///< entries of a table
inline constexpr int kGrid = 3;     ///< blocks a side
inline constexpr int kBlocks = kGrid * kGrid;
inline constexpr int kMaxBlock = 2;    ///< pixels a side of a block
inline constexpr int kMinWindow = 8;   ///< pixels a side
inline constexpr int kMaxWindow = 64;  ///< pixels a side
inline constexpr int kMaxWeakClassifiers = 4096;
inline constexpr std::size_t kMaxLabel = 64;  ///< bytes
/// Threshold of a weak classifier that rejects nothing.
inline constexpr std::int32_t kNoThreshold = std::numeric_limits<std::int32_t>::min();

/// Position and shape of a weak classifier's grid.
struct Feature {
  std::uint8_t x = 0, y = 0;                       ///< upper left pixel of the grid in the window
  std::uint8_t block_width = 1, block_height = 1;  ///< pixels; of a cell: any that fit
  /// LRP, LRD: blocks, row after row from the upper left. Haar: the shape, one of kHaarShapes, and 0.
  std::uint8_t first = 0, second = 0;
  friend bool operator==(const Feature&, const Feature&) = default;
};

/// Arrangement of a Haar-like feature's cells.
struct HaarShape {
  const char* name;
  int columns, rows;
  std::uint8_t bright;                  ///< bit i: cell i, row after row, is bright; others are dark
  std::array<std::uint8_t, 4> weights;  ///< weights of cells: bright and dark ones are balanced
  bool is_bright(int cell) const { return (bright >> cell & 1) != 0; }
};
inline constexpr std::array<HaarShape, 5> kHaarShapes{{{"two side by side", 2, 1, 1, {1, 1, 0, 0}},
                                                       {"two one above the other", 1, 2, 1, {1, 1, 0, 0}},
                                                       {"three side by side", 3, 1, 2, {1, 2, 1, 0}},
                                                       {"three one above the other", 1, 3, 2, {1, 2, 1, 0}},
                                                       {"four", 2, 2, 9, {1, 1, 1, 1}}}};

/// Blocks or cells across and down.
inline Size grid_of(FeatureKind kind, const Feature& feature) {
  if (kind != FeatureKind::haar) return {kGrid, kGrid};
  const HaarShape& shape = kHaarShapes[feature.first];
  return {shape.columns, shape.rows};
}

/// Immutable once loaded. All arrays are by weak classifier.
struct Model {
  std::string name;   ///< name of its file
  std::string label;  ///< label of its objects: "face"
  Size window;        ///< pixels
  FeatureKind kind = FeatureKind::lbp;
  std::vector<Feature> features;
  std::vector<std::int16_t> responses;   ///< kCodes each, in units
  std::vector<std::int32_t> thresholds;  ///< a sum below this rejects; kNoThreshold: none does
  double unit = 1;                       ///< unit of responses and thresholds: a score is a sum times this
  double threshold = 0;                  ///< lowest score that is reported unless asked otherwise
  ScoreCalibration calibration;          ///< may be empty
  /// Sides of an object's box in parts of its window's, about the same middle: windows may be cut closer than
  /// people draw boxes.
  double box_scale = 1;
  /// Share of the windows of pictures without the object that are left after each weak classifier, as
  /// training found it; may be empty.
  std::vector<float> survivors;
  std::string provenance;  ///< description of its origin; may be empty

  int size() const { return static_cast<int>(features.size()); }  ///< weak classifiers
  std::span<const std::int16_t> table(int weak) const {
    return std::span(responses).subspan(static_cast<std::size_t>(weak) * kCodes, kCodes);
  }
};

/// The code of the sums of the nine blocks, or the up to four cells, row after row.
int code_of(FeatureKind kind, const Feature& feature, const std::array<std::uint32_t, kBlocks>& sums);

/// Code of LRP, or else of LRD, for the ranks of the two blocks.
inline int code_of_ranks(bool is_lrp, int first, int second) {
  return is_lrp ? kBlocks * first + second : first - second + kBlocks - 1;
}

/// MiB of a file unless asked otherwise (see detection/keys.hpp): the longest XML stays below.
inline constexpr int kMaxModelSize = 16;

/// The text `kind` of Sightline's own files.
inline constexpr std::string_view kModelKind = "sightline-waldboost";

/// Reads a model: Sightline's own, or the XML of the Brno University of Technology (`<WaldBoostClassifier>`,
/// see xml.hpp). Throws Error (model): the file, the place and the reason.
///
/// Sightline's own is a safetensors file of T weak classifiers. Arrays: `features` U8 [T, 6] (x, y, block
/// width, block height, first, second), `responses` I16 [T, 256], `thresholds` I32 [T] (the least: none), and
/// perhaps `survivors` F32 [T]. Texts: `kind`, `version` ("1"), `label` (1 to 64 characters), `window`
/// ("24x24"), `feature` ("lbp", "lrp", "lrd" or "haar"), `unit`, `threshold`, and perhaps `calibration` and
/// `provenance`.
Model load_model(const std::filesystem::path& file, std::uint64_t max_bytes);
/// Whether a file begins like a model; false if it cannot be read.
bool looks_like_model(const std::filesystem::path& file);

/// Writes Sightline's own form. Throws Error (failed) if the file cannot be written, and
/// std::invalid_argument where `load_model` would refuse the model.
void save_model(const Model& model, const std::filesystem::path& file);

}  // namespace sightline::waldboost
