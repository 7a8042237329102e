#pragma once
/// The filter-bank detector's model and its file.
///
/// File: safetensors, version 1. Metadata (strings): `kind` = "sightline.filterbank", `version`, `label`,
/// `window`
/// ("64x128", pixels), `cell` ("8"), `object` ("x,y,w,h": where the object sits inside the window, pixels),
/// `normalisation` ("l1-sqrt"), `epsilon`, `classifier` ("linear" or "distance"), `bias`, `scale`,
/// `threshold`, `provenance` (JSON: how it was trained). Arrays: `dictionary` int8 [D,3,3],
/// `dictionary.reference` float32 [D,3,3], `weights` int8 [T, blocks y, blocks x, 4, D]: T = 1 for the linear
/// classifier, the number of templates for distance.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "detection/detection.hpp"
#include "filterbank/dictionary.hpp"
#include "filterbank/layout.hpp"

namespace sightline::filterbank {

enum class ClassifierKind {
  linear,    ///< raw = sum of weight times feature
  distance,  ///< raw = -(squared Euclidean distance to the nearest template)
};

/// Score of a window: `(raw + bias) * scale`, where raw is an exact integer. Immutable once loaded.
struct Model {
  std::string label;
  WindowShape window;
  Box object;  ///< the object's place in the window, in window pixels
  int epsilon = 0;
  ClassifierKind classifier = ClassifierKind::linear;
  Dictionary dictionary;
  std::vector<std::int8_t> weights;  ///< [template][block y][block x][cell][filter]
  std::int64_t bias = 0;
  double scale = 1;
  double threshold = 0;    ///< score at which an object is reported unless the user says otherwise
  std::string provenance;  ///< JSON text

  /// Elements of `weights` a template.
  std::size_t weights_per_template() const {
    return static_cast<std::size_t>(window.blocks()) * kBlockCells * dictionary.size();
  }
  int templates() const {
    return weights.empty() ? 0 : static_cast<int>(weights.size() / weights_per_template());
  }
};

/// Reads and validates a model. Throws Error (model) naming the file, the field and what is wrong with it.
Model load_model(const std::filesystem::path& file);

/// Writes a model; an existing file is replaced at once or not at all.
void save_model(const Model& model, const std::filesystem::path& file);

}  // namespace sightline::filterbank
