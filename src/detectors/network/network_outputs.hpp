#pragma once
/// What a network's file tells about its outputs.

#include <vector>

#include "detectors/network/network.hpp"
#include "onnx/import.hpp"

namespace sightline::network {

/// Finds the nodes of a file that make the outputs of its imported network.
class OutputOrigins {
 public:
  explicit OutputOrigins(nn::OnnxOrigins origins);

  /// Facts about the outputs of a network whose graph was imported with these origins. When it is asked for,
  /// the network is planned and the test picture is run: bytes of a fixed pattern as numbers from 0 to 1,
  /// which no usual normalisation exceeds by far.
  /// @param network  must outlive the result, at its place
  /// @param columns  by output: the last side that the file tells, or kUnknown
  /// @param names    number of class names that are given; 0: none
  NetworkOutputs outputs(Network& network, const std::vector<std::int64_t>& columns,
                         const std::vector<double>& anchors, std::size_t names) const;

  /// How many classes the finished rows of a scheme choose from, where the file tells; 0: unknown.
  std::int64_t classes_behind_labels(const Scheme& scheme) const;

  /// The graph whose tensors the nodes read and make.
  const nn::Graph& graph() const { return origins_.graph; }
  const std::vector<nn::OnnxNode>& nodes() const { return origins_.nodes; }
  /// The node that makes a tensor; null for inputs and constants.
  const nn::OnnxNode* maker_of(int tensor) const;

 private:
  nn::OnnxOrigins origins_;
  std::vector<int> makers_;  ///< numbers of nodes, by tensor
};

}  // namespace sightline::network
