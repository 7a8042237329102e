#include "detectors/filterbank/network/file.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace sightline::filterbank {
namespace {

constexpr const char* kNetwork = "network";
constexpr const char* kStrides = "network.strides";
constexpr const char* kHead = "network.head";
constexpr const char* kBox = "network.box";
constexpr const char* kBoxBias = "network.box_bias";
constexpr const char* kBoxScale = "network.box_scale";
constexpr int kLargestSize = 5;

std::string array_name(std::size_t convolution, const char* what) {
  return "network." + std::to_string(convolution) + "." + what;
}

std::vector<double> read_strides(const ModelHeader& header, std::size_t count) {
  std::vector<double> strides = header.numbers(kStrides, ',');
  const auto usable = [](double stride) { return stride == 1 || stride == 2; };
  if (strides.size() != count || !std::ranges::all_of(strides, usable)) {
    header.fail(
        std::string("'") + kStrides + "' is '" + header.text(kStrides) + "'",
        "it must list a stride of 1 or 2 for each of the " + std::to_string(count) + " convolution(s)");
  }
  return strides;
}

// Its inputs and stride are those given. Nothing about its size and channels is sure but that they are small
// and belong to the arrays; what_is_wrong knows the rest.
Convolution read_convolution(const Safetensors& file, const ModelHeader& header, std::size_t i, int inputs,
                             int stride) {
  constexpr std::int64_t kAny = Safetensors::kAny;
  const std::string name = array_name(i, "weights");
  const auto weights = file.array<std::int8_t>(name, {kAny, kAny, kAny, inputs});
  const TensorShape& shape = file.at(name).shape;
  if (shape[0] < 1 || shape[0] > kMaxChannels) {
    header.fail("'" + name + "' has " + std::to_string(shape[0]) + " outputs",
                "a convolution has 1 to " + std::to_string(kMaxChannels));
  }
  if (shape[1] != shape[2] || shape[1] < 1 || shape[1] > kLargestSize) {
    header.fail("'" + name + "' has " + std::to_string(shape[1]) + "x" + std::to_string(shape[2]) + " inputs",
                "a convolution must have 1x1, 3x3 or 5x5 inputs");
  }
  const auto bias = file.array<std::int32_t>(array_name(i, "bias"), {shape[0]});
  const auto scale = file.array<float>(array_name(i, "scale"), {shape[0]});
  return {.size = static_cast<int>(shape[1]),
          .stride = stride,
          .inputs = inputs,
          .outputs = static_cast<int>(shape[0]),
          .weights = {weights.begin(), weights.end()},
          .bias = {bias.begin(), bias.end()},
          .scale = {scale.begin(), scale.end()}};
}

// Shape of the last convolution's output.
TensorShape head_shape(const Network& network) {
  const Size size = network.output_size();
  return {size.height, size.width, network.convolutions.back().outputs};
}

// Shape of all box heads together.
TensorShape boxes_shape(const Network& network) {
  TensorShape shape = head_shape(network);
  shape.insert(shape.begin(), static_cast<std::int64_t>(kBoxHeads));
  return shape;
}

// One for each head of boxes.
std::vector<double> read_box_numbers(const ModelHeader& header, const char* key) {
  std::vector<double> numbers = header.numbers(key, ',');
  if (numbers.size() != kBoxHeads) {
    header.fail(std::string("'") + key + "' is '" + header.text(key) + "'",
                "it must list " + std::to_string(kBoxHeads) + " numbers");
  }
  return numbers;
}

std::vector<NetworkHead> read_boxes(const Safetensors& file, const ModelHeader& header,
                                    const Network& network) {
  using Bias = std::numeric_limits<std::int32_t>;
  const auto weights = file.array<std::int8_t>(kBox, boxes_shape(network));
  const std::vector<double> bias = read_box_numbers(header, kBoxBias);
  const std::vector<double> scale = read_box_numbers(header, kBoxScale);
  const std::size_t size = weights.size() / kBoxHeads;
  std::vector<NetworkHead> heads;
  for (std::size_t i = 0; i < kBoxHeads; ++i) {
    if (bias[i] != std::floor(bias[i]) || bias[i] < Bias::min() || bias[i] > Bias::max()) {
      header.fail(std::string("'") + kBoxBias + "' is '" + header.text(kBoxBias) + "'",
                  "it must list whole numbers of 32 bits");
    }
    const auto own = weights.subspan(i * size, size);
    heads.push_back({{own.begin(), own.end()}, static_cast<std::int32_t>(bias[i]), scale[i]});
  }
  return heads;
}

void write_boxes(const Network& network, Safetensors& file) {
  std::vector<std::int8_t> weights;
  std::vector<double> bias, scale;
  for (const NetworkHead& head : network.box) {
    weights.insert(weights.end(), head.weights.begin(), head.weights.end());
    bias.push_back(head.bias);
    scale.push_back(head.scale);
  }
  file.set<std::int8_t>(kBox, boxes_shape(network), weights);
  file.metadata[kBoxBias] = join_numbers(bias, ',');
  file.metadata[kBoxScale] = join_numbers(scale, ',');
}

}  // namespace

bool has_network(const ModelHeader& header) {
  return header.find(kNetwork) != nullptr;
}

bool has_boxes(const Safetensors& file, const ModelHeader& header) {
  return file.contains(kBox) || header.find(kBoxBias) != nullptr || header.find(kBoxScale) != nullptr;
}

Network read_network(const Safetensors& file, const ModelHeader& header, Size window, bool with_boxes) {
  Network network;
  network.window = window;
  const auto count = static_cast<std::size_t>(header.integer(kNetwork, 1, kMaxConvolutions));
  const std::vector<double> strides = read_strides(header, count);
  for (std::size_t i = 0; i < count; ++i) {
    const int inputs = i == 0 ? 1 : network.convolutions.back().outputs;
    network.convolutions.push_back(read_convolution(file, header, i, inputs, static_cast<int>(strides[i])));
  }
  const std::string next = array_name(count, "weights");
  if (file.contains(next)) {
    header.fail("'" + next + "' is one convolution more than 'network' counts",
                "'network' is the number of its convolutions");
  }
  const auto head = file.array<std::int8_t>(kHead, head_shape(network));
  network.head.weights.assign(head.begin(), head.end());
  using Bias = std::numeric_limits<std::int32_t>;
  network.head.bias =
      static_cast<std::int32_t>(header.integer("network.head_bias", Bias::min(), Bias::max()));
  network.head.scale = header.number("network.head_scale", 1e-30, 1e30);
  if (with_boxes) network.box = read_boxes(file, header, network);
  network.first_stage_threshold = header.number("network.gate", -1e9, 1e9);
  network.weight = header.number("network.weight", 0, 1e9);
  network.limit = header.number("network.limit", 0, 1e9);
  network.provenance = header.text("network.provenance");
  if (const std::string wrong = what_is_wrong(network); !wrong.empty())
    header.fail("'network' is not usable: " + wrong, "train it again with this program");
  return network;
}

void write_network(const Network& network, Safetensors& file) {
  if (const std::string wrong = what_is_wrong(network); !wrong.empty())
    throw std::invalid_argument("a network is not usable: " + wrong);
  std::string strides;
  for (std::size_t i = 0; i < network.convolutions.size(); ++i) {
    const Convolution& c = network.convolutions[i];
    strides += (i == 0 ? "" : ",") + std::to_string(c.stride);
    file.set<std::int8_t>(array_name(i, "weights"), {c.outputs, c.size, c.size, c.inputs}, c.weights);
    file.set<std::int32_t>(array_name(i, "bias"), {c.outputs}, c.bias);
    file.set<float>(array_name(i, "scale"), {c.outputs}, c.scale);
  }
  file.set<std::int8_t>(kHead, head_shape(network), network.head.weights);
  if (!network.box.empty()) write_boxes(network, file);
  file.metadata[kNetwork] = std::to_string(network.convolutions.size());
  file.metadata[kStrides] = strides;
  file.metadata["network.head_bias"] = std::to_string(network.head.bias);
  file.metadata["network.head_scale"] = join_numbers({network.head.scale}, ',');
  file.metadata["network.gate"] = join_numbers({network.first_stage_threshold}, ',');
  file.metadata["network.weight"] = join_numbers({network.weight}, ',');
  file.metadata["network.limit"] = join_numbers({network.limit}, ',');
  file.metadata["network.provenance"] = network.provenance;
}

std::uint64_t bytes_of(const Network& network) {
  std::uint64_t bytes = network.head.weights.size() * (1 + network.box.size());
  for (const Convolution& c : network.convolutions)
    bytes += c.weights.size() + c.bias.size() * sizeof c.bias[0] + c.scale.size() * sizeof c.scale[0];
  return bytes;
}

}  // namespace sightline::filterbank
