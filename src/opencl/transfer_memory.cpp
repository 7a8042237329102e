#include "opencl/transfer_memory.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "opencl/context.hpp"
#include "opencl/error.hpp"

namespace sightline::opencl {

// Pieces by start address. Each is mapped through its own queue.
class TransferMemory::Pieces {
 public:
  std::byte* add(const Context& context, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (!queue_) queue_.emplace(context);
    StagingBuffer piece(*queue_, bytes);
    std::byte* const memory = piece.data();
    pieces_.emplace(memory, std::move(piece));
    return memory;
  }

  void remove(const std::byte* memory) noexcept {
    const std::lock_guard lock(mutex_);
    pieces_.erase(memory);
  }

  bool hold(const std::byte* memory, std::size_t bytes) const {
    const std::lock_guard lock(mutex_);
    auto after = pieces_.upper_bound(memory);
    if (after == pieces_.begin()) return false;
    const auto& [begin, piece] = *--after;
    return memory + bytes <= begin + piece.bytes();
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Queue> queue_;  // before the pieces, which use it to the last
  std::map<const std::byte*, StagingBuffer> pieces_;
};

TransferMemory::TransferMemory(const Context& context)
    : context_(&context), pieces_(std::make_shared<Pieces>()) {}

TransferMemory::~TransferMemory() = default;

std::shared_ptr<std::byte> TransferMemory::allocate(std::size_t bytes) {
  try {
    std::byte* const memory = pieces_->add(*context_, bytes);
    return {memory, [pieces = pieces_](const std::byte* done) { pieces->remove(done); }};
  } catch (const DeviceError&) {  // there is little of it
    return nullptr;
  }
}

bool TransferMemory::holds(const void* memory, std::size_t bytes) const {
  return pieces_->hold(static_cast<const std::byte*>(memory), bytes);
}

}  // namespace sightline::opencl
