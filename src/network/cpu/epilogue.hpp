#pragma once
/// Common parts of the kernels on rows of feature maps. Kernels are SIMD, dispatched at run time. They give
/// the same bits as the scalar reference on processors with fused multiply-adds, and are not for others.
///
/// Maps lie in blocks of 16 channels, whose values at one pixel are 16 floats in a row. A row of a block is
/// `width` such groups, one behind the other.

#include <cstddef>
#include <cstdint>

namespace sightline::nn {

inline constexpr std::ptrdiff_t kBlock = 16;  ///< channels

/// Whether the processor's instruction set in use has fused multiply-adds.
bool has_fused_multiply_add();

/// A function of one value, as the ONNX operator of that name defines it, or a scaled one.
struct Activation {
  enum class Kind : std::uint8_t {
    none,
    relu,
    leaky_relu,
    clip,
    sigmoid,
    silu,
    hard_sigmoid,
    hard_swish,
    scaled,       ///< x * a + b, each rounded
    scaled_relu,  ///< relu(x) * a + b
  };
  Kind kind = Kind::none;
  float a = 0, b = 0;  ///< slope; limits, of which b wins; alpha and beta; scale and offset

  bool operator==(const Activation&) const = default;
};

/// Operations on a block's row after its sums.
struct Finish {
  Activation activation;
  bool adds_first = false;  ///< whether `added` comes before the activation
};
/// Finishes a block's row in place. @param added  null: nothing is added
void finish_row(float* out, const float* added, int pixels, const Finish& finish);

}  // namespace sightline::nn
