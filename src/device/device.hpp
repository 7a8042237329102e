#pragma once
/// Device interface for pipelines and detectors: descriptions, queues, events and clocks, without types of
/// the underlying API. src/opencl implements it for OpenCL; "DeviceError" is its opencl::DeviceError
/// (opencl/error.hpp).

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

/// Description of a device. 0 or empty means unknown.
struct DeviceInfo {
  std::string platform;
  std::string name;
  std::string vendor;
  std::string version;  ///< API version
  std::string driver_version;
  DeviceType type = DeviceType::other;
  int compute_units = 0;
  std::uint64_t memory_bytes = 0;
  bool unified_memory = false;  ///< host and device share memory

  /// Whether the vendor is NVIDIA.
  bool is_nvidia() const { return vendor.find("NVIDIA") != std::string::npos; }
};

/// Callback for the end of a command. Must live until it is called.
class Completion {
 public:
  virtual ~Completion() = default;
  /// Called from a driver thread: must return quickly and must not call the device.
  virtual void complete(bool failed) noexcept = 0;
};

class DeviceEventOps;

/// Event of a command on a device. A counted reference: moves and copies do not allocate. Thread-safety: as
/// for a pointer; any thread may wait.
class DeviceEvent {
 public:
  /// Device times in nanoseconds on the device's clock.
  struct Times {
    std::uint64_t queued = 0, submitted = 0, started = 0, ended = 0;
  };
  enum class State { running, complete, failed };

  DeviceEvent() = default;
  /// Takes over one reference to the implementation's handle. Null: no command.
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

  // The following functions require a command. `device` is the device's name, for errors.

  /// Times of the command, which must be complete. Throws DeviceError.
  Times times(const std::string& device) const;
  /// Calls `completion.complete` once, from a driver thread, when the command has completed or failed. Flush
  /// the queue, or the call may never come. Throws DeviceError.
  void on_complete(Completion& completion, const std::string& device) const;
  /// State of the command. Never waits.
  State state() const;
  /// Waits for the command, whose queue must be flushed. Throws DeviceError if the command failed.
  void wait(const std::string& device) const;

 private:
  void* handle_ = nullptr;
  const DeviceEventOps* ops_ = nullptr;
};

/// Operations of an implementation on the handles of its events; see DeviceEvent. One constant object per
/// implementation.
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

/// In-order command queue with profiling. Thread-safety: one thread at a time.
class DeviceQueue {
 public:
  virtual ~DeviceQueue() = default;
  virtual const std::string& device_name() const = 0;

  // All following functions throw DeviceError.

  /// Enqueues an empty command, which completes when all commands before it have.
  virtual DeviceEvent marker() = 0;
  /// Like `marker`, but also waits for commands of other queues of the device, which must be flushed.
  virtual DeviceEvent marker_after(std::span<const DeviceEvent> others) = 0;
  /// Submits all commands to the device. Without it, an event may never complete.
  virtual void flush() = 0;
  /// Waits for all commands.
  virtual void finish() = 0;
  /// Waits for one event. Throws also if the command failed.
  void wait(const DeviceEvent& event) { event.wait(device_name()); }
};

/// Maps event times (device clock, ns) to the host's steady clock. Device and host need not share a timer. A
/// marker therefore ties them: its end on the device corresponds to the middle of the interval between
/// sending it and seeing it complete on the host. The marker with the shortest interval is used; half of that
/// interval, some tens of microseconds, is the uncertainty. Clocks drift: call `synchronise` again from time
/// to time. Thread-safety: any thread may map while one synchronises.
class DeviceClock {
 public:
  using HostTime = std::chrono::steady_clock::time_point;

  /// Waits for all commands on the queue, then measures the offset. Throws DeviceError.
  void synchronise(DeviceQueue& queue);
  /// Host time of a device time. Call `synchronise` first.
  HostTime to_host(std::uint64_t device_ns) const;
  /// Whether the last synchronisation is more than 10 s ago.
  bool stale() const;
  /// Uncertainty of the mapping: half of the time from sending the marker to seeing it complete. Call
  /// `synchronise` first.
  std::chrono::nanoseconds uncertainty() const;

 private:
  mutable std::mutex mutex_;
  std::int64_t offset_ns_ = 0;  ///< host minus device
  std::int64_t uncertainty_ns_ = 0;
  HostTime when_{};
};

/// An opened device. Thread-safety: any thread.
class ComputeDevice {
 public:
  virtual ~ComputeDevice() = default;
  virtual const DeviceInfo& info() const = 0;
  const std::string& name() const { return info().name; }
  /// A new queue of the device. Throws DeviceError if the device cannot make one.
  virtual std::unique_ptr<DeviceQueue> make_queue() const = 0;
  /// Frame memory that the device can copy by DMA; null if it brings no gain.
  virtual FrameMemory* frame_memory() const { return nullptr; }
  /// Further settings that affect timing, for the keys of stored measurements.
  virtual std::string configuration() const { return {}; }
};

}  // namespace sightline
