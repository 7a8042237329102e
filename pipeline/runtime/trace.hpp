#pragma once
/// Trace of a run: activities with their processors and times.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "processing/frame_processor.hpp"
#include "processing/frame_result.hpp"

namespace sightline::pipeline {

/// Activity of a span of time.
enum class Activity : std::uint8_t {
  decode,    ///< the source made the frame
  wait,      ///< ready for `stage`, whose processor was busy with others
  run,       ///< `stage` ran
  upload,    ///< input of `stage` was copied to its device
  download,  ///< output of `stage` was copied back
  output,    ///< the sinks took the result
};

/// A span of time of one frame. Times are nanoseconds of std::chrono::steady_clock; those of a device are
/// mapped to it (DeviceClock).
struct Span {
  Activity activity = Activity::run;
  std::uint8_t stage = 0;      ///< of the processor; meaningless for decode and output
  std::uint8_t processor = 0;  ///< 0 is the CPU, others are devices: TraceInfo::processors
  std::uint8_t partition = 0;  ///< of a split frame: 0 the CPU's partition, 1 the device's
  std::int64_t start = 0;
  std::int64_t end = 0;
  /// CPU stages: core-nanoseconds of all threads together; 0 where not known.
  std::int64_t work = 0;
};

/// One frame's way through the pipeline, sent when its result has been delivered, in order for each source.
struct FrameTrace {
  std::int64_t frame = 0;  ///< the source's number of it
  int source = 0;
  int slot = 0;
  int slots_in_use = 0;       ///< when this frame entered
  std::int64_t dropped = 0;   ///< frames of this source dropped so far
  std::int64_t admitted = 0;  ///< start of the frame's decoding; of a live one, when it was captured
  /// When it came into its slot, where that was later than the end of decoding; 0: it was not. Between the
  /// two it waited with its source, which is part of its first wait.
  std::int64_t entered = 0;
  std::int64_t delivered = 0;
  FrameStatus status = FrameStatus::ok;
  int setting = 0;              ///< of TraceInfo::settings, where there are any
  std::span<const Span> spans;  ///< by start
};

/// Names of the numbers in a trace.
struct TraceInfo {
  std::vector<std::string> stages;      ///< of the processor
  std::vector<std::string> processors;  ///< "CPU, 2 threads", "NVIDIA H200"
  std::vector<std::string> sources;
  int slots = 0;
  std::int64_t start = 0;                       ///< of the run, as the spans have it
  std::vector<ProcessorSetting> settings = {};  ///< of the processor; empty where there is only one
};

/// Takes the traces of a run. Called by one thread at a time.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void begin(const TraceInfo& info) = 0;
  virtual void accept(const FrameTrace& trace) = 0;
};

}  // namespace sightline::pipeline
