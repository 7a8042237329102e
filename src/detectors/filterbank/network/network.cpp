#include "detectors/filterbank/network/network.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace sightline::filterbank {
namespace {

constexpr int kMaxWindowSide = 512;
/// Inputs as the first convolution sees them lie in -127 to 127, those of the others in 0 to 255.
constexpr int kMaxPixel = 127;
constexpr int kMaxValue = 255;

bool in_range(std::span<const std::int8_t> weights) {
  return std::all_of(weights.begin(), weights.end(), [](int w) { return std::abs(w) <= kMaxNetworkWeight; });
}

// Whether the bias plus any of the products with inputs of low to high stays within 32 bits.
bool fits(std::span<const std::int8_t> weights, std::int32_t bias, int low, int high) {
  std::int64_t least = bias;
  std::int64_t most = bias;
  for (const int w : weights) {
    least += std::min(w * low, w * high);
    most += std::max(w * low, w * high);
  }
  return least >= std::numeric_limits<std::int32_t>::min() &&
         most <= std::numeric_limits<std::int32_t>::max();
}

std::size_t kernel_weights(const Convolution& c) {
  return static_cast<std::size_t>(c.size) * c.size * c.inputs;
}

std::string wrong_shape(const Convolution& c, int inputs) {
  if (c.size != 1 && c.size != 3 && c.size != 5) return "a size of " + std::to_string(c.size);
  if (c.stride != 1 && c.stride != 2) return "a stride of " + std::to_string(c.stride);
  if (c.inputs != inputs) return std::to_string(c.inputs) + " inputs rather than " + std::to_string(inputs);
  if (c.outputs <= 0 || c.outputs > kMaxChannels || c.outputs % kChannelUnit != 0) {
    return std::to_string(c.outputs) + " outputs rather than a multiple of " + std::to_string(kChannelUnit) +
           " up to " + std::to_string(kMaxChannels);
  }
  const auto outputs = static_cast<std::size_t>(c.outputs);
  if (c.weights.size() != outputs * kernel_weights(c)) {
    return std::to_string(c.weights.size()) + " weights rather than " +
           std::to_string(outputs * kernel_weights(c));
  }
  if (c.bias.size() != outputs) return std::to_string(c.bias.size()) + " biases";
  if (c.scale.size() != outputs) return std::to_string(c.scale.size()) + " scales";
  return "";
}

// Checks the numbers of a convolution with a valid shape.
std::string wrong_numbers(const Convolution& c, bool first) {
  if (!in_range(c.weights)) return "a weight outside +-" + std::to_string(kMaxNetworkWeight);
  for (int output = 0; output < c.outputs; ++output) {
    if (!(c.scale[output] > 0) || !std::isfinite(c.scale[output]))
      return "a scale that is not positive and finite, that of output " + std::to_string(output);
    const std::size_t count = kernel_weights(c);
    const std::span<const std::int8_t> weights(c.weights.data() + output * count, count);
    if (!fits(weights, c.bias[output], first ? -kMaxPixel : 0, first ? kMaxPixel : kMaxValue))
      return "sums that may not fit into 32 bits, those of output " + std::to_string(output);
  }
  return "";
}

std::string wrong_decision(const Network& n) {
  if (std::isnan(n.first_stage_threshold)) return "its first-stage threshold is not a number";
  if (!(n.weight >= 0) || !std::isfinite(n.weight)) return "its weight is not a number from 0 on";
  if (!(n.limit >= 0) || !std::isfinite(n.limit)) return "its limit is not a number from 0 on";
  return "";
}

// @param name  of the head, as complaints have it
std::string wrong_head(const std::string& name, const NetworkHead& head, std::size_t weights) {
  if (head.weights.size() != weights) {
    return name + " has " + std::to_string(head.weights.size()) + " weights rather than " +
           std::to_string(weights);
  }
  if (!in_range(head.weights)) return name + " has a weight outside +-" + std::to_string(kMaxNetworkWeight);
  if (!fits(head.weights, head.bias, 0, kMaxValue)) return name + " has sums that may not fit into 32 bits";
  if (!(head.scale > 0) || !std::isfinite(head.scale))
    return name + " has a scale that is not positive and finite";
  return "";
}

std::string wrong_heads(const Network& n, std::size_t weights) {
  std::string wrong = wrong_head("its head", n.head, weights);
  if (wrong.empty() && !n.box.empty() && n.box.size() != kBoxHeads)
    wrong = "it has " + std::to_string(n.box.size()) + " heads of boxes rather than none or " +
            std::to_string(kBoxHeads);
  for (std::size_t i = 0; wrong.empty() && i < n.box.size(); ++i)
    wrong = wrong_head("its head " + std::to_string(i) + " of boxes", n.box[i], weights);
  return wrong;
}

}  // namespace

Size Network::output_size() const {
  Size size = window;
  for (const Convolution& convolution : convolutions) size = convolution.output_size(size);
  return size;
}

double Network::multiply_adds() const {
  Size size = window;
  double sum = static_cast<double>(head.weights.size()) * static_cast<double>(1 + box.size());
  for (const Convolution& convolution : convolutions) {
    size = convolution.output_size(size);
    sum += static_cast<double>(size.width) * size.height * static_cast<double>(convolution.weights.size());
  }
  return sum;
}

std::string what_is_wrong(const Network& network) {
  if (network.empty())
    return network.head.weights.empty() ? wrong_decision(network) : "it has a head but no convolution";
  if (network.convolutions.size() > kMaxConvolutions) {
    return "it has " + std::to_string(network.convolutions.size()) + " convolutions, more than " +
           std::to_string(kMaxConvolutions);
  }
  Size size = network.window;
  if (std::min(size.width, size.height) < 1 || std::max(size.width, size.height) > kMaxWindowSide) {
    return "its window is " + std::to_string(size.width) + "x" + std::to_string(size.height) +
           " pixels rather than 1 to " + std::to_string(kMaxWindowSide) + " a side";
  }
  int channels = 1;
  for (std::size_t i = 0; i < network.convolutions.size(); ++i) {
    const Convolution& c = network.convolutions[i];
    std::string wrong = wrong_shape(c, channels);
    if (wrong.empty()) wrong = wrong_numbers(c, i == 0);
    if (!wrong.empty()) return "its convolution " + std::to_string(i) + " has " + wrong;
    size = c.output_size(size);
    channels = c.outputs;
  }
  const std::size_t outputs = static_cast<std::size_t>(size.width) * size.height * channels;
  const std::string wrong = wrong_heads(network, outputs);
  return wrong.empty() ? wrong_decision(network) : wrong;
}

namespace {

PackedNetwork::Layer pack(const Convolution& c, bool first) {
  PackedNetwork::Layer layer{c.size, c.stride, c.outputs, (c.size * c.inputs + 3) / 4, {}, c.bias, c.scale};
  const int group_words = c.size * layer.row_words;
  layer.weights.resize(static_cast<std::size_t>(c.outputs) / kChannelUnit * group_words);
  const std::int8_t* weight = c.weights.data();
  for (int output = 0; output < c.outputs; ++output) {
    std::int64_t sum = 0;
    for (int y = 0; y < c.size; ++y) {
      PackedNetwork::Weights* row =
          &layer.weights[static_cast<std::size_t>(output) / kChannelUnit * group_words + y * layer.row_words];
      for (int i = 0; i < c.size * c.inputs; ++i, ++weight) {
        std::int32_t& word = row[i / 4].words[output % kChannelUnit];
        const std::uint32_t byte = static_cast<std::uint8_t>(*weight);
        word = static_cast<std::int32_t>(static_cast<std::uint32_t>(word) | byte << (8 * (i % 4)));
        sum += *weight;
      }
    }
    if (first)
      layer.bias[output] = static_cast<std::int32_t>(layer.bias[output] - PackedNetwork::kPixelOffset * sum);
  }
  return layer;
}

std::size_t round_up(std::size_t bytes) {
  return (bytes + PackedNetwork::kPictureUnit - 1) / PackedNetwork::kPictureUnit *
         PackedNetwork::kPictureUnit;
}

// Kernels may write less than a unit past the last row, and a gap to the right of the window's.
std::size_t scratch_of(const PackedNetwork::Picture& picture) {
  return round_up(static_cast<std::size_t>(picture.pitch) * (picture.size.height + 2 * picture.border) +
                  PackedNetwork::kPictureUnit + PackedNetwork::kWindowGap);
}

}  // namespace

PackedNetwork::PackedNetwork(const Network& network) : window_(network.window) {
  if (network.empty()) return;
  Size size = network.window;
  for (std::size_t i = 0; i < network.convolutions.size(); ++i) {
    const Convolution& c = network.convolutions[i];
    layers_.push_back(pack(c, i == 0));
    const int border = c.size / 2;
    const std::ptrdiff_t pitch =
        i == 0 ? size.width + kWindowGap : static_cast<std::ptrdiff_t>(size.width + 2 * border) * c.inputs;
    pictures_.push_back({size, c.inputs, border, pitch});
    size = c.output_size(size);
  }
  const int channels = network.convolutions.back().outputs;
  pictures_.push_back({size, channels, 0, static_cast<std::ptrdiff_t>(size.width) * channels});

  std::size_t memories[2] = {0, 0};
  for (std::size_t i = 0; i < pictures_.size(); ++i)
    memories[i % 2] = std::max(memories[i % 2], scratch_of(pictures_[i]));
  for (std::size_t i = 1; i < pictures_.size(); i += 2) pictures_[i].offset = memories[0];
  scratch_bytes_ = memories[0] + memories[1];

  head_bytes_ = round_up(network.head.weights.size());
  const auto add = [&](const NetworkHead& head) {
    heads_.insert(heads_.end(), head.weights.begin(), head.weights.end());
    heads_.resize(round_up(heads_.size()), 0);
  };
  add(network.head);
  for (const NetworkHead& head : network.box) add(head);
}

}  // namespace sightline::filterbank
