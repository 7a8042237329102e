#include "opencl/context.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/fault.hpp"
#include "base/text.hpp"
#include "opencl/error.hpp"
#include "opencl/program.hpp"
#include "opencl/program_cache.hpp"
#include "opencl/tuning.hpp"

namespace sightline::opencl {

namespace {

class EventOps final : public DeviceEventOps {
 public:
  void retain(void* handle) const noexcept override { clRetainEvent(event(handle)); }
  void release(void* handle) const noexcept override { clReleaseEvent(event(handle)); }
  Event::Times times(void* handle, const std::string& device) const override;
  void on_complete(void* handle, Completion& completion, const std::string& device) const override;
  Event::State state(void* handle) const override;
  void wait(void* handle, const std::string& device) const override {
    const cl_event one = event(handle);
    check(clWaitForEvents(1, &one), "clWaitForEvents", device);
  }

 private:
  static cl_event event(void* handle) { return static_cast<cl_event>(handle); }
};

constexpr EventOps kEventOps{};

Event::Times EventOps::times(void* handle, const std::string& device) const {
  Event::Times times;
  const auto read = [&](cl_profiling_info what, std::uint64_t& value) {
    cl_ulong ns = 0;
    cl_int code = clGetEventProfilingInfo(event(handle), what, sizeof ns, &ns, nullptr);
    if (code == CL_PROFILING_INFO_NOT_AVAILABLE) {  // some drivers have the times later than the end
      const cl_event one = event(handle);
      clWaitForEvents(1, &one);
      code = clGetEventProfilingInfo(one, what, sizeof ns, &ns, nullptr);
    }
    check(code, "clGetEventProfilingInfo", device);
    value = ns;
  };
  read(CL_PROFILING_COMMAND_QUEUED, times.queued);
  read(CL_PROFILING_COMMAND_SUBMIT, times.submitted);
  read(CL_PROFILING_COMMAND_START, times.started);
  read(CL_PROFILING_COMMAND_END, times.ended);
  return times;
}

void EventOps::on_complete(void* handle, Completion& completion, const std::string& device) const {
  const auto tell = [](cl_event, cl_int status, void* user) {
    static_cast<Completion*>(user)->complete(status < 0);
  };
  // Injected failures come before the call: after it, the driver would still call back, but the caller need
  // not keep `completion` alive.
  check(CL_SUCCESS, "clSetEventCallback", device);
  const cl_int code = clSetEventCallback(event(handle), CL_COMPLETE, tell, &completion);
  if (code != CL_SUCCESS) throw DeviceError(code, "clSetEventCallback", device);
}

Event::State EventOps::state(void* handle) const {
  cl_int status = CL_QUEUED;
  const cl_int code =
      clGetEventInfo(event(handle), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  if (code != CL_SUCCESS || status < 0) return Event::State::failed;
  if (fault::strikes(fault::Kind::opencl, "clGetEventInfo")) return Event::State::failed;
  return status == CL_COMPLETE ? Event::State::complete : Event::State::running;
}

}  // namespace

Event event_of(cl_event handle) noexcept {
  return {handle, kEventOps};
}

cl_event handle_of(const Event& event) {
  if (event && event.ops() != &kEventOps) throw std::logic_error("not an OpenCL event");
  return static_cast<cl_event>(event.handle());
}

Context::Context(const ChosenDevice& chosen)
    : device_(chosen.device),
      maps_buffers_(chosen.maps_buffers()),
      id_(static_cast<cl_device_id>(chosen.device.handle)) {
  if (chosen.compute_units > 0 && chosen.compute_units < device_.compute_units) {
    // The device's parts up to this one, so that it is another one than those before it.
    std::vector<cl_device_partition_property> partition{CL_DEVICE_PARTITION_BY_COUNTS};
    partition.insert(partition.end(), chosen.parts_before.begin(), chosen.parts_before.end());
    partition.insert(partition.end(), {chosen.compute_units, CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0});
    std::vector<cl_device_id> parts(chosen.parts_before.size() + 1);
    cl_int code = CL_OUT_OF_RESOURCES;
    if (!fault::strikes(fault::Kind::opencl, "clCreateSubDevices"))
      code = clCreateSubDevices(id_, partition.data(), static_cast<cl_uint>(parts.size()), parts.data(),
                                nullptr);
    if (code != CL_SUCCESS) {
      throw Error(ExitCode::device,
                  "device '" + device_.name + "' cannot be divided into parts of " +
                      counted(chosen.compute_units, "compute unit") + ": " + error_name(code),
                  "use the whole device");
    }
    for (const cl_device_id before : std::span(parts).first(parts.size() - 1)) clReleaseDevice(before);
    // Never released: after the last wait, PoCL's thread may still drop its reference to the queue, which
    // uses the device, but does not retain a part of one.
    id_ = parts.back();
    device_.compute_units = chosen.compute_units;
    device_.name += ":" + std::to_string(chosen.compute_units);
  }
  const cl_context_properties properties[] = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(device_.platform_handle), 0};
  cl_int code = CL_SUCCESS;
  context_ = OwnedContext(clCreateContext(properties, 1, &id_, nullptr, nullptr, &code));
  check(code, "clCreateContext", name());
  if (!maps_buffers_) transfer_memory_ = std::make_unique<TransferMemory>(*this);
  compilations_ = std::make_unique<CompilationMonitor>(name());
}

void Context::launch_first(FirstLaunch launch) const {
  ++first_launches_;
  const std::lock_guard lock(launches_mutex_);
  if (const auto program = launch.program.lock(); program && program->trial) {
    if (program->trial->begin(CacheTrial::Phase::running, launch.resources.kernel))
      launch.trial = program->trial;
  }
  const auto is_over = [](const FirstLaunch& one) { return !one.trial && one.program.expired(); };
  std::erase_if(launches_, is_over);
  const auto is_same = [&](const FirstLaunch& one) {
    return one.program.lock() == launch.program.lock() && one.resources == launch.resources;
  };
  if (launch.trial || std::ranges::none_of(launches_, is_same)) launches_.push_back(std::move(launch));
}

std::vector<KernelResources> Context::kernel_resources() const {
  std::vector<FirstLaunch> launches;
  {
    const std::lock_guard lock(launches_mutex_);
    launches = launches_;
  }
  return resources_of(*this, launches);
}

void Context::forget_launches() const {
  const std::lock_guard lock(launches_mutex_);
  for (FirstLaunch& launch : launches_) launch.program.reset();
}

void Context::launches_succeeded() const noexcept {
  const std::lock_guard lock(launches_mutex_);
  for (FirstLaunch& launch : launches_) {
    if (launch.trial) launch.trial->end();
    launch.trial.reset();
  }
}

std::shared_ptr<const BuiltProgram> Context::recent_program(const std::string& key) const {
  const std::lock_guard lock(programs_mutex_);
  const auto found = std::ranges::find(programs_, key, [](const auto& one) { return one.first; });
  return found == programs_.end() ? nullptr : found->second;
}

void Context::keep_program(const std::string& key, std::shared_ptr<const BuiltProgram> program) const {
  constexpr std::size_t kMostPrograms = 32;
  const std::lock_guard lock(programs_mutex_);
  programs_.emplace_back(key, std::move(program));
  if (programs_.size() > kMostPrograms) programs_.pop_front();
}

std::unique_ptr<DeviceQueue> Context::make_queue() const {
  return std::make_unique<Queue>(*this);
}

std::string Context::configuration() const {
  return std::string(maps_buffers_ ? "mapped" : "copied") + " buffers, kernels as tuned " +
         tuning_state(device_);
}

const Context& context_of(const ComputeDevice& device) {
  const auto* const context = dynamic_cast<const Context*>(&device);
  if (!context) throw std::logic_error("not an OpenCL device");
  return *context;
}

Buffer::Buffer(const Context& context, std::size_t bytes, Access access)
    : bytes_(std::max<std::size_t>(bytes, 1)) {
  cl_int code = CL_SUCCESS;
  const cl_mem_flags flags = access == Access::read_only ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE;
  memory_ = OwnedMemory(clCreateBuffer(context.get(), flags, bytes_, nullptr, &code));
  check(code, "clCreateBuffer", context.name());
}

Buffer Buffer::image(const Context& context, std::span<const std::int16_t> elements, std::size_t width) {
  const cl_image_format format{CL_R, CL_SIGNED_INT16};
  cl_image_desc what{};
  what.image_type = CL_MEM_OBJECT_IMAGE2D;
  what.image_width = width;
  what.image_height = elements.size() / width;
  // The driver copies the elements, and does not write to them.
  auto* const memory = const_cast<std::int16_t*>(elements.data());
  Buffer image;
  cl_int code = CL_SUCCESS;
  image.bytes_ = elements.size_bytes();
  image.memory_ = OwnedMemory(
      clCreateImage(context.get(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &what, memory, &code));
  check(code, "clCreateImage", context.name());
  return image;
}

Queue::Queue(const Context& context) : context_(&context) {
  cl_int code = CL_SUCCESS;
  queue_ = OwnedQueue(clCreateCommandQueue(context.get(), context.id(), CL_QUEUE_PROFILING_ENABLE, &code));
  check(code, "clCreateCommandQueue", context.name());
}

Event Queue::write(const Buffer& buffer, const void* source, std::size_t bytes, std::size_t offset) {
  cl_event event = nullptr;
  const cl_int code =
      clEnqueueWriteBuffer(queue_.get(), buffer.get(), CL_FALSE, offset, bytes, source, 0, nullptr, &event);
  Event result = event_of(event);  // owned before anything throws
  check(code, "clEnqueueWriteBuffer", context_->name());
  return result;
}

void Queue::write_now(const Buffer& buffer, const void* source, std::size_t bytes) {
  check(clEnqueueWriteBuffer(queue_.get(), buffer.get(), CL_TRUE, 0, bytes, source, 0, nullptr, nullptr),
        "clEnqueueWriteBuffer", context_->name());
}

Event Queue::read(const Buffer& buffer, void* target, std::size_t bytes, std::size_t offset) {
  cl_event event = nullptr;
  const cl_int code =
      clEnqueueReadBuffer(queue_.get(), buffer.get(), CL_FALSE, offset, bytes, target, 0, nullptr, &event);
  Event result = event_of(event);  // owned before anything throws
  check(code, "clEnqueueReadBuffer", context_->name());
  return result;
}

Event Queue::fill(const Buffer& buffer, std::uint32_t value, std::size_t bytes) {
  cl_event event = nullptr;
  const cl_int code =
      clEnqueueFillBuffer(queue_.get(), buffer.get(), &value, sizeof value, 0, bytes, 0, nullptr, &event);
  Event result = event_of(event);  // owned before anything throws
  check(code, "clEnqueueFillBuffer", context_->name());
  return result;
}

std::byte* Queue::map_for_writing(const Buffer& buffer) {
  cl_int code = CL_SUCCESS;
  void* const mapped = clEnqueueMapBuffer(queue_.get(), buffer.get(), CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION,
                                          0, buffer.bytes(), 0, nullptr, nullptr, &code);
  check(code, "clEnqueueMapBuffer", context_->name());
  return static_cast<std::byte*>(mapped);
}

Queue::Mapped Queue::map_for_reading(const Buffer& buffer) {
  cl_int code = CL_SUCCESS;
  cl_event event = nullptr;
  void* const mapped = clEnqueueMapBuffer(queue_.get(), buffer.get(), CL_FALSE, CL_MAP_READ, 0,
                                          buffer.bytes(), 0, nullptr, &event, &code);
  Event owned = event_of(event);  // also where the check below throws
  check(code, "clEnqueueMapBuffer", context_->name());
  return {static_cast<std::byte*>(mapped), std::move(owned)};
}

Event Queue::unmap(const Buffer& buffer, void* mapped) {
  cl_event event = nullptr;
  const cl_int code = clEnqueueUnmapMemObject(queue_.get(), buffer.get(), mapped, 0, nullptr, &event);
  Event owned = event_of(event);  // also where the check below throws
  check(code, "clEnqueueUnmapMemObject", context_->name());
  return owned;
}

Event Queue::marker() {
  cl_event event = nullptr;
  const cl_int code = clEnqueueMarkerWithWaitList(queue_.get(), 0, nullptr, &event);
  Event result = event_of(event);  // owned before anything throws
  check(code, "clEnqueueMarkerWithWaitList", context_->name());
  return result;
}

Event Queue::copy(const Buffer& from, std::size_t from_at, const Buffer& to, std::size_t to_at,
                  std::size_t bytes) {
  cl_event event = nullptr;
  const cl_int code =
      clEnqueueCopyBuffer(queue_.get(), from.get(), to.get(), from_at, to_at, bytes, 0, nullptr, &event);
  Event result = event_of(event);  // owned before anything throws
  check(code, "clEnqueueCopyBuffer", context_->name());
  return result;
}

Event Queue::copy_after(const Event& other, const Buffer& from, const Buffer& to, std::size_t bytes) {
  const cl_event after = handle_of(other);
  cl_event event = nullptr;
  const cl_int code = clEnqueueCopyBuffer(queue_.get(), from.get(), to.get(), 0, 0, bytes, 1, &after, &event);
  Event result = event_of(event);  // owned before anything throws
  check(code, "clEnqueueCopyBuffer", context_->name());
  return result;
}

Event Queue::marker_after(std::span<const Event> others) {
  awaited_.clear();
  for (const Event& other : others) awaited_.push_back(handle_of(other));
  cl_event event = nullptr;
  const cl_int code = clEnqueueMarkerWithWaitList(queue_.get(), static_cast<cl_uint>(awaited_.size()),
                                                  awaited_.empty() ? nullptr : awaited_.data(), &event);
  Event result = event_of(event);  // owned before anything throws
  check(code, "clEnqueueMarkerWithWaitList", context_->name());
  return result;
}

void Queue::flush() {
  check(clFlush(queue_.get()), "clFlush", context_->name());
}
void Queue::finish() {
  check(clFinish(queue_.get()), "clFinish", context_->name());
}

StagingBuffer::StagingBuffer(Queue& queue, std::size_t bytes)
    : queue_(queue.get()), bytes_(std::max<std::size_t>(bytes, 1)) {
  const Context& context = queue.context();
  cl_int code = CL_SUCCESS;
  memory_ = OwnedMemory(
      clCreateBuffer(context.get(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes_, nullptr, &code));
  check(code, "clCreateBuffer", context.name());
  mapped_ = clEnqueueMapBuffer(queue_, memory_.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes_, 0,
                               nullptr, nullptr, &code);
  try {
    check(code, "clEnqueueMapBuffer", context.name());
  } catch (...) {
    release();  // no destructor runs after this
    throw;
  }
}

StagingBuffer::~StagingBuffer() {
  release();
}

StagingBuffer::StagingBuffer(StagingBuffer&& other) noexcept
    : memory_(std::move(other.memory_)),
      queue_(other.queue_),
      mapped_(std::exchange(other.mapped_, nullptr)),
      bytes_(other.bytes_) {}

StagingBuffer& StagingBuffer::operator=(StagingBuffer&& other) noexcept {
  if (this != &other) {
    release();
    memory_ = std::move(other.memory_);
    queue_ = other.queue_;
    mapped_ = std::exchange(other.mapped_, nullptr);
    bytes_ = other.bytes_;
  }
  return *this;
}

void StagingBuffer::release() {
  if (mapped_)
    clEnqueueUnmapMemObject(queue_, memory_.get(), std::exchange(mapped_, nullptr), 0, nullptr, nullptr);
}

}  // namespace sightline::opencl
