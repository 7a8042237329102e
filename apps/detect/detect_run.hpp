#pragma once
/// Arguments of `sightline detect`, and its run.

#include <optional>
#include <string>
#include <vector>

#include "apps/common/detector_options.hpp"
#include "apps/detect/track_options.hpp"
#include "detection/result_writer.hpp"
#include "detection/track_counter.hpp"
#include "media/reader.hpp"
#include "media/writer.hpp"

namespace sightline::apps {

struct DetectArguments {
  std::vector<std::string> inputs;
  bool several = false;  // inputs are named, or a folder of videos
  DetectorOptions detector;
  TrackOptions tracking;
  std::string output;
  std::string detections;
  std::string format;
  std::string contact_sheet;
  std::string trace;
  std::string report;
  std::string expected;  // stored results that must be found again
  bool digest = false;
  std::string crops;                  // folder for pictures of objects
  std::string labels;                 // folder for YOLO's label files
  std::optional<CountRules> counted;  // zones and lines
  media::WriteOptions writing;
  media::ReadOptions reading;
  bool no_audio = false;
  bool together = false;
  bool keep_going = false;  // after inputs and pictures that cannot be read whole
  bool overwrite = false;   // existing outputs
};

// Destination of the annotated input.
struct Target {
  std::string path;
  bool pictures = false;  // the path is a folder, for pictures that keep their names
};

/// A video: the given path, or one in the given folder where there are several inputs. Pictures stay pictures
/// where the output is a folder.
Target target_for(const DetectArguments& arguments, const std::string& input);

/// Searches the inputs, one after the other or together; returns the exit code. The arguments have been
/// checked.
int run_detect(DetectArguments arguments, ResultFormat format, int verbosity);

}  // namespace sightline::apps
