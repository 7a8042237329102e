#pragma once
/// The operators that networks are made of, in plain scalar code: the definition of every result.
///
/// Sums of products are chains of fused multiply-adds in one order (multiply_add), other sums have one tree
/// (tree_sum), ties go to the lowest index, and functions are those of functions.hpp. What is a NaN is one in
/// every form of an operator; its bits are not defined.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "detectors/network/graph.hpp"

namespace sightline::network {

/// Thrown by Operator::infer where the types of outputs depend on values that are not there yet.
struct NotKnownYet {};

/// The result of `f`; none if it throws NotKnownYet.
template <typename F>
auto if_known(const F& f) -> std::optional<decltype(f())> {
  try {
    return f();
  } catch (const NotKnownYet&) {
    return {};
  }
}

/// A node with its inputs. Of inputs without data, the type counts.
struct Call {
  const Node& node;
  std::vector<const Tensor*> inputs;  ///< null: left out

  bool has(std::size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  /// Throws Problem where it was left out.
  const Tensor& in(std::size_t i) const;
  /// An input whose values are needed: throws NotKnownYet where they are not there.
  const Tensor& data(std::size_t i) const;
  /// An input of real numbers. Throws Problem for others.
  const Tensor& real(std::size_t i) const;
  /// Whole numbers of an input, or of the attribute where older operators have one; empty where neither is
  /// there.
  std::vector<std::int64_t> wholes(std::size_t i, std::string_view attribute) const;
  /// An axis from -rank to rank - 1, as one from 0. Throws Problem out of range.
  static std::size_t axis(std::int64_t number, std::size_t rank);
};

/// A node with its inputs, by the values of the graph that are no constants.
Call call_of(const Graph& graph, const Node& node, const std::vector<Tensor>& values);

/// Facts about a node's inputs before it runs: constants, and the types of others.
struct KnownInputs {
  std::vector<Tensor> typed;
  Call call;  ///< whose inputs are constants, or types
  bool are_typed = true;
  bool are_constant = true;

  KnownInputs(const Graph& graph, const Node& node);
  KnownInputs(const KnownInputs&) = delete;
  KnownInputs& operator=(const KnownInputs&) = delete;
};

struct Operator {
  std::string_view name;
  std::size_t least_inputs = 1;
  std::size_t most_inputs = 1;
  std::size_t most_outputs = 1;
  /// Types of the outputs. Throws Problem, and NotKnownYet.
  std::vector<TensorType> (*infer)(const Call& call) = nullptr;
  /// Computes the outputs, whose memory is there. Inputs have data. Null where `lower` does it all.
  void (*run)(const Call& call, std::span<Tensor> outputs) = nullptr;
  /// Nodes of other operators that do the same, as a graph whose first values are the node's inputs, and that
  /// has the node's outputs, each made by a node; none for nodes that run by themselves, as all do where it
  /// is null. Throws Problem, and NotKnownYet.
  std::optional<Graph> (*lower)(const Call& call) = nullptr;
};

/// Null where it is not known.
const Operator* find_operator(std::string_view name);
/// Names of all, in alphabetical order.
std::vector<std::string_view> operator_names();

/// Copies the first input's elements: `run` of operators that give them another shape, or the same.
void copy_all(const Call& call, std::span<Tensor> outputs);

// Their parts, by file.
std::span<const Operator> elementwise_operators();
std::span<const Operator> shape_operators();
std::span<const Operator> index_operators();
std::span<const Operator> convolution_operators();
std::span<const Operator> pooling_operators();
std::span<const Operator> resize_operators();
std::span<const Operator> reduction_operators();
std::span<const Operator> normalisation_operators();
std::span<const Operator> selection_operators();
std::span<const Operator> lowered_operators();
std::span<const Operator> quantised_operators();

/// The error of a node that cannot run.
Error node_error(const Node& node, const Problem& problem);

/// Infers the types of all outputs that a node's operator has, and allocates them.
void allocate_outputs(const Call& call, std::vector<Tensor>& outputs);
/// The same, and computes them.
void run_node(const Call& call, std::vector<Tensor>& outputs);

}  // namespace sightline::network
