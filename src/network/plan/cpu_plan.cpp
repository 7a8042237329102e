#include "network/plan/cpu_plan.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/parallel.hpp"
#include "network/cpu/epilogue.hpp"
#include "network/cpu/matrix.hpp"
#include "network/cpu/tile.hpp"
#include "network/cpu/tile_kernels.hpp"
#include "network/plan/arena.hpp"
#include "network/plan/find_softmax.hpp"
#include "network/plan/finish.hpp"
#include "network/plan/gathering.hpp"
#include "network/plan/merge_maps.hpp"
#include "network/plan/node_text.hpp"
#include "network/reference.hpp"

namespace sightline::nn {
namespace {

constexpr std::int64_t kTileBytes = std::int64_t{128} << 10;  // of scratch, so that tiles stay in the cache
constexpr std::int64_t kFewestPoints = 13;                    // which fill the registers of a product

/// Nodes of one domain, tile by tile.
class GroupWork : public Work {
 public:
  GroupWork(std::vector<std::unique_ptr<TileKernel>> kernels, std::string name, std::int64_t points,
            std::int64_t row, std::int64_t most)
      : kernels_(std::move(kernels)),
        name_(std::move(name)),
        rows_(points / row),
        row_(row),
        parts_((row + most - 1) / most) {}

  int items() const override { return static_cast<int>(rows_ * parts_); }
  void run(int item, const WorkMemory& memory) const override {
    const std::int64_t row = parts_ == 1 ? item : item / parts_, part = item - row * parts_;
    const std::int64_t begin = row_ * part / parts_, end = row_ * (part + 1) / parts_;
    const Tile tile{row * row_ + begin, static_cast<int>(end - begin), row_, row, begin};
    for (const auto& kernel : kernels_) {
      memory.spare->reset();
      kernel->run(tile, memory);
    }
  }
  std::string name() const override {
    return std::to_string(row_) + "x" + std::to_string(rows_) + ": " + name_;
  }

 private:
  std::vector<std::unique_ptr<TileKernel>> kernels_;
  std::string name_;
  std::int64_t rows_, row_, parts_;  ///< rows, points of each, and tiles of each
};

/// A node that the reference computes, or a product of whole tensors.
class AloneWork : public Work {
 public:
  AloneWork(const Graph& graph, const Stored& stored, int node) : node_(graph.node(node)) {
    for (const int input : node_.inputs) {
      types_.push_back(graph.type(input));
      operands_.emplace_back(graph, stored, input);
    }
  }
  int items() const override { return 1; }
  void run(int /*item*/, const WorkMemory& memory) const override {
    std::vector<Tensor> operands;
    std::vector<const Tensor*> pointers;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      operands.emplace_back(types_[i]);
      operands_[i].copy(memory.tensors, operands[i].bytes().data());
    }
    for (const Tensor& one : operands) pointers.push_back(&one);
    std::vector<Tensor> made;
    try {
      made = results_of(pointers);
    } catch (const Problem& problem) {
      throw node_failure(node_, problem);
    }
    for (std::size_t i = 0; i < made.size(); ++i)
      std::ranges::copy(made[i].bytes(), memory.tensors[node_.outputs[i]]);
  }
  std::string name() const override {
    return "alone: " + std::string(name_of(node_.primitive)) + " " + node_.name;
  }

 private:
  std::vector<Tensor> results_of(Inputs operands) const {
    if (!std::holds_alternative<Product>(node_.primitive) || !has_fused_multiply_add())
      return evaluate(node_.primitive, operands);
    std::vector<Tensor> products{Tensor(infer(node_.primitive, types_)[0])};
    multiply_tensors(operands, products);
    return products;
  }

  const GraphNode node_;
  Types types_;
  std::vector<Gathering> operands_;
};

/// A copy of a tensor in row-major order, into the memory that a tensor's number stands for.
class CopyWork : public Work {
 public:
  CopyWork(const Graph& graph, const Stored& stored, int tensor, int target)
      : gathering_(graph, stored, tensor), target_(target), name_(graph.tensor(tensor).name) {}
  int items() const override { return gathering_.pieces(); }
  void run(int item, const WorkMemory& memory) const override {
    gathering_.copy_piece(item, memory.tensors, memory.tensors[target_]);
  }
  std::string name() const override { return "copy " + name_; }

 private:
  Gathering gathering_;
  int target_;
  std::string name_;
};

class CpuPlanBuilder {
 public:
  explicit CpuPlanBuilder(Fusion fusion)
      : fusion_(std::move(fusion)),
        graph_(fusion_.graph),
        stored_(graph_, fusion_.tensors),
        groups_(static_cast<std::size_t>(fusion_.groups)) {}

  CpuPlan build() {
    for (const int node : needed_nodes(graph_)) {
      const int made = graph_.node(node).outputs[0];
      if (fusion_.wave[at(node)] != kNone) {
        groups_[at(fusion_.group[at(node)])].push_back(node);
      } else if (planned(made).is_last) {
        plan_.last_nodes.push_back(node);
      }
    }
    merge_maps();
    finish_products();
    choose_orders();
    join_softmaxes();
    find_readers();
    find_zero_ends();
    place_tensors();
    add_groups();
    add_copies();
    plan_.storages = std::move(stored_).storages();
    plan_.tensors = std::move(fusion_.tensors);
    plan_.graph = std::move(fusion_.graph);
    return std::move(plan_);
  }

 private:
  static std::size_t at(int number) { return static_cast<std::size_t>(number); }
  const PlannedTensor& planned(int tensor) const { return stored_.planned(tensor); }
  int wave_of(int node) const { return fusion_.wave[at(node)]; }
  bool is_output(int tensor) const {
    return std::ranges::find(graph_.outputs(), tensor) != graph_.outputs().end();
  }

  template <typename F>
  void for_each_source(int tensor, const F& f) const {
    for (const Source& source : planned(tensor).sources) f(source.tensor);
  }

  // A node as the plan computes it.
  const GraphNode& node_of(int node) const {
    const auto merged = merged_.find(node);
    return merged == merged_.end() ? graph_.node(node) : merged->second;
  }

  std::vector<int> inputs_of(int node) const {
    std::vector<int> inputs = node_of(node).inputs;
    const auto finish = finishes_.find(node);
    if (finish != finishes_.end() && finish->second.added != kNone) inputs.push_back(finish->second.added);
    return inputs;
  }

  // A map that one map of its group alone reads becomes a part of it.
  void merge_maps() {
    const std::vector<std::vector<int>> readers = readers_of(graph_);
    for (std::vector<int>& group : groups_) {
      std::vector<int> kept;
      for (const int node : group) {
        const int made = graph_.node(node).outputs[0];
        const std::vector<int>& own = readers[at(made)];
        if (own.size() == 1 && !is_output(made) && can_merge(node, own.front())) {
          merge_map(merged_.try_emplace(own.front(), graph_.node(own.front())).first->second, made,
                    node_of(node));
          computed_by_[node] = own.front();
        } else {
          kept.push_back(node);
        }
      }
      group = std::move(kept);
    }
  }
  bool can_merge(int maker, int reader) const {
    constexpr std::size_t kMostOperands = 8;
    const GraphNode &a = node_of(maker), &b = node_of(reader);
    return std::holds_alternative<Map>(a.primitive) && std::holds_alternative<Map>(b.primitive) &&
           fusion_.group[at(maker)] == fusion_.group[at(reader)] && !fusion_.is_alone[at(maker)] &&
           !fusion_.is_alone[at(reader)] && a.outputs.size() == 1 &&
           a.inputs.size() + b.inputs.size() <= kMostOperands &&
           graph_.shape(a.outputs[0]) == graph_.shape(b.outputs[0]);
  }

  // The node that computes a node.
  int computing(int node) const {
    const auto found = computed_by_.find(node);
    return found == computed_by_.end() ? node : computing(found->second);
  }

  // A product whose sums one map of its group alone reads computes that map, if it can. It takes its place.
  void finish_products() {
    const std::vector<std::vector<int>> readers = readers_of(graph_);
    for (std::vector<int>& group : groups_) {
      std::vector<int> kept;
      for (const int node : group) {
        const int reader = single_reader(readers, node);
        const auto finish = reader == kNone || finishes_.contains(node) || finishes_.contains(reader) ||
                                    !can_finish(node, reader)
                                ? std::nullopt
                                : finish_of(graph_, node_of(reader), graph_.node(node).outputs[0]);
        if (finish && adds_rows(*finish, reader)) {
          GraphNode whole = node_of(node);
          whole.outputs = node_of(reader).outputs;
          merged_[reader] = std::move(whole);
          finishes_[reader] = *finish;
        } else {
          kept.push_back(node);
        }
      }
      group = std::move(kept);
    }
  }
  int single_reader(const std::vector<std::vector<int>>& readers, int node) const {
    const int made = graph_.node(node).outputs[0];
    int reader = kNone;
    for (const int one : readers[at(made)]) {
      if (reader != kNone && computing(one) != reader) return kNone;
      reader = computing(one);
    }
    return is_output(made) ? kNone : reader;
  }
  bool can_finish(int product, int map) const {
    const GraphNode &a = node_of(product), &b = node_of(map);
    const bool is_product =
        std::holds_alternative<Convolve>(a.primitive) || std::holds_alternative<Product>(a.primitive);
    if (!is_product || !std::holds_alternative<Map>(b.primitive) || b.outputs.size() != 1 ||
        fusion_.group[at(product)] != fusion_.group[at(map)] || fusion_.is_alone[at(product)] ||
        fusion_.is_alone[at(map)])
      return false;
    const int from = a.outputs[0], to = b.outputs[0];
    return graph_.shape(from) == graph_.shape(to) &&
           planned(from).layout.points == planned(to).layout.points &&
           planned(from).layout.axes == planned(to).layout.axes;
  }
  // Whether what is added has values of its own at each point.
  bool adds_rows(const SumFinish& finish, int map) const {
    return finish.added == kNone || (!graph_.constant(finish.added) &&
                                     graph_.shape(finish.added) == graph_.shape(graph_.node(map).outputs[0]));
  }

  // What a fold of few elements reads lies so that each vector has elements of many folds.
  void choose_orders() {
    constexpr std::int64_t kFew = 16;
    const std::vector<std::vector<int>> readers = readers_of(graph_);
    for (const std::vector<int>& group : groups_) {
      for (const int node : group) {
        const auto* const reduce = std::get_if<Reduce>(&node_of(node).primitive);
        if (!reduce || reduce->axes.size() != 1 || fusion_.is_alone[at(node)]) continue;
        const int x = node_of(node).inputs[0];
        const std::size_t axis = reduce->axes[0];
        const std::int64_t side = graph_.shape(x)[axis];
        if (side > 1 && side < kFew && channel_count(planned(node_of(node).outputs[0]).layout) >= kLanes)
          put_first(x, axis, side, readers);
        if (side >= kFew) {
          const std::vector<std::size_t> inner = axes_within(x, axis + 1);
          if (inner.size() == 1) put_first_in_maps(x, inner[0], readers);
        }
      }
    }
  }
  // The axes from number `first` on that lie within a point.
  std::vector<std::size_t> axes_within(int tensor, std::size_t first) const {
    std::vector<std::size_t> axes;
    for (std::size_t i = first; i < graph_.shape(tensor).size(); ++i) {
      if (graph_.shape(tensor)[i] > 1 && !planned(tensor).layout.has_points(i)) axes.push_back(i);
    }
    return axes;
  }
  // So that a fold of many elements reads rows: for a tensor, and for all maps of its shape beside it.
  void put_first_in_maps(int tensor, std::size_t axis, const std::vector<std::vector<int>>& readers) {
    const auto is_map = [](const GraphNode& node) {
      return std::holds_alternative<Map>(node.primitive) && node.outputs.size() == 1;
    };
    const auto is_ordered_alone = [&](int one) {
      const int maker = graph_.tensor(one).maker;
      if (maker == kNone || is_output(one) || planned(one).layout.has_points(axis)) return false;
      if (is_view(graph_.node(maker).primitive)) return true;
      return !fusion_.is_alone[at(maker)] && is_map(node_of(computing(maker))) &&
             std::ranges::all_of(readers[at(one)], [&](int reader) {
               return fusion_.group[at(reader)] == fusion_.group[at(maker)];
             });
    };
    std::vector<int> open{tensor};
    while (!open.empty()) {
      const int one = open.back();
      open.pop_back();
      std::optional<std::size_t>& outermost = fusion_.tensors[at(one)].layout.outermost;
      if (outermost || graph_.shape(one) != graph_.shape(tensor) || !is_ordered_alone(one)) continue;
      outermost = axis;
      const int maker = graph_.tensor(one).maker;
      const GraphNode& by = node_of(computing(maker));
      if (is_map(by)) open.insert(open.end(), by.inputs.begin(), by.inputs.end());
      for (const int reader : readers[at(one)]) {
        const GraphNode& map = node_of(computing(reader));
        if (is_map(map)) open.push_back(map.outputs[0]);
      }
    }
  }
  void put_first(int tensor, std::size_t axis, std::int64_t side,
                 const std::vector<std::vector<int>>& readers) {
    const int maker = graph_.tensor(tensor).maker;
    if (maker == kNone || graph_.shape(tensor)[axis] != side || readers[at(tensor)].size() != 1 ||
        is_output(tensor) || planned(tensor).layout.has_points(axis))
      return;
    const bool is_alone = fusion_.is_alone[at(maker)],
               is_concat = std::holds_alternative<Concat>(graph_.node(maker).primitive);
    const GraphNode& by = node_of(computing(maker));
    const bool is_map = std::holds_alternative<Map>(by.primitive) && by.outputs.size() == 1;
    if (!is_concat && (is_alone || (!is_map && !std::holds_alternative<GridSample>(by.primitive)))) return;
    fusion_.tensors[at(tensor)].layout.outermost = axis;
    if (!is_concat && !is_map) return;
    for (const int input : by.inputs) {
      const Shape& shape = graph_.shape(input);
      if (shape.size() == graph_.shape(tensor).size()) put_first(input, axis, shape[axis], readers);
    }
  }

  // The nodes of a softmax over channels that lie side by side become one kernel, that of the last one.
  void join_softmaxes() {
    const std::vector<std::vector<int>> readers = readers_of(graph_);
    for (std::vector<int>& group : groups_) {
      std::set<int> joined;
      for (const int node : group) {
        const auto found = merged_.contains(node) ? std::nullopt : softmax_before(graph_, readers, node);
        const int y = graph_.node(node).outputs[0];
        const bool is_here = found && std::ranges::all_of(found->inner, [&](int one) {
                               return std::ranges::find(group, one) != group.end();
                             });
        if (!is_here || !has_fused_multiply_add() || fusion_.is_alone[at(node)] ||
            !can_normalise_by_tiles(planned(y).layout, graph_.shape(y), found->axis))
          continue;
        joined.insert(found->inner.begin(), found->inner.end());
        softmaxes_[node] = graph_.shape(y)[found->axis];
        GraphNode whole = graph_.node(node);
        whole.inputs = {found->x};
        merged_[node] = std::move(whole);
      }
      std::erase_if(group, [&](int node) { return joined.contains(node); });
    }
  }

  // The groups and the last wave that read each stored tensor. kNone stands for what runs behind all waves.
  void find_readers() {
    readers_.resize(graph_.tensors().size());
    const auto read = [&](int tensor, int group, int wave) {
      for_each_source(tensor, [&](int source) {
        readers_[at(source)].insert(group);
        stored_[source].last_wave = std::max(stored_[source].last_wave, wave);
      });
    };
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (const int node : groups_[g]) {
        for (const int input : inputs_of(node)) read(input, static_cast<int>(g), wave_of(node));
      }
    }
    for (const int node : plan_.last_nodes) {
      for (const int input : graph_.node(node).inputs) read(input, kNone, fusion_.waves + 1);
    }
    for (const int output : graph_.outputs()) read(output, kNone, fusion_.waves + 1);
  }

  // Ends of rows of maps that windows read beyond.
  void find_zero_ends() {
    zero_ends_.assign(graph_.tensors().size(), 0);
    for (const std::vector<int>& group : groups_) {
      for (const int node : group) {
        const std::int64_t ends = fusion_.is_alone[at(node)] ? 0 : zero_ends_of(graph_, node_of(node));
        if (ends == 0) continue;
        const int x = node_of(node).inputs[0];
        for_each_source(x, [&](int source) {
          const Shape& shape = graph_.shape(source);
          const bool has_rows = shape.size() == 4 && shape[3] == graph_.shape(x)[3] && shape[3] > 1 &&
                                planned(source).layout.axes[3] == FactoredAxis{{shape[3], 1}};
          if (has_rows) zero_ends_[at(source)] = std::max(zero_ends_[at(source)], ends);
        });
      }
    }
  }

  // --- memory

  void place_tensors() {
    for (const int output : graph_.outputs()) place_in_output(output);
    std::vector<Storage*> arena;
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      const int tensor = static_cast<int>(t);
      if (!stored_.is_stored(tensor)) continue;
      const int maker = graph_.tensor(tensor).maker;
      if (maker != kNone && wave_of(maker) == kNone) continue;  // which nobody needs
      if (stored_.view(tensor)->runs[0].tensor != tensor) {     // it lies in an output
        stored_[tensor] = plain_storage(graph_.type(tensor), Memory::caller);
        continue;
      }
      const int last_wave = std::max(stored_[tensor].last_wave, maker == kNone ? 0 : wave_of(maker));
      stored_[tensor] = storage_of(tensor, maker);
      stored_[tensor].first_wave = maker == kNone ? 0 : wave_of(maker);
      stored_[tensor].last_wave = last_wave;
      if (stored_[tensor].memory == Memory::arena) arena.push_back(&stored_[tensor]);
    }
    plan_.arena_bytes = place_in_arena(std::move(arena));
    for (const std::vector<int>& group : groups_) place_scratch(group);
  }

  // An output that is made of tensors which nothing else reads is written by the kernels that make these.
  void place_in_output(int output) {
    if (stored_.is_stored(output) || planned(output).is_last || !is_output(output)) return;
    std::map<int, Run> places;
    const Shape& shape = graph_.shape(output);
    if (elements_of(shape) == 0 ||
        !find_places(output, {output, 0, factored(shape, strides_of(shape))}, places))
      return;
    for (const auto& [tensor, place] : places) stored_.place_in(place, tensor);
    stored_[output] = plain_storage(graph_.type(output), Memory::caller);
  }

  // The places of the stored tensors that a tensor shows, which itself has a place in an output. Returns
  // whether kernels can write all of them there.
  bool find_places(int tensor, const Run& place, std::map<int, Run>& places) const {
    const int maker = graph_.tensor(tensor).maker;
    if (maker == kNone) return false;
    const GraphNode& node = graph_.node(maker);
    if (stored_.is_stored(tensor)) {
      const bool is_written = readers_[at(tensor)] == std::set<int>{kNone} && !fusion_.is_alone[at(maker)] &&
                              is_shown_once(tensor) && !is_read_last(tensor) &&
                              keeps_points_apart(planned(tensor).layout);
      return is_written && places.try_emplace(tensor, place).second;
    }
    const int first = node.inputs[0];
    if (const auto* const one = std::get_if<Transpose>(&node.primitive)) {
      Run from = place;
      for (std::size_t i = 0; i < one->order.size(); ++i) from.axes[one->order[i]] = place.axes[i];
      return find_places(first, from, places);
    }
    if (std::holds_alternative<Reshape>(node.primitive)) {
      const auto axes = reshaped(place.axes, graph_.shape(first));
      return axes && find_places(first, {place.tensor, place.offset, *axes}, places);
    }
    const auto* const concat = std::get_if<Concat>(&node.primitive);
    std::int64_t begin = 0;
    return concat && std::ranges::all_of(node.inputs, [&](int input) {
             const std::int64_t side = graph_.shape(input)[concat->axis];
             const auto part = sliced(place.axes[concat->axis], begin, 1, side);
             begin += side;
             if (!part) return false;
             Run of_input = place;
             of_input.axes[concat->axis] = part->axis;
             of_input.offset += part->offset;
             return find_places(input, of_input, places);
           });
  }
  bool is_shown_once(int tensor) const {
    std::set<int> outputs;
    for (const int output : graph_.outputs())
      for_each_source(output, [&](int source) {
        if (source == tensor) outputs.insert(output);
      });
    return outputs.size() == 1;
  }
  // Whether no axis has both points and channels.
  static bool keeps_points_apart(const Layout& layout) {
    return std::ranges::all_of(layout.axes, [](const FactoredAxis& axis) {
      const auto is_within = [](const Factor& one) { return one.stride == 0; };
      return std::ranges::all_of(axis, is_within) || std::ranges::none_of(axis, is_within);
    });
  }

  Storage storage_of(int tensor, int maker) {
    const TensorType& type = graph_.type(tensor);
    if (maker == kNone) return plain_storage(type, graph_.constant(tensor) ? Memory::plan : Memory::caller);
    const std::set<int>& readers = readers_[at(tensor)];
    const bool only_leaves = readers == std::set<int>{kNone};
    if (only_leaves && is_output(tensor) && !is_read_last(tensor)) return plain_storage(type, Memory::caller);
    if (fusion_.is_alone[at(maker)]) return plain_storage(type, Memory::arena);
    const Layout& layout = planned(tensor).layout;
    const bool is_own = readers.empty() || readers == std::set<int>{fusion_.group[at(maker)]};
    if (is_own) return scratch_storage(layout);
    const std::int64_t ends = zero_ends_[at(tensor)];
    return block_storage(layout, ends > 0 ? type.shape[3] : layout.points, ends);
  }
  bool is_read_last(int tensor) const {
    return std::ranges::any_of(plan_.last_nodes, [&](int node) {
      bool reads = false;
      for (const int input : graph_.node(node).inputs)
        for_each_source(input, [&](int source) { reads = reads || source == tensor; });
      return reads;
    });
  }

  // Tensors of a group's tile, by lifetimes in its nodes.
  void place_scratch(const std::vector<int>& group) {
    std::vector<Storage*> scratch;
    for (std::size_t i = 0; i < group.size(); ++i) {
      for (const int input : inputs_of(group[i]))
        for_each_source(input, [&](int source) {
          if (stored_[source].memory == Memory::scratch) stored_[source].last_wave = static_cast<int>(i);
        });
      for (const int output : node_of(group[i]).outputs) {
        if (stored_[output].memory != Memory::scratch) continue;
        stored_[output].first_wave = stored_[output].last_wave = static_cast<int>(i);
        scratch.push_back(&stored_[output]);
      }
    }
    plan_.scratch_bytes = std::max(plan_.scratch_bytes, place_in_arena(std::move(scratch)));
  }

  // --- work

  void add_groups() {
    std::vector<std::unique_ptr<Work>> works(groups_.size());
    std::vector<std::int64_t> zero_floats(groups_.size(), 0);
    parallel_for_isolated(groups_.size(),
                          [&](std::size_t g) { works[g] = work_of(groups_[g], zero_floats[g]); });
    plan_.waves.resize(at(fusion_.waves));
    plan_.multiply_adds.resize(at(fusion_.waves), 0);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const std::size_t wave = at(wave_of(groups_[g][0]) - 1);
      plan_.zero_floats = std::max(plan_.zero_floats, zero_floats[g]);
      plan_.waves[wave].push_back(std::move(works[g]));
      for (const int node : groups_[g]) plan_.multiply_adds[wave] += multiply_adds_of(graph_, node_of(node));
    }
  }

  std::unique_ptr<Work> work_of(const std::vector<int>& group, std::int64_t& zero_floats) const {
    if (fusion_.is_alone[at(group[0])]) return std::make_unique<AloneWork>(graph_, stored_, group[0]);
    const std::int64_t points = planned(graph_.node(group[0]).outputs[0]).layout.points;
    KernelContext context{graph_, stored_, points, 0};
    std::vector<std::unique_ptr<TileKernel>> kernels;
    std::string name;
    std::int64_t bytes = 0;
    for (const int node : group) {
      kernels.push_back(kernel_of(context, node));
      name += (name.empty() ? "" : " + ") +
              (softmaxes_.contains(node) ? "softmax" : text_of(graph_, node_of(node)));
      for (const int output : graph_.node(node).outputs)
        bytes += channel_count(planned(output).layout) * static_cast<std::int64_t>(sizeof(float));
    }
    zero_floats = context.zero_floats;
    return std::make_unique<GroupWork>(
        std::move(kernels), name + " " + node_of(group[0]).name, points, context.linear,
        std::clamp(kTileBytes / std::max<std::int64_t>(bytes, 1), kFewestPoints, kMostPoints));
  }

  std::unique_ptr<TileKernel> kernel_of(KernelContext& context, int node) const {
    const GraphNode& computed = node_of(node);
    const auto softmax = softmaxes_.find(node);
    if (softmax != softmaxes_.end())
      return make_softmax(context, computed.inputs[0], computed.outputs[0], softmax->second);
    const auto finish = finishes_.find(node);
    return make_tile_kernel(context, computed, finish == finishes_.end() ? SumFinish() : finish->second);
  }

  void add_copies() {
    std::vector<int> needed;
    for (const int output : graph_.outputs()) {
      const bool is_written =
          graph_.tensor(output).maker != kNone && stored_[output].memory == Memory::caller;
      plan_.written_outputs.push_back(is_written ? output : kNone);
      if (!is_written && !planned(output).is_last) needed.push_back(output);
    }
    for (const int node : plan_.last_nodes) {
      for (const int input : graph_.node(node).inputs) {
        if (!planned(input).is_last) needed.push_back(input);
      }
    }
    for (const int tensor : needed) {
      if (std::ranges::find(plan_.copied, tensor) != plan_.copied.end()) continue;
      const auto output = std::ranges::find(graph_.outputs(), tensor);
      plan_.copied_outputs.push_back(
          output == graph_.outputs().end() ? kNone : static_cast<int>(output - graph_.outputs().begin()));
      const int target = static_cast<int>(graph_.tensors().size() + plan_.copied.size());
      plan_.copied.push_back(tensor);
      plan_.copies.push_back(std::make_unique<CopyWork>(graph_, stored_, tensor, target));
    }
  }

  Fusion fusion_;
  const Graph& graph_;
  Stored stored_;
  std::map<int, GraphNode> merged_;        ///< maps that compute other nodes, too, and what computes them
  std::map<int, int> computed_by_;         ///< the map that computes a map, too
  std::map<int, SumFinish> finishes_;      ///< by map: the product that computes it does so by this
  std::map<int, std::int64_t> softmaxes_;  ///< by map that is computed as a softmax: over how many channels
  std::vector<std::vector<int>> groups_;   ///< nodes in order
  std::vector<std::set<int>> readers_;     ///< groups, by tensor
  std::vector<std::int64_t> zero_ends_;    ///< by tensor
  CpuPlan plan_;
};

}  // namespace

std::int64_t CpuPlan::frame_bytes() const {
  std::int64_t bytes = arena_bytes + scratch_bytes + zero_floats * static_cast<std::int64_t>(sizeof(float));
  const auto add = [&](int tensor) {
    if (is_known(graph.shape(tensor))) bytes += bytes_of(graph.type(tensor));
  };
  std::ranges::for_each(graph.inputs(), add);
  std::ranges::for_each(graph.outputs(), add);
  for (std::size_t i = 0; i < copied.size(); ++i) {
    if (copied_outputs[i] == kNone) add(copied[i]);
  }
  return bytes;
}

Fusion fuse_for_cpu(const Graph& graph, const CpuPlanOptions& options) {
  return fuse(graph, [&](const Graph& of, std::span<const PlannedTensor> tensors, int node) {
    return options.all_alone || !has_tile_kernel(of, tensors, node);
  });
}

void check_frame_bytes(const Graph& graph, std::int64_t bytes, std::int64_t memory_limit) {
  if (bytes > memory_limit)
    throw Problem(
        "needs " + std::to_string(bytes >> 20) + " MiB of memory for each frame, more than the limit of " +
        std::to_string(memory_limit >> 20) + " MiB; its largest tensor is " + largest_tensor(graph));
}

CpuPlan plan_for_cpu(const Graph& graph, const CpuPlanOptions& options) {
  if (graph.nodes().size() > kMostPlannedNodes)
    throw Problem("has " + std::to_string(graph.nodes().size()) + " nodes, more than a plan takes");
  CpuPlan plan = CpuPlanBuilder(fuse_for_cpu(graph, options)).build();
  check_frame_bytes(graph, plan.frame_bytes(), options.memory_limit);
  return plan;
}

}  // namespace sightline::nn
