#pragma once
/// Plans for OpenCL devices.
///
/// **Tasks and launches.** A task is a fusion group, or a part of one. A work-group computes one tile of a
/// task's points (2^shift of them), and of a product's outputs a part where a task has too few points to keep
/// the device busy: such a group is divided behind each product (tasks.hpp). A launch is a kernel over the
/// work-groups of some tasks of one wave side by side, for a number of frames; launches run one after the
/// other.
///
/// **Kernels.** The text of a launch is generated (task_source.hpp): for each task, its steps in order with a
/// barrier between them. A step is a node and the Map of its output, which is computed while sums are in
/// registers. Text has no addresses and no sizes of maps: those are arguments of the kernel, so that equal
/// tasks and launches have equal text; equal tasks of one launch share it. Constants in the text are kinds,
/// expressions, windows, numbers of channels, tiles and places in local memory.
///
/// **Memory.** A frame has one piece of memory with inputs, intermediate tensors and outputs, placed by their
/// lifetimes in launches; frames lie one behind the other. Computed f32 tensors lie in blocks of 16 channels
/// [ceil(C / 16)][points][16] without ends, all others in row-major order. What only later steps of the same
/// task read lies in local memory, [points of the tile][channels]. Outputs of the network are written where
/// they belong through the views that they are; where strides cannot express that, a last task copies them.
/// Operands are read through their views (device_operand.hpp). Constants lie in one buffer for all frames,
/// weights of products as [columns][outputs].
///
/// Results are those of the reference to the bit.

#include <string>
#include <vector>

#include "network/graph.hpp"
#include "network/plan/planned_tensor.hpp"

namespace sightline::nn {

/// Limits of a device and of launches.
struct DeviceShape {
  int group = 256;          ///< work-items, a power of two
  int local_floats = 8192;  ///< of a work-group
  int groups = 1;           ///< that keep the device busy
  int most_points = 256;    ///< of a tile, a power of two
  int frames = 1;           ///< of one launch, by which tiles are chosen
  bool mixes_tasks = true;  ///< whether different tasks share a launch
  int unrolled_few = 16,
      unrolled_many = 4;  ///< iterations of products: in launches with few groups, and others
};

struct DeviceLaunch {
  std::string source;                   ///< of a kernel, whose name is a macro, NAME
  std::vector<std::int32_t> arguments;  ///< behind the memory's
  int groups = 0;                       ///< of a frame
  std::int64_t multiply_adds = 0;       ///< of a frame
  int unrolled = 1;
  std::string name;  ///< for people
};

struct DevicePlan {
  DeviceShape shape;
  std::vector<DeviceLaunch> launches;  ///< one after the other
  std::vector<float> weights;
  std::vector<std::int32_t> tables;
  std::int64_t frame_bytes = 0;  ///< a multiple of 64
  std::vector<std::int64_t> inputs,
      outputs;  ///< bytes from a frame's start, by input and output of the graph; both as offsets_in_row
};

/// Throws Problem where a node has no kernel, or where a frame needs more memory than kernels' indices reach.
DevicePlan plan_for_device(const Graph& graph, const DeviceShape& shape);

}  // namespace sightline::nn
