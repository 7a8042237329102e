#pragma once
/// Numbers of windows that pass each boosting stage of a cascade.

#include <cstdint>
#include <vector>

#include "detectors/cascade/detector.hpp"

namespace sightline::cascade {

/// Sums over pictures. Thread-safety: one thread at a time.
struct StageSurvivors {
  std::int64_t windows = 0;          ///< windows of all pictures, on all scales
  std::vector<std::int64_t> passed;  ///< windows that pass boosting stages 0 to i
};

/// Adds a picture's windows (how many boosting stages the detector itself scans has no part in it). A picture
/// that is too small for the cascade adds none. Costs a scan for each boosting stage.
void count_survivors(const CascadeDetector& detector, PictureView picture, StageSurvivors& counts);

}  // namespace sightline::cascade
