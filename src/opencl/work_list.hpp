#pragma once
/// Assignment of work-groups to tiles, for kernels that run over all levels of a pyramid at once.

#include <cstddef>
#include <vector>

#include "opencl/data.hpp"

namespace sightline::opencl {

/// A work-group's (or a work-item's) part of a launch: a place in a level. Mirrors `Tile` in the kernels.
struct Tile {
  cl_int level;
  cl_int x, y;
  cl_int end;  ///< one past the last row of the level's part that the launch is for
};

/// begin, begin + step, ... below end.
struct Steps {
  int begin = 0;
  int end = 0;
  int step = 1;
};

/// Appends a level's tiles: every place of `rows` with every place of `columns`, row after row.
void add_tiles(std::vector<Tile>& tiles, std::size_t level, const Steps& rows,
               const Steps& columns = {0, 1, 1});

/// Tiles on the device, for a launch of one work-group each. Thread-safety: one thread at a time.
class WorkList {
 public:
  /// Replaces the tiles, and waits. Throws DeviceError.
  void assign(Queue& queue, const std::vector<Tile>& tiles) { count_ = upload(queue, buffer_, tiles); }
  const Buffer& buffer() const { return buffer_; }
  std::size_t size() const { return count_; }

 private:
  Buffer buffer_;
  std::size_t count_ = 0;
};

}  // namespace sightline::opencl
