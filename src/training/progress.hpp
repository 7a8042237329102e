#pragma once
/// What a trainer tells its caller while it works, and how it is stopped.

#include <exception>
#include <functional>
#include <string>

namespace sightline::training {

/// Where training stands.
struct TrainingProgress {
  std::string phase;
  double fraction = 0;  ///< of the phase, 0..1
  double elapsed = 0;   ///< seconds since the start of this run
  double left = -1;     ///< seconds until training ends, an estimate; negative where there is none yet
};

/// Called now and then, always from the thread that trains; returns false to stop.
using ReportProgress = std::function<bool(const TrainingProgress&)>;

/// Thrown out of a trainer when its report asked to stop; what was finished is in the state folder.
class TrainingStopped : public std::exception {
 public:
  const char* what() const noexcept override { return "training was stopped"; }
};

}  // namespace sightline::training
