#pragma once
/// A device whose driver compiles kernels in this process, for whoever waits for its answers.

#include <cstdint>
#include <memory>

namespace sightline {

/// Interface that a ComputeDevice may have besides. Thread-safety: any thread.
class CompilingDevice {
 public:
  /// Number of kernels that have been launched for the first time; some drivers compile them only then, which
  /// may take minutes.
  virtual std::uint64_t first_launches() const = 0;
  /// While the result lives, the device compiles: the user is told where that takes longer than a moment.
  virtual std::shared_ptr<void> compiling() const = 0;
  virtual bool is_compiling() const = 0;
  /// To be told when work that had first launches has ended well.
  virtual void launches_succeeded() const noexcept = 0;

 protected:
  ~CompilingDevice() = default;
};

}  // namespace sightline
