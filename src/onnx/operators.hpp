#pragma once
/// ONNX's operators as primitives: a row for each operator. Its function adds primitives to a graph, and
/// resolves all attributes on the way: axes count from 0, paddings and sizes are numbers.

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/lowering.hpp"

namespace sightline::nn {

/// Tensors that an operator makes: one, or several.
struct Made {
  std::vector<int> tensors;
  Made(int tensor) : tensors{tensor} {}
  Made(std::vector<int> all) : tensors(std::move(all)) {}
};

struct OnnxOperator {
  std::string_view name;
  std::size_t least_inputs = 1, most_inputs = 1;
  Made (*lower)(Lowering& c) = nullptr;
  std::size_t most_outputs = 1;
  std::string_view domain = "";  ///< of ONNX Runtime's own operators
};

// Rows by file.
std::span<const OnnxOperator> elementwise_operators();
std::span<const OnnxOperator> shape_operators();
std::span<const OnnxOperator> compute_operators();
std::span<const OnnxOperator> norm_operators();
std::span<const OnnxOperator> resize_operators();
std::span<const OnnxOperator> quantised_operators();
Made lower_einsum(Lowering& c);

}  // namespace sightline::nn
