#pragma once
/// Arguments of `sightline live`.

#include <string>
#include <vector>

#include "apps/common/detector_options.hpp"
#include "apps/detect/track_options.hpp"
#include "detection/result_writer.hpp"
#include "media/reader.hpp"
#include "media/recorder.hpp"
#include "pipeline/session/live_source.hpp"

namespace sightline::apps {

/// A camera, a stream or a file.
struct LiveInputArguments {
  std::string name;
  std::string short_name;  ///< for where there is little room: a file's without its folders
  pipeline::LiveOptions capture;
  media::RecordOptions recording;
};

struct LiveArguments {
  std::vector<LiveInputArguments> inputs;  ///< never empty
  DetectorOptions detector{kLiveConfig};
  TrackOptions tracking;
  media::ReadOptions reading;
  double duration = 0;  ///< seconds until the run ends; 0: no end

  bool headless = false;
  bool display_all = false;
  bool full_screen = false;
  bool software = false;
  bool vsync = false;
  std::string hud = "compact";

  bool records = false;  ///< from the start, not only when a key asks for it
  std::string detections;
  ResultFormat format = ResultFormat::jsonl;
  std::string trace;
  std::string report;
  double status_every = 0;  ///< seconds between lines that say how the run is doing; 0: none

  bool has_several_inputs() const { return inputs.size() > 1; }
};

}  // namespace sightline::apps
