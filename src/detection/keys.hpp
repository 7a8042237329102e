#pragma once
/// Parameters of section [detector] that families share.

#include "detection/candidate_limit.hpp"
#include "detection/score_calibration.hpp"
#include "params/parameter.hpp"

namespace sightline::keys {

// Parameters of nearly all families.
inline constexpr Text kModel("model", "", "Model file");
inline constexpr Whole kMaxModelSize("max_model_size", {1, 1 << 20}, "--max-model-size MIB",
                                     "Maximum size of a model file, in MiB", {.shows_range = true});
inline constexpr Number kConfidence("confidence", {0, 1}, "--confidence CONFIDENCE",
                                    "Report objects that are at least so likely to be right (0 to 1); lower "
                                    "finds more. For models that are calibrated",
                                    {.shows_range = true});
inline constexpr Number kThreshold("threshold", {ScoreCalibration::lowest(), ScoreCalibration::highest()},
                                   "-t,--threshold SCORE",
                                   "Report objects with at least this score; lower finds more. "
                                   "Each model has a scale of its own; networks: 0 to 1");
inline constexpr Whole kMaxCandidates(
    "max_candidates", {1, kMostCandidates}, "--max-candidates N",
    "Maximum number of windows of a frame that are kept before overlapping ones are joined: the best",
    {.shows_range = true});

// Parameters of families that search with windows of several sizes.
inline constexpr Number kScaleStep(
    "scale_step", {1.001, 8}, "--scale-step RATIO",
    "Ratio of neighbouring scales, above 1; smaller finds more, slower (OpenCV's scaleFactor)");
inline constexpr Number kMinSize("min_size", {0, 1e6}, "--min-size PX",
                                 "Minimum height of an object, in pixels; smaller costs more");
inline constexpr Number kMaxSize("max_size", {0, 1e6}, "--max-size PX",
                                 "Maximum height of an object, in pixels (OpenCV's maxSize)");
inline constexpr Flag kClip(
    "clip", "--no-clip",
    "Report whole boxes of objects that are partly outside the frame; otherwise boxes end at its edge");
inline constexpr Number kMaxOverlap("max_overlap", {0, 1}, "", "Maximum overlap of two objects");
inline constexpr Text kLabel("label", "", "Label of the objects");
inline constexpr Text kKernels("kernels", "", "Variant of the device's kernels");

}  // namespace sightline::keys
