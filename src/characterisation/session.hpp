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

/// A file of kernels/characterisation and the options that it is built with.
struct ProgramName {
  std::string file;
  std::string options;
};

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

  /// Builds programs in parallel on the host's cores, in advance. Build errors are reported by `kernel`.
  void build(const std::vector<ProgramName>& programs);
  /// A kernel of a program, which is built unless it has been. Throws DeviceError.
  opencl::Kernel kernel(const ProgramName& program, const std::string& name);
  /// Seconds on the host's clock that all of that has taken, and how many programs there are.
  double build_seconds() const { return build_seconds_; }
  std::size_t programs() const { return programs_.size(); }

  /// Runs it and waits; seconds on the device's clock.
  double run(const opencl::Kernel& kernel, const opencl::NDRange& range);

  /// A buffer with these words in it.
  opencl::Buffer words(const std::vector<std::uint32_t>& values);
  /// The words of a buffer.
  std::vector<std::uint32_t> read(const opencl::Buffer& buffer, std::size_t words, std::size_t first = 0);

  /// Group size that hides latencies on most devices: 256 or the device's maximum; 64 on CPUs.
  std::size_t usual_group() const;
  /// Work-items that fill the device several times over.
  std::size_t filling_items() const;

 private:
  std::unique_ptr<opencl::Program> made(const ProgramName& name) const;

  const opencl::Context* context_;
  opencl::ProgramCache* cache_;
  Effort effort_;
  opencl::Queue queue_;
  std::map<std::string, std::unique_ptr<opencl::Program>> programs_;
  double build_seconds_ = 0;
};

/// Throws Error (failed) if a timed result is wrong.
/// @param what  text for the message: "a chain of reads"
void require_result(bool is_right, const std::string& what, const opencl::Context& context);

}  // namespace sightline::characterisation
