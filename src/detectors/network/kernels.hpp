#pragma once
/// The row kernels of src/network/cpu that this engine runs.

#include "network/cpu/depthwise.hpp"
#include "network/cpu/product.hpp"
#include "network/cpu/reduce.hpp"
#include "network/cpu/rows.hpp"
#include "network/cpu/sample.hpp"
#include "network/cpu/window.hpp"

namespace sightline::network {

using nn::activate_row;
using nn::Activation;
using nn::Binary;
using nn::binary_row;
using nn::ConvolutionRow;
using nn::convolve_row;
using nn::depthwise_row;
using nn::DepthwiseRow;
using nn::Finish;
using nn::has_fused_multiply_add;
using nn::kBlock;

}  // namespace sightline::network
