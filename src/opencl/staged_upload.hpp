#pragma once
/// Copies of what the host fills, for one frame in flight.

#include "opencl/context.hpp"

namespace sightline::opencl {

/// Memory from which a buffer is filled: staging memory, which may be filled ahead, or the buffer itself
/// where the context maps buffers. Thread-safety: one thread at a time.
class StagedUpload {
 public:
  /// Makes room for so many bytes, which are to be filled anew. Never shrinks. Throws DeviceError.
  void prepare(Queue& queue, std::size_t bytes) {
    is_filled_ = false;
    if (!queue.context().maps_buffers() && staging_.bytes() < bytes) staging_ = StagingBuffer(queue, bytes);
  }
  /// Fills staging memory, so that `upload` only enqueues. Does nothing where buffers are mapped.
  /// @param fill_memory  writes all bytes to a `std::byte*`
  template <typename Fill>
  void fill(const Context& context, const Fill& fill_memory) {
    if (context.maps_buffers()) return;
    fill_memory(staging_.data());
    is_filled_ = true;
  }
  /// Enqueues the copy of the first `bytes`, and fills them before if `fill` has not. Throws DeviceError.
  template <typename Fill>
  Event upload(Queue& queue, const Buffer& buffer, std::size_t bytes, const Fill& fill_memory) {
    if (is_filled_) return queue.write(buffer, staging_.data(), bytes);
    return queue.upload(buffer, bytes, staging_, fill_memory);
  }

 private:
  StagingBuffer staging_;
  bool is_filled_ = false;
};

}  // namespace sightline::opencl
