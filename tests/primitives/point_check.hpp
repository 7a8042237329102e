#pragma once
/// Checks by trial that the nodes of a group read each other at the same point alone.

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "network/plan/fuse.hpp"
#include "network/strided.hpp"

namespace sightline::nn {

class PointCheck {
 public:
  /// @param inputs  of the graph
  PointCheck(const Fusion& fusion, Inputs inputs) : fusion_(fusion), values_(fusion.graph.tensors().size()) {
    const Graph& graph = fusion.graph;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      values_[static_cast<std::size_t>(graph.inputs()[i])] = *inputs[i];
    for (std::size_t t = 0; t < values_.size(); ++t) {
      if (graph.tensors()[t].constant) values_[t] = *graph.tensors()[t].constant;
    }
    for (const int node : needed_nodes(graph)) {
      std::vector<Tensor> made = evaluate(graph.node(node).primitive, operands(graph.node(node), values_));
      for (std::size_t i = 0; i < made.size(); ++i)
        values_[static_cast<std::size_t>(graph.node(node).outputs[i])] = std::move(made[i]);
    }
  }

  /// Makes an element NaN of a stored tensor that a node reads in its own wave, for all nodes that read some.
  /// What becomes different must be of the element's point. Returns the name of a node where it is not; else
  /// nothing.
  std::string violation(std::uint32_t seed) {
    std::mt19937 random(seed);
    for (std::size_t n = 0; n < fusion_.wave.size(); ++n) {
      const GraphNode& node = fusion_.graph.nodes()[n];
      for (const int input : node.inputs) {
        for (const Source& source : fusion_.tensors[static_cast<std::size_t>(input)].sources) {
          if (fusion_.wave[n] == kNone || wave_of(source.tensor) != fusion_.wave[n]) continue;
          ++checks;
          if (!stays_in_point(node, source.tensor, random)) return node.name;
        }
      }
    }
    return "";
  }

  int checks = 0;

 private:
  static std::vector<const Tensor*> pointers_of(const std::vector<Tensor>& tensors) {
    std::vector<const Tensor*> pointers;
    for (const Tensor& one : tensors) pointers.push_back(&one);
    return pointers;
  }
  static std::vector<const Tensor*> operands(const GraphNode& node, const std::vector<Tensor>& values) {
    std::vector<const Tensor*> pointers;
    for (const int input : node.inputs) pointers.push_back(&values[static_cast<std::size_t>(input)]);
    return pointers;
  }

  int wave_of(int tensor) const {
    const int maker = fusion_.graph.tensor(tensor).maker;
    return maker == kNone ? kNone : fusion_.wave[static_cast<std::size_t>(maker)];
  }

  // The points of a tensor's elements.
  std::vector<std::int64_t> points_of(int tensor) const {
    const Layout& layout = fusion_.tensors[static_cast<std::size_t>(tensor)].layout;
    std::vector<std::int64_t> points;
    for_each_index(fusion_.graph.shape(tensor), [&](const Shape& place) {
      std::int64_t point = 0;
      for (std::size_t i = 0; i < place.size(); ++i) {
        std::int64_t rest = place[i];
        for (auto factor = layout.axes[i].rbegin(); factor != layout.axes[i].rend(); ++factor) {
          point += rest % factor->size * factor->stride;
          rest /= factor->size;
        }
      }
      points.push_back(point);
    });
    return points;
  }

  // A tensor where another one has changed; views lie between them.
  Tensor changed(int tensor, int source, const Tensor& value) const {
    const int maker = fusion_.graph.tensor(tensor).maker;
    if (tensor == source) return value;
    if (maker == kNone || !is_view(fusion_.graph.node(maker).primitive))
      return values_[static_cast<std::size_t>(tensor)];
    std::vector<Tensor> inputs;
    for (const int input : fusion_.graph.node(maker).inputs) inputs.push_back(changed(input, source, value));
    return evaluate(fusion_.graph.node(maker).primitive, pointers_of(inputs)).front();
  }

  bool stays_in_point(const GraphNode& node, int source, std::mt19937& random) const {
    Tensor value = values_[static_cast<std::size_t>(source)];
    if (value.data() != DataType::f32 || value.size() == 0) return true;
    const std::size_t element = random() % value.as<float>().size();
    const std::int64_t point = points_of(source)[element];
    value.as<float>()[element] = std::numeric_limits<float>::quiet_NaN();
    std::vector<Tensor> inputs;
    for (const int input : node.inputs) inputs.push_back(changed(input, source, value));
    const std::vector<Tensor> made = evaluate(node.primitive, pointers_of(inputs));
    for (std::size_t i = 0; i < made.size(); ++i) {
      const Tensor& before = values_[static_cast<std::size_t>(node.outputs[i])];
      const std::vector<std::int64_t> points = points_of(node.outputs[i]);
      const std::size_t bytes = bytes_of(before.data());
      for (std::size_t k = 0; k < points.size(); ++k) {
        const bool is_same =
            std::equal(made[i].bytes().begin() + k * bytes, made[i].bytes().begin() + (k + 1) * bytes,
                       before.bytes().begin() + k * bytes);
        if (!is_same && points[k] != point) return false;
      }
    }
    return true;
  }

  const Fusion& fusion_;
  std::vector<Tensor> values_;  ///< by tensor
};

}  // namespace sightline::nn
