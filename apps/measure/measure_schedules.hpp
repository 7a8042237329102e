#pragma once
/// `sightline measure`: schedules of one detector side by side.

#include <string>
#include <vector>

#include "apps/common/detector_options.hpp"
#include "media/reader.hpp"
#include "pipeline/measurement/measure.hpp"

namespace sightline::apps {

struct SchedulesRequest {
  std::string input;
  media::ReadOptions reading;
  int preload = 0;  ///< frames that are decoded beforehand and kept; 0: the input is read again and again
  std::string schedules = "all";     ///< as measured_schedules takes them
  pipeline::MeasureOptions options;  ///< what follows from the detector's options is filled in
  bool kernel_resources = false;     ///< whether Measurement::kernel_resources is wanted
};

/// The first frames of an input that have one size, at most so many. Throws Error (input) where there is
/// none, and what reading throws.
std::vector<Frame> first_frames(const std::string& input, const media::ReadOptions& options, int count);

/// @param kernels  the variant of the device's kernels, for people; empty where only one is measured
/// @param work     of the first frame, where it is known from a variant that searches the same windows; may
/// be
///                 null
/// Throws Error (usage) for schedules that there are not, and what making the detector, reading the input and
/// pipeline::measure do.
pipeline::Measurement measure_schedules(const DetectorOptions& detector, const SchedulesRequest& request,
                                        const std::string& kernels, const std::vector<WorkCount>* work);

}  // namespace sightline::apps
