#pragma once
/// Reference detectors for the cascade detector: plain code, and OpenCV.

#include <memory>

#include "detectors/cascade/detector.hpp"
#include "family/counterpart.hpp"
#include "params/config.hpp"

namespace sightline::cascade {

/// The detector of section [detector] with the reference forms of all stages, one after the other on the
/// calling thread. Throws like make_cascade_detector.
std::unique_ptr<Detector> make_reference_detector(const Config& config);

/// OpenCV's CascadeClassifier with the same cascade and parameters. Throws as make_cascade_detector does, and
/// Error (device) where the module or OpenCV is not installed.
std::unique_ptr<Counterpart> make_opencv_counterpart(const Config& config, int threads);

}  // namespace sightline::cascade
