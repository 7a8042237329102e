#include "network/opencl/device_plan.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>

#include "network/opencl/expression_source.hpp"
#include "network/opencl/task_source.hpp"
#include "network/plan/arena.hpp"
#include "network/plan/elements.hpp"
#include "network/plan/node_text.hpp"
#include "network/strided.hpp"

namespace sightline::nn {
namespace {

bool is_map_layout(const PlannedTensor& planned, const Shape& shape) {
  if (shape.size() != 4 || shape[0] != 1) return false;
  const Layout usual = Layout::of(shape);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (normalised(planned.layout.axes[i]) != normalised(usual.axes[i])) return false;
  }
  return planned.layout.points == usual.points;
}

/// Which kernels there are, by node.
struct DeviceKernels {
  const Graph& graph;
  std::span<const PlannedTensor> tensors;
  const GraphNode& node;

  const PlannedTensor& planned(int tensor) const { return tensors[static_cast<std::size_t>(tensor)]; }
  const Shape& shape() const { return graph.shape(node.outputs[0]); }

  // Whether there is a kernel for tiles of a group.
  bool has_tiles() const { return are_usable({DataType::f32}) && std::visit(*this, node.primitive); }
  // Whether there is one for whole tensors.
  bool has_whole() const {
    return are_usable({DataType::f32, DataType::i64}) &&
           std::visit([&](const auto& one) { return runs_whole(one); }, node.primitive);
  }
  bool are_usable(std::initializer_list<DataType> types) const {
    const auto is_usable = [&](int tensor) {
      return std::ranges::find(types, graph.type(tensor).data) != types.end() && !planned(tensor).is_last &&
             elements_of(graph.shape(tensor)) > 0;
    };
    return std::ranges::all_of(node.inputs, is_usable) && std::ranges::all_of(node.outputs, is_usable) &&
           std::ranges::none_of(node.inputs, [&](int input) { return is_mixed(input); });
  }
  bool is_real(int tensor) const { return graph.type(tensor).data == DataType::f32; }
  // Whether a view shows constants and other tensors.
  bool is_mixed(int tensor) const { return !planned(tensor).sources.empty() && shows_constant(tensor); }
  bool shows_constant(int tensor) const {
    const int maker = graph.tensor(tensor).maker;
    if (maker == kNone) return graph.constant(tensor) != nullptr;
    if (!is_view(graph.node(maker).primitive)) return false;
    return std::ranges::any_of(graph.node(maker).inputs, [&](int input) { return shows_constant(input); });
  }
  bool reads_at_points() const {
    const auto followed = followed_axes(node.primitive, types_of(graph, node.inputs), 0, shape());
    return access_of(followed, planned(node.inputs[0]).layout, planned(node.outputs[0]).layout) ==
           Access::point;
  }
  bool are_constant() const {
    return std::all_of(node.inputs.begin() + 1, node.inputs.end(),
                       [&](int input) { return graph.constant(input) != nullptr; });
  }
  bool is_map() const { return is_map_layout(planned(node.outputs[0]), shape()); }
  // Whether a constant has elements on its last axes alone.
  bool has_last_axes(std::size_t input, std::size_t axes, std::int64_t last) const {
    const Shape& of = graph.shape(node.inputs[input]);
    std::int64_t others = 1;
    for (std::size_t i = 0; i + axes < of.size(); ++i) others *= of[i];
    return others == 1 && of.size() >= axes && of.back() == last;
  }

  bool runs_whole(const Pad&) const { return is_real(node.inputs[0]) && !graph.constant(node.inputs[0]); }
  bool runs_whole(const Product&) const { return true; }
  bool runs_whole(const GridSample&) const { return true; }
  bool runs_whole(const TopK& one) const {
    constexpr std::int64_t kMostCompared = 16384;
    return node.inputs.size() == 1 && is_real(node.inputs[0]) &&
           graph.shape(node.inputs[0])[one.axis] <= kMostCompared;
  }
  // Indices must be in range: devices cannot refuse them.
  bool runs_whole(const Gather& one) const {
    return one.by != By::tuple && is_real(node.inputs[0]) &&
           ranks(node.inputs[1], graph.shape(node.inputs[0])[one.axis]);
  }
  template <typename Other>
  bool runs_whole(const Other&) const {
    return false;
  }
  // Whether a tensor shows places of an axis of at most some side that a TopK has found.
  bool ranks(int tensor, std::int64_t side) const {
    const int maker = graph.tensor(tensor).maker;
    if (maker == kNone) return false;
    const GraphNode& from = graph.node(maker);
    if (const auto* const top = std::get_if<TopK>(&from.primitive))
      return tensor == from.outputs[1] && graph.shape(from.inputs[0])[top->axis] <= side;
    return is_view(from.primitive) &&
           std::ranges::all_of(from.inputs, [&](int input) { return ranks(input, side); });
  }

  bool operator()(const Map& one) const { return has_text(one.expression); }
  bool operator()(const Convolve& one) const {
    if (!are_constant()) return false;
    return is_map() || (reads_one_point(one.window, graph.shape(node.inputs[0])) && reads_at_points());
  }
  bool operator()(const Product&) const {
    return are_constant() && reads_at_points() && has_last_axes(1, 2, shape().back()) &&
           (node.inputs.size() < 3 || has_last_axes(2, 1, shape().back()));
  }
  bool operator()(const WindowFold& one) const { return is_map() && one.fold != Fold::product; }
  bool operator()(const Resample&) const { return is_map(); }
  bool operator()(const Reduce& one) const {
    if (one.fold == Fold::product) return false;
    return reads_at_points() ||
           (is_map() && one.axes == Axes{2, 3} && graph.shape(node.inputs[0]).size() == 4);
  }
  template <typename Other>
  bool operator()(const Other&) const {
    return false;
  }
};

/// Points and channels of a layout by place.
class Places {
 public:
  explicit Places(const Layout& layout) {
    for (const FactoredAxis& axis : layout.axes) points_.push_back(offsets_of(axis));
    for (const FactoredAxis& axis : channels_of(layout)) channels_.push_back(offsets_of(axis));
  }
  std::int64_t point(const Shape& place) const { return sum(points_, place); }
  std::int64_t channel(const Shape& place) const { return sum(channels_, place); }

 private:
  using Offsets = std::vector<std::vector<std::int64_t>>;
  static std::int64_t sum(const Offsets& offsets, const Shape& place) {
    std::int64_t all = 0;
    for (std::size_t i = 0; i < place.size(); ++i) all += offsets[i][static_cast<std::size_t>(place[i])];
    return all;
  }
  Offsets points_, channels_;  ///< by axis and place
};

class DevicePlanBuilder {
 public:
  DevicePlanBuilder(Fusion fusion, const DeviceShape& shape)
      : fusion_(std::move(fusion)),
        graph_(fusion_.graph),
        stored_(graph_, fusion_.tensors),
        count_(graph_.tensors().size()),
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
    for (const std::vector<GroupStep>& group : steps_of(fusion_, can_finish)) {
      if (group.empty()) continue;
      const int made = group[0].outputs()[0];
      if (is_alone(made)) {
        waves[fusion_.wave[to_size(graph_.tensor(made).maker)]].push_back(whole_task(group[0]));
        continue;
      }
      Task task{{}, planned(made).layout.points, 0, 0, false};
      for (const GroupStep& step : group) {
        const Shape& own = graph_.shape(step.outputs()[0]);
        if (is_map_layout(planned(step.outputs()[0]), own)) task.width = std::max(task.width, own[3]);
      }
      for (const GroupStep& step : group) task.steps.push_back(step_of(step, task.width));
      std::vector<Task>& wave = waves[fusion_.wave[to_size(graph_.tensor(made).maker)]];
      for (Task& part : divided(std::move(task), plan_.shape)) wave.push_back(std::move(part));
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

  Task whole_task(const GroupStep& step) const {
    const GraphNode& node = step.node;
    if (!DeviceKernels{graph_, fusion_.tensors, node}.has_whole())
      throw Problem("has no kernel for devices: " + node.name);
    TaskStep made;
    made.step = step;
    made.channels = 1;
    made.kind = std::holds_alternative<Product>(node.primitive)      ? StepKind::product_of_tensors
                : std::holds_alternative<GridSample>(node.primitive) ? StepKind::grid_sample
                : std::holds_alternative<Gather>(node.primitive)     ? StepKind::gather
                : has_many_ranks(node)                               ? StepKind::top_k_of_many
                : std::holds_alternative<TopK>(node.primitive)       ? StepKind::top_k
                                                                     : StepKind::copy;
    const int counted = std::holds_alternative<TopK>(node.primitive) ? node.inputs[0] : node.outputs[0];
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const Shape shape = whole_shape(node, i);
      const Layout row_major{elements_of(shape), factored(shape, strides_of(shape)), false};
      made.operands.push_back(device_operand(graph_, stored_, node.inputs[i], shape, row_major, 0));
    }
    return {{std::move(made)}, elements_of(graph_.shape(counted)), 0, 0, false};
  }
  // Whether all work-items of a group compare elements of one row.
  bool has_many_ranks(const GraphNode& node) const {
    constexpr std::int64_t kMany = 256;
    const auto* const top = std::get_if<TopK>(&node.primitive);
    if (!top) return false;
    const Shape& x = graph_.shape(node.inputs[0]);
    const std::int64_t side = x[top->axis];
    return side > kMany && elements_between(x, top->axis + 1, x.size()) == 1 &&
           (side % kRankedTogether == 0 || elements_of(x) == side);
  }
  // Operands of products are repeated along the axes in front.
  Shape whole_shape(const GraphNode& node, std::size_t input) const {
    Shape shape = graph_.shape(node.inputs[input]);
    if (!std::holds_alternative<Product>(node.primitive)) return shape;
    const Shape& all = graph_.shape(node.outputs[0]);
    if (input == 2) return all;
    Shape repeated(all.begin(), all.end() - 2);
    repeated.insert(repeated.end(), shape.end() - 2, shape.end());
    return repeated;
  }

  TaskStep step_of(const GroupStep& step, std::int64_t width) {
    TaskStep made;
    made.step = step;
    const GraphNode& node = step.node;
    const int output = node.outputs[0];
    made.channels = channel_count(planned(output).layout);
    std::visit([&](const auto& one) { set_kind(made, one, width); }, node.primitive);
    if (step.finish) {
      for (const int input : step.finish->inputs)
        made.finish_operands.push_back(input == output ? DeviceOperand()
                                                       : point_operand(input, output, width));
    }
    return made;
  }

  // An operand by the points and channels of an output.
  DeviceOperand point_operand(int input, int output, std::int64_t width) const {
    return device_operand(graph_, stored_, input, graph_.shape(output), planned(output).layout, width);
  }
  // By its own points and channels.
  DeviceOperand own_operand(int input, std::int64_t width) const {
    return device_operand(graph_, stored_, input, graph_.shape(input), planned(input).layout, width);
  }
  DeviceOperand map_operand(TaskStep& made, int input) const {
    const Shape& shape = graph_.shape(input);
    made.height = shape[2];
    made.width = shape[3];
    return device_operand(graph_, stored_, input, shape, Layout::of(shape), shape[3]);
  }

  void set_kind(TaskStep& made, const Map&, std::int64_t width) {
    const GraphNode& node = made.step.node;
    for (const int input : node.inputs) made.operands.push_back(point_operand(input, node.outputs[0], width));
  }
  void set_kind(TaskStep& made, const Convolve& one, std::int64_t width) {
    const int x = made.step.node.inputs[0];
    made.window = one.window;
    if (!is_map_layout(planned(made.step.node.outputs[0]), graph_.shape(made.step.node.outputs[0]))) {
      return set_point_product(made, 1, graph_.constant(made.step.node.inputs[1])->dim(1), one.groups, width);
    }
    made.kind = one.groups == 1                                                      ? StepKind::product
                : one.groups == made.channels && graph_.shape(x)[1] == made.channels ? StepKind::depthwise
                                                                                     : StepKind::grouped;
    made.operands = {map_operand(made, x)};
  }
  void set_kind(TaskStep& made, const Product&, std::int64_t width) {
    const Shape& weights = graph_.shape(made.step.node.inputs[1]);
    set_point_product(made, graph_.shape(made.step.node.outputs[0]).size() - 1, weights[weights.size() - 2],
                      1, width);
  }

  // A product within each point. @param axis  of the output's shape, along which weights have outputs
  void set_point_product(TaskStep& made, std::size_t axis, std::int64_t depth, std::int64_t groups,
                         std::int64_t width) {
    const int x = made.step.node.inputs[0], y = made.step.node.outputs[0];
    made.operands = {own_operand(x, width)};
    const std::int64_t outputs = graph_.shape(y)[axis] / groups;
    const Places from(planned(x).layout), to(planned(y).layout);
    const Shape &shape = graph_.shape(y), &of = graph_.shape(x);
    const std::size_t added = shape.size() - of.size();
    made.terms.resize(to_size(made.channels));
    made.weight_rows.resize(to_size(made.channels));
    bool is_plain = groups == 1 && made.channels == outputs && made.operands[0].count == depth;
    for_each_index(shape, [&](const Shape& place) {
      if (to.point(place) != 0) return;
      const auto channel = to.channel(place);
      Shape own(of.size(), 0);
      for (std::size_t i = added; i < place.size(); ++i)
        own[i - added] = i == axis || of[i - added] == 1 ? 0 : place[i];
      made.weight_rows[to_size(channel)] = place[axis];
      std::vector<int>& terms = made.terms[to_size(channel)];
      for (std::int64_t k = 0; k < depth; ++k) {
        own[axis - added] = place[axis] / outputs * depth + k;
        terms.push_back(static_cast<int>(from.channel(own)));
        is_plain = is_plain && terms.back() == k && channel == place[axis];
      }
    });
    fill_terms(made);
    made.kind = is_plain ? StepKind::product : StepKind::grouped;
  }
  void set_kind(TaskStep& made, const WindowFold& one, std::int64_t /*width*/) {
    made.kind = StepKind::window_fold;
    made.window = one.window;
    made.operands = {map_operand(made, made.step.node.inputs[0])};
  }
  void set_kind(TaskStep& made, const Resample&, std::int64_t /*width*/) {
    made.kind = StepKind::resample;
    made.operands = {map_operand(made, made.step.node.inputs[0])};
  }
  void set_kind(TaskStep& made, const Reduce& one, std::int64_t width) {
    const int x = made.step.node.inputs[0], y = made.step.node.outputs[0];
    const auto followed = followed_axes(made.step.node.primitive, types_of(graph_, {x}), 0, graph_.shape(y));
    if (access_of(followed, planned(x).layout, planned(y).layout) != Access::point) {
      made.kind = StepKind::map_fold;
      made.operands = {map_operand(made, x)};
      return;
    }
    (void)one;
    made.kind = StepKind::point_fold;
    made.operands = {own_operand(x, width)};
    find_terms(made, x, y);
  }
  template <typename Other>
  void set_kind(TaskStep& made, const Other&, std::int64_t /*width*/) {
    throw Problem("has no kernel for devices: " + made.step.node.name);
  }

  // The elements of the operand's first point, in row-major order, by channel of the output.
  void find_terms(TaskStep& made, int x, int y) const {
    const Places from(planned(x).layout), to(planned(y).layout);
    const Shape& shape = graph_.shape(y);
    made.terms.resize(to_size(made.channels));
    for_each_index(graph_.shape(x), [&](const Shape& place) {
      if (from.point(place) != 0) return;
      Shape own = place;
      for (std::size_t i = 0; i < own.size(); ++i) own[i] = shape[i] == 1 ? 0 : own[i];
      made.terms[to_size(to.channel(own))].push_back(static_cast<int>(from.channel(place)));
    });
    fill_terms(made);
  }
  // Channels that fill up a row have any values.
  static void fill_terms(TaskStep& made) {
    for (std::vector<int>& terms : made.terms) {
      if (terms.empty()) terms = made.terms[0];
    }
  }

  // --- outputs of the network

  // Steps write outputs through the views that they are.
  void find_outputs() {
    for (std::size_t i = 0; i < graph_.outputs().size(); ++i) {
      const int output = graph_.outputs()[i];
      Storage own = plain_storage(graph_.type(output), Memory::arena);
      own.last_wave = launches_ + 1;
      output_storages_.push_back(own);
      is_copied_.push_back(!add_places(output, i));
    }
  }

  bool add_places(int output, std::size_t number) {
    const Shape& shape = graph_.shape(output);
    if (graph_.type(output).data != DataType::f32 || elements_of(shape) == 0) return false;
    const Layout row_major{elements_of(shape), factored(shape, strides_of(shape)), false};
    std::map<int, std::vector<std::int32_t>> targets;  // by tensor: places by point, then channel
    bool fits = true;
    stored_.for_each_address(
        output, shape, row_major, [&](std::int64_t to, std::int64_t, int tensor, std::int32_t address) {
          fits = fits && !stored_[tensor].is_plain;
          if (!fits) return;
          const Storage& memory = stored_[tensor];
          std::vector<std::int32_t>& own = targets[tensor];
          own.resize(to_size(memory.width * memory.channels), kUnset);
          const std::int64_t point = address % memory.block_step / kLanes,
                             channel = address / memory.block_step * kLanes + address % kLanes;
          std::int32_t& target = own[to_size(point * memory.channels + channel)];
          fits = fits && target == kUnset;
          target = static_cast<std::int32_t>(to);
        });
    std::vector<std::pair<int, OutputPlace>> made;
    for (const auto& [tensor, places] : targets) {
      fits = fits && std::ranges::find(places, kUnset) == places.end();
      if (fits) fits = add_place(tensor, places, made);
    }
    if (!fits) return false;
    for (auto& [tensor, place] : made) {
      place.base = static_cast<std::int64_t>(number);  // until it is placed
      outputs_[to_size(tensor)].push_back(std::move(place));
    }
    return true;
  }

  bool add_place(int tensor, const std::vector<std::int32_t>& places,
                 std::vector<std::pair<int, OutputPlace>>& made) const {
    const std::int64_t channels = stored_[tensor].channels;
    const auto points = static_cast<std::int64_t>(places.size()) / channels;
    OutputPlace place;
    std::vector<std::int32_t> own;
    for (std::int64_t p = 0; p < points; ++p) own.push_back(places[to_size(p * channels)] - places[0]);
    for (std::int64_t c = 0; c < channels; ++c) place.channels.push_back(places[to_size(c)]);
    for (std::int64_t p = 0; p < points; ++p) {
      for (std::int64_t c = 0; c < channels; ++c) {
        if (places[to_size(p * channels + c)] != own[to_size(p)] + place.channels[to_size(c)]) return false;
      }
    }
    const Shape& shape = graph_.shape(tensor);
    place.points = PointForm::of(own, is_map_layout(planned(tensor), shape) ? shape[3] : 0);
    place.channel_step = channels > 1 ? place.channels[1] - place.channels[0] : 1;
    bool is_even = place.channels[0] == 0;
    for (std::int64_t c = 0; c < channels; ++c)
      is_even = is_even && place.channels[to_size(c)] == c * place.channel_step;
    if (is_even) place.channels.clear();
    made.emplace_back(tensor, std::move(place));
    return true;
  }

  // --- memory

  // Decides whether each tensor is read in local memory or in the memory of a frame.
  void find_memory() {
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      for (const TaskStep& step : tasks_[t].steps) {
        for (const int made : step.step.outputs()) {
          is_local_[to_size(made)] = !is_alone(made);
          has_blocks_[to_size(made)] = is_alone(made);
        }
      }
    }
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      for (const TaskStep& step : tasks_[t].steps) {
        for_each_read(step, [&](int tensor) {
          const int maker = maker_of(tensor);
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
        if (maker_of(source.tensor) != kNone) has_blocks_[to_size(source.tensor)] = true;
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
  // The task that makes a tensor.
  int maker_of(int tensor) const {
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      for (const TaskStep& step : tasks_[t].steps) {
        if (std::ranges::find(step.step.outputs(), tensor) != step.step.outputs().end())
          return static_cast<int>(t);
      }
    }
    return kNone;
  }
  // Whether a tensor that its own task reads is in no local memory.
  bool is_spilled(std::size_t tensor) const {
    const int maker = maker_of(static_cast<int>(tensor));
    if (maker == kNone || is_local_[tensor]) return false;
    return std::ranges::any_of(tasks_[to_size(maker)].steps,
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
    Storage input_row = row_of(inputs), output_row = row_of(outputs);
    all.insert(all.end(), {&input_row, &output_row});
    plan_.frame_bytes = place_in_arena(all);
    plan_.inputs = place_in_row(inputs, input_row);
    plan_.outputs = place_in_row(outputs, output_row);
    for (std::vector<OutputPlace>& own : outputs_) {
      for (OutputPlace& place : own) place.base = output_storages_[to_size(place.base)].offset / 4;
    }
  }
  static Storage row_of(const std::vector<Storage*>& storages) {
    Storage row;
    std::vector<std::int64_t> bytes;
    for (const Storage* const one : storages) {
      bytes.push_back(one->bytes);
      row.last_wave = std::max(row.last_wave, one->last_wave);
    }
    row.bytes = offsets_in_row(bytes).back();
    return row;
  }
  static std::vector<std::int64_t> place_in_row(const std::vector<Storage*>& storages, const Storage& row) {
    std::vector<std::int64_t> bytes;
    for (const Storage* const one : storages) bytes.push_back(one->bytes);
    std::vector<std::int64_t> offsets = offsets_in_row(bytes);
    offsets.pop_back();
    for (std::size_t i = 0; i < storages.size(); ++i) storages[i]->offset = offsets[i] += row.offset;
    return offsets;
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
      if (task.steps[0].kind == StepKind::copy && task.steps[0].copied.empty()) find_padded(task.steps[0]);
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
  // As "1600 points by 32: convolve 1x1, 64 to 64 + sigmoid".
  std::string name_of_task(const Task& task, const TaskTile& tile) const {
    std::string name;
    for (const TaskStep& step : task.steps) {
      name += (name.empty() ? "" : " + ") +
              (step.kind == StepKind::copy ? "copy" : text_of(graph_, step.step.node));
      if (step.step.finish) name += " + " + text_of(graph_, *step.step.finish);
    }
    return std::to_string(task.points) + " points by " + std::to_string(1 << tile.shift) + ": " + name;
  }

  // A padded tensor is a copy.
  void find_padded(TaskStep& copy) {
    const GraphNode& node = copy.step.node;
    const auto& pad = std::get<Pad>(node.primitive);
    const Shape& shape = graph_.shape(node.inputs[0]);
    const Layout row_major{elements_of(shape), factored(shape, strides_of(shape)), false};
    std::vector<std::int64_t> places(to_size(elements_of(shape)));
    stored_.for_each_address(node.inputs[0], shape, row_major,
                             [&](std::int64_t to, std::int64_t, int tensor, std::int32_t address) {
                               places[to_size(to)] = stored_[tensor].offset / 4 + address;
                             });
    Tensor numbers(DataType::i32, shape);
    std::iota(numbers.as<std::int32_t>().begin(), numbers.as<std::int32_t>().end(), 0);
    const Tensor* const operand = &numbers;
    const Tensor from = std::move(
        evaluate(Pad{pad.before, pad.behind, pad.mode, Scalar(std::int32_t{-1})}, {&operand, 1})[0]);
    const auto filling = static_cast<std::int64_t>(plan_.weights.size());
    plan_.weights.push_back(pad.mode == Padding::constant ? pad.value.as<float>() : 0.0F);
    for (const std::int32_t number : from.as<std::int32_t>())
      copy.copied.push_back(number < 0 ? ~filling : places[to_size(number)]);
    copy.target = stored_[node.outputs[0]].offset / 4;
  }

  // Outputs that no step writes.
  void add_copies() {
    for (std::size_t i = 0; i < is_copied_.size(); ++i) {
      const int output = graph_.outputs()[i];
      const Shape& shape = graph_.shape(output);
      if (!is_copied_[i] || elements_of(shape) == 0) continue;
      const Layout row_major{elements_of(shape), factored(shape, strides_of(shape)), false};
      const std::int64_t words = std::max<std::int64_t>(bytes_of({graph_.type(output).data, {}}) / 4, 1);
      TaskStep copy;
      copy.kind = StepKind::copy;
      copy.target = output_storages_[i].offset / 4;
      copy.copied.resize(to_size(elements_of(shape) * words));
      std::map<int, std::int64_t> constants;  // first floats of the weights
      stored_.for_each_address(
          output, shape, row_major, [&](std::int64_t to, std::int64_t, int tensor, std::int32_t address) {
            for (std::int64_t w = 0; w < words; ++w) {
              std::int64_t from = stored_[tensor].offset / 4 + address * words + w;
              if (const Tensor* const value = graph_.constant(tensor)) {
                const auto [found, is_new] = constants.try_emplace(tensor, plan_.weights.size());
                if (is_new) {
                  plan_.weights.resize(plan_.weights.size() + (value->bytes().size() + 3) / 4);
                  std::memcpy(plan_.weights.data() + found->second, value->bytes().data(),
                              value->bytes().size());
                }
                from = ~(found->second + address * words + w);
              }
              copy.copied[to_size(to * words + w)] = from;
            }
          });
      Task task{{copy}, static_cast<std::int64_t>(copy.copied.size()), 0, launches_, false};
      tiles_.push_back(tile_of(task, plan_.shape, is_local_));
      tasks_.push_back(std::move(task));
    }
  }

  static constexpr std::int32_t kUnset = std::numeric_limits<std::int32_t>::min();

  Fusion fusion_;
  const Graph& graph_;
  Stored stored_;
  const std::size_t count_;  ///< of tensors
  std::vector<Task> tasks_;
  std::vector<TaskTile> tiles_;  ///< by task
  int launches_ = 0;
  std::vector<bool> is_local_, has_blocks_;        ///< by tensor
  std::vector<std::vector<OutputPlace>> outputs_;  ///< by tensor
  std::vector<Storage> output_storages_;
  std::vector<bool> is_copied_;  ///< by output
  DevicePlan plan_;
};

}  // namespace

bool has_device_kernel(const Graph& graph, std::span<const PlannedTensor> tensors, int node) {
  const DeviceKernels kernels{graph, tensors, graph.node(node)};
  return kernels.has_tiles() || kernels.has_whole();
}

DevicePlan plan_for_device(const Graph& graph, const DeviceShape& shape) {
  const auto runs_alone = [](const Graph& of, std::span<const PlannedTensor> tensors, int node) {
    return !DeviceKernels{of, tensors, of.node(node)}.has_tiles();
  };
  return DevicePlanBuilder(fuse(graph, runs_alone), shape).build();
}

}  // namespace sightline::nn
