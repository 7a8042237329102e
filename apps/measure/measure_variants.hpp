#pragma once
/// `sightline measure --variants`: every implementation of a detector on the same pictures.

#include <string>
#include <vector>

#include "apps/common/detector_options.hpp"
#include "media/reader.hpp"
#include "pipeline/measurement/experiment.hpp"

namespace sightline::apps {

struct VariantsRequest {
  std::string input;  ///< pictures; sub-folders are groups of them
  media::ReadOptions reading;
  int most_pictures = 0;           ///< of each folder, or of a video; 0: all
  std::vector<std::string> names;  ///< of implementations, or "all"
  pipeline::ExperimentOptions options;
};

/// The names that implementations have, of all families: for completion.
std::vector<std::string> implementation_names();

/// Measures what is asked for, as far as it is there; what is not is in `left_out`. Throws Error (usage) for
/// names that the detector's family does not have, and what making detectors does.
pipeline::Experiment measure_variants(const DetectorOptions& detector, const VariantsRequest& request);

/// The program and the machine that it runs on, for people.
std::string program_text();
std::string machine_text(const DetectorEngine& engine);

}  // namespace sightline::apps
