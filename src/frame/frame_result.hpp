#pragma once
/// Detections, and the result of a frame.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frame/attributes.hpp"
#include "frame/frame_output.hpp"
#include "image/box.hpp"

namespace sightline {

struct Detection {
  Box box;
  double score = 0;  ///< any real number, higher is surer; comparable within one model
  int label = 0;     ///< index into the detector's labels
  /// Identity over frames, from 1, unique within one source; 0 where objects are not tracked.
  std::int64_t track = 0;
  /// Further attributes; may be null.
  SharedAttributes attributes = {};
  /// The share of such boxes that are right, 0 to 1, by the model's ScoreCalibration; none if the model is
  /// not calibrated.
  std::optional<double> confidence = {};
  friend bool operator==(const Detection&, const Detection&) = default;
};

enum class FrameStatus {
  ok,       ///< searched; `objects` is the result
  skipped,  ///< deliberately not searched (too small for the detector)
  failed,   ///< could not be searched; `message` says why
};

/// "ok", "skipped" or "failed".
const char* to_string(FrameStatus status);

/// One frame's line in a detections file.
struct FrameResult {
  std::string source;      ///< name given by the user
  std::int64_t frame = 0;  ///< number in the source, from 1
  double time = 0;         ///< presentation time in seconds from the start of the source
  FrameStatus status = FrameStatus::ok;
  int width = 0;
  int height = 0;
  std::vector<Detection> objects;  ///< by falling score; objects found inside others come last
  std::string message;             ///< reason, where the status is not `ok`
  std::string picture = {};        ///< file name of a picture from a folder, else empty
  /// Output of processors with other results than objects; null for the others.
  std::shared_ptr<const FrameOutput> output = {};
  std::string setting = {};  ///< OperatingPoint::name that it was searched with; empty if there is one

  /// Number of objects, or the output's count.
  std::int64_t count() const { return output ? output->count() : static_cast<std::int64_t>(objects.size()); }
};

/// Description of the difference between two results of one frame; empty where every bit is the same.
std::string difference(const FrameResult& a, const FrameResult& b);

}  // namespace sightline
