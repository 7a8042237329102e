#include "opencl/work_list.hpp"

namespace sightline::opencl {

void add_tiles(std::vector<Tile>& tiles, std::size_t level, const Steps& rows, const Steps& columns) {
  for (int y = rows.begin; y < rows.end; y += rows.step) {
    for (int x = columns.begin; x < columns.end; x += columns.step)
      tiles.push_back({static_cast<cl_int>(level), x, y, rows.end});
  }
}

}  // namespace sightline::opencl
