#pragma once
/// Result of a frame processor other than a list of objects: a histogram, a descriptor, a label image.

#include <cstdint>
#include <string>

namespace sightline {

/// Immutable once it is made; shared by the results that hold it.
class FrameOutput {
 public:
  FrameOutput() = default;
  FrameOutput(const FrameOutput&) = delete;
  FrameOutput& operator=(const FrameOutput&) = delete;
  virtual ~FrameOutput() = default;

  /// Description of the difference to another output of the same processor ("bin 17: 3, not 4"); empty
  /// where every bit is the same.
  virtual std::string difference(const FrameOutput& other) const = 0;
  /// Number of counted items, for the run's summary.
  virtual std::int64_t count() const { return 1; }
};

}  // namespace sightline
