#pragma once
/// A plan's levels as tables for kernels/network/level.cl. A level is one launch; where its maps have too few
/// pixels to keep the device busy, each of its products is one, whose outputs are divided among groups.

#include <cstdint>
#include <vector>

#include "detectors/network/opencl/weights.hpp"

namespace sightline::network {

/// Kinds of operations; mirrors the definitions in level.cl.
enum class OpKind : cl_int {
  stage,        ///< channels of a map to local memory
  stage_quads,  ///< the same for channels that lie in fours
  multiply,     ///< staged columns by weights
  depthwise,
  binary,
  pool,
  resize,
  mean_lanes,  ///< sums of a whole map, in local memory
  mean,
  copy,
  pack,
  place,
  average,
  pad
};

/// Mirrors `Sources` in level.cl.
struct Sources {
  cl_int list = -1, first = 0, apart = 0, row = 0;
};

/// Mirrors `Op` in level.cl, which says what the members are.
struct Op {
  OpKind kind{};
  cl_int waits = 1;
  Sources in;
  cl_int count = 0, pixel_step = 0, in_width = 0, in_height = 0;
  cl_int stride_x = 1, stride_y = 1, before_x = 0, before_y = 0, dilation_x = 1, dilation_y = 1, kernel_x = 1,
         kernel_y = 1;
  cl_int first_row = 0, first_column = 0, taps = 1;
  cl_int local_at = 0, local_pitch = 0, columns = 0, depth = 0, tile = 0, outputs = 0, first_output = 0;
  cl_int weights = 0, weight_row = 0, bias = 0, begins = 0, ends = 0;
  cl_int activation = 0;
  cl_float a = 0, b = 0;
  cl_int adds = 0, added_first = 0;
  Sources added;
  cl_int other_kind = 0, constants = 0;
  Sources other;
  cl_int operation = 0;
  cl_int out_local = 0, out_pitch = 0, out = -1, out_block = 0, out_row = 0, row_step = 0, column_step = 0;
};
static_assert(sizeof(Op) == 56 * sizeof(cl_int));

/// Mirrors `Chain` in level.cl.
struct ChainTable {
  cl_int first_group = 0, first_op = 0, ops = 0, tile_shift = 0, pixels = 0, width = 0;
  cl_uint width_inverse = 0;
  cl_int parts = 1;
  cl_int ahead = 0, ahead_row = 0, ahead_rows = 0, ahead_step = 0;
};
static_assert(sizeof(ChainTable) == 12 * sizeof(cl_int));

struct LevelTables {
  struct Launch {
    cl_int first_chain = 0, chains = 0;
    cl_int groups = 0;        ///< a frame
    cl_int local_floats = 4;  ///< of a group
  };
  std::vector<Launch> launches;
  std::vector<std::size_t> first_launches;  ///< by level of the segments that suit devices, and one past them
  std::vector<ChainTable> chains;
  std::vector<Op> ops;
  std::vector<cl_int2> places;
  std::vector<cl_int> tables;
  std::vector<std::int64_t> pools;  ///< by pool: floats from the start of a frame's memory
  std::int64_t frame_floats = 0;
};

/// Limits of a device and a launch.
struct LaunchShape {
  int group = 256;          ///< work-items
  int local_floats = 8192;  ///< of a work-group
  int groups = 1;           ///< that keep the device busy
  int most_pixels = 64;     ///< of a tile, a power of two
  int frames = 1;           ///< of one launch
};

/// Throws Error (failed) where a frame needs more memory than the kernels' indices reach, or a group more
/// local memory than there is.
LevelTables make_level_tables(const Plan& plan, const Weights& weights, const LaunchShape& shape);

}  // namespace sightline::network
