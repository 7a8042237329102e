#pragma once
/// Internal to the pipeline: one frame in flight.

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "media/frame.hpp"
#include "pipeline/now.hpp"
#include "pipeline/schedule.hpp"
#include "pipeline/trace.hpp"
#include "processing/device_stages.hpp"

namespace sightline::pipeline {

/// A schedule with what follows from it; lives as long as the pipeline.
struct Plan {
  Schedule schedule;
  std::vector<Segment> segments;
};

struct StreamState;
struct Slot;

/// Device work that was handed over and not answered yet. The first of answer and watchdog counts; what comes
/// later finds it closed. Its owner may forget it (`release`) but not destroy it while a late answer can
/// come.
class Outstanding : public opencl::Completion {
 public:
  /// Told by `complete`, from any thread; must outlive the work.
  class Receiver {
   public:
    virtual ~Receiver() = default;
    virtual void device_answered(Slot& slot, bool failed) noexcept = 0;
  };

  void open(Receiver& receiver, Slot& slot) {
    receiver_ = &receiver;
    slot_ = &slot;
    since_ = kNever;
    open_ = true;
  }
  /// All is handed over: the device's time runs. To be called before the slot's next `open`.
  void start_clock() { since_ = now_ns(); }
  void complete(bool failed) noexcept override {
    if (close()) receiver_->device_answered(*slot_, failed);
  }
  /// Whether this call closed it; then no answer follows but the caller's.
  bool close() noexcept { return open_.exchange(false); }
  /// Nanoseconds (now_ns) since when the device has had it; none where it has not.
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
  Slot* slot_ = nullptr;
};

/// The working set of one frame in flight. One task at a time, but for a split frame, whose two partitions
/// touch different members.
struct Slot {
  int index = 0;
  StreamState* stream = nullptr;
  std::int64_t sequence = 0;  ///< of the frame in its stream's admission order, from 0
  media::Frame frame;
  FrameResult result;

  const Plan* plan = nullptr;
  std::size_t segment = 0;                      ///< next of the plan's
  std::unique_ptr<Workspace> workspace;         ///< in a split: the CPU's partition, then the whole
  std::unique_ptr<Workspace> device_partition;  ///< in a split: the device's partition
  std::unique_ptr<DeviceSlot> device;
  std::unique_ptr<Outstanding> outstanding = std::make_unique<Outstanding>();
  std::atomic<int> partitions_left{0};
  std::string device_error;    ///< why the device's part has to be done again; empty if it has not
  bool device_failed = false;  ///< the device said so
  bool abandoned = false;      ///< the device never answered: its buffers may still be in use
  std::string cpu_error;       ///< why the frame failed

  std::array<std::vector<Span>, 2> spans;  ///< by partition: all but a split's device work is 0
  std::int64_t admitted = 0;               ///< as FrameTrace has them
  std::int64_t decoded = 0;
  std::int64_t entered = 0;
  std::array<std::int64_t, 2> ready{};  ///< since when the next segment could have run, by partition
  int slots_in_use = 0;

  /// The workspace that the device works in.
  Workspace& device_workspace() { return plan->schedule.split > 0 ? *device_partition : *workspace; }
};

/// Keeps what a device that never answers may still write to until the process ends, where leak checkers can
/// see that it is meant.
void keep_forever(const void* object) noexcept;

/// What moves through the graph: a frame that begins, or comes back from the device.
struct Token {
  Slot* slot = nullptr;
  bool from_device = false;
};

}  // namespace sightline::pipeline
