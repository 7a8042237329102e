// Quantised networks, rounded to their levels, but computed with real numbers: QuantizeLinear and
// DequantizeLinear (format QDQ), and operators of levels as these two around others (format QOperator).
#include <algorithm>
#include <limits>

#include "detectors/network/lowering.hpp"

namespace sightline::network {
namespace {

// Numbers of ONNX's types.
constexpr std::int64_t kOnnxReal = 1, kOnnxLevelsFrom0 = 2, kOnnxLevelsAround0 = 3;

enum Input : std::size_t { kData, kScale, kZeroPoint };

// Adds nodes that leave their first input what it is, but for rounding.
int add_rounding(Lowering& body, std::string_view op, std::vector<int> inputs) {
  return body.add(op, std::move(inputs), {{std::string(kQuantises), std::int64_t{1}}});
}

int number(Lowering& body, float value) {
  return body.constant(Tensor::scalar(value));
}

// Scales or zero points of blocks along an axis, repeated for each place.
int spread_blocks(Lowering& body, const Call& call, const Shape& given, int value) {
  constexpr std::int64_t kMostPlaces = 1 << 24;
  const Shape& data = call.in(kData).shape();
  const std::int64_t size = call.node.integer("block_size", 0);
  const std::size_t axis = Call::axis(call.node.integer("axis", 1), data.size());
  Shape blocks = data;
  if (size > 0) blocks[axis] = (data[axis] + size - 1) / size;
  if (size < 1 || given != blocks || data[axis] > kMostPlaces)
    throw Problem("has scales or zero points of " + text_of(given) + ", which do not fit blocks of " +
                  std::to_string(size) + " in " + text_of(data));
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < data[axis]; ++i) numbers.push_back(i / size);
  return body.add("Gather", {value, body.wholes(numbers)}, {{"axis", static_cast<std::int64_t>(axis)}});
}

// A scale or zero point in the shape that broadcasts to the data: of all of it, or of each place of an axis.
int broadcast(Lowering& body, const Call& call, Input input) {
  const Shape& given = call.in(input).shape();
  int value = body.input(input);
  if (call.in(input).kind() == Kind::whole) value = body.add("Cast", {value}, {{"to", kOnnxReal}});
  if (given.empty()) return value;
  const Shape& data = call.in(kData).shape();
  if (call.node.integer("block_size", 0) != 0) return spread_blocks(body, call, given, value);
  Shape shape(given == Shape{1} ? 0 : data.size(), 1);
  if (!shape.empty()) {
    const std::size_t axis = Call::axis(call.node.integer("axis", 1), data.size());
    if (given != Shape{data[axis]})
      throw Problem("has scales or zero points of " + text_of(given) + ", which do not fit " + text_of(data) +
                    " along axis " + std::to_string(axis));
    shape[axis] = data[axis];
  }
  return body.add("Reshape", {value, body.wholes(shape)});
}

bool has_zero_point(const Call& call) {
  if (!call.has(kZeroPoint)) return false;
  const Tensor& point = call.in(kZeroPoint);
  if (!point.has_data()) return true;
  for (std::int64_t i = 0; i < point.size(); ++i) {
    if (point.as<float>(i) != 0) return true;
  }
  return false;
}

struct Levels {
  float lowest, highest;
};
Levels range_of_levels(const Call& call) {
  const std::int64_t type = call.node.integer(kLevelType, kOnnxLevelsFrom0);
  if (type != kOnnxLevelsFrom0 && type != kOnnxLevelsAround0)
    throw Problem("quantises to the type " + std::to_string(type) +
                  ", which is not supported; supported are 8 bits");
  return type == kOnnxLevelsFrom0 ? Levels{0, 255} : Levels{-128, 127};
}

// The levels stay real numbers. Sums with this number have no fraction: they round halves to even.
std::optional<Graph> lower_quantize(const Call& call) {
  constexpr float kRounds = 0x1.8p23F, kLimit = 0x1p21F;
  const Levels levels = range_of_levels(call);
  Lowering body(call);
  int x = add_rounding(body, "Div", {body.input(kData), broadcast(body, call, kScale)});
  x = add_rounding(body, "Clip", {x, number(body, -kLimit), number(body, kLimit)});
  x = add_rounding(body, "Add", {x, number(body, kRounds)});
  x = add_rounding(body, "Sub", {x, number(body, kRounds)});
  if (has_zero_point(call)) x = add_rounding(body, "Add", {x, broadcast(body, call, kZeroPoint)});
  return body.done(
      add_rounding(body, "Clip", {x, number(body, levels.lowest), number(body, levels.highest)}));
}

std::optional<Graph> lower_dequantize(const Call& call) {
  Lowering body(call);
  int x = body.input(kData);
  if (call.in(kData).kind() == Kind::whole) x = body.add("Cast", {x}, {{"to", kOnnxReal}});
  if (has_zero_point(call)) x = add_rounding(body, "Sub", {x, broadcast(body, call, kZeroPoint)});
  return body.done(add_rounding(body, "Mul", {x, broadcast(body, call, kScale)}));
}

// The numbers that levels stand for: three inputs from this one on are levels, scale and zero point.
int dequantised(Lowering& body, std::size_t first, std::int64_t axis = 1) {
  return body.add("DequantizeLinear", {body.input(first), body.input(first + 1), body.input(first + 2)},
                  {{"axis", axis}});
}

// The node's result in levels: two inputs from this one on are scale and zero point.
Graph quantised(Lowering& body, const Call& call, int value, std::size_t first) {
  return body.done(body.add("QuantizeLinear", {value, body.input(first), body.input(first + 1)},
                            {{std::string(kLevelType), call.node.integer(kLevelType, kOnnxLevelsFrom0)}}));
}

// The operator of real numbers that one of levels stands for.
std::string real_operator(const Call& call) {
  return call.node.op.substr(std::string_view("QLinear").size());
}

std::optional<Graph> lower_product(const Call& call) {
  Lowering body(call);
  const bool is_convolution = call.node.op == "QLinearConv";
  std::vector<int> inputs{dequantised(body, 0), dequantised(body, 3, is_convolution ? 0 : -1)};
  if (call.has(8)) {
    const int scales = body.add("Mul", {body.input(1), body.input(4)});
    inputs.push_back(body.add("Mul", {body.add("Cast", {body.input(8)}, {{"to", kOnnxReal}}), scales}));
  }
  return quantised(body, call, body.add(real_operator(call), inputs, call.node.attributes), 6);
}

std::optional<Graph> lower_pair(const Call& call) {
  Lowering body(call);
  return quantised(body, call, body.add(real_operator(call), {dequantised(body, 0), dequantised(body, 3)}),
                   6);
}

std::optional<Graph> lower_single(const Call& call) {
  if (call.node.integer("channels_last", 0) != 0) throw Problem("has channels last, which is not supported");
  Lowering body(call);
  return quantised(body, call, body.add(real_operator(call), {dequantised(body, 0)}, call.node.attributes),
                   3);
}

std::optional<Graph> lower_concat(const Call& call) {
  if (call.inputs.size() % 3 != 2) throw Problem("has " + std::to_string(call.inputs.size()) + " inputs");
  Lowering body(call);
  std::vector<int> parts;
  for (std::size_t i = 2; i < call.inputs.size(); i += 3) parts.push_back(dequantised(body, i));
  return quantised(body, call, body.add("Concat", parts, call.node.attributes), 0);
}

constexpr std::size_t kMostJoined = 3 * 64 + 2;

constexpr Operator kQuantised[] = {
    {"DequantizeLinear", 2, 3, 1, refuse_unknown_sizes, nullptr, lower_dequantize},
    {"QLinearAdd", 7, 8, 1, refuse_unknown_sizes, nullptr, lower_pair},
    {"QLinearAveragePool", 4, 5, 1, refuse_unknown_sizes, nullptr, lower_single},
    {"QLinearConcat", 5, kMostJoined, 1, refuse_unknown_sizes, nullptr, lower_concat},
    {"QLinearConv", 8, 9, 1, refuse_unknown_sizes, nullptr, lower_product},
    {"QLinearGlobalAveragePool", 4, 5, 1, refuse_unknown_sizes, nullptr, lower_single},
    {"QLinearLeakyRelu", 4, 5, 1, refuse_unknown_sizes, nullptr, lower_single},
    {"QLinearMatMul", 8, 8, 1, refuse_unknown_sizes, nullptr, lower_product},
    {"QLinearMul", 7, 8, 1, refuse_unknown_sizes, nullptr, lower_pair},
    {"QLinearSigmoid", 4, 5, 1, refuse_unknown_sizes, nullptr, lower_single},
    {"QuantizeLinear", 2, 3, 1, refuse_unknown_sizes, nullptr, lower_quantize},
};

}  // namespace

std::span<const Operator> quantised_operators() {
  return kQuantised;
}

}  // namespace sightline::network
