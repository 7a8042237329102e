#pragma once
/// A buffer that both host and device use, in turns.

#include <cstddef>

#include "opencl/context.hpp"

namespace sightline::opencl {

/// Memory that moves between host and device the context's way: mapped, or copied from and to page-locked
/// memory; the host works right in that, so nothing is copied twice.
///
/// It is either the host's (between `host_writes` and `to_device`, and from the completion of `to_host` on)
/// or the device's. Thread-safety: one thread at a time.
class SharedBuffer {
 public:
  SharedBuffer() = default;
  SharedBuffer(Queue& queue, std::size_t bytes);
  ~SharedBuffer();
  SharedBuffer(SharedBuffer&&) noexcept;
  SharedBuffer& operator=(SharedBuffer&&) noexcept;

  const Buffer& device() const { return buffer_; }
  std::size_t bytes() const { return bytes_; }
  /// Resizes the buffer, with undefined contents owned by the device; keeps sufficient memory. Call it only
  /// while the buffer is unused.
  void resize(Queue& queue, std::size_t bytes);

  /// Memory for the host to write all of; contents are undefined.
  std::byte* host_writes();
  /// Passes the host's data to the device; complete when the device may use them.
  Event to_device();
  /// Passes the device's data to the host, at `host()` once complete.
  Event to_host();
  /// Returns data that the device has only read to the host, without a copy. Empty event if the host's memory
  /// was never given up.
  Event to_host_unchanged();
  std::byte* host() const { return host_; }
  /// The device's again, without anything of the host's: to be called before the device writes it.
  void to_device_unwritten();

 private:
  std::byte* staging();

  Queue* queue_ = nullptr;
  Buffer buffer_;  ///< at least `bytes` large
  std::size_t bytes_ = 0;
  StagingBuffer staging_;      ///< for copies; made on first use
  std::byte* host_ = nullptr;  ///< the host's view: mapped memory or staging
  bool mapped_ = false;
};

}  // namespace sightline::opencl
