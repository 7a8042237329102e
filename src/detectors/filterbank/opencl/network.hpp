#pragma once
/// The verification network on an OpenCL device: what kernels/filterbank/network.cl is built with and reads.

#include <cstdint>
#include <string>
#include <vector>

#include "detectors/filterbank/network/network.hpp"
#include "opencl/api.hpp"

namespace sightline::filterbank {

struct KernelTuning;

/// A network's weights as the kernel takes them, and the plan of a work-group's memory. Immutable after
/// construction.
class DeviceNetwork {
 public:
  DeviceNetwork() = default;
  /// @param network       with which nothing is wrong; its window is a multiple of 4 pixels wide
  /// @param tuning        `dot` ptx, khr or integer
  /// @param local_memory  bytes that a work-group may have
  DeviceNetwork(const Network& network, const KernelTuning& tuning, std::uint64_t local_memory);

  /// Build options of network.cl, and its generated part: the convolutions.
  const std::string& options() const { return options_; }
  const std::string& generated() const { return generated_; }
  /// Global memory that a work-group needs; 0 if all pictures fit into local memory.
  std::int64_t far_bytes() const { return far_words_ * 4; }

  /// Weights of all convolutions in order, [y][word of a kernel's row][output], then of all heads.
  const std::vector<cl_int>& weights() const { return weights_; }
  const std::vector<cl_int>& biases() const { return biases_; }
  const std::vector<cl_float>& scales() const { return scales_; }

 private:
  /// Input of a convolution or head: bytes [y][x][channel], with a border of half the kernel and room for
  /// whole tiles of outputs to the right.
  struct Picture {
    int channels = 0;
    int border = 0;           ///< pixels, all round
    int pitch = 0, rows = 0;  ///< pixels, border included
    bool near = false;        ///< true if it is in local memory
    std::int64_t words = 0;
    std::int64_t offset = 0;  ///< words, in its memory
    int row_words() const { return pitch * channels / 4; }
  };

  void plan_pictures(const Network& network, int pixels);
  void place_pictures(std::int64_t local_words);
  void write_options(const Network& network, const KernelTuning& tuning);
  void add_convolution(const Convolution& convolution, std::size_t index, Size output);
  void add_weights(const Convolution& convolution);
  void add_head(const NetworkHead& head);

  std::vector<Picture> pictures_;  ///< one more than there are convolutions
  std::int64_t near_words_ = 0, far_words_ = 0;
  std::string options_, generated_, calls_;
  std::vector<cl_int> weights_, biases_;
  std::vector<cl_float> scales_;
};

}  // namespace sightline::filterbank
