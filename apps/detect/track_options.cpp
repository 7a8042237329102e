#include "apps/detect/track_options.hpp"

#include <algorithm>
#include <string>

namespace sightline::apps {

void TrackOptions::add_to(OptionSet& options, bool live) {
  track_names_ = live;
  options.group("Tracking");
  options.add("--track", &track_,
              "Follow objects over frames: bridges short gaps, suppresses flicker, smooths boxes");
  if (live) {
    options
        .add("--no-track", &no_track_,
             "Do not track recognised faces; otherwise they are tracked, so that names do not flicker")
        .excludes("--track");
  }
  options
      .add("--track-hits FRAMES", &tracker_.min_hits,
           "Frames that must show an object before it is reported; 1: at once")
      .between(1, 1000)
      .show_default()
      .needs("--track");
  options
      .add("--track-gap SECONDS", &tracker_.max_gap,
           "Maximum gap over which an object is reported, in seconds; 0: none")
      .between(0, 60)
      .show_default()
      .needs("--track");
  options
      .add("--track-lost SECONDS", &tracker_.max_lost,
           "Time without a detection after which a track ends, in seconds")
      .between(0, 60)
      .show_default()
      .needs("--track");
  options
      .add("--track-start SCORE", &tracker_.start_score,
           "Minimum score that starts a track; weaker objects only continue one (default: any)")
      .needs("--track");
}

std::optional<TrackerOptions> TrackOptions::make(const Detector& detector) const {
  const DetectorInfo& info = detector.info();
  const bool wanted = track_ || (track_names_ && !no_track_ && info.names_objects);
  if (!wanted) return std::nullopt;
  if (track_) require_boxes(info, "track");
  TrackerOptions options = tracker_;
  options.lowest_score = info.threshold;
  options.names = detector.known_names();
  options.max_lost = std::max(options.max_lost, options.max_gap);
  options.max_pause = std::max(options.max_pause, options.max_lost);
  return options;
}

}  // namespace sightline::apps
