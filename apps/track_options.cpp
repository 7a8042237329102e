#include "track_options.hpp"

#include <algorithm>
#include <string>

namespace sightline::apps {

void TrackOptions::add_to(CLI::App& command) {
  const std::string group = "Tracking";
  CLI::Option* track =
      command
          .add_flag("--track", track_,
                    "Give objects an identity over frames: fills short gaps, leaves out what shows up for a "
                    "moment only, steadies the boxes")
          ->group(group);
  command
      .add_option("--track-hits", tracker_.min_hits,
                  "Frames that must have shown an object before it is reported; 1: at once")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str()
      ->group(group)
      ->needs(track);
  command
      .add_option("--track-gap", tracker_.max_gap,
                  "Seconds that an object is still reported for while it is not found; 0: not at all")
      ->check(CLI::Range(0.0, 60.0))
      ->capture_default_str()
      ->group(group)
      ->needs(track);
  command
      .add_option("--track-lost", tracker_.max_lost,
                  "Seconds after which an object that is not found loses its identity")
      ->check(CLI::Range(0.0, 60.0))
      ->capture_default_str()
      ->group(group)
      ->needs(track);
  command
      .add_option("--track-start", tracker_.start_score,
                  "Lowest score that begins an identity: with a lower --threshold, weaker objects only "
                  "continue one (default: any)")
      ->group(group)
      ->needs(track);
}

std::optional<TrackerOptions> TrackOptions::make(const DetectorInfo& detector) const {
  if (!track_) return std::nullopt;
  TrackerOptions options = tracker_;
  options.lowest_score = detector.threshold;
  options.max_lost = std::max(options.max_lost, options.max_gap);
  options.max_pause = std::max(options.max_pause, options.max_lost);
  return options;
}

}  // namespace sightline::apps
