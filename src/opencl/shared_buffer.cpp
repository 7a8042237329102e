#include "opencl/shared_buffer.hpp"

#include <utility>

namespace sightline::opencl {

SharedBuffer::SharedBuffer(Queue& queue, std::size_t bytes)
    : queue_(&queue), buffer_(queue.context(), bytes), bytes_(bytes) {}

void SharedBuffer::resize(Queue& queue, std::size_t bytes) {
  if (queue_ != &queue || buffer_.bytes() < bytes) {
    *this = SharedBuffer(queue, bytes);
    return;
  }
  to_device_unwritten();
  host_ = nullptr;
  bytes_ = bytes;
}

std::byte* SharedBuffer::staging() {
  if (staging_.data() == nullptr) staging_ = StagingBuffer(*queue_, buffer_.bytes());
  return staging_.data();
}

SharedBuffer::~SharedBuffer() {
  if (!mapped_) return;
  try {
    queue_->unmap(buffer_, host_);
  } catch (const std::exception&) {  // the device is gone, and the memory with it
  }
}

SharedBuffer::SharedBuffer(SharedBuffer&& other) noexcept
    : queue_(other.queue_),
      buffer_(std::move(other.buffer_)),
      bytes_(std::exchange(other.bytes_, 0)),
      staging_(std::move(other.staging_)),
      host_(std::exchange(other.host_, nullptr)),
      mapped_(std::exchange(other.mapped_, false)) {}

SharedBuffer& SharedBuffer::operator=(SharedBuffer&& other) noexcept {
  std::swap(queue_, other.queue_);
  std::swap(buffer_, other.buffer_);
  std::swap(bytes_, other.bytes_);
  std::swap(staging_, other.staging_);
  std::swap(host_, other.host_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

std::byte* SharedBuffer::host_writes() {
  if (!queue_->context().maps_buffers()) {
    host_ = staging();
  } else {
    to_device_unwritten();  // it may be mapped for reading
    host_ = queue_->map_for_writing(buffer_);
    mapped_ = true;
  }
  return host_;
}

Event SharedBuffer::to_device() {
  if (!std::exchange(mapped_, false)) return queue_->write(buffer_, host_, bytes_);
  return queue_->unmap(buffer_, host_);
}

Event SharedBuffer::to_host() {
  if (!queue_->context().maps_buffers()) {
    host_ = staging();
    return queue_->read(buffer_, host_, bytes_);
  }
  Queue::Mapped mapped = queue_->map_for_reading(buffer_);
  host_ = mapped.memory;
  mapped_ = true;
  return std::move(mapped.event);
}

Event SharedBuffer::to_host_unchanged() {
  return queue_->context().maps_buffers() ? to_host() : Event();
}

void SharedBuffer::to_device_unwritten() {
  if (std::exchange(mapped_, false)) queue_->unmap(buffer_, host_);
}

}  // namespace sightline::opencl
