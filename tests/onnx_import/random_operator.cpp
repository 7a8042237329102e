#include "onnx_import/random_operator.hpp"

#include <algorithm>
#include <numeric>

#include "base/random.hpp"

namespace sightline::test {
namespace {

using Count = std::int64_t;
using Counts = std::vector<Count>;
using Names = std::vector<std::string>;
using Attributes = std::vector<OnnxAttribute>;
using Proto = onnx::TensorProto;

// A network that is drawn.
struct Draw {
  Draw(std::uint64_t seed, int opset) : random(seed), builder(opset) {}

  Random random;
  OnnxBuilder builder;
  int names = 0;

  Count below(Count count) { return static_cast<Count>(random.below(static_cast<std::uint64_t>(count))); }
  bool happens(double share = 0.5) { return random.unit() < share; }
  template <typename T = Count>
  T one_of(std::initializer_list<T> all) {
    return all.begin()[random.below(all.size())];
  }
  std::string text(std::initializer_list<const char*> all) { return one_of(all); }
  float number(float low, float high) { return low + (high - low) * static_cast<float>(random.unit()); }
  Count side() { return one_of({1, 2, 3, 5, 7, 9, 16, 17}); }
  Counts shape(Count least = 1, Count most = 4) {
    Counts made(static_cast<std::size_t>(least + below(most - least + 1)));
    for (Count& one : made) one = side();
    return made;
  }
  // A shape that broadcasts to another one.
  Counts operand_shape(const Counts& of) {
    Counts made(of.end() - below(static_cast<Count>(of.size()) + 1), of.end());
    for (Count& one : made) one = happens() ? 1 : one;
    return made;
  }
  Count axis(const Counts& of) { return below(2 * std::ssize(of)) - std::ssize(of); }

  std::string name() { return "v" + std::to_string(++names); }
  std::string input(const Counts& shape, int type = Proto::FLOAT) {
    return builder.input(names == 0 ? "x" : name(), shape, type);
  }
  std::string weights(const Counts& shape) {
    const std::string made = name();
    return builder.weights(made, shape, 4, static_cast<unsigned>(names + 7));
  }
  std::string positive(const Counts& shape) { return node("Abs", {weights(shape)}); }
  std::string wholes(const Counts& shape, Count low, Count high) {
    Counts values(
        static_cast<std::size_t>(std::accumulate(shape.begin(), shape.end(), Count{1}, std::multiplies())));
    for (Count& one : values) one = low + below(high - low + 1);
    return builder.wholes(name(), shape, values);
  }
  std::string list(const Counts& all) { return builder.wholes(name(), {std::ssize(all)}, all); }
  std::string node(const std::string& op, const Names& inputs, const Attributes& attributes = {}) {
    const std::string made = name();
    builder.node(op, inputs, {made}, attributes);
    return made;
  }
  void end(const std::string& op, const Names& inputs, const Attributes& attributes = {}) {
    builder.output(node(op, inputs, attributes));
  }
  // Levels of a tensor, and what they stand for.
  std::string levels(const std::string& x) {
    const std::string zero = name();
    onnx::TensorProto& tensor = *builder.proto().mutable_graph()->add_initializer();
    tensor.set_name(zero);
    tensor.set_data_type(happens() ? Proto::UINT8 : Proto::INT8);
    tensor.add_int32_data(static_cast<int>(below(100)));
    scale = builder.reals(name(), {}, {number(0.01F, 0.1F)});
    zero_point = zero;
    return node("QuantizeLinear", {x, scale, zero_point});
  }
  std::string scale, zero_point;  // of the last levels
};

void draw_activation(Draw& d) {
  const std::string op = d.text({"Celu", "Elu", "LeakyRelu", "Selu", "ThresholdedRelu", "HardSigmoid"});
  Attributes attributes;
  if (d.happens()) attributes.emplace_back("alpha", d.number(0.1F, 2));
  if (d.happens() && op == "HardSigmoid") attributes.emplace_back("beta", d.number(-1, 1));
  if (d.happens() && op == "Selu") attributes.emplace_back("gamma", d.number(0.5F, 2));
  d.end(op, {d.input(d.shape())}, attributes);
}

void draw_function(Draw& d) {
  d.end(d.text({"Ceil",     "Cos",   "Exp",  "Floor", "Log",   "Mish",   "Sin",
                "Softsign", "Sqrt",  "Tanh", "IsNaN", "IsInf", "Sign",   "Identity",
                "Dropout",  "Swish", "Gelu", "Shape", "Size",  "NonZero"}),
        {d.input(d.shape())});
}

void draw_arithmetic_of_integers(Draw& d) {
  const Counts shape = d.shape();
  const std::string op =
      d.text({"Add", "Sub", "Mul", "Div", "Mod", "Pow", "Equal", "Less", "GreaterOrEqual"});
  const std::string x = d.input(shape, Proto::INT64);
  d.end(op, {x, d.wholes(d.operand_shape(shape), op == "Pow" ? 0 : -5, 7)});
}

void draw_function_of_integers(Draw& d) {
  const std::string x = d.input(d.shape(), Proto::INT64);
  d.end(d.text({"Abs", "Neg", "Sign", "ReduceSum", "ReduceMean", "ReduceL1", "ReduceMax", "ReduceProd"}),
        {x});
}

void draw_remainder(Draw& d) {
  const Counts shape = d.shape();
  d.end("Mod", {d.input(shape), d.weights(d.operand_shape(shape))}, {{"fmod", 1}});
}

void draw_sum(Draw& d) {
  const Counts shape = d.shape();
  Names inputs{d.input(shape)};
  for (Count more = d.below(3); more >= 0; --more) inputs.push_back(d.weights(d.operand_shape(shape)));
  d.end(d.text({"Sum", "Mean", "Max", "Min"}), inputs);
}

void draw_logic(Draw& d) {
  const Counts shape = d.shape();
  const std::string x = d.input(shape);
  const std::string a = d.node("Greater", {x, d.weights({})}),
                    b = d.node("Less", {x, d.weights(d.operand_shape(shape))});
  d.end(d.text({"And", "Or", "Xor"}), {a, d.node("Not", {b})});
}

void draw_cast(Draw& d) {
  const Count type = d.one_of<Count>({2, 3, 4, 5, 6, 7, 9, 10, 11, 12});
  const bool is_real = d.happens();
  d.end("Cast", {d.input(d.shape(), is_real ? Proto::FLOAT : Proto::INT64)}, {{"to", type}});
}

void draw_gemm(Draw& d) {
  const Count m = d.side(), k = d.side(), n = d.side();
  const bool turns_a = d.happens(), turns_b = d.happens();
  Names inputs{d.input(turns_a ? Counts{k, m} : Counts{m, k}),
               d.weights(turns_b ? Counts{n, k} : Counts{k, n})};
  if (d.happens(0.7)) inputs.push_back(d.weights(d.operand_shape({m, n})));
  Attributes attributes{{"transA", Count{turns_a}}, {"transB", Count{turns_b}}};
  if (d.happens()) attributes.emplace_back("alpha", d.number(-2, 2));
  if (d.happens()) attributes.emplace_back("beta", d.number(-2, 2));
  d.end("Gemm", inputs, attributes);
}

void draw_matrices(Draw& d) {
  const Count m = d.side(), k = d.side(), n = d.side(), stack = d.side();
  const Counts a = d.one_of<Counts>({{k}, {m, k}, {stack, m, k}, {2, 1, m, k}});
  const Counts b = d.one_of<Counts>({{k}, {k, n}, {stack, k, n}, {1, stack, k, n}});
  d.end("MatMul", {d.input(a), d.weights(b)});
}

void draw_convolution_of_one_axis(Draw& d) {
  const Count groups = d.one_of({1, 2}), channels = groups * d.side(), kernel = 1 + d.below(4);
  const bool grows = d.happens();
  Attributes attributes{{"strides", {1 + d.below(3)}}, {"dilations", {1 + d.below(2)}}, {"group", groups}};
  if (d.happens()) attributes.emplace_back("pads", Counts{d.below(2), d.below(2)});
  const Count outputs = d.side();
  Names inputs{d.input({1 + d.below(2), channels, 8 + d.below(9)}),
               d.weights(grows ? Counts{channels, outputs, kernel}
                               : Counts{groups * outputs, channels / groups, kernel})};
  if (d.happens()) inputs.push_back(d.weights({groups * outputs}));
  d.end(grows ? "ConvTranspose" : "Conv", inputs, attributes);
}

void draw_transposed_convolution(Draw& d) {
  const Count groups = d.one_of({1, 2, 3}), channels = groups * d.one_of({1, 3, 5}), outputs = d.side();
  const Counts strides{1 + d.below(4), 1 + d.below(4)}, kernel{1 + d.below(4), 1 + d.below(4)};
  Attributes attributes{
      {"strides", strides}, {"dilations", {1 + d.below(3), 1 + d.below(3)}}, {"group", groups}};
  const Count height = 1 + d.below(6), width = 1 + d.below(6);
  if (d.happens(0.3)) {
    attributes.emplace_back("output_shape", Counts{height * strides[0] + 1, width * strides[1] + 2});
    attributes.emplace_back("auto_pad", d.text({"NOTSET", "SAME_UPPER", "SAME_LOWER"}));
  } else if (d.happens(0.3)) {
    attributes.emplace_back("auto_pad", d.text({"SAME_UPPER", "SAME_LOWER"}));
  } else if (d.happens()) {
    attributes.emplace_back("output_padding", Counts{d.below(strides[0]), d.below(strides[1])});
    attributes.emplace_back("pads", Counts{d.below(2), d.below(2), 0, 0});
  }
  Names inputs{d.input({1 + d.below(2), channels, height, width}),
               d.weights({channels, outputs, kernel[0], kernel[1]})};
  if (d.happens()) inputs.push_back(d.weights({groups * outputs}));
  d.end("ConvTranspose", inputs, attributes);
}

void draw_pooling(Draw& d) {
  const std::string op =
      d.text({"MaxPool", "AveragePool", "LpPool", "GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"});
  const std::size_t axes = d.happens(0.3) ? 1 : 2;
  Counts shape{1 + d.below(2), d.side()}, kernel, strides, pads(2 * axes, 0);
  for (std::size_t i = 0; i < axes; ++i) {
    shape.push_back(5 + d.below(9));
    kernel.push_back(1 + d.below(4));
    strides.push_back(1 + d.below(3));
  }
  for (Count& pad : pads) pad = d.below(2);
  Attributes attributes;
  if (!op.starts_with("Global")) {
    attributes = {{"kernel_shape", kernel}, {"strides", strides}, {"pads", pads}};
    if (op != "LpPool") attributes.emplace_back("ceil_mode", d.below(2));
    if (op == "AveragePool") attributes.emplace_back("count_include_pad", d.below(2));
  }
  if (op.ends_with("LpPool")) attributes.emplace_back("p", 1 + d.below(3));
  d.end(op, {d.input(shape)}, attributes);
}

void draw_batch_norm(Draw& d) {
  const Count channels = d.side();
  std::string x = d.input({1, channels, 5, 6});
  Count outputs = channels;
  bool is_read_twice = false;
  if (d.happens(0.7)) {
    outputs = d.side();
    Names inputs{x, d.weights({outputs, channels, 3, 3})};
    if (d.happens()) inputs.push_back(d.weights({outputs}));
    x = d.node("Conv", inputs);
    is_read_twice = d.happens(0.3);
    if (d.happens(0.3)) x = d.node("Identity", {x});
  }
  const std::string scale = d.weights({outputs}), bias = d.weights({outputs}), mean = d.weights({outputs});
  d.end("BatchNormalization", {x, scale, bias, mean, d.positive({outputs})},
        {{"epsilon", d.number(1e-5F, 1e-2F)}});
  if (is_read_twice) d.end("Relu", {x});
}

void draw_norm(Draw& d) {
  Counts shape{1 + d.below(2), 4 * (1 + d.below(5)), d.side(), d.side()};
  const std::string x = d.input(shape);
  const Attributes epsilon{{"epsilon", d.number(1e-5F, 1e-1F)}};
  const Counts channels{shape[1]}, groups{d.one_of<Count>({1, 2, 4, shape[1]})};
  switch (d.below(5)) {
    case 0:
      d.end("LRN", {x}, {{"size", 1 + d.below(20)}, {"alpha", d.number(0, 1)}, {"beta", d.number(0, 1)}});
      break;
    case 1: {
      const Counts parameters = d.happens() ? channels : groups;
      d.end("GroupNormalization", {x, d.weights(parameters), d.weights(parameters)},
            {{"num_groups", groups[0]}, epsilon[0]});
      break;
    }
    case 2:
      d.end("RMSNormalization", {x, d.weights({shape[3]})}, epsilon);
      break;
    case 3:
      d.builder.node("LayerNormalization", {x, d.weights({shape[3]})}, {"y", "mean", "scale"}, epsilon);
      for (const char* const output : {"y", "mean", "scale"}) d.builder.output(output);
      break;
    default:
      d.end("LpNormalization", {x}, {{"axis", d.axis(shape)}, {"p", 1 + d.below(2)}});
  }
}

// Hardmax passes NaN over, unless it is the first number.
void draw_softmax(Draw& d) {
  const Counts shape = d.shape();
  const std::string op = d.text({"Softmax", "LogSoftmax", "Hardmax"}), x = d.input(shape);
  const std::string number = d.node("Where", {d.node("IsNaN", {x}), d.weights({}), x});
  d.end(op, {op == "Hardmax" ? number : x}, {{"axis", d.axis(shape)}});
}
void draw_grid_sample(Draw& d) {
  const Count n = 1 + d.below(2);
  const Counts grid{n, d.side(), d.side(), 2};
  d.end("GridSample", {d.input({n, d.side(), d.side(), d.side()}), d.weights(grid)},
        {{"mode", d.text({"bilinear", "nearest"})},
         {"padding_mode", d.text({"zeros", "border"})},
         {"align_corners", d.below(2)}});
}

void draw_resize(Draw& d) {
  const Counts shape = d.happens(0.7) ? Counts{1, d.side(), 2 + d.below(9), 2 + d.below(9)} : d.shape(1, 3);
  const Attributes attributes{
      {"mode", d.text({"nearest", "linear", "cubic"})},
      {"antialias", Count{d.happens(0.3)}},
      {"exclude_outside", Count{d.happens(0.3)}},
      {"coordinate_transformation_mode", d.text({"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                                                 "asymmetric", "align_corners", "tf_half_pixel_for_nn"})},
      {"nearest_mode", d.text({"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})}};
  std::vector<float> scales;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    scales.push_back(axis + 2 < shape.size() ? 1 : d.one_of({1.0F, 2.0F, 3.0F, d.number(0.6F, 2.5F)}));
  const std::string by = d.builder.reals("scales", {std::ssize(shape)}, scales);
  d.end("Resize", {d.input(shape), "", by}, attributes);
}

void draw_upsample(Draw& d) {
  const std::string by = d.builder.reals("scales", {4}, {1, 1, d.number(1, 3), d.one_of({1.0F, 2.0F, 4.0F})});
  d.end("Upsample", {d.input({1, d.side(), d.side(), d.side()}), by},
        {{"mode", d.text({"nearest", "linear"})}});
}

void draw_einsum(Draw& d) {
  const Count a = d.side(), b = d.side(), c = d.side();
  const std::string x = d.input({a, b, c});
  switch (d.below(5)) {
    case 0:
      return d.end("Einsum", {x, d.weights({c, b})}, {{"equation", "abc,cb->ab"}});
    case 1:
      return d.end("Einsum", {x}, {{"equation", d.text({"abc->cab", "abc->b", "abc", "abc->"})}});
    case 2:
      return d.end("Einsum", {x, d.weights({a, 3, c})},
                   {{"equation", d.text({"...bc,...dc->...bd", "abc,adc->dba"})}});
    case 3:
      return d.end("Einsum", {x, d.weights({b}), d.weights({1, c})}, {{"equation", "abc,b,dc->ac"}});
    default:
      return d.end("Einsum", {x, d.weights({4, 5})}, {{"equation", "abc,de->ebdca"}});
  }
}

void draw_elements(Draw& d) {
  const Counts shape = d.shape();
  const Count axis = d.axis(shape),
              side = shape[static_cast<std::size_t>(axis < 0 ? axis + std::ssize(shape) : axis)];
  Counts index = shape;
  for (Count& one : index) one = 1 + d.below(one);
  const std::string x = d.input(shape), places = d.wholes(index, -side, side - 1);
  if (d.happens()) return d.end("GatherElements", {x, places}, {{"axis", axis}});
  d.end("ScatterElements", {x, places, d.weights(index)},
        {{"axis", axis}, {"reduction", d.text({"none", "add", "mul"})}});
}

void draw_tuples(Draw& d) {
  const Counts shape = d.shape(2, 4);
  const Count batch = d.below(2), depth = 1 + d.below(std::ssize(shape) - batch);
  const Count least = *std::ranges::min_element(shape);
  Counts index(shape.begin(), shape.begin() + batch);
  index.insert(index.end(), {d.side(), depth});
  const std::string x = d.input(shape), places = d.wholes(index, -least, least - 1);
  if (batch > 0 || d.happens()) return d.end("GatherND", {x, places}, {{"batch_dims", batch}});
  Counts updates{index[0]};
  updates.insert(updates.end(), shape.begin() + depth, shape.end());
  d.end("ScatterND", {x, places, d.weights(updates)}, {{"reduction", d.text({"none", "add", "mul"})}});
}

void draw_matrix_of_places(Draw& d) {
  const Counts shape = d.shape(2, 4);
  if (d.happens())
    return d.end("Trilu", {d.input(shape), d.builder.wholes(d.name(), {}, {d.below(9) - 4})},
                 {{"upper", d.below(2)}});
  const std::string x = d.input(shape, Proto::INT64);
  d.end("OneHot", {x, d.builder.wholes(d.name(), {}, {1 + d.below(12)}), d.weights({2})},
        {{"axis", d.axis(shape)}});
}

void draw_suppression(Draw& d) {
  const Count boxes = 3 + d.below(20), classes = 1 + d.below(3);
  const std::string scores = d.input({1, classes, boxes});
  Names inputs{d.weights({1, boxes, 4}), scores, d.builder.wholes(d.name(), {1}, {d.below(6)}),
               d.builder.reals(d.name(), {1}, {d.number(0, 1)})};
  if (d.happens()) inputs.push_back(d.builder.reals(d.name(), {1}, {d.number(-1, 1)}));
  // What follows has sizes that the frame decides.
  const std::string chosen = d.node("NonMaxSuppression", inputs, {{"center_point_box", d.below(2)}});
  const std::string last =
      d.node("Slice", {chosen, d.list({d.below(3) - 1}), d.list({1'000'000}), d.list({1})});
  const std::string flat = d.node("Reshape", {last, d.list({-1})});
  d.end("Gather", {d.node("Reshape", {scores, d.list({-1})}), flat});
  d.end("Concat", {flat, d.node("Shape", {flat})}, {{"axis", 0}});
  const std::string first = d.node("Slice", {d.node("Shape", {chosen}), d.list({0}), d.list({1})});
  d.end("Reshape", {chosen, d.node("Concat", {first, d.list({-1})}, {{"axis", 0}})});
  d.end("Slice", {flat, d.list({-3}), d.list({d.below(5) - 2})});
  d.end("Slice", {flat, d.list({-1}), d.list({-5}), d.list({0}), d.list({-2})});
}

void draw_counts(Draw& d) {
  const std::string x = d.input({1 + d.below(2)}, Proto::INT64);
  const std::string value = d.node("ReduceMax", {x}, {{"keepdims", 0}});
  const std::string zero = d.builder.wholes(d.name(), {}, {d.below(4)});
  d.end("Range", {zero, value, d.builder.wholes(d.name(), {}, {1 + d.below(3)})});
  d.end("ConstantOfShape", {d.node("Abs", {x})});
  d.end("Range", {zero, d.builder.wholes(d.name(), {}, {d.below(20)}),
                  d.builder.wholes(d.name(), {}, {d.one_of({1, 2, -1})})});
}

void draw_even_parts(Draw& d) {
  const Counts shape = d.shape();
  const Count axis = d.axis(shape);
  const std::string a = d.name(), b = d.name();
  d.builder.node("Split", {d.input(shape)}, {a, b}, {{"axis", axis}, {"num_outputs", 2}});
  d.builder.output(a);
  d.builder.output(b);
}

void draw_levels(Draw& d) {
  const Counts shape = d.shape(2, 4);
  const std::string x =
      d.node("Clip", {d.input(shape), d.builder.reals("low", {}, {-50}), d.builder.reals("high", {}, {50})});
  const std::string made = d.levels(d.node("Where", {d.node("IsNaN", {x}), d.weights({}), x}));
  d.end("DequantizeLinear", {made, d.scale, d.zero_point});
}

void draw_convolution_of_levels(Draw& d) {
  const Count channels = d.side(), outputs = d.side();
  const std::string x = d.input({1, channels, 5, 6});
  const std::string finite = d.node("Where", {d.node("IsNaN", {x}), d.weights({}), x});
  const std::string a =
      d.levels(d.node("Clip", {finite, d.builder.reals("low", {}, {-9}), d.builder.reals("high", {}, {9})}));
  Names inputs{a, d.scale, d.zero_point};
  const std::string w = d.levels(d.weights({outputs, channels, 3, 3}));
  inputs.insert(inputs.end(), {w, d.scale, d.zero_point});
  d.levels(x);
  inputs.insert(inputs.end(), {d.scale, d.zero_point});
  d.end("DequantizeLinear", {d.node("QLinearConv", inputs, {{"pads", {1, 1, 1, 1}}}), d.scale, d.zero_point});
}

struct Drawer {
  std::string_view name;
  void (*draw)(Draw&);
  int opset = 18;
};

constexpr Drawer kDrawers[] = {
    {"activations", draw_activation},
    {"functions", draw_function, 24},
    {"arithmetic of integers", draw_arithmetic_of_integers},
    {"functions of integers", draw_function_of_integers},
    {"remainder", draw_remainder},
    {"sums", draw_sum},
    {"logic", draw_logic},
    {"cast", draw_cast},
    {"gemm", draw_gemm},
    {"matrices", draw_matrices},
    {"convolution of one axis", draw_convolution_of_one_axis},
    {"transposed convolution", draw_transposed_convolution},
    {"pooling", draw_pooling},
    {"batch norm", draw_batch_norm},
    {"norm", draw_norm, 23},
    {"old softmax", draw_softmax, 11},
    {"hardmax", draw_softmax, 13},
    {"grid sample", draw_grid_sample},
    {"resize", draw_resize},
    {"upsample", draw_upsample, 9},
    {"einsum", draw_einsum},
    {"elements", draw_elements},
    {"tuples", draw_tuples},
    {"matrix of places", draw_matrix_of_places},
    {"suppression", draw_suppression},
    {"counts", draw_counts},
    {"even parts", draw_even_parts},
    {"levels", draw_levels},
    {"convolution of levels", draw_convolution_of_levels},
};

}  // namespace

std::vector<std::string_view> random_operators() {
  std::vector<std::string_view> names;
  for (const Drawer& one : kDrawers) names.push_back(one.name);
  return names;
}

OnnxBuilder random_operator(std::string_view name, std::uint64_t seed) {
  const Drawer& drawer = *std::ranges::find(kDrawers, name, &Drawer::name);
  Draw draw(seed, drawer.opset);
  drawer.draw(draw);
  return std::move(draw.builder);
}

}  // namespace sightline::test
