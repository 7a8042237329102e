#pragma once
/// Import of ONNX models as graphs of primitives.

#include <cstdint>
#include <string>
#include <vector>

#include "network/graph.hpp"
#include "onnx/model.hpp"

namespace sightline::nn {

/// A model's nodes by what has become of their values: to find out what made an output.
struct OnnxOrigins {
  Graph graph;  ///< before it was normalised
  /// Nodes that the outputs need, of the model and of branches that are taken, without copies and those whose
  /// results are all constant. Inputs and outputs are tensors of `graph`.
  std::vector<OnnxNode> nodes;
};

/// Imports a model as a normalised graph: what is constant is computed, copies and nodes that nobody needs
/// are left out, and a batch normalisation is part of the weights of the convolution before it, if nothing
/// else reads that: in double precision, rounded once. Constants of the file are shared, not copied.
/// Inputs and outputs stand in the model's order. Sides of inputs that are kUnknown stay so.
/// @param memory_limit  bytes of all constants that are computed
/// @param inputs        types of the inputs; {}: as the model has them
/// @param origins       is set, if it is not null
/// Throws Problem, with the node's name.
Graph import_onnx(const OnnxModel& model, std::int64_t memory_limit, const Types& inputs = {},
                  OnnxOrigins* origins = nullptr);

/// Names of all operators, in alphabetical order, separated by commas.
std::string onnx_operator_names();

}  // namespace sightline::nn
