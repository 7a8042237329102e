#pragma once
/// Options of the tracker, the same for every subcommand that offers it.

#include <optional>

#include "base/options.hpp"
#include "detection/detector.hpp"
#include "detection/tracker.hpp"

namespace sightline::apps {

class TrackOptions {
 public:
  void add_to(OptionSet& options);

  /// What the user asked for; none where objects are not to be tracked.
  /// @param detector  whose objects are tracked: predicted ones fade to its threshold
  std::optional<TrackerOptions> make(const DetectorInfo& detector) const;

 private:
  bool track_ = false;
  TrackerOptions tracker_;
};

}  // namespace sightline::apps
