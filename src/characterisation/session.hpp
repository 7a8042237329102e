#pragma once
/// A device under measurement.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "characterisation/characteristics.hpp"
#include "characterisation/timing.hpp"
#include "opencl/context.hpp"
#include "opencl/program.hpp"

namespace sightline::characterisation {

/// Thread-safety: one thread at a time.
class DeviceSession {
 public:
  /// @param cache  of programs; may be null. Must outlive this.
  /// Throws as Queue does.
  DeviceSession(const opencl::Context& context, opencl::ProgramCache* cache, Effort effort);

  const opencl::Context& context() const { return *context_; }
  const opencl::DeviceInfo& device() const { return context_->device(); }
  opencl::Queue& queue() { return queue_; }
  const Effort& effort() const { return effort_; }
  bool is_cpu() const { return device().type == opencl::DeviceType::cpu; }

  /// A kernel of kernels/characterisation/FILE. Programs are built once. Throws DeviceError.
  opencl::Kernel kernel(const std::string& file, const std::string& name, const std::string& options = "");

  /// Runs it and waits; seconds on the device's clock.
  double run(const opencl::Kernel& kernel, const opencl::Range& range);

  /// A buffer with these words in it.
  opencl::Buffer words(const std::vector<std::uint32_t>& values);
  /// The words of a buffer.
  std::vector<std::uint32_t> read(const opencl::Buffer& buffer, std::size_t words, std::size_t first = 0);

  /// Work-items of a group that hide latencies on most devices: 256, or what the device has; 64 on CPUs.
  std::size_t usual_group() const;
  /// Work-items that fill the device several times over.
  std::size_t filling_items() const;

 private:
  const opencl::Context* context_;
  opencl::ProgramCache* cache_;
  Effort effort_;
  opencl::Queue queue_;
  std::map<std::string, std::unique_ptr<opencl::Program>> programs_;
};

/// Throws Error (failed) unless it holds: what is timed must also be right.
/// @param what  for people: "a chain of reads"
void require_result(bool is_right, const std::string& what, const opencl::Context& context);

}  // namespace sightline::characterisation
