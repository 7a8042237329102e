#pragma once
/// Operators in terms of others: when a network is loaded, their nodes are replaced by those that they
/// consist of, which plans and devices know.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detectors/network/operators.hpp"

namespace sightline::network {

/// Builds the nodes that replace one. Values are numbers of the graph that `done` returns.
class Lowering {
 public:
  using Attributes = std::map<std::string, Attribute, std::less<>>;

  explicit Lowering(const Call& call);
  /// The value of an input of the replaced node; kAbsent where it was left out.
  int input(std::size_t i) const;
  int constant(Tensor tensor);
  int wholes(const std::vector<std::int64_t>& values) { return constant(Tensor::of(values)); }
  /// Adds a node with one output. Returns that value. Trailing inputs that are absent are left out.
  int add(std::string_view op, std::vector<int> inputs, Attributes attributes = {});
  /// The graph, whose output is this value.
  Graph done(int output);

 private:
  int add_value(std::string_view what, SharedTensor tensor);

  const Call& call_;
  Graph graph_;
};

/// A constant to be filled in, of real numbers. Throws Problem where a node would take too much memory with
/// it.
Tensor constant_of(Shape shape);

/// `infer` of operators that have no `run`, since `lower` replaces all nodes of known sizes. Throws Problem.
std::vector<TensorType> refuse_unknown_sizes(const Call& call);

/// Convolutions and pooling along one axis as those of pictures of one row; none for others.
std::optional<Graph> lower_one_axis(const Call& call);
std::optional<Graph> lower_einsum(const Call& call);

/// Attribute of operators that quantise, which the reader of files adds: ONNX's number of the type of their
/// levels.
inline constexpr std::string_view kLevelType = "level_type";
/// Attribute of the nodes of a quantisation: they leave their first input what it is, but for rounding.
inline constexpr std::string_view kQuantises = "quantises";

}  // namespace sightline::network
