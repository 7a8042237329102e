#include "network/opencl/device_plan.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "network/opencl/device_kernels.hpp"
#include "network/opencl/output_places.hpp"
#include "network/opencl/task_copies.hpp"
#include "network/opencl/task_source.hpp"
#include "network/opencl/task_steps.hpp"
#include "network/plan/arena.hpp"

namespace sightline::nn {
namespace {

class DevicePlanBuilder {
 public:
  DevicePlanBuilder(Fusion fusion, const DeviceShape& shape)
      : fusion_(std::move(fusion)),
        graph_(fusion_.graph),
        stored_(graph_, fusion_.tensors),
        count_(graph_.tensors().size()),
        maker_(count_, kNone),
        is_local_(count_, false),
        has_blocks_(count_, false),
        outputs_(count_) {
    plan_.shape = shape;
  }

  DevicePlan build() {
    set_storages();
    add_tasks();
    find_outputs();
    find_memory();
    for (const Task& task : tasks_) tiles_.push_back(tile_of(task, plan_.shape, is_local_));
    for (std::size_t t = 0; t < count_; ++t) has_blocks_[t] = has_blocks_[t] || is_spilled(t);
    place();
    write();
    return std::move(plan_);
  }

 private:
  const PlannedTensor& planned(int tensor) const { return fusion_.tensors[to_size(tensor)]; }

  void set_storages() {
    for (std::size_t t = 0; t < count_; ++t) {
      const int tensor = static_cast<int>(t), maker = graph_.tensor(tensor).maker;
      if (!stored_.is_stored(tensor)) continue;
      const TensorType& type = graph_.type(tensor);
      if (maker == kNone) {
        stored_[tensor] = plain_storage(type, graph_.constant(tensor) ? Memory::plan : Memory::arena);
      } else {
        const Layout& layout = planned(tensor).layout;
        stored_[tensor] =
            is_alone(tensor) ? plain_storage(type, Memory::arena) : block_storage(layout, layout.points, 0);
      }
    }
  }

  // --- tasks

  void add_tasks() {
    const CanFinish can_finish = [](const GraphNode& node, const GraphNode&) {
      return !std::holds_alternative<Reduce>(node.primitive) ||
             std::get<Reduce>(node.primitive).axes == Axes{2, 3};
    };
    std::map<int, std::vector<Task>> waves;
    for (const StepGroup& group : groups_of(fusion_, can_finish)) {
      std::vector<Task>& wave = waves[group.wave];
      Task task = task_of(graph_, stored_, group);
      if (group.is_alone) {
        wave.push_back(std::move(task));
      } else {
        std::ranges::move(divided(std::move(task), plan_.shape), std::back_inserter(wave));
      }
    }
    int launch = 0;
    for (auto& [number, wave] : waves) {
      int most = 0;
      for (Task& task : wave) {
        most = std::max(most, task.launch);
        task.launch += launch;
        tasks_.push_back(std::move(task));
      }
      launch += most + 1;
    }
    launches_ = launch;
  }

  bool is_alone(int tensor) const {
    const int maker = graph_.tensor(tensor).maker;
    return maker != kNone && fusion_.is_alone[to_size(maker)];
  }

  // Steps write outputs through the views that they are.
  void find_outputs() {
    for (std::size_t i = 0; i < graph_.outputs().size(); ++i) {
      const int output = graph_.outputs()[i];
      Storage own = plain_storage(graph_.type(output), Memory::arena);
      own.last_wave = launches_ + 1;
      output_storages_.push_back(own);
      auto places = places_in_output(graph_, stored_, output);
      is_copied_.push_back(!places.has_value());
      if (!places) continue;
      for (auto& [tensor, place] : *places) {
        place.base = static_cast<std::int64_t>(i);  // until it is placed
        outputs_[to_size(tensor)].push_back(std::move(place));
      }
    }
  }

  // --- memory

  // Decides whether each tensor is read in local memory or in the memory of a frame.
  void find_memory() {
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      for (const TaskStep& step : tasks_[t].steps) {
        for (const int made : step.step.outputs()) {
          maker_[to_size(made)] = static_cast<int>(t);
          is_local_[to_size(made)] = !is_alone(made);
          has_blocks_[to_size(made)] = is_alone(made);
        }
      }
    }
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      for (const TaskStep& step : tasks_[t].steps) {
        for_each_read(step, [&](int tensor) {
          const int maker = maker_[to_size(tensor)];
          stored_[tensor].last_wave = std::max(stored_[tensor].last_wave, tasks_[t].launch + 1);
          if (maker == kNone) return;
          if (maker != static_cast<int>(t)) {
            has_blocks_[to_size(tensor)] = true;
          } else if (!step.reads_local(tensor)) {
            has_blocks_[to_size(tensor)] = true;
            is_local_[to_size(tensor)] = false;
          }
        });
      }
    }
    for (std::size_t i = 0; i < is_copied_.size(); ++i) {
      if (!is_copied_[i]) continue;
      const int output = graph_.outputs()[i];
      for (const Source& source : planned(output).sources) {
        stored_[source.tensor].last_wave = launches_ + 1;
        if (maker_[to_size(source.tensor)] != kNone) has_blocks_[to_size(source.tensor)] = true;
      }
    }
  }
  template <typename F>
  void for_each_read(const TaskStep& step, const F& f) const {
    for (const auto* const operands : {&step.operands, &step.finish_operands}) {
      for (const DeviceOperand& one : *operands) {
        for (const ChannelRun& run : one.runs) f(run.tensor);
        for (const int tensor : one.tensors) f(tensor);
      }
    }
  }
  // Whether a tensor that its own task reads is in no local memory.
  bool is_spilled(std::size_t tensor) const {
    if (maker_[tensor] == kNone || is_local_[tensor]) return false;
    return std::ranges::any_of(tasks_[to_size(maker_[tensor])].steps,
                               [&](const TaskStep& step) { return step.reads(static_cast<int>(tensor)); });
  }

  // Inputs lie side by side, and so do outputs, so that one copy brings all.
  void place() {
    std::vector<Storage*> all, inputs, outputs;
    for (const int input : graph_.inputs()) {
      if (!stored_.is_stored(input)) throw Problem("has inputs whose sides are not known");
      inputs.push_back(&stored_[input]);
    }
    for (const Task& task : tasks_) {
      for (const TaskStep& step : task.steps) {
        for (const int made : step.step.outputs()) {
          Storage& own = stored_[made];
          own.first_wave = task.launch + 1;
          own.last_wave = std::max(own.last_wave, own.first_wave);
          if (has_blocks_[to_size(made)]) all.push_back(&own);
        }
      }
    }
    for (Storage& one : output_storages_) outputs.push_back(&one);
    Row input_row = row_of(inputs), output_row = row_of(outputs);
    all.insert(all.end(), {&input_row.whole, &output_row.whole});
    plan_.frame_bytes = place_in_arena(all);
    plan_.inputs = placed(inputs, std::move(input_row));
    plan_.outputs = placed(outputs, std::move(output_row));
    for (std::vector<OutputPlace>& own : outputs_) {
      for (OutputPlace& place : own) place.base = output_storages_[to_size(place.base)].offset / 4;
    }
  }
  struct Row {
    Storage whole;
    std::vector<std::int64_t> offsets;
  };
  static Row row_of(const std::vector<Storage*>& storages) {
    Row row;
    std::vector<std::int64_t> bytes;
    for (const Storage* const one : storages) {
      bytes.push_back(one->bytes);
      row.whole.last_wave = std::max(row.whole.last_wave, one->last_wave);
    }
    row.offsets = offsets_in_row(bytes);
    row.whole.bytes = row.offsets.back();
    row.offsets.pop_back();
    return row;
  }
  static std::vector<std::int64_t> placed(const std::vector<Storage*>& storages, Row row) {
    for (std::size_t i = 0; i < storages.size(); ++i)
      storages[i]->offset = row.offsets[i] += row.whole.offset;
    return std::move(row.offsets);
  }

  // --- text

  /// Tasks side by side in a launch.
  struct Side {
    std::vector<TaskSource> sources;
    std::string name;
    std::int64_t multiply_adds = 0;
  };

  void write() {
    const SourceContext context{graph_, stored_, has_blocks_, outputs_, plan_.weights, plan_.tables};
    add_copies();
    for (Task& task : tasks_) {
      TaskStep& first = task.steps[0];
      if (first.kind == StepKind::copy && first.copied.empty())
        set_padding(graph_, stored_, first, plan_.weights);
    }
    std::map<std::pair<int, std::string>, Side> launches;  // by number, and by text where they are apart
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      TaskSource source = source_of(context, tasks_[t], tiles_[t]);
      const std::string text = plan_.shape.mixes_tasks ? "" : source.text;
      Side& side = launches[{tasks_[t].launch, text}];
      side.sources.push_back(std::move(source));
      side.name += (side.name.empty() ? "" : "; ") + name_of_task(tasks_[t], tiles_[t]);
      for (const TaskStep& step : tasks_[t].steps) {
        if (step.kind != StepKind::copy) side.multiply_adds += multiply_adds_of(graph_, step.step.node);
      }
    }
    for (auto& [key, side] : launches) {
      plan_.launches.push_back(launch_of(std::move(side.sources)));
      DeviceLaunch& launch = plan_.launches.back();
      launch.name = side.name;
      launch.multiply_adds = side.multiply_adds;
      const bool has_few = plan_.shape.frames == 1 && launch.groups < 2 * plan_.shape.groups;
      launch.unrolled = has_few ? plan_.shape.unrolled_few : plan_.shape.unrolled_many;
    }
    if (plan_.weights.empty()) plan_.weights.push_back(0);
    if (plan_.tables.empty()) plan_.tables.push_back(0);
  }
  // As "1600 points by 32: convolve 1x1, 64 to 64 with sigmoid".
  std::string name_of_task(const Task& task, const TaskTile& tile) const {
    std::string name;
    for (const TaskStep& step : task.steps) {
      name +=
          (name.empty() ? "" : " + ") + (step.kind == StepKind::copy ? "copy" : text_of(graph_, step.step));
    }
    return std::to_string(task.points) + " points by " + std::to_string(1 << tile.shift) + ": " + name;
  }

  // Outputs that no step writes.
  void add_copies() {
    for (std::size_t i = 0; i < is_copied_.size(); ++i) {
      const int output = graph_.outputs()[i];
      if (!is_copied_[i] || elements_of(graph_.shape(output)) == 0) continue;
      TaskStep copy = copy_of_output(graph_, stored_, output, output_storages_[i].offset / 4, plan_.weights);
      const auto points = static_cast<std::int64_t>(copy.copied.size());
      tasks_.push_back({{std::move(copy)}, points, 0, launches_, false});
      tiles_.push_back(tile_of(tasks_.back(), plan_.shape, is_local_));
    }
  }

  Fusion fusion_;
  const Graph& graph_;
  Stored stored_;
  const std::size_t count_;  ///< of tensors
  std::vector<Task> tasks_;
  std::vector<TaskTile> tiles_;  ///< by task
  int launches_ = 0;
  std::vector<int> maker_;                         ///< by tensor: the task; kNone
  std::vector<bool> is_local_, has_blocks_;        ///< by tensor
  std::vector<std::vector<OutputPlace>> outputs_;  ///< by tensor
  std::vector<Storage> output_storages_;
  std::vector<bool> is_copied_;  ///< by output
  DevicePlan plan_;
};

}  // namespace

DevicePlan plan_for_device(const Graph& graph, const DeviceShape& shape) {
  const auto runs_alone = [](const Graph& of, std::span<const PlannedTensor> tensors, int node) {
    return !has_device_tiles(of, tensors, node);
  };
  return DevicePlanBuilder(fuse(graph, runs_alone), shape).build();
}

}  // namespace sightline::nn
