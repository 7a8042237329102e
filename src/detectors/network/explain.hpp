#pragma once
/// Describes networks in words, and compares their outputs with another engine's.

#include <string>

#include "detectors/network/detector.hpp"

namespace sightline::network {

/// Inputs, outputs, operators, costs, what was found out about it and why.
std::string network_text(const Network& network);

/// How the detector runs the network on the CPU.
std::string plan_text(const NetworkDetector& detector);

/// Results of a network on a picture: ranges of its outputs, and its ten best candidates with what became
/// of them. The workspace keeps the input.
std::string picture_text(const NetworkDetector& detector, NetworkWorkspace& workspace, PictureView picture);

/// The network's input as an RGB picture, 3 bytes a pixel, normalisation undone.
std::vector<std::uint8_t> input_picture(const Network& network, const Tensor& input);

/// Fills the picture's input with fixed bytes, normalised: element i is (i * 2654435761 mod 2^32) >> 24.
void fill_fixed(const Network& network, Tensor& input);

struct OutputDifference {
  std::string output;
  double largest = 0;        ///< difference of two values
  double largest_value = 0;  ///< of the reference
  std::size_t values = 0;    ///< that were compared
};
/// Compares an output with a reference that holds all of its values, or every n-th from the first one on.
/// Throws Error (input) where the sizes do not fit.
OutputDifference difference_to(const std::string& name, const Tensor& output, const Tensor& reference);

}  // namespace sightline::network
