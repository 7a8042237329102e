#include "network/plan/merge_products.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "network/plan/planned_tensor.hpp"
#include "network/plan/storage.hpp"

namespace sightline::nn {
namespace {

constexpr std::size_t kChannels = 1;  // axis of maps [N, C, H, W]

/// A convolution, the first channel that it reads, and how many it makes.
struct ConvolutionPart {
  int node = kNone;
  std::int64_t first = 0, outputs = 0;
};

/// Convolutions that may be one.
struct ConvolutionSet {
  int tensor = kNone;  ///< that all read, or whose slices they read
  bool is_depthwise = false;
  Window window;
  std::vector<ConvolutionPart> parts;

  std::int64_t outputs() const {
    std::int64_t sum = 0;
    for (const ConvolutionPart& part : parts) sum += part.outputs;
    return sum;
  }
};

std::int64_t block_count(std::int64_t channels) {
  return (channels + kLanes - 1) / kLanes;
}

class ProductMerger {
 public:
  explicit ProductMerger(const Graph& graph)
      : from_(graph), readers_(readers_of(graph)), needed_(needed_nodes(graph)) {}

  std::optional<Graph> run() {
    for (const int node : needed_) collect(node);
    std::erase_if(sets_, [](ConvolutionSet& set) { return !gains(set); });
    if (sets_.empty()) return {};
    find_only_shown();
    std::map<int, const ConvolutionSet*> set_of;  // by node
    for (const ConvolutionSet& set : sets_) {
      for (const ConvolutionPart& part : set.parts) set_of[part.node] = &set;
    }
    made_.assign(from_.tensors().size(), kNone);
    for (std::size_t t = 0; t < from_.tensors().size(); ++t) copy_source(static_cast<int>(t));
    for (const int node : needed_) {
      const auto set = set_of.find(node);
      if (set == set_of.end()) {
        copy(from_.node(node));
      } else if (made(from_.node(node).outputs[0]) == kNone) {
        add(*set->second);
      }
    }
    for (const int output : from_.outputs()) to_.add_output(made(output));
    return std::move(to_);
  }

 private:
  int& made(int tensor) { return made_[static_cast<std::size_t>(tensor)]; }

  void collect(int number) {
    const GraphNode& node = from_.node(number);
    const auto* const convolve = std::get_if<Convolve>(&node.primitive);
    const auto is_constant = [&](std::size_t i) { return from_.constant(node.inputs[i]) != nullptr; };
    if (!convolve || !is_constant(1) || (node.inputs.size() > 2 && !is_constant(2)) ||
        !is_known(from_.shape(node.inputs[0])) || !is_free(node.outputs[0]))
      return;
    const Shape& weights = from_.shape(node.inputs[1]);
    const Slice* const slice = slice_of(node.inputs[0]);
    const bool is_depthwise = slice && weights[1] == 1 && weights[0] == convolve->groups;
    if (!is_depthwise && (convolve->groups > 1 || weights[0] % kLanes == 0)) return;
    const int tensor = is_depthwise ? sliced_by(node.inputs[0]) : node.inputs[0];
    const ConvolutionPart part{number, is_depthwise ? slice->first[kChannels] : 0, weights[0]};
    const auto found = std::ranges::find_if(sets_, [&](const ConvolutionSet& set) {
      return set.tensor == tensor && set.is_depthwise == is_depthwise && set.window == convolve->window;
    });
    if (found != sets_.end()) {
      found->parts.push_back(part);
    } else {
      sets_.push_back({tensor, is_depthwise, convolve->window, {part}});
    }
  }

  int sliced_by(int tensor) const { return from_.node(from_.tensor(tensor).maker).inputs[0]; }

  // The slice that makes a tensor, if it takes channels that lie side by side; null: there is none.
  const Slice* slice_of(int tensor) const {
    const int maker = from_.tensor(tensor).maker;
    const auto* const slice = maker == kNone ? nullptr : std::get_if<Slice>(&from_.node(maker).primitive);
    if (!slice || slice->step != Shape(4, 1)) return nullptr;
    const Shape &shape = from_.shape(tensor), &whole = from_.shape(sliced_by(tensor));
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (i != kChannels && shape[i] != whole[i]) return nullptr;
    }
    return slice;
  }

  // Whether nothing that reads a tensor is the finish of its sums, but for a sigmoid, which costs little as a
  // node of its own.
  bool is_free(int tensor) const {
    return std::ranges::all_of(readers_[static_cast<std::size_t>(tensor)], [&](int number) {
      const Primitive& reader = from_.node(number).primitive;
      const auto* const map = std::get_if<Map>(&reader);
      if (!map) return is_view(reader) || std::holds_alternative<Convolve>(reader);
      const Expression& expression = map->expression;
      const Expression::Node& result =
          expression.nodes()[static_cast<std::size_t>(expression.results().front())];
      return result.function == Function::sigmoid &&
             expression.nodes()[static_cast<std::size_t>(result.arguments[0])].function == Function::operand;
    });
  }

  // Whether the parts of a set fill fewer blocks as one. Depthwise ones are ordered as they read.
  static bool gains(ConvolutionSet& set) {
    std::int64_t blocks = 0;
    for (const ConvolutionPart& part : set.parts) blocks += block_count(part.outputs);
    if (block_count(set.outputs()) >= blocks) return false;
    if (!set.is_depthwise) return true;
    std::ranges::sort(set.parts, {}, &ConvolutionPart::first);
    for (std::size_t i = 1; i < set.parts.size(); ++i) {
      const ConvolutionPart& last = set.parts[i - 1];
      if (set.parts[i].first != last.first + last.outputs) return false;
    }
    return true;
  }

  // Finds the tensors that nothing computes with, nor with what views show of them.
  void find_only_shown() {
    is_only_shown_.assign(from_.tensors().size(), true);
    for (auto number = needed_.rbegin(); number != needed_.rend(); ++number) {
      const GraphNode& node = from_.node(*number);
      const bool shows = is_view(node.primitive) && is_only_shown_[static_cast<std::size_t>(node.outputs[0])];
      for (const int input : node.inputs) {
        if (!shows) is_only_shown_[static_cast<std::size_t>(input)] = false;
      }
    }
  }
  // A tensor of its own, which may lie in an output of the network.
  int copied(int tensor, const std::string& name) {
    Expression same(std::vector<DataType>{DataType::f32});
    same.add_result(same.operand(0));
    return to_.add_single(name, Map{std::move(same)}, {tensor});
  }

  void copy_source(int number) {
    const GraphTensor& tensor = from_.tensor(number);
    if (tensor.maker != kNone) return;
    made(number) = tensor.constant ? to_.add_constant(tensor.name, tensor.constant)
                                   : to_.add_input(tensor.name, tensor.type);
  }

  void copy(const GraphNode& node) {
    std::vector<int> inputs;
    for (const int input : node.inputs) inputs.push_back(made(input));
    const std::vector<int> outputs = to_.add(node.name, node.primitive, inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) made(node.outputs[i]) = outputs[i];
  }

  // All channels of a part of a map, side by side.
  int sliced(int tensor, std::int64_t first, std::int64_t count, const std::string& name) {
    Slice slice{{0, first, 0, 0}, {1, 1, 1, 1}, to_.shape(tensor)};
    slice.shape[kChannels] = count;
    return slice.shape == to_.shape(tensor) ? tensor : to_.add_single(name, slice, {tensor});
  }

  void add(const ConvolutionSet& set) {
    const GraphNode& node = from_.node(set.parts.front().node);
    const std::int64_t outputs = set.outputs();
    Shape shape = from_.shape(node.inputs[1]);
    shape[0] = outputs;
    Tensor weights(DataType::f32, shape), start(DataType::f32, {outputs});
    auto weight = weights.as<float>().begin(), first = start.as<float>().begin();
    for (const ConvolutionPart& part : set.parts) {
      const std::vector<int>& inputs = from_.node(part.node).inputs;
      weight = std::ranges::copy(from_.constant(inputs[1])->as<float>(), weight).out;
      first = inputs.size() > 2 ? std::ranges::copy(from_.constant(inputs[2])->as<float>(), first).out
                                : std::fill_n(first, part.outputs, 0.0F);
    }
    const int x = set.is_depthwise ? sliced(made(set.tensor), set.parts.front().first, outputs, node.name)
                                   : made(set.tensor);
    const int all = to_.add_single(
        node.name, Convolve{set.window, set.is_depthwise ? outputs : 1},
        {x, to_.add_constant(node.name, std::move(weights)), to_.add_constant(node.name, std::move(start))});
    std::int64_t channel = 0;
    for (const ConvolutionPart& part : set.parts) {
      const GraphNode& one = from_.node(part.node);
      const int made_part = sliced(all, channel, part.outputs, one.name);
      made(one.outputs[0]) =
          is_only_shown_[static_cast<std::size_t>(one.outputs[0])] ? copied(made_part, one.name) : made_part;
      channel += part.outputs;
    }
  }

  const Graph& from_;
  const std::vector<std::vector<int>> readers_;
  const std::vector<int> needed_;
  std::vector<ConvolutionSet> sets_;
  Graph to_;
  std::vector<bool> is_only_shown_;  ///< by tensor of the old graph
  std::vector<int> made_;            ///< by tensor of the old graph; kNone: not yet
};

}  // namespace

std::optional<Graph> merged_products(const Graph& graph) {
  return ProductMerger(graph).run();
}

}  // namespace sightline::nn
