#pragma once
/// Trace of a run: activities with their processors and times.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "frame/frame_result.hpp"
#include "processing/frame_processor.hpp"

namespace sightline::pipeline {

/// Activity of a span of time.
enum class Activity : std::uint8_t {
  decode,    ///< the source made the frame
  wait,      ///< ready for `stage`, but the processor was busy with other frames
  run,       ///< `stage` ran
  upload,    ///< input of `stage` was copied to its device
  download,  ///< output of `stage` was copied back
  output,    ///< the sinks took the result
};

/// An activity of one frame with its time span. Times are nanoseconds of std::chrono::steady_clock; device
/// times are mapped to it (DeviceClock).
struct Span {
  Activity activity = Activity::run;
  std::uint8_t stage = 0;      ///< stage number; meaningless for decode and output
  std::uint8_t processor = 0;  ///< index into TraceInfo::processors; 0 is the CPU
  std::uint8_t partition = 0;  ///< split frames: 0 is the CPU's, 1 the device's
  std::int64_t start = 0;
  std::int64_t end = 0;
  /// CPU stages: core-nanoseconds of all threads together; 0 if unknown.
  std::int64_t work = 0;
  /// Frames that the same commands of a device worked for at once.
  int frames = 1;

  /// The frame's share of the time, in nanoseconds: shares of several frames add up to the time.
  std::int64_t share() const { return (end - start) / frames; }
};

/// Trace of one frame through the pipeline. Sent after its result was delivered, in frame order for each
/// source.
struct FrameTrace {
  std::int64_t frame = 0;  ///< frame number in the source
  int source = 0;          ///< index into TraceInfo::sources
  int slot = 0;
  int slots_in_use = 0;       ///< when this frame entered
  std::int64_t dropped = 0;   ///< frames of this source dropped so far
  std::int64_t admitted = 0;  ///< start of decoding; of a live frame, its capture
  /// Live sources: when the frame entered its slot; 0 for other sources. The time from the end of decoding
  /// until then counts towards its first wait.
  std::int64_t entered = 0;
  std::int64_t delivered = 0;
  FrameStatus status = FrameStatus::ok;
  bool ends_frame = true;       ///< false: a tile, and others of its frame follow
  int setting = 0;              ///< index into TraceInfo::settings, if not empty
  std::span<const Span> spans;  ///< by start time; valid during the call
};

/// Names for the indices in a trace.
struct TraceInfo {
  std::vector<std::string> stages;      ///< stages of the frame processor
  std::vector<std::string> processors;  ///< "CPU, 2 threads", "NVIDIA H200"
  std::vector<std::string> sources;
  int slots = 0;
  std::int64_t start = 0;                     ///< start of the run, on the spans' clock
  std::vector<OperatingPoint> settings = {};  ///< operating points; empty if there is only one
};

/// Consumer of the traces of a run. Called by one thread at a time.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void begin(const TraceInfo& info) = 0;
  virtual void accept(const FrameTrace& trace) = 0;
};

}  // namespace sightline::pipeline
