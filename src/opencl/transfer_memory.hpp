#pragma once
/// Page-locked host memory that a device copies from directly.

#include <memory>

#include "device/frame_memory.hpp"

namespace sightline::opencl {

class Context;

/// Page-locked memory of a context. Thread-safety: any thread.
class TransferMemory final : public FrameMemory {
 public:
  /// The context must outlive it; allocations may outlive both.
  explicit TransferMemory(const Context& context);
  ~TransferMemory() override;
  TransferMemory(const TransferMemory&) = delete;
  TransferMemory& operator=(const TransferMemory&) = delete;

  std::shared_ptr<std::byte> allocate(std::size_t bytes) override;
  /// Whether all of it lies in one piece that was allocated here and is still there.
  bool holds(const void* memory, std::size_t bytes) const;

 private:
  class Pieces;
  const Context* context_;
  std::shared_ptr<Pieces> pieces_;
};

}  // namespace sightline::opencl
