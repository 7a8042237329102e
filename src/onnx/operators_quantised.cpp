// Quantised networks, read literally: QuantizeLinear and DequantizeLinear (format QDQ), and operators of
// levels as these two around others (format QOperator).
#include <algorithm>
#include <limits>

#include "onnx/operators.hpp"

namespace sightline::nn {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";

// How levels stand for numbers: inputs of the node, each of all data, of each place of an axis, or of blocks.
struct Levels {
  int scale = kNone, zero = kNone;  // zero: may be left out
  std::int64_t axis = 1, block = 0;
};
Levels levels_at(const Lowering& c, std::size_t scale, std::int64_t axis = 1) {
  return {c.in(scale), c.has(scale + 1) ? c.in(scale + 1) : kNone, axis, 0};
}
Levels levels_of(const Lowering& c) {
  Levels levels = levels_at(c, 1, c.node.integer("axis", 1));
  levels.block = c.node.integer("block_size", 0);
  return levels;
}

// A scale or zero point as f32, in a shape that broadcasts to the data.
int spread(Lowering& c, const Levels& levels, int given, const Shape& data) {
  const int value = c.cast(given, DataType::f32);
  const Shape shape = c.known_shape(given);
  if (elements_of(shape) == 1 && shape.size() <= 1 && levels.block == 0) return c.element(value);
  const std::size_t axis = Lowering::axis(levels.axis, data.size());
  const std::string place = text_of(shape) + ", which do not fit ";
  if (levels.block == 0) {
    if (shape != Shape{data[axis]})
      throw Problem("has scales or zero points of " + place + text_of(data) + " along axis " +
                    std::to_string(axis));
    return c.along(value, axis, data.size());
  }
  Shape blocks = data;
  if (levels.block > 0) blocks[axis] = (data[axis] + levels.block - 1) / levels.block;
  if (levels.block < 1 || shape != blocks)
    throw Problem("has scales or zero points of " + place + "blocks of " + std::to_string(levels.block) +
                  " in " + text_of(data));
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < data[axis]; ++i) numbers.push_back(i / levels.block);
  return c.add(Gather{By::index, axis, 0}, {value, c.vector(numbers)});
}

int dequantised(Lowering& c, int x, const Levels& levels) {
  const Shape shape = c.known_shape(x);
  int made = c.cast(x, DataType::f32);
  if (levels.zero != kNone) made = c.map(Function::subtract, {made, spread(c, levels, levels.zero, shape)});
  return c.map(Function::multiply, {made, spread(c, levels, levels.scale, shape)});
}

// Levels of the zero point's type, or else of the attribute's.
int quantised(Lowering& c, int x, const Levels& levels) {
  const Shape shape = c.known_shape(x);
  const std::int64_t given = c.node.integer("output_dtype", kOnnxUnknown);
  const DataType type = levels.zero != kNone ? c.data(levels.zero)
                        : given == kOnnxInt8 ? DataType::i8
                                             : DataType::u8;
  if ((type != DataType::u8 && type != DataType::i8) || (levels.zero == kNone && given > kOnnxInt8))
    throw Problem("quantises to the type " +
                  (given > 0 ? std::to_string(given) : std::string(text_of(type))) +
                  ", which is not supported; supported are 8 bits");
  int made = c.map(Function::divide, {x, spread(c, levels, levels.scale, shape)});
  made = c.map(Function::round, {made});
  if (levels.zero != kNone) made = c.map(Function::add, {made, spread(c, levels, levels.zero, shape)});
  const auto [low, high] = type == DataType::u8 ? std::pair{0.0F, 255.0F} : std::pair{-128.0F, 127.0F};
  return c.cast(c.map(Function::clip, {made}, {low, high}), type);
}

// The operator of numbers that one of levels stands for.
std::string_view real_operator(const Lowering& c) {
  return std::string_view(c.node.op).substr(std::string_view("QLinear").size());
}

// Of numbers, whose levels are in three inputs from this one on.
int input_at(Lowering& c, std::size_t i, std::int64_t axis = 1) {
  return dequantised(c, c.in(i), levels_at(c, i + 1, axis));
}

Made multiply_levels(Lowering& c, std::int64_t axis_of_weights) {
  std::vector<int> inputs{input_at(c, 0), input_at(c, 3, axis_of_weights)};
  if (c.has(8)) {
    const int scales = c.map(Function::multiply, {c.element(c.in(1)), c.in(4)});
    inputs.push_back(c.map(Function::multiply, {c.cast(c.in(8), DataType::f32), scales}));
  }
  return quantised(c, c.run(real_operator(c), inputs), levels_at(c, 6));
}

Made pair_of_levels(Lowering& c) {
  return quantised(c, c.run(real_operator(c), {input_at(c, 0), input_at(c, 3)}), levels_at(c, 6));
}

Made single_levels(Lowering& c) {
  if (c.is_set("channels_last")) throw Problem("has channels last, which is not supported");
  return quantised(c, c.run(real_operator(c), {input_at(c, 0)}), levels_at(c, 3));
}

Made concat_levels(Lowering& c) {
  if (c.count() % 3 != 2) throw Problem("has " + std::to_string(c.count()) + " inputs");
  std::vector<int> parts;
  for (std::size_t i = 2; i < c.count(); i += 3) parts.push_back(input_at(c, i));
  return quantised(c, c.run("Concat", parts), levels_at(c, 0));
}

constexpr std::size_t kMostJoined = 3 * 64 + 2;

constexpr OnnxOperator kQuantised[] = {
    {"DequantizeLinear", 2, 3, [](Lowering& c) -> Made { return dequantised(c, c.in(0), levels_of(c)); }},
    {"QLinearAdd", 7, 8, pair_of_levels, 1, kMicrosoft},
    {"QLinearAveragePool", 4, 5, single_levels, 1, kMicrosoft},
    {"QLinearConcat", 5, kMostJoined, concat_levels, 1, kMicrosoft},
    {"QLinearConv", 8, 9, [](Lowering& c) { return multiply_levels(c, 0); }},
    {"QLinearGlobalAveragePool", 4, 5, single_levels, 1, kMicrosoft},
    {"QLinearLeakyRelu", 4, 5, single_levels, 1, kMicrosoft},
    {"QLinearMatMul", 8, 8, [](Lowering& c) { return multiply_levels(c, -1); }},
    {"QLinearMul", 7, 8, pair_of_levels, 1, kMicrosoft},
    {"QLinearSigmoid", 4, 5, single_levels, 1, kMicrosoft},
    {"QuantizeLinear", 2, 3, [](Lowering& c) -> Made { return quantised(c, c.in(0), levels_of(c)); }},
};

}  // namespace

std::span<const OnnxOperator> quantised_operators() {
  return kQuantised;
}

}  // namespace sightline::nn
