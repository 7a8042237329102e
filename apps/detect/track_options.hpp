#pragma once
/// Options of the tracker, the same for every subcommand that offers it.

#include <optional>

#include "detection/detector.hpp"
#include "detection/tracker.hpp"
#include "params/options.hpp"

namespace sightline::apps {

class TrackOptions {
 public:
  /// @param live  whether objects that have names are tracked unless the user says otherwise
  void add_to(OptionSet& options, bool live = false);

  /// Whether --track was given.
  bool is_asked_for() const { return track_; }

  /// Options given by the user; none if objects are not tracked.
  /// @param detector  whose objects are tracked: predicted ones fade to its threshold
  std::optional<TrackerOptions> make(const Detector& detector) const;

 private:
  bool track_ = false;
  bool track_names_ = false;
  bool no_track_ = false;
  TrackerOptions tracker_;
};

}  // namespace sightline::apps
