#pragma once
/// Small networks for the tests of a model's verification network.

#include <random>

#include "detectors/filterbank/network/network.hpp"
#include "support/filterbank.hpp"

namespace sightline::test {

/// Shape of one convolution, with kernels of `size` x `size` inputs.
struct ConvolutionShape {
  int size = 3, stride = 1, outputs = 16;
};

/// A convolution of random weights.
filterbank::Convolution random_convolution(int size, int stride, int inputs, int outputs,
                                           std::mt19937_64& engine);

/// Three convolutions, of 3x3, 1x1 and 5x5 inputs, the first and the last of stride 2, and a head.
filterbank::Network random_network(Size window, unsigned seed);

/// Gives it heads of boxes, which move them by up to `largest` pixels or so.
void add_boxes(filterbank::Network& network, double largest, unsigned seed);

/// Moves and scales the head so that the logit of windows of the picture lies about 0, on both sides
/// alike, and is 1 or so where it is not near.
void centre_logit(filterbank::Network& network, GrayView picture);

}  // namespace sightline::test
