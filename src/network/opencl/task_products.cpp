// Dense convolutions, and products with constant matrices.
#include <algorithm>

#include <fmt/format.h>

#include "network/opencl/task_writer.hpp"

namespace sightline::nn {

std::int64_t TaskWriter::product_weights(const TaskStep& one) {
  const GraphNode& node = one.step.node;
  const Tensor& weights = *context_.graph.constant(node.inputs[1]);
  const auto values = weights.as<float>();
  const std::int64_t depth = one.operands[0].count, lanes = one.lanes(), taps = one.taps();
  const bool is_product = std::holds_alternative<Product>(node.primitive);
  // Zeros behind the last column are -0: adding 0 * -0 changes no sum.
  std::vector<float> placed(to_size(taps * one.columns() * lanes), -0.0F);
  for (std::int64_t t = 0; t < taps; ++t) {
    for (std::int64_t k = 0; k < depth; ++k) {
      for (std::int64_t o = 0; o < one.channels; ++o)
        placed[to_size((t * one.columns() + k) * lanes + o)] =
            values[to_size(is_product ? k * one.channels + o : (o * depth + k) * taps + t)];
    }
  }
  return add_weights(placed);
}

std::string TaskWriter::start(const TaskStep& one) {
  const std::vector<int>& inputs = one.step.node.inputs;
  std::vector<float> values(to_size(one.lanes()), 0.0F);
  if (inputs.size() > 2) {
    const auto from = context_.graph.constant(inputs[2])->as<float>();
    for (std::int64_t c = 0; c < one.channels; ++c)
      values[to_size(c)] = from[to_size(one.weight_rows.empty() ? c : one.weight_rows[to_size(c)])];
  }
  return argument(add_weights(values));
}

void TaskWriter::add_product(const TaskStep& one) {
  const ProductTile& product = tile_.products.at(number_);
  const auto lanes = static_cast<int>(one.lanes());
  last_product_ = product_weights(one);
  const std::string weights = argument(last_product_), begin = start(one);
  const int outputs = tile_.parts > 1 && number_ + 1 == task_.steps.size() ? lanes / tile_.parts : lanes;
  for (int first = 0; first < outputs; first += product.pass) {
    const int pass = std::min(product.pass, outputs - first);
    begin_sums(product, first, pass, outputs, begin);
    add_chunks(one, product, weights, first == 0);
    finish_sums(one, product, pass);
  }
}

void TaskWriter::add_chunks(const TaskStep& one, const ProductTile& product, const std::string& weights,
                            bool is_first) {
  const int columns = one.columns(), taps = one.taps(), lanes = static_cast<int>(one.lanes());
  const Chunk whole{"0", std::to_string(taps), "0", std::to_string(columns)};
  if (product.is_direct || product.staged >= taps * columns) {
    if (!product.is_direct && is_first) stage(one, product, whole);
    return add_columns(product, weights, "0", std::to_string(taps * columns), lanes);
  }
  const auto sized = [](const std::string& from, int step, int all) {
    return all % step == 0 ? std::to_string(step) : fmt::format("min({}, {} - {})", step, all, from);
  };
  if (columns <= product.staged) {
    const int together = product.staged / columns;
    const Chunk some{"tap", sized("tap", together, taps), "0", std::to_string(columns)};
    text_ += fmt::format("UNROLL_NONE for (int tap = 0; tap < {}; tap += {}) {{\n", taps, together);
    stage(one, product, some);
    add_columns(product, weights, fmt::format("tap * {}", columns),
                fmt::format("{} * {}", some.taps, columns), lanes);
    text_ += "BARRIER\n}\n";
    return;
  }
  const Chunk part{"tap", "1", "from", sized("from", product.staged, columns)};
  text_ += fmt::format(
      "UNROLL_NONE for (int tap = 0; tap < {}; ++tap) UNROLL_NONE for (int from = 0; from < {}; from += "
      "{}) {{\n",
      taps, columns, product.staged);
  stage(one, product, part);
  add_columns(product, weights, fmt::format("(tap * {} + from)", columns), part.columns, lanes);
  text_ += "BARRIER\n}\n";
}

std::string TaskWriter::type_of_sums(const ProductTile& product) {
  return product.outputs == 1 ? "float" : fmt::format("float{}", product.outputs);
}

void TaskWriter::begin_sums(const ProductTile& product, int first, int pass, int outputs,
                            const std::string& begin) {
  text_ += fmt::format("{{ PART({}, {}, {}) const int first_c = {} + part * {}, c = first_c + {} * column; ",
                       product.points, pass / product.outputs, tile_.shift, first, outputs, product.outputs);
  text_ += fmt::format("{0} s[{1}]; s[0] = works ? *(global const {0}*)(weights + {2} + c) : 0; ",
                       type_of_sums(product), product.points, begin);
  for (int i = 1; i < product.points; ++i) text_ += fmt::format("s[{}] = s[0]; ", i);
  text_ += "\n";
}

void TaskWriter::add_columns(const ProductTile& product, const std::string& weights, const std::string& first,
                             const std::string& depth, int lanes) {
  text_ += fmt::format(
      "if (works) multiply_{0}_{1}(tile + {2} + begin * {3}, apart * {3}, {4}, weights + {5} + {6} * {7} + "
      "c, {7}, s);\n",
      product.points, product.outputs, product.columns.at, product.columns.pitch, depth, weights, first,
      lanes);
}

void TaskWriter::finish_sums(const TaskStep& one, const ProductTile& product, int pass) {
  const std::string inside = one.quads() * 4 < one.lanes() ? fmt::format("q < {}", one.quads()) : "";
  if (product.outputs < 4) {
    text_ += "if (works) { ";
    for (int i = 0; i < product.points; ++i)
      text_ += fmt::format("*(local {}*)(tile + {} + (begin + {} * apart) * {} + {} * column) = s[{}]; ",
                           type_of_sums(product), product.sums.at, i, product.sums.pitch, product.outputs, i);
    text_ += fmt::format(
        "}}\nBARRIER\n"
        "FOR_QUADS({2}, {3}) if (p >= count) continue; const float4 v = READ_LOCAL({0} + p * {1} + 4 * q); "
        "const int quad = (first_c >> 2) + q; {{ const int q = quad; ",
        product.sums.at, product.sums.pitch, pass / 4, tile_.shift);
    if (!inside.empty()) text_ += fmt::format("if ({}) ", inside);
    text_ += "{ ";
    pixel();
    finish(one);
    text_ += "} } } }\nBARRIER\n";
    return;
  }
  text_ += fmt::format(
      "const int q = c >> 2; if (works{}) {{ UNROLL_ALL for (int j = 0; j < {}; ++j) {{ const int p = "
      "begin "
      "+ j * apart, g = first + p; if (p < count) {{ const float4 v = s[j]; ",
      inside.empty() ? "" : " && " + inside, product.points);
  pixel();
  finish(one);
  text_ += "} } } }\nBARRIER\n";
}

void TaskWriter::stage(const TaskStep& one, const ProductTile& product, const Chunk& chunk) {
  const DeviceOperand& x = one.operands[0];
  const bool is_quads = x.kind == DeviceOperand::Kind::quads;
  text_ += fmt::format("{}({} / 4, {}) ",
                       !is_quads            ? "FOR_POINTS"
                       : one.is_pointwise() ? "FOR_STAGED"
                                            : "FOR_QUADS",
                       chunk.columns, tile_.shift);
  const std::string q = chunk.first_column == "0" ? "q" : fmt::format("(q + {} / 4)", chunk.first_column);
  const std::string to = fmt::format("tile + {} + p * {} + 4 * q", product.columns.at, product.columns.pitch);
  if (one.is_pointwise()) {
    pixel();
    text_ += fmt::format("float4 v = 0; if (p < count) v = {}; *(local float4*)({}) = v; }}\nBARRIER\n",
                         filled_quad(x, q), to);
    return;
  }
  text_ += fmt::format("local float* to = {}; ", to);
  pixel();
  text_ += fmt::format("const int ox = x, oy = y; int row = {0} / {1}, column = {0} % {1};\n",
                       chunk.first_tap, one.window.kernel[1]);
  text_ += fmt::format("UNROLL_TAPS for (int t = 0; t < {}; ++t, to += {}) {{ {} float4 ", chunk.taps,
                       chunk.columns, tap(one, "row", "column"));
  std::string value = inside(one, filled_quad(x, q), "0", "v");
  const std::string condition = "if (INSIDE";
  value.replace(value.find(condition), condition.size(), "if (p < count && INSIDE");
  text_ +=
      value + fmt::format("*(local float4*)to = v; if (++column == {}) column = 0, ++row; }} }}\nBARRIER\n",
                          one.window.kernel[1]);
}

}  // namespace sightline::nn
