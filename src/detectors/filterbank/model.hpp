#pragma once
/// The filter-bank detector's model and its file.
///
/// File: safetensors. Metadata (strings): `kind` = "sightline.filterbank", `version` ("1", "2" with a
/// network, or "3" with one that has heads of boxes), `label`, `window` ("64x128", pixels), `cell` ("8"),
/// `object` ("x,y,w,h": where the object sits inside the window, pixels), `normalisation` ("l1-sqrt", "l1" or
/// "l2"), `epsilon`, `classifier` ("linear" or "distance"), `bias`, `scale`, `threshold`, `provenance` (JSON:
/// how it was trained). Arrays: `dictionary` int8 [D,3,3], `dictionary.reference` float32 [D,3,3], `weights`
/// int8 [T, blocks y, blocks x, 4, D]: T = 1 for the linear classifier, the number of templates for distance.
///
/// Three keys are there only where a model differs: `patch` ("5x5"; 3x3 without the key), `contrast`
/// ("sensitive" or "signed"; "insensitive" without; readers before "signed" refuse it by its name) and
/// `patterns` ("uniform"; "none" without: then `weights` is [T, blocks y, blocks x, 4 * bins of a cell +
/// 59]). With 5x5 patches `dictionary.reference` is float32 [D,5,5] and there is no `dictionary`; of a
/// contrast-sensitive model, the last dimension of `weights` is 2D, see Descriptor.
///
/// A file may hold the model in several sizes: fewer filters are faster and miss more. Its dictionary is
/// ordered so that the first n filters are a good dictionary themselves, and each size has a classifier of
/// its own. `sizes` ("25,50,100") then lists the numbers of filters, ascending, the last being D. What the
/// keys and arrays above say is the largest size; each smaller one has its `bias.n`, `scale.n`,
/// `threshold.n`, `provenance.n` and `weights.n` [T, blocks y, blocks x, 4, n]. Optional: `evaluation` and
/// `evaluation.n` (JSON, see WindowEvaluation).
///
/// A file of version 2 or 3 also holds a network for a second-stage verification of windows (see
/// network.hpp), the same for all its sizes, whose classifiers are linear; the network's window is the
/// model's. Metadata: `network` (the number of its convolutions, "4"), `network.strides` ("2,2,2,1", the
/// first convolution's first), `network.head_bias`, `network.head_scale`, `network.gate` (its first-stage
/// threshold), `network.weight`, `network.limit`, `network.provenance` (JSON: how it was trained). Arrays,
/// for each convolution I = 0, 1,
/// ...: `network.I.weights` int8 [outputs, size, size, inputs], `network.I.bias` int32 [outputs],
/// `network.I.scale` float32 [outputs]; and `network.head` int8 [y, x, channels], of the last one's outputs.
/// Version 3 has the heads of boxes: `network.box` int8 [3, y, x, channels], and in the metadata their
/// `network.box_bias` ("3,-4,5") and `network.box_scale`.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "detection/score_calibration.hpp"
#include "detectors/filterbank/descriptor.hpp"
#include "detectors/filterbank/dictionary.hpp"
#include "detectors/filterbank/layout.hpp"
#include "detectors/filterbank/network/network.hpp"
#include "image/box.hpp"

namespace sightline::filterbank {

/// Metadata `kind` of a model file.
inline constexpr std::string_view kModelKind = "sightline.filterbank";

enum class ClassifierKind {
  linear,    ///< raw = sum of weight times feature
  distance,  ///< raw = -(squared Euclidean distance to the nearest template)
};

/// Accuracy of a model on windows with and without the object, measured with exact arithmetic.
struct WindowEvaluation {
  double miss_rate_at_1e4 = 0;  ///< share of the objects missed, 0..1, at 1e-4 false positives a window
  double miss_rate_at_1e5 = 0;  ///< the same at 1e-5
  std::string data;             ///< description of the test data
};

/// Score of a window: `(raw + bias) * scale`, where raw is an exact integer. Immutable once loaded.
struct Model {
  std::string label;
  WindowShape window;
  Box object;  ///< the object's place in the window, in window pixels
  Descriptor descriptor;
  int epsilon = 0;
  ClassifierKind classifier = ClassifierKind::linear;
  Dictionary dictionary;
  std::vector<std::int8_t>
      weights;  ///< [template][block y][block x][cell][bin], patterns after a block's cells
  std::int64_t bias = 0;
  double scale = 1;
  double threshold = 0;          ///< score at which an object is reported unless the user says otherwise
  ScoreCalibration calibration;  ///< calibration of scores (with the network, if there is one); may be empty
  std::string provenance;        ///< JSON text
  std::optional<WindowEvaluation> evaluation;
  Network network;  ///< empty if the model has none; the same for all sizes; linear classifiers only

  /// Bins of a cell's histogram.
  int bins() const { return descriptor.bins(dictionary.size()); }
  /// Elements of `weights` a template.
  std::size_t weights_per_template() const {
    return static_cast<std::size_t>(window.blocks()) * descriptor.block_features(dictionary.size());
  }
  int templates() const {
    return weights.empty() ? 0 : static_cast<int>(weights.size() / weights_per_template());
  }
};

/// Default size limit of a model file in MiB (see detection/keys.hpp). A model in memory takes a few times
/// its file's size.
inline constexpr int kMaxModelSize = 256;

/// Reads and validates a model in all the sizes that the file holds, ascending. Throws Error (model) naming
/// the file, the field and what is wrong with it.
/// @param max_bytes  limit of the file, and of the networks of all sizes together
std::vector<Model> load_models(const std::filesystem::path& file,
                               std::uint64_t max_bytes = std::uint64_t{kMaxModelSize} << 20);

/// The size with that many filters, the largest unless asked otherwise. The whole file is validated, as by
/// load_models; a size that it does not hold is an Error (usage) that lists those it does.
Model load_model(const std::filesystem::path& file, std::optional<int> filters = {},
                 std::uint64_t max_bytes = std::uint64_t{kMaxModelSize} << 20);

/// Writes a model in one or more sizes, ascending; an existing file is replaced at once or not at all. All
/// but dictionary, weights, bias, scale, threshold, provenance and evaluation is written as in the last.
/// Throws std::invalid_argument where a dictionary is not the beginning of the next, or where a network is
/// not usable, has another window than the model, or comes with a classifier that is not linear.
void save_models(std::span<const Model> sizes, const std::filesystem::path& file);
void save_model(const Model& model, const std::filesystem::path& file);

/// Ending of the header keys and arrays of one size in a file: empty for the largest size, ".12" for 12
/// filters.
std::string size_suffix(int size, int largest);

/// Puts the model's evaluation into the file that the model was loaded from, and leaves everything else in it
/// as it is. The file is replaced at once or not at all. Throws Error (failed) if the file holds another
/// classifier or network by now, and Error (model) where it is not usable.
void store_evaluation(const Model& model, const std::filesystem::path& file);

}  // namespace sightline::filterbank
