#pragma once
/// A small convolutional network that verifies windows: what the classifier took for an object,
/// judged by its pixels. In integers up to its last sum, so that it answers alike on every processor.
///
/// Input: one window of gray pixels `p`, n of them. They are made independent of brightness and contrast, in
/// steps of 1/32 of their mean deviation: with `mean = floor((sum p + n / 2) / n)`,
/// `deviation = max(sum |p - mean|, 4 n)` and `gain = floor(32 * 1024 * n / deviation)`, a pixel becomes
/// `clamp(floor(((p - mean) * gain + 512) / 1024), -127, 127)`.
///
/// A convolution: `clamp(round((sum of weight times input + bias) * scale), 0, 255)` for each of its outputs,
/// the sum in int32, the product in float32, rounded half to even; the clamp is the rectifier. Its windows of
/// `size` x `size` inputs are centred on every `stride`th input of a row and column, from the first on;
/// outside the picture the inputs are 0. So a side of n inputs gives ceil(n / stride) outputs.
///
/// A head: `value = (sum of weight times output of the last convolution + bias) * scale`, the first sum in
/// int32. The first head's value is the logit: the logarithm of the odds that the window holds an object, as
/// far as it was trained for that. Three more, where there are any, say where the object's box lies in the
/// window.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "image/view.hpp"

namespace sightline::filterbank {

/// Values lie [y][x][channel]. Immutable once loaded.
struct Convolution {
  int size = 3;     ///< inputs a side: 1, 3 or 5
  int stride = 1;   ///< 1 or 2
  int inputs = 1;   ///< channels: 1 in the first convolution of a network, later a multiple of kChannelUnit
  int outputs = 0;  ///< channels, a multiple of kChannelUnit
  std::vector<std::int8_t> weights;  ///< [output][y][x][input], each within +-kMaxNetworkWeight
  std::vector<std::int32_t> bias;    ///< [output]
  std::vector<float> scale;          ///< [output], positive

  Size output_size(Size input) const {
    return {(input.width + stride - 1) / stride, (input.height + stride - 1) / stride};
  }
  friend bool operator==(const Convolution&, const Convolution&) = default;
};

/// Channels come in whole vectors of the widest instruction set, and few enough to bound the work.
inline constexpr int kChannelUnit = 16;
inline constexpr int kMaxChannels = 256;
inline constexpr int kMaxConvolutions = 16;
/// Two products of a weight and an input fit into 16 signed bits.
inline constexpr int kMaxNetworkWeight = 64;

struct NetworkHead {
  std::vector<std::int8_t> weights;  ///< [y][x][channel] of the last convolution, within +-kMaxNetworkWeight
  std::int32_t bias = 0;
  double scale = 1;  ///< positive
  /// @param sum  of weights times outputs
  double value(std::int32_t sum) const { return (static_cast<double>(sum) + bias) * scale; }
  friend bool operator==(const NetworkHead&, const NetworkHead&) = default;
};

/// Heads that say where the object's box lies: how far its middle (left to right), its top and its bottom are
/// from where the window has them, in pixels of the window.
inline constexpr std::size_t kBoxHeads = 3;

/// Output of a network for a window: its heads' sums without biases; 0 for missing heads.
struct NetworkSums {
  std::int32_t logit = 0;
  std::array<std::int32_t, kBoxHeads> box{};
  friend bool operator==(const NetworkSums&, const NetworkSums&) = default;
};

/// Immutable once loaded.
struct Network {
  Size window;  ///< pixels of its input
  std::vector<Convolution> convolutions;
  NetworkHead head;              ///< the logit
  std::vector<NetworkHead> box;  ///< box heads: none, or kBoxHeads

  /// Windows whose first score is below this are not looked at, and rejected.
  double first_stage_threshold = 0;
  /// A window's final score: `score + weight * clamp(logit, -limit, limit)`.
  double weight = 0;
  double limit = 0;

  std::string provenance{};  ///< JSON text: how it was trained

  bool empty() const { return convolutions.empty(); }
  /// Size of the last convolution's output, pixels.
  Size output_size() const;
  /// Multiply-adds of one window's convolutions and heads.
  double multiply_adds() const;
  double final_score(double score, std::int32_t logit_sum) const {
    const double logit = head.value(logit_sum);
    return score + weight * (logit < -limit ? -limit : logit > limit ? limit : logit);
  }
  /// Score of a window that the first-stage threshold rejects: below all passing windows.
  double rejected_score(double score) const { return score - weight * limit; }
  friend bool operator==(const Network&, const Network&) = default;
};

/// Description of an invalid network: inconsistent shapes, weights or numbers out of range, sums that may
/// exceed 32 bits. Empty if it is valid.
std::string what_is_wrong(const Network& network);

/// A network's weights, packed for SIMD. Immutable after construction.
class PackedNetwork {
 public:
  PackedNetwork() = default;
  /// Packs a valid network.
  explicit PackedNetwork(const Network& network);

  Size window() const { return window_; }
  /// A word of four weights for each of 16 outputs: a cache line and the widest vector.
  struct alignas(64) Weights {
    std::array<std::int32_t, kChannelUnit> words{};
  };
  struct Layer {
    int size = 0, stride = 0, outputs = 0;
    int row_words = 0;  ///< words per row of its kernel: size * inputs / 4, rounded up
    /// [16 outputs][y][word of row]; of a word that is not whole, the rest is 0
    std::vector<Weights> weights;
    std::vector<std::int32_t> bias;  ///< correction for the first layer's input offset, modulo 2^32
    std::vector<float> scale;
  };
  std::span<const Layer> layers() const { return layers_; }

  /// Input of a layer in scratch memory: [y][x][channel], with a border of half its kernel. Layers alternate
  /// between two memories.
  struct Picture {
    Size size;  ///< without its border
    int channels = 0;
    int border = 0;
    std::ptrdiff_t pitch = 0;  ///< bytes from row to row
    std::size_t offset = 0;    ///< offset of its border's first row in scratch, bytes; a multiple of 64
    std::ptrdiff_t row_bytes() const { return static_cast<std::ptrdiff_t>(size.width) * channels; }
    std::ptrdiff_t border_bytes() const { return static_cast<std::ptrdiff_t>(border) * channels; }
  };
  /// One picture more than layers: the last is the heads' input.
  std::span<const Picture> pictures() const { return pictures_; }

  /// The logit's, then those of boxes: 1 or 1 + kBoxHeads.
  std::size_t heads() const { return head_bytes_ == 0 ? 0 : heads_.size() / head_bytes_; }
  /// Its weights, filled up with zeros to a multiple of kPictureUnit.
  std::span<const std::int8_t> head(std::size_t index) const {
    return std::span(heads_).subspan(index * head_bytes_, head_bytes_);
  }
  /// Bytes of scratch that `run_network` needs.
  std::size_t scratch_bytes() const { return scratch_bytes_; }

  /// The first convolution's inputs lie in memory with this added, so that they are unsigned like the others.
  static constexpr int kPixelOffset = 128;
  /// Kernels read and write whole vectors.
  static constexpr std::ptrdiff_t kPictureUnit = 64;
  /// Bytes between the ends of the window's rows, border included. A kernel's row is read in whole words.
  static constexpr std::ptrdiff_t kWindowGap = 16;

 private:
  Size window_;
  std::vector<Layer> layers_;
  std::vector<Picture> pictures_;
  std::size_t head_bytes_ = 0;  ///< bytes of one head
  std::vector<std::int8_t> heads_;
  std::size_t scratch_bytes_ = 0;
};

/// The sums of one window, whose size is the network's. `scratch` has network.scratch_bytes() bytes, aligned
/// to 64, whose contents do not matter. SIMD, dispatched at run time. Thread-safety: a pure function of its
/// arguments.
NetworkSums run_network(const PackedNetwork& network, GrayView window, std::uint8_t* scratch);

namespace reference {
/// The same in plain scalar code, straight from the network: what `run_network` equals bit for bit.
NetworkSums run_network(const Network& network, GrayView window);
}  // namespace reference

}  // namespace sightline::filterbank
