#pragma once
/// The text of kernels.

#include "network/opencl/tasks.hpp"

namespace sightline::nn {

/// Where elements of a step's output belong in an output of the network.
struct OutputPlace {
  std::int64_t base = 0;  ///< floats from the frame's start, of channel 0 of point 0
  PointForm points;
  std::int64_t channel_step = 0;
  std::vector<std::int32_t> channels;  ///< {}: channel_step apart
};

/// What texts refer to.
struct SourceContext {
  const Graph& graph;
  const Stored& stored;                                  ///< with places in a frame's memory
  const std::vector<bool>& has_blocks;                   ///< by tensor: whether it is stored there
  const std::vector<std::vector<OutputPlace>>& outputs;  ///< by tensor
  std::vector<float>& weights;                           ///< are added to
  std::vector<std::int32_t>& tables;
};

/// A task's text, which calls its own arguments a0, a1...
struct TaskSource {
  std::string text;
  std::vector<std::int32_t> arguments;
  int local_floats = 4;
  int groups = 0;  ///< work-groups of a frame
};
TaskSource source_of(const SourceContext& context, const Task& task, const TaskTile& tile);

/// A kernel of some tasks side by side. Sets `source`, `arguments` and `groups`.
DeviceLaunch launch_of(std::vector<TaskSource> tasks);

}  // namespace sightline::nn
