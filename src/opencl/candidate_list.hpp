#pragma once
/// Lists that kernels append windows to, in any order, and that the host takes over whole and in order.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <tuple>
#include <vector>

#include "opencl/context.hpp"

namespace sightline::opencl {

/// The windows of one level, against which a device's reports are checked: window (i, j) is reported at
/// (i * step, j * step).
struct WindowGrid {
  cl_int columns = 0;
  cl_int rows = 0;
  cl_int step = 1;
};

/// Number of windows of all levels.
std::size_t count_windows(std::span<const WindowGrid> levels);

/// A list in device memory: a header of one record, then the records. The header's first number says how many
/// records have been appended, including those without room (`append` in kernels/common.clh); its second to
/// fourth are, if kernels set them, the lengths of the lists that this one was made from. A list that was too
/// short is therefore detected, enlarged and filled again.
///
/// The beginning of a list is read back together with its length, in one transfer, whose size adapts to the
/// frames. Thread-safety: one thread at a time.
class AppendList {
 public:
  /// @param record_bytes    a multiple of 16; a record begins with level, x and y of its window (cl_int)
  /// @param first_capacity  initial capacity in records, at least 1; grows on demand
  /// @param first_read      initial number of records read back with the length; grows on demand
  AppendList(std::size_t record_bytes, std::size_t first_capacity, std::size_t first_read)
      : record_bytes_(record_bytes), first_capacity_(first_capacity), at_once_(first_read) {}

  /// Makes the memory on the device where there is none yet. Throws DeviceError.
  void make(Queue& queue);
  /// Recreates the list with room for `capacity` records, empty. Throws DeviceError.
  void make(Queue& queue, std::size_t capacity);
  /// Makes the host's memory that `read` needs, where it is not there yet. Throws DeviceError.
  void make_readable(Queue& queue);

  const Buffer& buffer() const { return records_; }
  /// Capacity as a kernel argument.
  cl_int capacity() const { return static_cast<cl_int>(capacity_); }
  /// Once `finish_read` has returned: a number of the header, 1 to 3, as the kernels have set it.
  std::size_t source_length(std::size_t index) const { return length(index); }

  /// Enqueues what empties the list. Throws DeviceError.
  Event clear(Queue& queue) { return queue.fill(records_, 0, record_bytes_); }
  /// Enqueues the transfer of the list's beginning to the host. Throws DeviceError.
  Event read(Queue& queue);

  /// After `read` has completed: reads the rest of the list and waits.
  /// @param most    longest possible list; a larger length is an error
  /// @param refill  called with a larger capacity if this list, or one that it was made from, was too short:
  ///                recreates all of them and enqueues the kernels that fill them
  /// Throws DeviceError, and Error (failed) for impossible values.
  template <typename Refill>
  void finish_read(Queue& queue, std::size_t most, const Refill& refill) {
    if (longest() > capacity_) {
      if (longest() > most) refuse(queue);
      refill(std::min(longest() + longest() / 4, most));
      make_readable(queue);
      queue.wait(read(queue));
    }
    if (longest() > capacity_) refuse(queue);
    if (size() > at_once_) {
      at_once_ = std::min(size() + size() / 4, capacity_);
      queue.wait(read(queue));
    }
  }

 protected:
  /// Size according to the last header read.
  std::size_t size() const { return length(0); }
  const std::byte* record(std::size_t index) const { return staging_.data() + (index + 1) * record_bytes_; }
  [[noreturn]] static void refuse(const Queue& queue);

 private:
  std::size_t length(std::size_t index) const;
  std::size_t longest() const;

  std::size_t record_bytes_;
  std::size_t first_capacity_;
  std::size_t at_once_;  ///< records that `read` transfers
  std::size_t capacity_ = 0;
  Buffer records_;
  mutable StagingBuffer staging_;
};

/// A list of records that the host knows as `Record`: a plain structure as the kernels write it, with members
/// level, x and y at its beginning.
template <typename Record>
class CandidateList : public AppendList {
  static_assert(sizeof(Record) % 16 == 0 && offsetof(Record, level) == 0);

 public:
  CandidateList(std::size_t first_capacity, std::size_t first_read)
      : AppendList(sizeof(Record), first_capacity, first_read) {}

  /// The whole list once `finish_read` has returned, by level, y and x; valid until the next call. Throws
  /// Error (failed) if a record's window is outside of `levels`, since device data are checked before use as
  /// indices.
  std::span<const Record> sorted(const Queue& queue, std::span<const WindowGrid> levels) {
    sorted_.resize(size());
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
      Record& r = sorted_[i];
      std::memcpy(&r, record(i), sizeof r);
      if (!exists(r, levels)) refuse(queue);
    }
    std::sort(sorted_.begin(), sorted_.end(), [](const Record& a, const Record& b) {
      return std::tie(a.level, a.y, a.x) < std::tie(b.level, b.y, b.x);
    });
    return sorted_;
  }

 private:
  static bool exists(const Record& r, std::span<const WindowGrid> levels) {
    if (r.level < 0 || static_cast<std::size_t>(r.level) >= levels.size()) return false;
    const WindowGrid& grid = levels[static_cast<std::size_t>(r.level)];
    const auto lies = [&](cl_int at, cl_int windows) {
      return at >= 0 && at % grid.step == 0 && at / grid.step < windows;
    };
    return lies(r.x, grid.columns) && lies(r.y, grid.rows);
  }

  std::vector<Record> sorted_;
};

}  // namespace sightline::opencl
