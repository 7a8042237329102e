#pragma once
/// Networks as graphs: nodes compute tensors from tensors by primitives.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "network/primitives/primitive.hpp"
#include "network/tensor.hpp"

namespace sightline::nn {

/// No node, or no tensor.
inline constexpr int kNone = -1;

struct GraphNode {
  std::string name;  ///< for people: "'Conv_3' (Conv)"
  Primitive primitive;
  std::vector<int> inputs, outputs;  ///< numbers of tensors
};

/// A tensor of a graph: an input, a constant, or made by a node.
struct GraphTensor {
  std::string name;
  TensorType type;                         ///< sides that the frame decides are kUnknown
  std::shared_ptr<const Tensor> constant;  ///< null for others
  int maker = kNone;                       ///< number of the node
};

/// A graph is built from front to back (with constants computed at once: ConstantFolder), so nodes always
/// stand in an order in which they can run. Nodes and tensors are numbered from 0 on in the order in which
/// they were added. Thread-safety: as std::vector.
class Graph {
 public:
  /// These return the tensor's number.
  int add_input(std::string name, TensorType type);
  int add_constant(std::string name, std::shared_ptr<const Tensor> value);
  int add_constant(std::string name, Tensor value);

  /// Adds a node. Returns the numbers of its outputs. Throws Problem, with the node's name, if the inputs do
  /// not fit.
  std::vector<int> add(std::string name, Primitive primitive, std::vector<int> inputs);
  /// The same for nodes with one output.
  int add_single(std::string name, Primitive primitive, std::vector<int> inputs);
  void add_output(int tensor) { outputs_.push_back(tensor); }

  const std::vector<GraphNode>& nodes() const { return nodes_; }
  const std::vector<GraphTensor>& tensors() const { return tensors_; }
  const GraphNode& node(int number) const { return nodes_[static_cast<std::size_t>(number)]; }
  const GraphTensor& tensor(int number) const { return tensors_[static_cast<std::size_t>(number)]; }
  const TensorType& type(int tensor_number) const { return tensor(tensor_number).type; }
  const Shape& shape(int tensor_number) const { return tensor(tensor_number).type.shape; }
  /// The value of a constant; null for other tensors.
  const Tensor* constant(int tensor_number) const { return tensor(tensor_number).constant.get(); }

  const std::vector<int>& inputs() const { return inputs_; }
  const std::vector<int>& outputs() const { return outputs_; }
  bool is_output(int tensor_number) const {
    return std::ranges::find(outputs_, tensor_number) != outputs_.end();
  }

 private:
  int add_tensor(GraphTensor tensor);

  std::vector<GraphNode> nodes_;
  std::vector<GraphTensor> tensors_;
  std::vector<int> inputs_, outputs_;
};

/// Nodes that read each tensor, in rising order, by tensor. A node that reads one twice is listed once.
std::vector<std::vector<int>> readers_of(const Graph& graph);

/// Nodes that the outputs need, in order.
std::vector<int> needed_nodes(const Graph& graph);

/// For each of some nodes, the tensors that it reads or makes and no later one of them reads. Outputs and
/// constants are in none.
std::vector<std::vector<int>> tensors_that_end(const Graph& graph, std::span<const int> nodes);

/// The computed tensor that takes most memory, as "'name' of 1x8x4096x4096".
std::string largest_tensor(const Graph& graph);

/// Multiply-adds of a convolution or product; 0 for others, and where sizes are not known.
std::int64_t multiply_adds_of(const Graph& graph, const GraphNode& node);

/// A node a line: "t5 = convolve(t0, t1, t2): f32 1x16x8x8  'Conv_3' (Conv)".
std::string text_of(const Graph& graph);

}  // namespace sightline::nn
