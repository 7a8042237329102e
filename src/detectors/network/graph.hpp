#pragma once
/// A network as a list of nodes that compute values from values.

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "detectors/network/tensor.hpp"

namespace sightline::nn {
struct OnnxModel;
}

namespace sightline::network {

struct Operator;
struct Graph;

using SharedTensor = std::shared_ptr<const Tensor>;
using SharedGraph = std::shared_ptr<const Graph>;  ///< whose first values are the inputs of its node
using Attribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>,
                               std::vector<float>, SharedTensor, SharedGraph>;

/// Number of an input or output that a node leaves out.
inline constexpr int kAbsent = -1;

/// One operation. Inputs and outputs are numbers of values. A value is made by one node, which stands before
/// all that use it.
struct Node {
  std::string name;  ///< for people; where the file has none, "#12"
  std::string op;    ///< ONNX's name of the operator
  std::vector<int> inputs;
  std::vector<int> outputs;
  std::map<std::string, Attribute, std::less<>> attributes;
  int opset = 0;  ///< version of the operators that the file uses
  const Operator* code = nullptr;

  bool has(std::string_view attribute) const { return attributes.find(attribute) != attributes.end(); }
  /// Values of attributes, or `fallback`. They throw Problem where the type is another one.
  std::int64_t integer(std::string_view attribute, std::int64_t fallback) const;
  float real(std::string_view attribute, float fallback) const;
  std::string text(std::string_view attribute, std::string_view fallback) const;
  std::vector<std::int64_t> integers(std::string_view attribute) const;
  SharedTensor tensor(std::string_view attribute) const;
  SharedGraph graph(std::string_view attribute) const;
  /// "'Conv_3' (Conv)".
  std::string title() const { return "'" + name + "' (" + op + ")"; }
};

struct Value {
  std::string name;
  SharedTensor constant;  ///< null unless it is known before the network runs
  bool is_typed = false;  ///< whether `type` is known before the network runs
  TensorType type;
};

/// An input of the network. Dimensions that a user chooses are -1.
struct GraphInput {
  int value = 0;
  TensorType type;
};

struct Graph {
  std::vector<Node> nodes;  ///< in an order in which they can run
  std::vector<Value> values;
  std::vector<GraphInput> inputs;
  std::vector<int> outputs;
  std::vector<std::int64_t> columns;  ///< by output: the last side that the file tells; -1: none
  std::map<std::string, std::string> metadata;
  std::string producer;
  std::set<std::filesystem::path> data_files;  ///< that hold weights, beside the network's own file
  int opset = 0;
  std::shared_ptr<const nn::OnnxModel> model;  ///< of the file, for the network engine; null: not kept

  const Value& value(int number) const { return values[static_cast<std::size_t>(number)]; }
  Value& value(int number) { return values[static_cast<std::size_t>(number)]; }
};

/// Cost of a graph with known types.
struct GraphCost {
  std::int64_t multiply_adds = 0;
  std::int64_t weight_bytes = 0;
  std::int64_t peak_bytes = 0;  ///< of all values that are needed at once
};

/// Computes all that is constant, infers all types, and removes nodes that nobody needs. Afterwards, batch
/// normalisations behind convolutions are part of their weights.
/// @param memory_limit  bytes of all values that are needed at once
/// Throws Problem, naming the node.
void simplify(Graph& graph, std::int64_t memory_limit);

/// The value that takes most memory while the network runs, as "'name' of 1x8x4096x4096".
std::string largest_value(const Graph& graph);

/// Costs of a simplified graph.
GraphCost cost_of(const Graph& graph);
/// Multiply-adds of one node; 0 where a type is not known.
std::int64_t multiply_adds_of(const Graph& graph, const Node& node);

/// All nodes, in their order.
std::vector<const Node*> all_nodes(const Graph& graph);

/// For each of some nodes, the values that it reads or makes and no later one reads. The last element, behind
/// all nodes, has the network's outputs.
std::vector<std::vector<int>> values_that_end(const Graph& graph, const std::vector<const Node*>& nodes);

/// The node that makes a value; null for inputs and constants.
const Node* maker_of(const Graph& graph, int value);

}  // namespace sightline::network
