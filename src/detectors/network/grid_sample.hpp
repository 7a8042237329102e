#pragma once
/// Samples at places that the network computes.

#include "detectors/network/operators.hpp"
#include "network/primitives/sample.hpp"

namespace sightline::network {

/// The samples of a GridSample node.
class Sampler {
 public:
  explicit Sampler(const Call& call)
      : how_{call.node.text("mode", "bilinear") == "nearest", call.node.integer("align_corners", 0) != 0,
             call.node.text("padding_mode", "zeros") == "border" ? nn::Border::edge : nn::Border::zeros},
        map_{call.in(0).dim(2), call.in(0).dim(3), call.in(0).dim(3)} {}

  bool is_nearest() const { return how_.nearest; }
  /// @param at  column and row in -1..1
  nn::Sample at(const float* at) const { return nn::sample_at(how_, at, map_); }

 private:
  nn::GridSample how_;
  nn::SampledMap map_;
};

}  // namespace sightline::network
