#pragma once
/// Runs imported networks by the reference.

#include <functional>
#include <vector>

#include "network/reference.hpp"
#include "network/tensor.hpp"

namespace sightline::test {

/// Outputs of a graph for inputs whose element i is `number(i)`. Throws as nn::run_reference.
inline std::vector<nn::Tensor> run_imported(
    const nn::Graph& graph,
    const std::function<float(std::int64_t)>& number = [](std::int64_t) { return 0.0F; },
    std::int64_t memory_limit = std::int64_t{1} << 30) {
  std::vector<nn::Tensor> inputs;
  for (const int input : graph.inputs()) {
    nn::Tensor& one = inputs.emplace_back(graph.type(input));
    nn::with_type(one.data(), [&]<typename T>() {
      for (std::int64_t i = 0; i < one.size(); ++i)
        one.as<T>()[static_cast<std::size_t>(i)] = static_cast<T>(number(i));
    });
  }
  std::vector<const nn::Tensor*> pointers;
  for (const nn::Tensor& one : inputs) pointers.push_back(&one);
  return nn::run_reference(graph, pointers, memory_limit);
}

}  // namespace sightline::test
