#pragma once
/// Expressions: what a Map computes from one element of each of its operands.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "network/tensor.hpp"

namespace sightline::nn {

/// Kinds of an expression's nodes. The functions, their types and their meaning are listed in
/// function_list.inc.
enum class Function : std::uint8_t {
  operand,
  constant,
  cast,    ///< to the node's type; see Expression::cast
  select,  ///< condition ? a : b
#define FUNCTION(name, arguments, domain) name,
#include "network/function_list.inc"
#undef FUNCTION
};

/// "leaky_relu".
std::string_view name_of(Function function);
/// Number of its arguments.
std::size_t arguments_of(Function function);

/// A directed acyclic graph of functions over operands and constants, with one or more results. Nodes are
/// numbers; equal nodes have the same number. Every node is computed as it stands: nothing is reassociated or
/// contracted.
class Expression {
 public:
  struct Node {
    Function function = Function::operand;
    DataType type = DataType::f32;   ///< of the node's value
    std::array<int, 3> arguments{};  ///< nodes, all before this one; of an operand: its number
    Scalar constant;                 ///< of Function::constant
    friend bool operator==(const Node&, const Node&) = default;
  };

  /// @param operands  data types of the operands
  explicit Expression(std::vector<DataType> operands);

  /// An expression of one function: its first arguments are the operands, and constants the rest.
  static Expression of(Function function, std::vector<DataType> operands,
                       std::initializer_list<Scalar> constants = {});

  // These add a node and return its number. They throw Problem if the types of their arguments do not fit.
  int operand(std::size_t i);
  int constant(Scalar value);
  int call(Function function, const std::vector<int>& arguments);
  int select(int condition, int a, int b);
  /// To boolean: whether it is not 0. From f32 to integers: the fraction is dropped; NaN, and numbers that
  /// i64 (of i64) or i32 (of the others) cannot hold, become the least number of that type. Integers wrap to
  /// fewer bits.
  int cast(int x, DataType type);

  /// Makes a node a result: the first one, then the second one...
  void add_result(int node) { results_.push_back(node); }

  const std::vector<DataType>& operands() const { return operands_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<int>& results() const { return results_; }
  DataType type_of(int node) const { return nodes_[static_cast<std::size_t>(node)].type; }
  friend bool operator==(const Expression&, const Expression&) = default;

  /// Computes the results of `count` elements that lie side by side. Buffers have the types of the operands
  /// and results; results overlap no operands.
  void evaluate(std::span<const std::byte* const> operands, std::span<std::byte* const> results,
                std::size_t count) const;

 private:
  int add(Node node);       ///< or finds an equal one
  int add_call(Node node);  ///< whose type follows from its arguments

  std::vector<DataType> operands_;
  std::vector<Node> nodes_;
  std::vector<int> results_;
};

/// "relu(add(x0, 0.5))"; results are separated by "; ".
std::string text_of(const Expression& expression);

}  // namespace sightline::nn
