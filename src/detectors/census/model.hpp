#pragma once
/// Cascades over census codes (B. Froeba and A. Ernst, "Face Detection with the Modified Census Transform",
/// FG 2004): stages of weak classifiers, each of which reads the code (image/census.hpp) of pixels or 2x2
/// cells at one position in the window and adds its weight if the object seldom has that code. A stage whose
/// weights add up to more than its threshold rejects the window.
///
/// Weights are non-negative integers: sums are exact and the same on every processor in any order, and a
/// window may be rejected as soon as its sum is too large.
///
/// A model may hold several cascades, its views: the same object seen from several sides, searched in one go.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "detection/score_calibration.hpp"
#include "image/census.hpp"
#include "image/view.hpp"

namespace sightline::census {

inline constexpr int kMinWindow = 8;   ///< pixels a side
inline constexpr int kMaxWindow = 64;  ///< pixels a side
inline constexpr int kMaxStages = 64;  ///< stages of all views together
inline constexpr int kMaxViews = 16;
inline constexpr int kMaxWeakClassifiers = 16384;  ///< weak classifiers of all views together
inline constexpr int kMaxWeight = 32767;           ///< so that a sum of all of them has 29 bits
inline constexpr std::int32_t kMaxThreshold = 1 << 30;
inline constexpr std::size_t kMaxLabel = 64;  ///< bytes, also of a view's name
inline constexpr int kSetBytes = 64;

/// A set of codes: bit c % 8 of byte c / 8.
using CodeSet = std::array<std::uint8_t, kSetBytes>;
inline bool contains(const CodeSet& set, int code) {
  return (set[code / 8] >> code % 8 & 1) != 0;
}

struct WeakClassifier {
  std::uint8_t x = 0, y = 0;  ///< upper left pixel of the neighbourhood in the window
  std::uint16_t weight = 0;   ///< 1..kMaxWeight, in the stage's unit
  CodeSet codes{};            ///< codes that add the weight: seldom seen in objects
  std::uint8_t cell = 1;      ///< side of the cells that the code compares, in pixels: 1 or 2
  friend bool operator==(const WeakClassifier&, const WeakClassifier&) = default;
};

struct Stage {
  int end = 0;                 ///< end of its weak classifiers; they begin at the end of the previous stage's
  std::int32_t threshold = 0;  ///< a larger sum rejects; 0..kMaxThreshold
  friend bool operator==(const Stage&, const Stage&) = default;
};

struct View {
  std::string name;  ///< "frontal"; none like another's, without commas
  int end = 0;       ///< end of its stages; they begin at the end of the previous view's
  double unit = 1;   ///< a score is (threshold - sum) of the last stage times this
  friend bool operator==(const View&, const View&) = default;
};

/// Immutable once loaded.
struct Model {
  std::string name;   ///< name of its file
  std::string label;  ///< label of its objects: "face"
  Size window;        ///< pixels
  std::vector<WeakClassifier> weak;
  std::vector<Stage> stages;
  std::vector<View> views;
  double threshold = 0;          ///< lowest score that is reported unless asked otherwise
  ScoreCalibration calibration;  ///< may be empty
  double box_scale = 1;          ///< sides of an object's box in parts of its window's, about the same middle
  /// Share of the windows of pictures without the object that are left after each stage, as training found
  /// it; may be empty.
  std::vector<float> survivors;
  std::string provenance;  ///< description of its origin; may be empty

  int first_weak(int stage) const { return stage == 0 ? 0 : stages[static_cast<std::size_t>(stage) - 1].end; }
  std::span<const WeakClassifier> weak_of(int stage) const {
    return std::span(weak).subspan(
        static_cast<std::size_t>(first_weak(stage)),
        static_cast<std::size_t>(stages[static_cast<std::size_t>(stage)].end - first_weak(stage)));
  }
  int first_stage(int view) const { return view == 0 ? 0 : views[static_cast<std::size_t>(view) - 1].end; }
  /// The most stages that one view has.
  int most_stages() const;
  /// The largest side of cells.
  int most_cell() const;
};

/// MiB of a file unless asked otherwise (see detection/keys.hpp).
inline constexpr int kMaxModelSize = 16;

/// The text `kind` of the files.
inline constexpr std::string_view kModelKind = "sightline-census";

/// Reads a model: a safetensors file of W weak classifiers, S stages and V views. Arrays: `places` U8 [W, 2]
/// (x, y), `codes` U8 [W, 64], `weights` I16 [W], `stage_ends` and `stage_thresholds` I32 [S], `view_ends`
/// I32 [V], `units` F64 [V], and perhaps `survivors` F32 [S]; where some cells have two pixels a side,
/// `cells` U8 [W]. Texts: `kind`, `version` ("1", with `cells` "2"), `label` (1 to 64 characters), `window`
/// ("24x24"), `views` (names, separated by commas), `threshold`, and perhaps `box_scale`, `calibration` and
/// `provenance`.
/// Throws Error (model): the file, the place and the reason.
Model load_model(const std::filesystem::path& file, std::uint64_t max_bytes);
/// Whether a file begins like a model; false if it cannot be read.
bool looks_like_model(const std::filesystem::path& file);

/// Throws Error (failed) if the file cannot be written, and std::invalid_argument where `load_model` would
/// refuse the model.
void save_model(const Model& model, const std::filesystem::path& file);

}  // namespace sightline::census
