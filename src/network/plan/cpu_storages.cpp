#include "network/plan/cpu_storages.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "network/cpu/tile.hpp"
#include "network/plan/arena.hpp"

namespace sightline::nn {
namespace {

// Whether no axis has both points and channels.
bool keeps_points_apart(const Layout& layout) {
  return std::ranges::all_of(layout.axes, [](const FactoredAxis& axis) {
    const auto is_within = [](const Factor& one) { return one.stride == 0; };
    return std::ranges::all_of(axis, is_within) || std::ranges::none_of(axis, is_within);
  });
}

class TensorPlacer {
 public:
  TensorPlacer(const Fusion& fusion, const std::vector<StepGroup>& groups, std::span<const int> last_nodes,
               Stored& stored)
      : fusion_(fusion),
        graph_(fusion.graph),
        groups_(groups),
        last_nodes_(last_nodes),
        stored_(stored),
        readers_(graph_.tensors().size()),
        zero_ends_(graph_.tensors().size(), 0) {}

  CpuMemory place() {
    find_readers();
    find_zero_ends();
    for (const int output : graph_.outputs()) place_in_output(output);
    std::vector<Storage*> arena;
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      const int tensor = static_cast<int>(t);
      if (is_used(tensor) && set_storage(tensor).memory == Memory::arena) arena.push_back(&stored_[tensor]);
    }
    CpuMemory memory{place_in_arena(std::move(arena)), 0};
    for (const StepGroup& group : groups_)
      memory.scratch_bytes = std::max(memory.scratch_bytes, place_scratch(group));
    return memory;
  }

 private:
  static constexpr int kBehindWaves = kNone;  ///< stands for the reader of what is read after all waves

  const PlannedTensor& planned(int tensor) const { return stored_.planned(tensor); }
  int maker_of(int tensor) const { return graph_.tensor(tensor).maker; }
  int wave_of(int tensor) const {
    return maker_of(tensor) == kNone ? 0 : fusion_.wave[to_size(maker_of(tensor))];
  }
  bool is_alone(int tensor) const { return fusion_.is_alone[to_size(maker_of(tensor))]; }
  // Whether a tensor is stored, and needed.
  bool is_used(int tensor) const { return stored_.is_stored(tensor) && wave_of(tensor) != kNone; }

  template <typename F>
  void for_each_source(int tensor, const F& f) const {
    for (const Source& source : planned(tensor).sources) f(source.tensor);
  }

  // The groups and the last wave that read each stored tensor.
  void find_readers() {
    const auto read = [&](int tensor, int group, int wave) {
      for_each_source(tensor, [&](int source) {
        readers_[to_size(source)].insert(group);
        stored_[source].last_wave = std::max(stored_[source].last_wave, wave);
      });
    };
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (const GroupStep& step : groups_[g].steps) {
        for (const int input : step.reads()) read(input, static_cast<int>(g), groups_[g].wave);
      }
    }
    for (const int node : last_nodes_) {
      for (const int input : graph_.node(node).inputs) read(input, kBehindWaves, fusion_.waves + 1);
    }
    for (const int output : graph_.outputs()) read(output, kBehindWaves, fusion_.waves + 1);
  }

  // Ends of rows of maps that windows read beyond.
  void find_zero_ends() {
    for (const StepGroup& group : groups_) {
      for (const GroupStep& step : group.steps) {
        const std::int64_t ends = group.is_alone ? 0 : zero_ends_of(graph_, step.node);
        if (ends == 0) continue;
        const int x = step.node.inputs[0];
        for_each_source(x, [&](int source) {
          const Shape& shape = graph_.shape(source);
          const bool has_rows = shape.size() == 4 && shape[3] == graph_.shape(x)[3] && shape[3] > 1 &&
                                planned(source).layout.axes[3] == FactoredAxis{{shape[3], 1}};
          if (has_rows) zero_ends_[to_size(source)] = std::max(zero_ends_[to_size(source)], ends);
        });
      }
    }
  }

  // --- outputs that kernels write in place

  void place_in_output(int output) {
    const Shape& shape = graph_.shape(output);
    if (stored_.is_stored(output) || planned(output).is_last || elements_of(shape) == 0) return;
    std::map<int, Run> places;
    if (!find_places(output, {output, 0, factored(shape, strides_of(shape))}, places)) return;
    for (const auto& [tensor, place] : places) stored_.place_in(place, tensor);
    stored_[output] = plain_storage(graph_.type(output), Memory::caller);
  }

  // The places of the stored tensors that a tensor shows, which itself has a place in an output. Returns
  // whether kernels can write all of them there.
  bool find_places(int tensor, const Run& place, std::map<int, Run>& places) const {
    if (maker_of(tensor) == kNone) return false;
    if (stored_.is_stored(tensor)) return is_written(tensor) && places.try_emplace(tensor, place).second;
    const GraphNode& node = graph_.node(maker_of(tensor));
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
  // Whether kernels can write a stored tensor in the one output that shows it.
  bool is_written(int tensor) const {
    std::set<int> outputs;
    for (const int output : graph_.outputs())
      for_each_source(output, [&](int source) {
        if (source == tensor) outputs.insert(output);
      });
    return outputs.size() == 1 && only_leaves(tensor) && !is_alone(tensor) &&
           keeps_points_apart(planned(tensor).layout);
  }
  // Whether outputs alone show a tensor.
  bool only_leaves(int tensor) const {
    return readers_[to_size(tensor)] == std::set<int>{kBehindWaves} &&
           std::ranges::none_of(last_nodes_, [&](int node) {
             bool reads = false;
             for (const int input : graph_.node(node).inputs)
               for_each_source(input, [&](int source) { reads = reads || source == tensor; });
             return reads;
           });
  }

  // --- memory

  const Storage& set_storage(int tensor) {
    const int last_wave = std::max(stored_[tensor].last_wave, wave_of(tensor));
    Storage& own = stored_[tensor] = storage_of(tensor);
    own.first_wave = wave_of(tensor);
    own.last_wave = last_wave;
    return own;
  }

  Storage storage_of(int tensor) const {
    const TensorType& type = graph_.type(tensor);
    if (maker_of(tensor) == kNone)
      return plain_storage(type, graph_.constant(tensor) ? Memory::plan : Memory::caller);
    const bool lies_in_output = stored_.view(tensor)->runs[0].tensor != tensor;
    if (lies_in_output || (graph_.is_output(tensor) && only_leaves(tensor)))
      return plain_storage(type, Memory::caller);
    if (is_alone(tensor)) return plain_storage(type, Memory::arena);
    const Layout& layout = planned(tensor).layout;
    const std::set<int>& readers = readers_[to_size(tensor)];
    if (readers.empty() || readers == std::set<int>{fusion_.group[to_size(maker_of(tensor))]})
      return scratch_storage(layout);
    const std::int64_t ends = zero_ends_[to_size(tensor)];
    return block_storage(layout, ends > 0 ? type.shape[3] : layout.points, ends);
  }

  // Tensors of a group's tile, by lifetimes in its steps. Returns their bytes.
  std::int64_t place_scratch(const StepGroup& group) {
    std::vector<Storage*> scratch;
    for (std::size_t i = 0; i < group.steps.size(); ++i) {
      const int now = static_cast<int>(i);
      for (const int input : group.steps[i].reads())
        for_each_source(input, [&](int source) {
          if (stored_[source].memory == Memory::scratch) stored_[source].last_wave = now;
        });
      for (const int output : group.steps[i].outputs()) {
        if (stored_[output].memory != Memory::scratch) continue;
        stored_[output].first_wave = stored_[output].last_wave = now;
        scratch.push_back(&stored_[output]);
      }
    }
    return place_in_arena(std::move(scratch));
  }

  const Fusion& fusion_;
  const Graph& graph_;
  const std::vector<StepGroup>& groups_;
  const std::span<const int> last_nodes_;
  Stored& stored_;
  std::vector<std::set<int>> readers_;   ///< groups, by tensor
  std::vector<std::int64_t> zero_ends_;  ///< by tensor
};

}  // namespace

CpuMemory place_tensors(const Fusion& fusion, const std::vector<StepGroup>& groups,
                        std::span<const int> last_nodes, Stored& stored) {
  return TensorPlacer(fusion, groups, last_nodes, stored).place();
}

}  // namespace sightline::nn
