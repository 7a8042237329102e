// Convolutions by channel, pools and resampling.
#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#include <fmt/format.h>

#include "network/opencl/expression_source.hpp"
#include "network/opencl/task_writer.hpp"
#include "network/primitives/fold.hpp"

namespace sightline::nn {

std::string TaskWriter::tap(const TaskStep& one, const std::string& row, const std::string& column) {
  const Window& w = one.window;
  return fmt::format("const int y = oy * {} + {} * {} - {}, x = ox * {} + {} * {} - {}; ", w.step[0], row,
                     w.tap_step[0], w.before[0], w.step[1], column, w.tap_step[1], w.before[1]);
}

std::string TaskWriter::inside(const TaskStep& one, const std::string& value, const std::string& outside,
                               const std::string& to) {
  const std::string width = argument(one.width), height = argument(one.height);
  return fmt::format("{} = {}; if (INSIDE(y, x, {}, {})) {{ const int g = y * {} + x; {} = {}; }} ", to,
                     outside, height, width, width, to, value);
}

std::string TaskWriter::blocked_weights(
    const TaskStep& one, std::int64_t rows,
    const std::function<float(std::int64_t channel, std::int64_t row)>& value) {
  std::vector<float> placed(to_size(one.lanes() * rows), 0.0F);
  for (std::int64_t c = 0; c < one.channels; ++c) {
    for (std::int64_t r = 0; r < rows; ++r)
      placed[to_size((c / kLanes * rows + r) * kLanes + c % kLanes)] = value(c, r);
  }
  return argument(add_weights(placed));
}

void TaskWriter::add_depthwise(const TaskStep& one) {
  const auto values = context_.graph.constant(one.step.node.inputs[1])->as<float>();
  const std::int64_t taps = one.taps();
  const std::string weights = blocked_weights(
      one, taps, [&](std::int64_t c, std::int64_t t) { return values[to_size(c * taps + t)]; });
  const std::string begin = start(one);
  begin_quads(one);
  text_ += "const int ox = x, oy = y; ";
  const std::string x = inside(one, quad(one.operands[0], "q"), "0", "x0");
  const std::string weight =
      fmt::format("READ(weights, {} + (q >> 2) * {} + 4 * (q & 3) + 16 * ", weights, taps * kLanes);
  constexpr std::int64_t kAtOnce = 9;  // taps whose loads are all under way before the first sum
  text_ += fmt::format("float4 v = READ(weights, {} + 4 * q);\n", begin);
  if (taps <= kAtOnce) {
    for (std::int64_t t = 0; t < taps; ++t) {
      std::string own = x;
      for (std::size_t found = 0; (found = own.find("x0", found)) != std::string::npos;)
        own.replace(found, 2, fmt::format("t{}", t));
      text_ += fmt::format(
          "float4 t{}; {{ {} {} }}\n", t,
          tap(one, std::to_string(t / one.window.kernel[1]), std::to_string(t % one.window.kernel[1])), own);
    }
    for (std::int64_t t = 0; t < taps; ++t) text_ += fmt::format("v = fma(t{}, {}{}), v); ", t, weight, t);
  } else {
    text_ += fmt::format(
        "UNROLL_NONE for (int t = 0; t < {}; ++t) {{ {} float4 {} v = fma(x0, {}t), v); }}\n", taps,
        tap(one, fmt::format("(t / {})", one.window.kernel[1]),
            fmt::format("(t % {})", one.window.kernel[1])),
        x, weight);
  }
  finish(one);
  end_quads();
}

void TaskWriter::add_grouped(const TaskStep& one) {
  const GraphNode& node = one.step.node;
  const Tensor& tensor = *context_.graph.constant(node.inputs[1]);
  const auto values = tensor.as<float>();
  const bool is_product = std::holds_alternative<Product>(node.primitive);
  const std::int64_t taps = one.taps(), outputs = tensor.shape().back(),
                     depth = is_product ? tensor.dim(tensor.rank() - 2) : tensor.dim(1);
  const std::string weights = blocked_weights(one, taps * depth, [&](std::int64_t c, std::int64_t row) {
    const std::int64_t o = one.weight_rows.empty() ? c : one.weight_rows[to_size(c)];
    return values[to_size(is_product ? row * outputs + o : (o * depth + row % depth) * taps + row / depth)];
  });
  const std::string begin = start(one);
  std::string list;
  if (!one.terms.empty()) {
    std::vector<std::int32_t> places;
    for (const std::vector<int>& terms : one.terms) places.insert(places.end(), terms.begin(), terms.end());
    list = table(places);
  }
  const std::int64_t each = list.empty() ? one.channels / std::get<Convolve>(node.primitive).groups : 1;
  begin_quads(one);
  std::string value = "(float4)(";
  for (int i = 0; i < 4; ++i) {
    const std::string c = fmt::format("min(4 * q + {}, {})", i, one.channels - 1);
    text_ += fmt::format("const int c{} = {}; ", i,
                         list.empty() ? fmt::format("{} / {} * {}", c, each, depth)
                                      : fmt::format("{} + {} * {}", list, c, depth));
    value +=
        (i == 0 ? "" : ", ") + channel(one.operands[0], list.empty() ? fmt::format("(c{} + k)", i)
                                                                     : fmt::format("tables[c{} + k]", i));
  }
  value += ")";
  const std::string add =
      fmt::format("v = fma(x0, READ(weights, {} + (q >> 2) * {} + 4 * (q & 3) + 16 * (t * {} + k)), v);",
                  weights, taps * depth * kLanes, depth);
  text_ += fmt::format("float4 v = READ(weights, {} + 4 * q);\n", begin);
  if (!list.empty()) {
    text_ += fmt::format("UNROLL_NONE for (int t = 0, k = 0; k < {}; ++k) {{ const float4 x0 = {}; {} }}\n",
                         depth, value, add);
  } else {
    text_ += fmt::format(
        "const int ox = x, oy = y;\n"
        "UNROLL_NONE for (int t = 0; t < {}; ++t) {{ {} UNROLL_NONE for (int k = 0; k < {}; ++k) {{ float4 "
        "{} {} }} }}\n",
        taps,
        tap(one, fmt::format("(t / {})", one.window.kernel[1]),
            fmt::format("(t % {})", one.window.kernel[1])),
        depth, inside(one, value, "0", "x0"), add);
  }
  finish(one);
  end_quads();
}

void TaskWriter::add_window_fold(const TaskStep& one) {
  const Fold fold = std::get<WindowFold>(one.step.node.primitive).fold;
  begin_quads(one);
  text_ += fmt::format("const int ox = x, oy = y; float4 v = {};\n", literal(initial<float>(fold)));
  if (fold != Fold::sum && meets_map(one.window, {one.height, one.width})) {
    // Places may be read twice, so that none is outside.
    const std::string height = argument(one.height), width = argument(one.width);
    text_ += places_of_window(one, 0, "y", height) + places_of_window(one, 1, "x", width);
    text_ += fmt::format("const int g = y * {} + x; v = {}; }} }}\n", width,
                         folded_text(fold, "v", quad(one.operands[0], "q")));
  } else {
    text_ += fmt::format(
        "UNROLL_NONE for (int row = 0; row < {}; ++row) UNROLL_ALL for (int column = 0; column < {}; "
        "++column) {{ {} float4 {} v = {}; }}\n",
        one.window.kernel[0], one.window.kernel[1], tap(one, "row", "column"),
        inside(one, quad(one.operands[0], "q"), literal(initial<float>(fold)), "x0"),
        folded_text(fold, "v", "x0"));
  }
  finish(one);
  end_quads();
}

bool TaskWriter::meets_map(const Window& w, const Pair& sides) {
  for (std::size_t axis = 0; axis < 2; ++axis) {
    if (w.tap_step[axis] != 1 || w.before[axis] >= w.kernel[axis] ||
        (w.out[axis] - 1) * w.step[axis] - w.before[axis] >= sides[axis])
      return false;
  }
  return true;
}

std::string TaskWriter::places_of_window(const TaskStep& one, std::size_t axis, const char* name,
                                         const std::string& side) {
  constexpr std::array<std::int64_t, 2> kFew{3, 16};
  const Window& w = one.window;
  const std::string first = fmt::format("o{} * {} - {}", name, w.step[axis], w.before[axis]);
  if (w.kernel[axis] <= kFew[axis])
    return fmt::format(
        "UNROLL_ALL for (int to_{0} = 0; to_{0} < {1}; ++to_{0}) {{ const int {0} = clamp({2} + to_{0}, 0, "
        "{3} - 1); ",
        name, w.kernel[axis], first, side);
  return fmt::format("{0} for (int {1} = max({2}, 0); {1} < min({2} + {3}, {4}); ++{1}) {{ ",
                     axis == 0 ? "UNROLL_NONE" : "UNROLL_TAPS", name, first, w.kernel[axis], side);
}

void TaskWriter::add_resample(const TaskStep& one) {
  const auto& resample = std::get<Resample>(one.step.node.primitive);
  const auto list = [&](const Taps& taps) {
    std::vector<std::int32_t> numbers;
    for (std::size_t i = 0; i < taps.first.size(); ++i)
      numbers.insert(numbers.end(),
                     {taps.first[i], taps.second[i], std::bit_cast<std::int32_t>(taps.weight[i])});
    return table(numbers);
  };
  begin_quads(one);
  text_ += fmt::format("global const int *across = tables + {} + 3 * x, *down = tables + {} + 3 * y;\n",
                       list(resample.columns), list(resample.rows));
  const std::string value = quad(one.operands[0], "q"), width = argument(one.width);
  for (int i = 0; i < 4; ++i)
    text_ +=
        fmt::format("float4 r{}; {{ const int y = down[{}], x = across[{}], g = y * {} + x; r{} = {}; }}\n",
                    i, i / 2, i % 2, width, i, value);
  text_ +=
      "const float right = as_float(across[2]);\n"
      "const float4 v = mix_quads(mix_quads(r0, r1, right), mix_quads(r2, r3, right), "
      "as_float(down[2]));\n";
  finish(one);
  end_quads();
}

}  // namespace sightline::nn
