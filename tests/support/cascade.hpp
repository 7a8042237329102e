#pragma once
/// Pictures and cascades for the tests of the cascade's kernels.

#include "detectors/cascade/model.hpp"
#include "image/view.hpp"

namespace sightline::cascade {

/// Patches, so that windows are more than noise; some flat ones.
Image<std::uint8_t> make_picture(Size size, unsigned seed);

struct Shape {
  const char* name;
  FeatureKind kind;
  Size window;
  int stages;
  int trees;      ///< trees per stage
  int max_nodes;  ///< nodes per tree
  bool tilted = false;
  float weight = -1;  ///< weight of the first rectangle
};

/// Trees whose features and leaves are random; thresholds so that about half of the windows pass a stage.
Model make_model(const Shape& shape);

inline const Shape kShapes[] = {
    {"haar_stumps", FeatureKind::haar, {20, 20}, 6, 5, 1},
    {"haar_trees_of_two", FeatureKind::haar, {24, 24}, 5, 6, 2},
    {"haar_deep_trees", FeatureKind::haar, {17, 26}, 4, 5, 7},
    {"haar_tilted", FeatureKind::haar, {20, 20}, 5, 5, 2, true},
    {"haar_broken_weights", FeatureKind::haar, {20, 20}, 4, 5, 1, false, -1.3F},
    {"lbp_stumps", FeatureKind::lbp, {45, 45}, 6, 6, 1},
    {"lbp_small", FeatureKind::lbp, {10, 12}, 5, 7, 1},
    {"lbp_trees", FeatureKind::lbp, {24, 24}, 5, 5, 5},
    {"lbp_large_blocks", FeatureKind::lbp, {70, 60}, 4, 5, 1},
};

}  // namespace sightline::cascade
