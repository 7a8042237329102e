#pragma once
/// What a network's file tells about its outputs.

#include "detectors/network/network.hpp"

namespace sightline::network {

/// Facts about the outputs of a simplified graph whose inputs are known. The test picture is run when it is
/// asked for: bytes of a fixed pattern as numbers from 0 to 1, which no usual normalisation exceeds by far.
/// @param network  must outlive the result
/// @param names    number of class names that are given; 0: none
NetworkOutputs outputs_of(const Network& network, const std::vector<double>& anchors, std::size_t names);

/// How many classes the finished rows of a scheme choose from, where the file tells; 0: unknown.
std::int64_t classes_behind_labels(const Graph& graph, const Scheme& scheme);

}  // namespace sightline::network
