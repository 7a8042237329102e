#pragma once
/// Kernels: their sources, building them, and launching.

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "opencl/context.hpp"

namespace sightline::opencl {

/// Source text of a file under kernels/, for example "filterbank/filter.cl": built into the program. Throws
/// std::out_of_range for a name that does not exist.
std::string_view kernel_source(const std::string& name);

/// Source of a program under kernels/: common.clh, then common.clh of the file's folder if there is one, then
/// the file. A line `#include "image/lbp.clh"` inserts that file of kernels/ at its first occurrence only,
/// and ignores conditions around it. Throws std::out_of_range like kernel_source.
std::string program_source(const std::string& name);

class CacheTrial;
class ProgramCache;

/// A built program. Thread-safety: immutable; kernels are made from any thread.
class Program {
 public:
  Program() = default;
  /// Builds program_source(NAME), then `generated`, with the given options (`-D...`). Uses an equal program
  /// that the context has built lately, or the cache's binary; otherwise adds the binary to the cache.
  /// `cache` may be null. Throws DeviceError, ending with the compiler's log, if the source does not build.
  Program(const Context& context, const std::string& name, const std::string& options, ProgramCache* cache,
          std::string_view generated = {});

  const Context& context() const { return *context_; }
  /// Null for `Program()`.
  cl_program get() const { return built_ ? built_->program.get() : nullptr; }
  /// Null for `Program()`.
  const std::shared_ptr<const BuiltProgram>& built() const { return built_; }

 private:
  BuiltProgram make(const std::string& name, const std::string& source, const std::string& options,
                    const std::string& key, ProgramCache* cache) const;

  const Context* context_ = nullptr;
  std::shared_ptr<const BuiltProgram> built_;
};

/// Resources of launched kernels, without repetitions; see Context::kernel_resources.
std::vector<KernelResources> resources_of(const Context& context, const std::vector<FirstLaunch>& launches);

/// Options every kernel is built with: exact square roots and divisions, no contraction of multiply and add.
std::string exact_build_options();

/// Sizes of a launch: work-items in each dimension, and in each work-group. 0: the driver's choice on GPUs,
/// part of a row on CPUs.
struct NDRange {
  std::array<std::size_t, 3> global{1, 1, 1};
  std::array<std::size_t, 3> local{0, 0, 0};
};

/// NDRange of `count` work-groups side by side, each of `items` by `rows` work-items.
inline NDRange groups(std::size_t count, std::size_t items, std::size_t rows = 1) {
  return {{count * items, rows, 1}, {items, rows, 1}};
}

/// A kernel with its arguments. Thread-safety: one thread at a time (arguments are state); one object a slot.
class Kernel {
 public:
  Kernel() = default;
  Kernel(const Program& program, const std::string& name);

  /// Sets all arguments in order: buffers, and plain values of OpenCL's types.
  template <typename... Arguments>
  Kernel& arguments(const Arguments&... values) {
    cl_uint index = 0;
    (set(index++, values), ...);
    return *this;
  }

  /// Sets one argument by its number.
  template <typename T>
  Kernel& argument(cl_uint index, const T& value) {
    set(index, value);
    return *this;
  }

  Event enqueue(Queue& queue, const NDRange& range) const;
  /// The same without an event, which spares the host some microseconds.
  void enqueue_unwatched(Queue& queue, const NDRange& range) const;
  std::size_t largest_work_group() const;
  /// Work-items that the device runs as one (a sub-group, a vector): groups are best multiples of it.
  std::size_t work_group_multiple() const;

 private:
  cl_int start(Queue& queue, const NDRange& wanted, cl_event* event) const;
  bool is_first_launch(const NDRange& range) const;
  void check_start(cl_int code) const;
  void set(cl_uint index, const Buffer& buffer);
  template <typename T>
  requires std::is_arithmetic_v<T>
  void set(cl_uint index, T value) { set_bytes(index, sizeof value, &value); }
  void set_bytes(cl_uint index, std::size_t size, const void* value);
  FirstLaunch first_launch(const NDRange& range) const;
  std::size_t work_group_info(cl_kernel_work_group_info what) const;

  const Context* context_ = nullptr;
  OwnedKernel kernel_;
  std::string name_;
  std::shared_ptr<const BuiltProgram> program_;
  /// Launches so far, of different work-groups: drivers compile for each.
  mutable std::vector<std::array<std::size_t, 4>> launched_;
};

}  // namespace sightline::opencl
