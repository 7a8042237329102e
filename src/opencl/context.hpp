#pragma once
/// One OpenCL device in use: context, queues, buffers, events.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "opencl/api.hpp"
#include "opencl/device.hpp"
#include "opencl/transfer_memory.hpp"

namespace sightline::opencl {

/// Is told the end of a command. Must live until then.
class Completion {
 public:
  virtual ~Completion() = default;
  /// Called from a thread of the driver's: must return quickly and make no OpenCL calls.
  virtual void complete(bool failed) noexcept = 0;
};

/// Something the device was asked to do. Owned handle; cheap to move and to copy.
/// Thread-safety: as for the handle: any thread may wait.
class Event {
 public:
  Event() = default;
  explicit Event(cl_event handle) : handle_(handle) {}
  Event(const Event& other);
  Event& operator=(const Event& other);
  Event(Event&&) noexcept = default;
  Event& operator=(Event&&) noexcept = default;
  ~Event() = default;
  cl_event get() const { return handle_.get(); }
  explicit operator bool() const { return static_cast<bool>(handle_); }

  /// Device times in nanoseconds on the device's clock; valid once complete, on queues with profiling.
  struct Times {
    std::uint64_t queued = 0, submitted = 0, started = 0, ended = 0;
  };
  /// Throws DeviceError.
  Times times(const std::string& device) const;

  /// Calls `completion.complete` once, from a thread of the driver's, when the command is done or has failed.
  /// The queue must be flushed, or it may never be called. Throws DeviceError.
  void on_complete(Completion& completion, const std::string& device) const;
  enum class State { running, complete, failed };
  /// How far the command is. Never waits.
  State state() const;
  /// Waits for the command, whose queue must be flushed. Throws DeviceError where it failed.
  void wait(const std::string& device) const;

 private:
  OwnedEvent handle_;
};

/// A device with a context of its own. Immutable but for `mark_dead`; any thread.
class Context {
 public:
  /// Opens a device, or a sub-device of it. Throws DeviceError, or Error (device) where it cannot be
  /// partitioned.
  explicit Context(const ChosenDevice& chosen);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const DeviceInfo& device() const { return device_; }
  const std::string& name() const { return device_.name; }
  /// Whether buffers that the host uses too are mapped, not copied; see BufferUse.
  bool maps_buffers() const { return maps_buffers_; }
  /// Memory for frames that the device then copies by itself; null where buffers are mapped: there nothing is
  /// gained by it.
  TransferMemory* transfer_memory() const { return transfer_memory_.get(); }
  cl_context get() const { return context_.get(); }
  cl_device_id id() const { return id_; }

 private:
  DeviceInfo device_;
  bool maps_buffers_;
  OwnedSubDevice sub_device_;
  cl_device_id id_ = nullptr;
  OwnedContext context_;
  std::unique_ptr<TransferMemory> transfer_memory_;
};

/// Memory of the device. Host and device share it where the device has unified memory; see Queue for how it
/// is filled.
class Buffer {
 public:
  enum class Access { read_write, read_only };

  Buffer() = default;
  /// @param bytes  at least 1 is allocated, so that empty data needs no special case
  Buffer(const Context& context, std::size_t bytes, Access access = Access::read_write);
  cl_mem get() const { return memory_.get(); }
  std::size_t bytes() const { return bytes_; }

 private:
  OwnedMemory memory_;
  std::size_t bytes_ = 0;
};

class StagingBuffer;

/// An in-order queue with profiling. Commands run one after the other; nothing waits for the host unless
/// asked. Thread-safety: one thread at a time.
class Queue {
 public:
  explicit Queue(const Context& context);
  cl_command_queue get() const { return queue_.get(); }
  const Context& context() const { return *context_; }

  /// Copies host memory to a buffer. The source may be reused once the event is complete.
  Event write(const Buffer& buffer, const void* source, std::size_t bytes, std::size_t offset = 0);
  /// The same, and waits: the source may be gone afterwards, whether this succeeds or throws.
  void write_now(const Buffer& buffer, const void* source, std::size_t bytes);
  /// Copies a buffer to host memory, valid once the event is complete.
  Event read(const Buffer& buffer, void* target, std::size_t bytes, std::size_t offset = 0);
  Event fill(const Buffer& buffer, std::uint32_t value, std::size_t bytes);
  /// Copies between buffers of this queue's context once another queue's command, which must be flushed, is
  /// complete.
  Event copy_after(const Event& other, const Buffer& from, const Buffer& to, std::size_t bytes);

  /// Fills the first `bytes` of a buffer the context's way: `fill` writes straight into the buffer where
  /// these are mapped, and into `staging` (at least as large), which is then copied, elsewhere. The staging
  /// memory is in use until the event is complete.
  template <typename Fill>
  Event upload(const Buffer& buffer, std::size_t bytes, StagingBuffer& staging, const Fill& fill_memory);
  /// Gives the host a buffer, for reading or for writing anew: without a copy where the device shares its
  /// memory. The pointer may be used once the event is complete, and until `unmap`.
  struct Mapped {
    std::byte* memory = nullptr;
    Event event;
  };
  Mapped map_for_reading(const Buffer& buffer);
  /// The same, and waits.
  std::byte* map_for_writing(const Buffer& buffer);
  Event unmap(const Buffer& buffer, void* mapped);

  /// A command that does nothing: complete when all before it are.
  Event marker();
  /// The same once other queues' commands of this context are complete; they must be flushed.
  Event marker_after(std::span<const Event> others);
  /// Hands everything to the device. Without it, an event may never complete.
  void flush();
  /// Waits for everything.
  void finish();
  /// Waits for one event. Throws DeviceError where the command failed.
  void wait(const Event& event);

 private:
  const Context* context_;
  OwnedQueue queue_;
  std::vector<cl_event> awaited_;  ///< by the last `marker_after`
};

/// Host memory that transfers to and from the device run at full speed with (page-locked where that exists),
/// mapped for its whole life. Thread-safety: as for plain memory.
class StagingBuffer {
 public:
  StagingBuffer() = default;
  StagingBuffer(Queue& queue, std::size_t bytes);
  ~StagingBuffer();
  StagingBuffer(StagingBuffer&& other) noexcept;
  StagingBuffer& operator=(StagingBuffer&& other) noexcept;

  std::byte* data() { return static_cast<std::byte*>(mapped_); }
  std::size_t bytes() const { return bytes_; }

 private:
  void release();
  OwnedMemory memory_;
  cl_command_queue queue_ = nullptr;
  void* mapped_ = nullptr;
  std::size_t bytes_ = 0;
};

template <typename Fill>
Event Queue::upload(const Buffer& buffer, std::size_t bytes, StagingBuffer& staging,
                    const Fill& fill_memory) {
  if (!context_->maps_buffers()) {
    fill_memory(staging.data());
    return write(buffer, staging.data(), bytes);
  }
  std::byte* const mapped = map_for_writing(buffer);
  fill_memory(mapped);
  return unmap(buffer, mapped);
}

}  // namespace sightline::opencl
