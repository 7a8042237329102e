#pragma once
/// Import of ONNX models as graphs of primitives.

#include <cstdint>
#include <string>

#include "network/graph.hpp"
#include "onnx/model.hpp"

namespace sightline::nn {

/// Imports a model as a normalised graph: what is constant is computed, copies and nodes that nobody needs
/// are left out, and a batch normalisation is part of the weights of the convolution before it, if nothing
/// else reads that: in double precision, rounded once.
/// Inputs and outputs stand in the model's order. Sides of inputs that are kUnknown stay so.
/// @param memory_limit  bytes of all constants that are computed
/// Throws Problem, with the node's name.
Graph import_onnx(const OnnxModel& model, std::int64_t memory_limit);

/// Names of all operators, in alphabetical order, separated by commas.
std::string onnx_operator_names();

}  // namespace sightline::nn
