#pragma once
/// Internal to the pipeline: one frame in flight.

#include <oneapi/tbb/flow_graph.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frame/frame.hpp"
#include "pipeline/session/now.hpp"
#include "pipeline/session/schedule.hpp"
#include "pipeline/session/tiled_frames.hpp"
#include "pipeline/session/trace.hpp"
#include "processing/device_stages.hpp"

namespace sightline::pipeline {

namespace flow = oneapi::tbb::flow;

struct Program;
struct Plan;
struct StreamState;
struct Slot;
struct DevicePart;
struct Batch;

/// Submitted device work without an answer. The first of answer and watchdog counts; the later one finds it
/// closed. Its owner may forget it (`release`) but not destroy it while a late answer can come.
class PendingSubmission : public Completion {
 public:
  /// Told by `complete`, from any thread; must outlive the work.
  class Receiver {
   public:
    virtual ~Receiver() = default;
    virtual void device_answered(DevicePart& part, bool failed) noexcept = 0;
  };

  void open(Receiver& receiver, DevicePart& part) {
    receiver_ = &receiver;
    part_ = &part;
    since_ = kNever;
    open_ = true;
  }
  /// Starts the device's time after the submission. Call it before the slot's next `open`.
  void start_clock() { since_ = now_ns(); }
  void complete(bool failed) noexcept override {
    if (close()) receiver_->device_answered(*part_, failed);
  }
  /// Whether this call closed it; then no answer follows but the caller's.
  bool close() noexcept { return open_.exchange(false); }
  /// Nanoseconds (now_ns) since when the device has had it; none if it has not.
  std::optional<std::int64_t> open_since() const {
    if (!open_) return std::nullopt;  // first: `open` writes it last
    const std::int64_t since = since_;
    return since != kNever ? std::optional<std::int64_t>(since) : std::nullopt;
  }

 private:
  static constexpr std::int64_t kNever = -1;
  std::atomic<bool> open_{false};
  std::atomic<std::int64_t> since_{kNever};
  Receiver* receiver_ = nullptr;
  DevicePart* part_ = nullptr;
};

/// The node that waits for devices: it takes frames, and emits their parts once the device has answered.
using DeviceNode = flow::async_node<Slot*, DevicePart*>;

/// A frame's part on one device of its program.
struct DevicePart {
  Slot* frame = nullptr;
  std::size_t device = 0;                       ///< number among the program's devices
  std::unique_ptr<DeviceSlot> slot;             ///< made when the device first takes part
  std::unique_ptr<Workspace> partition;         ///< the device's workspace of split frames
  StageSet mapping;                             ///< stages that `slot` is prepared for
  Segment segment;                              ///< stages of the submission
  DeviceNode::gateway_type* gateway = nullptr;  ///< gets the answer
  std::unique_ptr<PendingSubmission> pending = std::make_unique<PendingSubmission>();
  std::string error;        ///< why the device's part has to be done again; empty if it has not
  Batch* batch = nullptr;   ///< the device's last submission of this frame
  bool failed = false;      ///< the device said so
  bool abandoned = false;   ///< the device never answered: its buffers may still be in use
  bool is_first = false;    ///< the last submission launched kernels for the first time
  std::int64_t ready = 0;   ///< since when the next segment could have run
  std::vector<Span> spans;  ///< the device's activities

  void begin() {
    error.clear();
    failed = false;
    spans.clear();
  }
  const DeviceStages& stages() const;
  Workspace& workspace() const;  ///< that the device works in
};

/// The working set of one frame in flight. Used by one task at a time, except for a split frame, whose
/// partitions use different members.
struct Slot {
  static constexpr std::size_t kNoDevice = kMostDevices;

  Slot(Program& owner, int number);

  Program& program;
  const int index;
  StreamState* stream = nullptr;
  std::int64_t sequence = 0;  ///< the frame's number in the order of admission of its stream's nodes, from 0
  Frame frame;
  Tile tile;  ///< that `frame` is, where frames are searched in tiles
  FrameResult result;

  Plan* plan = nullptr;
  bool is_over = false;                  ///< the remaining nodes only pass the frame on
  std::size_t segment = 0;               ///< the plan's segment that a device works on
  std::size_t dealt = kNoDevice;         ///< the device that the frame is dealt to
  std::unique_ptr<Workspace> workspace;  ///< for split frames: the CPU's partition, then the whole
  std::vector<DevicePart> parts;         ///< by device of the program
  std::atomic<int> partitions_left{0};   ///< unfinished partitions of a split frame, the CPU's included
  std::string cpu_error;                 ///< why the frame failed

  std::vector<Span> spans;    ///< spans of the CPU
  std::int64_t admitted = 0;  ///< times as in FrameTrace
  std::int64_t decoded = 0;
  std::int64_t entered = 0;
  std::int64_t ready = 0;  ///< since when the next segment could have run on the CPU
  int slots_in_use = 0;
  std::size_t setting = 0;  ///< index in the processor's settings, set at admission

  bool is_split() const;
  /// The device of a segment of the plan's.
  std::size_t device_of(const Segment& one) const {
    return one.pinned > 0 ? static_cast<std::size_t>(one.pinned) - 1 : dealt;
  }
};

/// Frames that a device gets in one submission. Each is answered by itself.
struct Batch {
  std::vector<DevicePart*> parts;  ///< read only by the submission
  std::size_t size = 0;            ///< number of frames
  std::size_t unanswered = 0;      ///< frames on the device
  std::size_t users = 0;           ///< frames that are not taken back, and the submission itself; 0: free
  double seconds = 0;              ///< for which the frames taken back kept the device busy
};

/// Leaks memory that an unresponsive device may still write to, visibly deliberate for leak checkers.
void leak_deliberately(const void* object) noexcept;

}  // namespace sightline::pipeline
