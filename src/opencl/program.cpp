#include "opencl/program.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "base/fault.hpp"
#include "base/log.hpp"
#include "opencl/error.hpp"
#include "opencl/program_cache.hpp"

namespace sightline::opencl {
namespace {

std::string build_log(cl_program program, cl_device_id device) {
  std::size_t size = 0;
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, '\0');
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  std::ranges::replace(log, '\n', ' ');  // messages are one line
  return log;
}

OwnedProgram create(const Context& context, const std::string& source) {
  const char* text = source.c_str();
  const std::size_t length = source.size();
  cl_int code = CL_SUCCESS;
  OwnedProgram program(clCreateProgramWithSource(context.get(), 1, &text, &length, &code));
  check(code, "clCreateProgramWithSource", context.name());
  return program;
}

OwnedProgram build(const Context& context, const std::string& name, const std::string& source,
                   const std::string& options) {
  OwnedProgram program = create(context, source);
  const cl_device_id id = context.id();
  const cl_int code = clBuildProgram(program.get(), 1, &id, options.c_str(), nullptr, nullptr);
  if (code == CL_BUILD_PROGRAM_FAILURE) {
    throw DeviceError(code, "clBuildProgram of kernels/" + name + " with '" + options + "'",
                      context.name() + ": " + build_log(program.get(), id));
  }
  check(code, "clBuildProgram", context.name());
  return program;
}

// What NVIDIA's compiler states about the kernels of a program. It states nothing if the driver's own cache
// holds the program, so the source gets an empty kernel with a new name.
std::string verbose_log(const Context& context, const BuiltProgram& built) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const std::string source = built.source + "\nkernel void uncached_" + std::to_string(now) + "() {}\n";
  const std::shared_ptr<void> compiling = context.compiling();
  const OwnedProgram program = create(context, source);
  const cl_device_id id = context.id();
  const std::string options = built.options + " -cl-nv-verbose";
  check(clBuildProgram(program.get(), 1, &id, options.c_str(), nullptr, nullptr), "clBuildProgram",
        context.name());
  std::string log = build_log(program.get(), id);
  logger().debug("compiler's log: {}", log);
  return log;
}

// 10 * major + minor of an NVIDIA device; 0: unknown.
int compute_capability(cl_device_id device) {
  cl_uint major = 0, minor = 0;
  const auto read = [&](cl_device_info what, cl_uint& value) {
    return clGetDeviceInfo(device, what, sizeof value, &value, nullptr) == CL_SUCCESS;
  };
  const bool is_known = read(CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, major) &&
                        read(CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV, minor);
  return is_known ? static_cast<int>(10 * major + minor) : 0;
}

void add_compiled(KernelResources& resources, const CompiledFunction& compiled, int capability) {
  resources.registers = compiled.registers;
  resources.spill_bytes = compiled.spill_bytes;
  const auto [x, y, z] = resources.work_group;
  if (resources.registers && resources.local_bytes)
    resources.occupancy = occupancy(capability, {x * y * z, *resources.registers, *resources.local_bytes});
}

std::vector<std::byte> binary_of(cl_program program) {
  std::size_t size = 0;
  if (fault::strikes(fault::Kind::opencl, "clGetProgramInfo")) return {};
  if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr) != CL_SUCCESS)
    return {};
  std::vector<std::byte> binary(size);
  auto* data = reinterpret_cast<unsigned char*>(binary.data());
  if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof data, &data, nullptr) != CL_SUCCESS) return {};
  return binary;
}

OwnedProgram from_binary(const Context& context, const std::vector<std::byte>& binary,
                         const std::string& options) {
  const auto* data = reinterpret_cast<const unsigned char*>(binary.data());
  const std::size_t size = binary.size();
  const cl_device_id id = context.id();
  cl_int status = CL_SUCCESS;
  cl_int code = CL_SUCCESS;
  OwnedProgram program(clCreateProgramWithBinary(context.get(), 1, &id, &size, &data, &status, &code));
  if (code != CL_SUCCESS || status != CL_SUCCESS) return {};
  if (fault::strikes(fault::Kind::opencl, "clCreateProgramWithBinary")) return {};
  if (clBuildProgram(program.get(), 1, &id, options.c_str(), nullptr, nullptr) != CL_SUCCESS) return {};
  return program;
}

// Declarations that the kernels of a folder share; empty if there are none.
std::string_view shared_source(const std::string& kernel) {
  const std::size_t folder = kernel.find('/');
  if (folder == std::string::npos) return "";
  try {
    return kernel_source(kernel.substr(0, folder) + "/common.clh");
  } catch (const std::out_of_range&) {
    return "";
  }
}

// Appends a text and expands its include lines; `included` lists the files already inserted.
void append_source(std::string& source, std::string_view text, std::set<std::string>& included) {
  constexpr std::string_view kInclude = "#include \"";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    if (!line.starts_with(kInclude)) {
      source += line;
      continue;
    }
    const std::string name(line.substr(kInclude.size(), line.rfind('"') - kInclude.size()));
    if (included.insert(name).second) append_source(source, kernel_source(name), included);
  }
  source += '\n';
}

// Drivers of CPUs compile a kernel for each size of its work-groups. PoCL chooses sizes that follow the
// number of rows, which differs from frame to frame, and puts up to 4096 work-items into one group, which one
// thread runs.
NDRange in_rows(NDRange range) {
  std::size_t width = 64;
  while (range.global[0] % width != 0) width /= 2;
  range.local = {width, 1, 1};
  return range;
}

}  // namespace

std::string exact_build_options() {
  return "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt";
}

std::string program_source(const std::string& name) {
  std::string source;
  std::set<std::string> included;
  append_source(source, kernel_source("common.clh"), included);
  append_source(source, shared_source(name), included);
  append_source(source, kernel_source(name), included);
  return source;
}

Program::Program(const Context& context, const std::string& name, const std::string& options,
                 ProgramCache* cache, std::string_view generated)
    : context_(&context) {
  const std::string source = program_source(name) + std::string(generated);
  const std::string all_options = exact_build_options() + " " + options;
  const std::string key = ProgramCache::key(context.device(), source, all_options);
  built_ = context.recent_program(key);
  if (built_) return;
  built_ = std::make_shared<const BuiltProgram>(make(name, source, all_options, key, cache));
  context.keep_program(key, built_);
}

BuiltProgram Program::make(const std::string& name, const std::string& source, const std::string& options,
                           const std::string& key, ProgramCache* cache) const {
  const std::shared_ptr<void> compiling = context_->compiling();
  const auto binary = cache ? cache->load(key) : std::nullopt;
  if (binary) {
    const std::shared_ptr<CacheTrial> trial = cache->trial(key);
    trial->begin(CacheTrial::Phase::loading);
    OwnedProgram program = from_binary(*context_, *binary, options);
    trial->end();
    if (program) return {std::move(program), trial, source, options};
    cache->remove(key);
  }
  BuiltProgram built{build(*context_, name, source, options), nullptr, source, options};
  if (cache) cache->store(key, binary_of(built.program.get()));
  return built;
}

std::vector<KernelResources> resources_of(const Context& context, const std::vector<FirstLaunch>& launches) {
  const int capability = compute_capability(context.id());
  std::map<const BuiltProgram*, std::map<std::string, CompiledFunction, std::less<>>> compiled;
  std::vector<KernelResources> all;
  for (const FirstLaunch& launch : launches) {
    const std::shared_ptr<const BuiltProgram> program = launch.program.lock();
    if (!program) continue;
    KernelResources resources = launch.resources;
    if (capability > 0) {
      const auto [kernels, is_new] = compiled.try_emplace(program.get());
      try {
        if (is_new) kernels->second = parse_verbose_log(verbose_log(context, *program));
      } catch (const DeviceError& error) {
        logger().warn("registers of kernels are unknown: {}", error.what());
      }
      add_compiled(resources, kernels->second[resources.kernel], capability);
    }
    if (std::ranges::find(all, resources) == all.end()) all.push_back(std::move(resources));
  }
  return all;
}

Kernel::Kernel(const Program& program, const std::string& name)
    : context_(&program.context()), name_(name), program_(program.built()) {
  cl_int code = CL_SUCCESS;
  kernel_ = OwnedKernel(clCreateKernel(program.get(), name.c_str(), &code));
  check(code, ("clCreateKernel(" + name + ")").c_str(), context_->name());
}

void Kernel::set(cl_uint index, const Buffer& buffer) {
  const cl_mem memory = buffer.get();
  set_bytes(index, sizeof memory, &memory);
}

void Kernel::set_bytes(cl_uint index, std::size_t size, const void* value) {
  check(clSetKernelArg(kernel_.get(), index, size, value), "clSetKernelArg", context_->name());
}

Event Kernel::enqueue(Queue& queue, const NDRange& range) const {
  // An empty range, as of a share of a frame without a single window, is an error in OpenCL 1.2.
  if (range.global[0] * range.global[1] * range.global[2] == 0) return queue.marker();
  cl_event event = nullptr;
  const cl_int code = start(queue, range, &event);
  Event result = event_of(event);  // owned before anything throws
  check_start(code);
  return result;
}

void Kernel::enqueue_unwatched(Queue& queue, const NDRange& range) const {
  check_start(start(queue, range, nullptr));
}

cl_int Kernel::start(Queue& queue, const NDRange& wanted, cl_event* event) const {
  const bool is_free = wanted.local[0] == 0 && context_->device().type == DeviceType::cpu;
  const NDRange range = is_free ? in_rows(wanted) : wanted;
  const std::size_t* local = range.local[0] == 0 ? nullptr : range.local.data();
  std::shared_ptr<void> compiling;
  if (is_first_launch(range)) {
    compiling = context_->compiling();
    context_->launch_first(first_launch(range));
  }
  return clEnqueueNDRangeKernel(queue.get(), kernel_.get(), 3, nullptr, range.global.data(), local, 0,
                                nullptr, event);
}

// Drivers may compile a kernel for the size of its work-groups, and for large ranges in another way.
bool Kernel::is_first_launch(const NDRange& range) const {
  const bool has_groups = range.local[0] != 0;
  const auto& size = has_groups ? range.local : range.global;
  const bool is_large = std::ranges::max(range.global) >= 0xFFFF;
  const std::array<std::size_t, 4> launch{size[0], size[1], size[2],
                                          (has_groups ? 2U : 0U) + (is_large ? 1U : 0U)};
  if (std::ranges::find(launched_, launch) != launched_.end()) return false;
  launched_.push_back(launch);
  return true;
}

FirstLaunch Kernel::first_launch(const NDRange& range) const {
  const auto stated = [&](cl_kernel_work_group_info what, auto value) {
    const bool is_known = clGetKernelWorkGroupInfo(kernel_.get(), context_->id(), what, sizeof value, &value,
                                                   nullptr) == CL_SUCCESS;
    return is_known ? std::optional<std::uint64_t>(value) : std::nullopt;
  };
  KernelResources resources{name_, range.local};
  resources.private_bytes = stated(CL_KERNEL_PRIVATE_MEM_SIZE, cl_ulong{});
  resources.local_bytes = stated(CL_KERNEL_LOCAL_MEM_SIZE, cl_ulong{});
  resources.multiple = stated(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, std::size_t{});
  return {program_, std::move(resources)};
}

void Kernel::check_start(cl_int code) const {
  check(code, "clEnqueueNDRangeKernel", context_->name() + "' for kernel '" + name_);
}

std::size_t Kernel::largest_work_group() const {
  return work_group_info(CL_KERNEL_WORK_GROUP_SIZE);
}

std::size_t Kernel::work_group_multiple() const {
  return work_group_info(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE);
}

std::size_t Kernel::work_group_info(cl_kernel_work_group_info what) const {
  std::size_t size = 0;
  check(clGetKernelWorkGroupInfo(kernel_.get(), context_->id(), what, sizeof size, &size, nullptr),
        "clGetKernelWorkGroupInfo", context_->name());
  return size;
}

}  // namespace sightline::opencl
