#pragma once
/// Devices as pipelines and detectors use them: what they are, their queues, events and clocks, without the
/// types of the API behind them. src/opencl implements them for OpenCL.

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

namespace sightline {

class FrameMemory;

enum class DeviceType { cpu, gpu, accelerator, other };

/// "CPU", "GPU", ...
const char* to_string(DeviceType type);

/// What a device is. A plain value; 0 or empty means unknown.
struct DeviceInfo {
  std::string platform;
  std::string name;
  std::string vendor;
  std::string version;  ///< of the API
  std::string driver_version;
  DeviceType type = DeviceType::other;
  int compute_units = 0;
  std::uint64_t memory_bytes = 0;
  bool unified_memory = false;  ///< host and device share memory

  /// Whether the device is one of NVIDIA's.
  bool is_nvidia() const { return vendor.find("NVIDIA") != std::string::npos; }
};

/// Is told the end of a command. Must live until then.
class Completion {
 public:
  virtual ~Completion() = default;
  /// Called from a thread of the driver's: must return quickly and make no calls to the device.
  virtual void complete(bool failed) noexcept = 0;
};

class DeviceEventOps;

/// A command that a device was asked to run. Counted reference; cheap to move and to copy, without an
/// allocation. Thread-safety: as for a pointer; any thread may wait.
class DeviceEvent {
 public:
  /// Device times in nanoseconds on the device's clock.
  struct Times {
    std::uint64_t queued = 0, submitted = 0, started = 0, ended = 0;
  };
  enum class State { running, complete, failed };

  DeviceEvent() = default;
  /// Takes over one reference to a handle of the implementation's. Null: no command.
  DeviceEvent(void* handle, const DeviceEventOps& ops) noexcept : handle_(handle), ops_(&ops) {}
  DeviceEvent(const DeviceEvent& other);
  DeviceEvent(DeviceEvent&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), ops_(other.ops_) {}
  DeviceEvent& operator=(DeviceEvent other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(ops_, other.ops_);
    return *this;
  }
  ~DeviceEvent();

  explicit operator bool() const { return handle_ != nullptr; }
  /// For the implementation.
  void* handle() const { return handle_; }
  const DeviceEventOps* ops() const { return ops_; }

  // What follows must not be called without a command. `device` is the device's name, for errors.

  /// Valid once the command is complete. Throws DeviceError.
  Times times(const std::string& device) const;
  /// Calls `completion.complete` once, from a thread of the driver's, when the command is done or has failed.
  /// The queue must be flushed, or it may never be called. Throws DeviceError.
  void on_complete(Completion& completion, const std::string& device) const;
  /// How far the command is. Never waits.
  State state() const;
  /// Waits for the command, whose queue must be flushed. Throws DeviceError where it failed.
  void wait(const std::string& device) const;

 private:
  void* handle_ = nullptr;
  const DeviceEventOps* ops_ = nullptr;
};

/// What an implementation does with the handles of its events; see DeviceEvent. One constant object each.
class DeviceEventOps {
 public:
  virtual void retain(void* handle) const noexcept = 0;
  virtual void release(void* handle) const noexcept = 0;
  virtual DeviceEvent::Times times(void* handle, const std::string& device) const = 0;
  virtual void on_complete(void* handle, Completion& completion, const std::string& device) const = 0;
  virtual DeviceEvent::State state(void* handle) const = 0;
  virtual void wait(void* handle, const std::string& device) const = 0;

 protected:
  ~DeviceEventOps() = default;
};

/// An in-order queue of commands with their times. Thread-safety: one thread at a time.
class DeviceQueue {
 public:
  virtual ~DeviceQueue() = default;
  virtual const std::string& device_name() const = 0;

  /// A command that does nothing: complete when all before it are.
  virtual DeviceEvent marker() = 0;
  /// The same once commands of other queues of the device are complete; they must be flushed.
  virtual DeviceEvent marker_after(std::span<const DeviceEvent> others) = 0;
  /// Hands everything to the device. Without it, an event may never complete.
  virtual void flush() = 0;
  /// Waits for everything.
  virtual void finish() = 0;
  /// Waits for one event. Throws DeviceError where the command failed.
  void wait(const DeviceEvent& event) { event.wait(device_name()); }
};

/// Maps event times (nanoseconds of the device) to the host's steady clock. Devices need not have a common
/// timer with the host, so a marker ties the two: its end on the device against the moment the host sees it
/// done. The error is the time from the one to the other, some tens of microseconds; of several markers the
/// one seen soonest counts. Clocks drift: call `synchronise` again from time to time. Thread-safety: any
/// thread may map while one synchronises.
class DeviceClock {
 public:
  using HostTime = std::chrono::steady_clock::time_point;

  /// Waits for everything on the queue. Throws DeviceError.
  void synchronise(DeviceQueue& queue);
  HostTime to_host(std::uint64_t device_ns) const;
  /// Whether the last synchronisation is older than ten seconds.
  bool stale() const;
  /// Uncertainty of the mapping: from just before the marker was sent until it was seen done.
  std::chrono::nanoseconds uncertainty() const;

 private:
  mutable std::mutex mutex_;
  std::int64_t offset_ns_ = 0;  ///< host minus device
  std::int64_t uncertainty_ns_ = 0;
  HostTime when_{};
};

/// A device in use. Thread-safety: any thread.
class ComputeDevice {
 public:
  virtual ~ComputeDevice() = default;
  virtual const DeviceInfo& info() const = 0;
  const std::string& name() const { return info().name; }
  /// Throws DeviceError.
  virtual std::unique_ptr<DeviceQueue> make_queue() const = 0;
  /// Memory for frames that the device then copies by itself; null where nothing is gained by it.
  virtual FrameMemory* frame_memory() const { return nullptr; }
  /// What else decides how long work takes there, for keys of stored measurements.
  virtual std::string configuration() const { return {}; }
};

/// A frame's luma on a device, for slots that work on the same frame there: the first of them uploads it.
struct SharedFrameUpload {
  const void* luma = nullptr;  ///< the implementation's buffer, of the slot that uploaded it
  DeviceEvent ready;           ///< when it is there; empty: nobody has uploaded it yet
};

}  // namespace sightline
