#pragma once
/// Tasks of launches, and how they use local memory.

#include <map>

#include "network/opencl/device_operand.hpp"
#include "network/opencl/device_plan.hpp"
#include "network/plan/group_steps.hpp"

namespace sightline::nn {

enum class StepKind : std::uint8_t {
  map,
  product,    ///< dense convolutions, and products with a constant right side
  depthwise,  ///< each output has one input
  grouped,    ///< each output has inputs of its own
  window_fold,
  resample,
  point_fold,  ///< Reduce within each point
  map_fold,    ///< Reduce over all points
  // Of whole tensors, whose points are their elements in row-major order:
  copy,  ///< of elements from places that are known
  product_of_tensors,
  grid_sample,
  gather,
  top_k,          ///< by points of the operand
  top_k_of_many,  ///< the same, by tiles of kRankedTogether
};

struct TaskStep {
  StepKind kind = StepKind::map;
  GroupStep step;
  std::vector<DeviceOperand> operands;         ///< of the node, without weights
  std::vector<DeviceOperand> finish_operands;  ///< of the Map; of the node's output: empty
  Window window;                               ///< of 1x1 where there is none
  std::int64_t channels = 0;                   ///< of a point of the output
  std::int64_t width = 0, height = 0;          ///< of the map that is read
  /// Channels of the operand, by that of the output: of point folds, and of products that are `grouped`.
  std::vector<std::vector<int>> terms;
  std::vector<std::int64_t>
      weight_rows;                   ///< of such products: number of the output in the weights, by channel
  std::vector<std::int64_t> copied;  ///< of copies: floats of a frame, or, if negative, ~ of the weights
  std::int64_t target = 0;           ///< of copies: the first float of a frame that is written

  std::int64_t quads() const { return (channels + 3) / 4; }
  int taps() const { return static_cast<int>(window.kernel[0] * window.kernel[1]); }
  /// Columns of a tap of a product.
  int columns() const { return static_cast<int>(operands[0].quads()) * 4; }
  /// Whether each place of the output reads its own place of the map alone, or the step reads no map.
  bool is_pointwise() const {
    return window == Window{{1, 1}, {1, 1}, {1, 1}, {0, 0}, window.out} &&
           (width == 0 || window.out == Pair{height, width});
  }
  std::int64_t lanes() const { return (channels + kLanes - 1) / kLanes * kLanes; }
  bool reads(int tensor) const;
  /// Whether the step can read a tensor that local memory has.
  bool reads_local(int tensor) const;
};

struct Task {
  std::vector<TaskStep> steps;
  std::int64_t points = 0, width = 0;  ///< of the domain; of a row of its map
  int launch = 0;
  bool divides_outputs = false;  ///< of its last step, among work-groups
};

struct LocalPlace {
  int at = 0, pitch = 0;  ///< floats, from point to point
};

/// How a work-group computes a step of kind product.
struct ProductTile {
  int points = 1, outputs = 4;  ///< of a work-item; sums of fewer than four outputs go through local memory
  int pass = 0;                 ///< outputs that are computed together
  int staged = 0;               ///< columns that are in local memory at once
  LocalPlace columns;
  LocalPlace sums;         ///< where work-items have fewer than four outputs
  bool is_direct = false;  ///< whether its columns are a tensor in local memory
};

struct TaskTile {
  int shift = 0;  ///< 2^shift points
  int parts = 1;  ///< of the outputs
  int local_floats = 4;
  std::map<int, LocalPlace> tensors;            ///< in local memory
  std::map<std::size_t, ProductTile> products;  ///< by step
  std::map<std::size_t, LocalPlace> lanes;      ///< of map folds, and numbers of top_k_of_many, by step
};

inline constexpr int kRankedTogether = 8;             ///< elements, of top_k_of_many
inline constexpr std::int64_t kFoldedChannels = 256;  ///< of a map fold at once

/// Divides a group into tasks: behind each product if it has too few points to keep the device busy. Tasks of
/// the first launch have number 0.
std::vector<Task> divided(Task task, const DeviceShape& shape);

/// @param is_local  by tensor; those that local memory cannot hold are set to false
TaskTile tile_of(const Task& task, const DeviceShape& shape, std::vector<bool>& is_local);

}  // namespace sightline::nn
