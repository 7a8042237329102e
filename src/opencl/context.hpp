#pragma once
/// One OpenCL device in use: context, queues, buffers, events.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/compiling_device.hpp"
#include "device/device.hpp"
#include "opencl/api.hpp"
#include "opencl/compilation.hpp"
#include "opencl/device.hpp"
#include "opencl/kernel_resources.hpp"
#include "opencl/transfer_memory.hpp"

namespace sightline::opencl {

using Event = DeviceEvent;

/// Takes over the reference. Null: no command.
Event event_of(cl_event handle) noexcept;
/// The handle of an event of OpenCL's. Throws std::logic_error for events of other devices.
cl_event handle_of(const Event& event);

class CacheTrial;

/// A driver's program, and what it is built from.
struct BuiltProgram {
  OwnedProgram program;
  std::shared_ptr<CacheTrial> trial;  ///< of a cache's binary; null: built from its source
  std::string source;
  std::string options;
};

/// First launch of a kernel with a size of its work-groups.
struct FirstLaunch {
  std::weak_ptr<const BuiltProgram> program;
  KernelResources resources;               ///< without what only the compiler's log states
  std::shared_ptr<CacheTrial> trial = {};  ///< of the program; null: none, or the launch has succeeded
};

/// A device with its own context. Thread-safety: any thread.
class Context : public ComputeDevice, public CompilingDevice {
 public:
  /// Opens a device, or a sub-device of it. Throws DeviceError, or Error (device) where it cannot be
  /// partitioned.
  explicit Context(const ChosenDevice& chosen);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const DeviceInfo& device() const { return device_; }
  const sightline::DeviceInfo& info() const final { return device_; }
  std::unique_ptr<DeviceQueue> make_queue() const final;
  FrameMemory* frame_memory() const final { return transfer_memory_.get(); }
  std::string configuration() const final;
  std::uint64_t first_launches() const final { return first_launches_; }
  std::shared_ptr<void> compiling() const final { return compilations_->begin(); }
  bool is_compiling() const final { return compilations_->is_compiling(); }
  void launches_succeeded() const noexcept final;
  /// Counts a kernel's first launch, keeps it for `kernel_resources`, and begins the trial of the cache's
  /// binary that the kernel is from.
  void launch_first(FirstLaunch launch) const;
  /// Resources of the kernels launched for the first time since `forget_launches`, in the order of their
  /// launches, if their programs still exist. On NVIDIA's devices each program is compiled once more, which
  /// takes seconds; a failure leaves its values unknown.
  std::vector<KernelResources> kernel_resources() const;
  void forget_launches() const;
  /// One of the latest 32 programs of `keep_program`, by its ProgramCache::key; null: none of them. Detectors
  /// of one device share programs, and the driver compiles each once.
  std::shared_ptr<const BuiltProgram> recent_program(const std::string& key) const;
  void keep_program(const std::string& key, std::shared_ptr<const BuiltProgram> program) const;
  /// Whether buffers that the host uses too are mapped, not copied; see BufferUse.
  bool maps_buffers() const { return maps_buffers_; }
  /// Memory for frames that the device copies directly; null if buffers are mapped, where it has no benefit.
  TransferMemory* transfer_memory() const { return transfer_memory_.get(); }
  cl_context get() const { return context_.get(); }
  cl_device_id id() const { return id_; }

 private:
  DeviceInfo device_;
  bool maps_buffers_;
  cl_device_id id_ = nullptr;
  OwnedContext context_;
  std::unique_ptr<TransferMemory> transfer_memory_;
  mutable std::atomic<std::uint64_t> first_launches_{0};
  mutable std::mutex launches_mutex_;
  mutable std::vector<FirstLaunch> launches_;  ///< those with a trial, and since `forget_launches`
  std::unique_ptr<CompilationMonitor> compilations_;
  mutable std::mutex programs_mutex_;
  mutable std::deque<std::pair<std::string, std::shared_ptr<const BuiltProgram>>> programs_;
};

/// Throws std::logic_error for a device that is not OpenCL's.
const Context& context_of(const ComputeDevice& device);

/// Memory of the device. Host and device share it where the device has unified memory; see Queue for how it
/// is filled.
class Buffer {
 public:
  enum class Access { read_write, read_only };

  Buffer() = default;
  /// @param bytes  at least 1 is allocated, so that empty data needs no special case
  Buffer(const Context& context, std::size_t bytes, Access access = Access::read_write);
  /// An image object with a row of `width` 16-bit integers after the other, for kernels that read_imagei; for
  /// no other use. Throws DeviceError, also where the device has no such images.
  static Buffer image(const Context& context, std::span<const std::int16_t> elements, std::size_t width);
  cl_mem get() const { return memory_.get(); }
  std::size_t bytes() const { return bytes_; }

 private:
  OwnedMemory memory_;
  std::size_t bytes_ = 0;
};

class StagingBuffer;

/// An in-order queue with profiling. Commands run one after the other; nothing waits for the host unless
/// asked. Thread-safety: one thread at a time.
class Queue : public DeviceQueue {
 public:
  explicit Queue(const Context& context);
  cl_command_queue get() const { return queue_.get(); }
  const Context& context() const { return *context_; }
  const std::string& device_name() const final { return context_->name(); }

  /// Copies host memory to a buffer. The source may be reused once the event is complete.
  Event write(const Buffer& buffer, const void* source, std::size_t bytes, std::size_t offset = 0);
  /// The same, and waits: the source may be gone afterwards, whether this succeeds or throws.
  void write_now(const Buffer& buffer, const void* source, std::size_t bytes);
  /// Copies a buffer to host memory, valid once the event is complete.
  Event read(const Buffer& buffer, void* target, std::size_t bytes, std::size_t offset = 0);
  Event fill(const Buffer& buffer, std::uint32_t value, std::size_t bytes);
  /// Copies within the device, from and to so many bytes behind the start of buffers.
  Event copy(const Buffer& from, std::size_t from_at, const Buffer& to, std::size_t to_at, std::size_t bytes);
  /// Copies between buffers of this queue's context once another queue's command, which must be flushed, is
  /// complete.
  Event copy_after(const Event& other, const Buffer& from, const Buffer& to, std::size_t bytes);

  /// Fills the first `bytes` of a buffer the context's way: `fill` writes straight into the buffer where
  /// these are mapped, and into `staging` (at least as large), which is then copied, elsewhere. The staging
  /// memory is in use until the event is complete.
  template <typename Fill>
  Event upload(const Buffer& buffer, std::size_t bytes, StagingBuffer& staging, const Fill& fill_memory);
  /// Maps a buffer for reading or for complete rewriting; needs no copy if the device shares the host's
  /// memory. The pointer may be used once the event is complete, and until `unmap`.
  struct Mapped {
    std::byte* memory = nullptr;
    Event event;
  };
  Mapped map_for_reading(const Buffer& buffer);
  /// The same, and waits.
  std::byte* map_for_writing(const Buffer& buffer);
  Event unmap(const Buffer& buffer, void* mapped);

  Event marker() final;
  Event marker_after(std::span<const Event> others) final;
  void flush() final;
  void finish() final;

 private:
  const Context* context_;
  OwnedQueue queue_;
  std::vector<cl_event> awaited_;  ///< events of the last `marker_after`
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
