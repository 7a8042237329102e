#pragma once
/// What the import of an operator adds to a graph: expressions, primitives, constants.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "network/constant_folder.hpp"
#include "network/graph.hpp"
#include "onnx/model.hpp"

namespace sightline::nn {

/// A part of an expression. A number takes the type of the terms that it meets.
class Term {
 public:
  Term(Expression& expression, int node) : expression_(&expression), node_(node) {}
  template <typename T>
  requires std::is_arithmetic_v<T> Term(T number) : number_(static_cast<double>(number)) {}

  /// A function of terms, at least one of which is no number.
  static Term call(Function function, const std::vector<Term>& arguments);
  static Term select(const Term& condition, const Term& a, const Term& b);
  Term cast(DataType type) const { return {*expression_, expression_->cast(node_, type)}; }

  DataType type() const { return expression_->type_of(node_); }
  int node() const { return node_; }

 private:
  int node_like(const Term& typed) const;

  Expression* expression_ = nullptr;  ///< null: a number
  int node_ = kNone;
  double number_ = 0;
};

inline Term operator+(const Term& a, const Term& b) {
  return Term::call(Function::add, {a, b});
}
inline Term operator-(const Term& a, const Term& b) {
  return Term::call(Function::subtract, {a, b});
}
inline Term operator*(const Term& a, const Term& b) {
  return Term::call(Function::multiply, {a, b});
}
inline Term operator/(const Term& a, const Term& b) {
  return Term::call(Function::divide, {a, b});
}
inline Term operator<(const Term& a, const Term& b) {
  return Term::call(Function::less, {a, b});
}
inline Term operator<=(const Term& a, const Term& b) {
  return Term::call(Function::less_or_equal, {a, b});
}
inline Term operator==(const Term& a, const Term& b) {
  return Term::call(Function::equal, {a, b});
}

/// A batch normalisation that may become part of a convolution.
struct BatchNorm {
  int x = kNone, made = kNone;
  std::vector<int> parameters;  ///< scale, bias, mean, variance
  float epsilon = 0;
};

/// What is imported so far.
struct Import {
  explicit Import(std::int64_t memory_limit) : folder(graph, memory_limit) {}

  Graph graph;
  ConstantFolder folder;
  int opset = 0;
  std::vector<int> convolved;  ///< outputs of Conv
  std::vector<BatchNorm> norms;
  std::vector<OnnxNode> nodes;  ///< as OnnxOrigins has them

  /// Imports the nodes of a graph. @param tensors  of its first values. Returns those of its outputs.
  std::vector<int> add_nodes(const OnnxGraph& from, std::vector<int> tensors);
  void add_node(const OnnxNode& node, const OnnxGraph& from, std::vector<int>& tensors);
  std::vector<int> lower(const OnnxNode& node, const std::vector<int>& inputs);
  void keep_origin(const OnnxNode& node, const std::vector<int>& inputs, const std::vector<int>& made);
};

/// Import of one node: its attributes and inputs, and functions that add primitives to the graph. Tensors are
/// numbers of the graph. What is constant is computed at once. All functions throw Problem, without the
/// node's name.
class Lowering {
 public:
  /// @param inputs  tensors; kNone: left out
  Lowering(Import& import, const OnnxNode& from, std::vector<int> inputs)
      : node(from), import_(import), inputs_(std::move(inputs)) {}

  const OnnxNode& node;
  int opset() const;

  std::size_t count() const { return inputs_.size(); }  ///< of inputs
  bool has(std::size_t i) const { return i < inputs_.size() && inputs_[i] != kNone; }
  int in(std::size_t i) const;
  /// All inputs, none of which may be left out.
  const std::vector<int>& inputs() const;

  Shape shape(int tensor) const;
  std::size_t rank(int tensor) const { return shape(tensor).size(); }
  DataType data(int tensor) const;
  /// A shape of which all sides must be known.
  Shape known_shape(int tensor) const;
  /// The number of elements of a vector. Throws Problem for other tensors, and where it is not known.
  std::int64_t length(int vector) const;
  /// The value of a constant; null for others.
  const Tensor* constant(int tensor) const;
  /// The value of an input that must be constant.
  const Tensor& known(std::size_t i) const;
  /// Integers of an input that must be constant, or of the attribute where older operators have one; empty
  /// where neither is there.
  std::vector<std::int64_t> integers(std::size_t i, std::string_view attribute) const;
  /// An attribute's value. Throws Problem unless it is one of `known`.
  std::string choice(std::string_view attribute, std::string_view fallback,
                     std::initializer_list<std::string_view> known) const;
  float real(std::string_view attribute, float fallback) const { return node.real(attribute, fallback); }
  bool is_set(std::string_view attribute, bool fallback = false) const {
    return node.integer(attribute, fallback ? 1 : 0) != 0;
  }
  /// An axis from -rank to rank - 1, as one from 0.
  static std::size_t axis(std::int64_t number, std::size_t rank);
  /// The axis of the first input that an attribute names.
  std::size_t axis(std::int64_t fallback) const { return axis(node.integer("axis", fallback), rank(in(0))); }

  /// The axes from one on.
  static Axes axes_from(std::size_t first, std::size_t rank);

  std::vector<int> add_all(Primitive primitive, std::vector<int> tensors);
  int add(Primitive primitive, std::vector<int> tensors);
  int constant(SharedTensor tensor);
  int constant(Tensor tensor) { return constant(std::make_shared<const Tensor>(std::move(tensor))); }
  template <typename T>
  int scalar(T value) {
    return constant(Tensor::scalar(value));
  }
  int vector(const std::vector<std::int64_t>& values) { return constant(Tensor::vector(values)); }

  /// Maps tensors by a function from terms to one or more terms. Constants of one element become part of the
  /// expression.
  std::vector<int> map_all(const std::vector<int>& tensors,
                           const std::function<std::vector<Term>(const std::vector<Term>&)>& f);
  /// By a function of so many terms.
  template <typename F, typename... Tensors>
  int map(const F& f, Tensors... tensors) {
    const auto call = [&]<std::size_t... n>(const std::vector<Term>& x, std::index_sequence<n...>) {
      return std::vector<Term>{f(x[n]...)};
    };
    const auto all = [&](const std::vector<Term>& x) {
      return call(x, std::index_sequence_for<Tensors...>());
    };
    return map_all({tensors...}, all).front();
  }
  /// By one function; further arguments are numbers.
  int map(Function function, const std::vector<int>& tensors, std::initializer_list<float> numbers = {});
  int cast(int x, DataType type);

  int reshape(int x, Shape shape) { return add(Reshape{std::move(shape)}, {x}); }
  int transpose(int x, Axes order) { return add(Transpose{std::move(order)}, {x}); }
  int expand(int x, Shape shape) { return add(Expand{std::move(shape)}, {x}); }
  int concat(const std::vector<int>& parts, std::size_t axis) { return add(Concat{axis}, parts); }
  int reduce(Fold fold, int x, Axes axes) { return add(Reduce{fold, std::move(axes)}, {x}); }
  /// The mean along axes, which stay; of integers, without its fraction.
  int mean(int x, const Axes& axes);
  /// Part of one axis.
  int slice(int x, std::size_t axis, std::int64_t first, std::int64_t count, std::int64_t step = 1);
  /// Two axes change places.
  int swap_axes(int x, std::size_t a, std::size_t b);
  /// The only element of a tensor, or element `i` of a vector, as a scalar.
  int element(int x, std::int64_t i = 0);
  /// Sides of a tensor, as a vector of i64.
  int sizes(int x);
  /// A vector that broadcasts along an axis of tensors of some rank.
  int along(int vector, std::size_t axis, std::size_t rank);
  /// Numbers from 0 on along an axis.
  int places(std::int64_t count, std::size_t axis, std::size_t rank);
  /// A tensor without axes of side 1, which rise.
  int without(int x, const Axes& axes);

  /// What another operator makes of tensors, with this node's attributes.
  int run(std::string_view op, std::vector<int> tensors);
  /// What a branch of this node makes of the inputs.
  std::vector<int> run(const OnnxGraph& branch);

 private:
  Import& import_;
  std::vector<int> inputs_;
};

}  // namespace sightline::nn
