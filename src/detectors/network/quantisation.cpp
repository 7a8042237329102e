// Quantised networks in the form of QuantizeLinear and DequantizeLinear (QDQ): rounded to their levels, but
// computed with real numbers.
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

// A scale or zero point in the shape that broadcasts to the data: of all of it, or of each place of an axis.
int broadcast(Lowering& body, const Call& call, Input input) {
  const Shape& given = call.in(input).shape();
  int value = body.input(input);
  if (call.in(input).kind() == Kind::whole) value = body.add("Cast", {value}, {{"to", kOnnxReal}});
  if (given.empty()) return value;
  const Shape& data = call.in(kData).shape();
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

void refuse_blocks(const Call& call) {
  if (call.node.integer("block_size", 0) != 0) throw Problem("has scales of blocks, which are not supported");
}

}  // namespace

// The levels stay real numbers. Sums with this number have no fraction: they round halves to even.
std::optional<Graph> lower_quantize(const Call& call) {
  constexpr float kRounds = 0x1.8p23F, kLimit = 0x1p21F;
  refuse_blocks(call);
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
  refuse_blocks(call);
  Lowering body(call);
  int x = body.input(kData);
  if (call.in(kData).kind() == Kind::whole) x = body.add("Cast", {x}, {{"to", kOnnxReal}});
  if (has_zero_point(call)) x = add_rounding(body, "Sub", {x, broadcast(body, call, kZeroPoint)});
  return body.done(add_rounding(body, "Mul", {x, broadcast(body, call, kScale)}));
}

}  // namespace sightline::network
