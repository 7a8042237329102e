#pragma once
/// Session: searches any number of streams at once. Streams can be added and removed at any time. Each stream
/// runs one program (a frame processor with a schedule); several streams may run the same program. All share
/// threads, devices and batches.

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "detection/tiles.hpp"
#include "frame/frame_source.hpp"
#include "pipeline/session/schedule.hpp"
#include "pipeline/session/trace.hpp"
#include "processing/frame_processor.hpp"

namespace sightline::pipeline {

/// Consumer of results. Called by one thread at a time, frames in order.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Throws Error (failed) if it cannot take the frame; see Stream::fails_alone.
  virtual void accept(const Frame& frame, const FrameResult& result) = 0;
};

struct StageTime {
  std::string name;
  std::string processor;  ///< "CPU" or the device's name; "CPU and ..." if frames differed
  double seconds = 0;     ///< busy time, summed over all frames
  double work = 0;        ///< core-seconds on the CPU, summed over all frames
};

/// Time in which a device had work of a run.
struct DeviceTime {
  std::string name;
  double seconds = 0;  ///< work of several frames at once counts once
};

/// Progress of a run; sent after every frame.
struct Progress {
  std::int64_t frames = 0;
  double seconds = 0;                 ///< since the start
  std::optional<std::int64_t> total;  ///< estimated number of frames in total
};

/// Number of frames processed at one operating point.
struct OperatingPointUse {
  OperatingPoint setting;
  std::int64_t frames = 0;
};

/// Summary of a run.
struct RunReport {
  std::int64_t frames = 0;
  std::int64_t skipped = 0;
  std::int64_t failed = 0;
  std::int64_t objects = 0;  ///< sum of FrameResult::count
  std::int64_t decode_errors = 0;
  std::int64_t retried = 0;  ///< frames repeated elsewhere after a device failed
  double seconds = 0;
  bool stopped = false;           ///< stopped by request before the end of the source
  std::size_t sources = 1;        ///< decoders, and outputs, that worked side by side
  std::vector<StageTime> stages;  ///< decode, the processor's stages, transfers if any, output
  std::vector<DeviceTime> devices;
  std::string first_failure;  ///< message of the first failed frame
  std::exception_ptr error;   ///< what ended the stream, if it fails alone
  /// Use of each operating point, from the most accurate to the fastest; empty if there is only one. Counts
  /// only searched frames.
  std::vector<OperatingPointUse> settings;

  /// Adds another source's run.
  void add(const RunReport& other);
};

/// A source and the sinks of its results. They must live until Session::wait or Session::remove has returned
/// or the session is destroyed.
struct Stream {
  FrameSource* source = nullptr;
  std::string name;  ///< source name in the results
  std::vector<Sink*> sinks;
  std::function<void(const Progress&)>
      on_progress;  ///< called in order, from one thread at a time; may be empty
  /// Share of the frames in flight, relative to the other streams of the program, where all have frames
  /// ready.
  double importance = 1;
  double rate = 0;  ///< frames per second at most; 0: no limit. Live sources drop what comes faster
  /// Each frame is searched in tiles, which take slots like frames; only for detectors. Results, progress and
  /// reports are those of whole frames, traces those of tiles.
  std::optional<TileOptions> tiles = {};
  /// An error of the source or of a sink ends this stream only. Otherwise it ends all streams.
  bool fails_alone = false;
  const std::atomic<bool>* stop = nullptr;  ///< ends the stream early, cleanly, once it is set; may be null
  std::vector<TraceSink*> traces = {};  ///< get its frames; the caller of Session must call TraceSink::begin
  int number = 0;                       ///< FrameTrace::source
};

struct SessionOptions {
  int threads = 0;          ///< CPU threads; 0: all
  double stall_limit = 30;  ///< seconds without an answer after which a device is lost
  /// Poll devices for completion instead of using callbacks. Devices with their own memory are always polled.
  bool poll_device = false;
};

enum class ProgramId : std::size_t {};
enum class StreamId : std::uint64_t {};

/// What happened in a session.
struct Event {
  enum class Kind {
    ended,        ///< a stream ended without an error
    failed,       ///< an error ended a stream
    device_lost,  ///< a device failed or did not answer: it gets no more frames
  };
  Kind kind = Kind::ended;
  StreamId stream{};    ///< not of `device_lost`
  std::string message;  ///< of the error
};

/// Searches streams by programs. A program is a frame processor (one detector, or several in a chain) with
/// its stages on devices and a schedule. Streams of one program share its slots (Schedule::in_flight);
/// streams of all programs share the threads of one TBB arena and the queue of each device, where frames that
/// need the same stages go together in batches.
///
/// The way of a frame is a TBB flow graph: decode, the stages of the schedule (a node for each stage on the
/// CPU, one for each run of stages on devices), back into order, delivery. A frame is read only into a slot.
/// A program has Schedule::in_flight of them, but a stream whose source waits (FrameSource::Reading::waits)
/// always gets at least one. So memory is bounded. No thread waits for a device. With several devices, each
/// frame goes to the device that is expected to finish it first, or all devices share each frame. Results do
/// not depend on the schedule, on the number of devices or on other streams, except for stages that are not
/// exact (StageInfo::exact).
///
/// A frame on which a stage throws becomes a failed FrameResult, and the stream continues. A device that
/// fails or does not answer is disabled for all later frames, and logged once. Its frames are retried on the
/// schedule's other devices, or on the CPU. After an error of a source, the frames before it are delivered;
/// after one of a sink, no more frames of the stream are.
///
/// While a device compiles its kernels, frames that enter go to the schedule's other devices, or to the CPU.
///
/// Thread-safety: all members but the destructor, from any thread. Call `wait` or `remove` once for a stream,
/// and never from a sink, trace sink or callback of the session: that can deadlock.
class Session {
 public:
  explicit Session(const SessionOptions& options = {});
  /// Ends all streams and waits for them.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int threads() const;

  /// Adds a program. Throws Error (usage) if the processor and the devices cannot run the schedule.
  /// @param processor  must outlive the session
  /// @param devices    the processor's stages on devices, must outlive the session; empty: none
  ProgramId add(const FrameProcessor& processor, const Devices& devices, const Schedule& schedule);
  Schedule schedule(ProgramId program) const;
  /// Sets the schedule of frames that enter from now on; frames in flight keep theirs. Throws Error (usage).
  void set_schedule(ProgramId program, const Schedule& schedule);
  /// Waits until the devices of the program's schedule have compiled their kernels: for measurements. A
  /// device that cannot is disabled.
  void wait_until_ready(ProgramId program);
  /// Index of the operating point (FrameProcessor::operating_points) of frames that enter now; initially the
  /// configured one.
  std::size_t setting(ProgramId program) const;
  /// Sets the operating point of frames that enter from now on; frames in flight keep theirs. Throws Error
  /// (usage) if the processor has no such operating point.
  void set_setting(ProgramId program, std::size_t setting);
  /// Whether a device of the program was disabled.
  bool device_lost(ProgramId program) const;
  /// Names for traces of a program's streams: no sources yet.
  TraceInfo trace_info(ProgramId program) const;

  /// Adds streams, which begin at once, together. Throws only if none was added.
  std::vector<StreamId> add(ProgramId program, std::span<const Stream> streams);
  StreamId add(ProgramId program, const Stream& stream) { return add(program, {&stream, 1}).front(); }
  /// Changes Stream::rate.
  void set_rate(StreamId stream, double rate);
  /// Figures of the stream so far. `error`, `stopped` and `decode_errors` are only set in the report of
  /// `wait` or `remove`. Throws Error (usage) for an unknown stream.
  RunReport report(StreamId stream) const;
  /// Whether the stream has ended and all its frames are delivered. Throws as `report`.
  bool is_done(StreamId stream) const;
  /// Waits for the end of the stream, and forgets it. Throws what ended it, unless the stream fails alone:
  /// then the report has the error.
  RunReport wait(StreamId stream);
  /// Ends the stream: no frame is read any more, those in flight are delivered. A source that blocks in
  /// `read` is waited for. Then as `wait`.
  RunReport remove(StreamId stream);
  /// The next event; waits for it. None after `timeout`. Keeps the latest 1000 events and discards older
  /// ones.
  std::optional<Event> next_event(std::chrono::milliseconds timeout);

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace sightline::pipeline
