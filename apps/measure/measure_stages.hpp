#pragma once
/// `sightline measure --stages`: each stage by itself on each processor, and what becomes of it in schedules.

#include <optional>
#include <string>

#include "apps/common/detector_options.hpp"
#include "media/reader.hpp"
#include "pipeline/measurement/measure_stages.hpp"

namespace sightline::apps {

struct StagesRequest {
  std::string input;  ///< of which the first frame is taken
  media::ReadOptions reading;
  std::string schedules = "all";  ///< as measured_schedules takes them
  pipeline::MeasureStagesOptions options;
};

/// Measures what is asked for, and stores the stages' energy for schedule `auto` with the goal energy. Throws
/// what making the detector, reading the input and pipeline::measure_stages do.
pipeline::StageMeasurement measure_stages(const DetectorOptions& detector, const StagesRequest& request);

}  // namespace sightline::apps
