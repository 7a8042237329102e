#include "opencl/candidate_list.hpp"

#include "base/error.hpp"

namespace sightline::opencl {

std::size_t count_windows(std::span<const WindowGrid> levels) {
  std::size_t count = 0;
  for (const WindowGrid& grid : levels)
    count += static_cast<std::size_t>(grid.columns) * static_cast<std::size_t>(grid.rows);
  return count;
}

void AppendList::make(Queue& queue) {
  if (capacity_ == 0) make(queue, first_capacity_);
}

void AppendList::make(Queue& queue, std::size_t capacity) {
  capacity_ = 0;  // until it is there
  records_ = Buffer(queue.context(), (capacity + 1) * record_bytes_);
  capacity_ = capacity;
}

void AppendList::make_readable(Queue& queue) {
  if (staging_.bytes() < records_.bytes()) staging_ = StagingBuffer(queue, records_.bytes());
}

Event AppendList::read(Queue& queue) {
  return queue.read(records_, staging_.data(), (std::min(at_once_, capacity_) + 1) * record_bytes_);
}

std::size_t AppendList::length(std::size_t index) const {
  cl_int count = 0;
  std::memcpy(&count, staging_.data() + index * sizeof count, sizeof count);
  return static_cast<std::size_t>(std::max(count, 0));
}

std::size_t AppendList::longest() const {
  return std::max({length(0), length(1), length(2), length(3)});
}

void AppendList::refuse(const Queue& queue) {
  throw Error(ExitCode::failed, "'" + queue.context().name() + "' reports a window that does not exist");
}

}  // namespace sightline::opencl
