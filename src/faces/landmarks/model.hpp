#pragma once
/// Five points of a face by a cascade of regression trees (V. Kazemi and J. Sullivan, "One Millisecond Face
/// Alignment with an Ensemble of Regression Trees", CVPR 2014), in integers.
///
/// The points begin where they are on average in a face's box. Each stage looks at pixels around them, at
/// offsets that turn and grow with them, and moves them by what the leaves of its trees add up to. A tree's
/// node compares the difference of two of the stage's pixels with a threshold.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "faces/landmarks/patch.hpp"
#include "model/safetensors.hpp"

namespace sightline::landmarks {

/// In this order, left and right as they are in the picture.
inline constexpr int kPoints = 5;
inline constexpr std::array<std::string_view, kPoints> kPointNames{"left_eye", "right_eye", "nose",
                                                                   "left_mouth", "right_mouth"};
/// Index of each point's counterpart in a mirrored picture.
inline constexpr std::array<int, kPoints> kMirrored{1, 0, 2, 4, 3};

/// x and y of every point in 1 / kUnit of a patch's pixel; the patch's upper left corner is (0, 0), the
/// middle of its first pixel (kUnit / 2, kUnit / 2).
inline constexpr int kUnit = 256;
inline constexpr int kCoordinates = 2 * kPoints;
using Shape = std::array<std::int32_t, kCoordinates>;

inline constexpr int kMaxDepth = 6;  ///< nodes from a tree's root to a leaf
inline constexpr int kMaxStages = 64;
inline constexpr int kMaxTrees = 16384;  ///< trees of all stages
inline constexpr int kMaxPixels = 256;   ///< pixels of a stage
inline constexpr int kMaxShift = 7;

/// A pixel that a stage looks at: `offset` from the point `anchor`, for points that are as the mean shape is.
struct PixelPlace {
  std::uint8_t anchor = 0;
  std::int16_t x = 0, y = 0;  ///< 1 / kUnit of a patch's pixel, at most kPatchSide of them
  friend bool operator==(const PixelPlace&, const PixelPlace&) = default;
};

/// Goes right, to node 2 n + 2, where `pixel[first] - pixel[second] > threshold`, else left, to 2 n + 1.
struct Split {
  std::uint8_t first = 0, second = 0;  ///< indices of the stage's pixels
  std::int8_t threshold = 0;
  friend bool operator==(const Split&, const Split&) = default;
};

/// Increments of a leaf to the coordinates, in units of 2^shift / kUnit patch pixels.
using Leaf = std::array<std::int8_t, kCoordinates>;

/// Immutable once loaded.
struct Model {
  std::string name;  ///< name of its file
  Shape mean{};      ///< start shape; not all in one place
  int depth = 0;     ///< depth of every tree, 1..kMaxDepth
  int stages = 0;
  int trees = 0;                     ///< trees of every stage
  int pixels = 0;                    ///< pixels of every stage, 1..kMaxPixels
  std::vector<PixelPlace> places;    ///< [stages][pixels]
  std::vector<std::uint8_t> shifts;  ///< [stages], of the leaves, 0..kMaxShift
  std::vector<Split> splits;         ///< [stages][trees][2^depth - 1]
  std::vector<Leaf> leaves;          ///< [stages][trees][2^depth]
  std::string provenance;            ///< description of its origin; may be empty

  int nodes() const { return (1 << depth) - 1; }
  int leaves_of_tree() const { return 1 << depth; }
};

/// MiB of a file unless asked otherwise.
inline constexpr int kMaxModelSize = 16;

/// The text `kind` of the files.
inline constexpr std::string_view kModelKind = "sightline-landmarks";

/// Reads a model: a safetensors file of T stages of K trees of depth D and P pixels. Arrays: `mean` I32
/// [5, 2], `anchors` U8 [T, P], `offsets` I16 [T, P, 2], `pixels` U8 [T, K, 2^D - 1, 2], `thresholds` I8
/// [T, K, 2^D - 1], `shifts` U8 [T], `leaves` I8 [T, K, 2^D, 10]. Texts: `kind`, `version` ("1"), `points`
/// (kPointNames, separated by commas), `patch` ("64+8": pixels of the box and around it), and perhaps
/// `provenance`. Throws Error (model): the file, the place and the reason.
Model load_model(const std::filesystem::path& file, std::uint64_t max_bytes);
/// Whether a file begins like a model; false if it cannot be read.
bool looks_like_model(const std::filesystem::path& file);

/// The same of an open file; `path` stands for it in messages.
Model read_model(const Safetensors& file, const std::filesystem::path& path);
/// Content of a model file. Throws std::invalid_argument if `read_model` would refuse it.
Safetensors container_of(const Model& model);

/// Throws Error (failed) if the file cannot be written, and std::invalid_argument where `load_model` would
/// refuse the model.
void save_model(const Model& model, const std::filesystem::path& file);

}  // namespace sightline::landmarks
