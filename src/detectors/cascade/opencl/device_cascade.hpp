#pragma once
/// A cascade as the kernels take it; kernels/cascade/nodes.clh has the structures that these arrays mirror.

#include <cstddef>
#include <string>
#include <vector>

#include "detectors/cascade/layout.hpp"
#include "detectors/cascade/model.hpp"
#include "opencl/api.hpp"

namespace sightline::cascade {

inline constexpr int kSteps = 2;  ///< between windows, in pixels at most, which nodes have offsets for

/// A cascade as the kernels take it: arrays of the structures in kernels/cascade/nodes.clh.
struct DeviceCascade {
  enum class Kind { haar, haar_rects, lbp };
  Kind kind = Kind::haar;
  bool fixed_point = true;  ///< sums are whole multiples of 2^-fraction_bits; else double
  int fraction_bits = 0;
  std::vector<cl_int> nodes;    ///< nodes of step 1, then of step 2
  std::vector<cl_int> corners;  ///< Haar: pairs of offset and weight, likewise
  std::vector<cl_int> roots;
  std::vector<cl_long> stages;  ///< pairs of first tree and trees (a half each), and threshold
  std::vector<cl_long> leaves;  ///< fixed point, or the bits of doubles

  /// A stage's sum as the device gives it.
  double sum_of(cl_long bits) const;
};

/// The first stages for constant memory, see PackedNode in kernels/cascade/packed.clh.
struct PackedStages {
  int stages = 0;
  std::vector<std::byte> nodes;
  std::vector<cl_ushort> trees;  ///< pairs of first node and first leaf
};
PackedStages pack_stages(const Model& model);

/// The first stages of a Haar cascade as functions in OpenCL C, for integrals in local memory with the given
/// layout: up to `most` stages with small trees and moderate code size. None for cascades with inexact sums.
struct UnrolledStages {
  int stages = 0;
  std::string source;  ///< defines unrolled_sum of kernels/cascade/scan.cl
};
UnrolledStages unroll_stages(const Model& model, const Layout& layout, int most);

/// Distances are in integrals that lie as the layout says; it may be that of a tile.
DeviceCascade pack_cascade(const Model& model, const Layout& layout);

}  // namespace sightline::cascade
