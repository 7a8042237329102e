// Operators that compute sums: convolutions, products, pooling and reductions.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "onnx/operators.hpp"

namespace sightline::nn {
namespace {

constexpr std::int64_t kMaxWindow = 1024;  // side of kernels, steps and pads

// --- windows over maps

// A batch of maps, or weights for it. One of rows becomes maps of one row.
int as_maps(Lowering& c, int x) {
  Shape shape = c.known_shape(x);
  const bool is_batch = shape.size() == c.rank(c.in(0)) && (shape.size() == 3 || shape.size() == 4);
  if (is_batch && shape.size() == 3) shape.insert(shape.begin() + 2, 1);
  if (!is_batch) throw Problem("has an input of " + text_of(shape) + ", not a batch of pictures");
  return c.reshape(x, shape);
}
// What was computed of maps, in the rank of the first input.
Made of_maps(Lowering& c, int made) {
  Shape shape = c.shape(made);
  if (c.rank(c.in(0)) == 3) shape.erase(shape.begin() + 2);
  return c.reshape(made, shape);
}

// Numbers of an attribute: one for each axis of windows. Of one axis, that of rows gets `filling`.
std::vector<std::int64_t> window_numbers(const Lowering& c, std::string_view name, std::int64_t filling,
                                         std::int64_t least) {
  std::vector<std::int64_t> all = c.node.integers(name);
  const std::size_t ends = name == "pads" ? 2 : 1;
  if (c.rank(c.in(0)) == 3 && all.size() == ends) {
    for (std::size_t end = ends; end-- > 0;)
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(end), filling);
  }
  if (!all.empty() && all.size() != 2 * ends)
    throw Problem("'" + std::string(name) + "' is not for pictures");
  for (const std::int64_t one : all) {
    if (one < least || one > kMaxWindow)
      throw Problem("'" + std::string(name) + "' has " + std::to_string(one));
  }
  return all;
}
Pair window_pair(const Lowering& c, std::string_view name, Pair fallback, std::int64_t filling = 1,
                 std::int64_t least = 1) {
  const std::vector<std::int64_t> all = window_numbers(c, name, filling, least);
  return all.empty() ? fallback : Pair{all[0], all[1]};
}

// Kernel, step and dilation. @param kernel  of the weights; {0, 0}: the attribute says it
Window window_without_padding(const Lowering& c, Pair kernel) {
  Window window;
  window.kernel = window_pair(c, "kernel_shape", kernel);
  if (kernel[0] > 0 && window.kernel != kernel) throw Problem("has weights of another size than its kernel");
  if (std::ranges::min(window.kernel) < 1 || std::ranges::max(window.kernel) > kMaxWindow)
    throw Problem("has no size of its kernel");
  window.step = window_pair(c, "strides", {1, 1});
  window.tap_step = window_pair(c, "dilations", {1, 1});
  return window;
}

struct PaddedWindow {
  Window window;
  Pair behind{0, 0};  // padding
};
PaddedWindow window_of(const Lowering& c, int maps, Pair kernel) {
  PaddedWindow padded{window_without_padding(c, kernel)};
  Window& window = padded.window;
  const std::vector<std::int64_t> pads = window_numbers(c, "pads", 0, 0);
  const std::string automatic = c.node.text("auto_pad", "NOTSET");
  const bool up = kernel[0] == 0 && c.is_set("ceil_mode");  // of pooling alone
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t side = c.shape(maps)[2 + axis], step = window.step[axis];
    const std::int64_t reach = (window.kernel[axis] - 1) * window.tap_step[axis] + 1;
    if (automatic.starts_with("SAME")) {
      const std::int64_t wanted = (side + step - 1) / step;
      const std::int64_t all = std::max<std::int64_t>(0, (wanted - 1) * step + reach - side);
      window.before[axis] = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
      padded.behind[axis] = all - window.before[axis];
    } else if (automatic == "NOTSET" && !pads.empty()) {
      window.before[axis] = pads[axis];
      padded.behind[axis] = pads[axis + 2];
    }
    const std::int64_t room = side + window.before[axis] + padded.behind[axis] - reach;
    if (room < 0) throw Problem("has a kernel that is larger than its input");
    window.out[axis] = (room + (up ? step - 1 : 0)) / step + 1;
    // A window must not begin in the padding behind.
    if (up && (window.out[axis] - 1) * step >= side + window.before[axis]) --window.out[axis];
  }
  return padded;
}

// --- convolutions

std::int64_t group_count(const Lowering& c) {
  const std::int64_t groups = c.node.integer("group", 1);
  if (groups < 1 || groups > kMaxElements) throw Problem("has " + std::to_string(groups) + " groups");
  return groups;
}

Made convolve(Lowering& c) {
  const int x = as_maps(c, c.in(0)), weights = as_maps(c, c.in(1));
  const Shape w = c.shape(weights);
  std::vector<int> inputs{x, weights};
  if (c.has(2)) inputs.push_back(c.in(2));
  return of_maps(c, c.add(Convolve{window_of(c, x, {w[2], w[3]}).window, group_count(c)}, inputs));
}

// The window of a transposed convolution, as its attributes have it: from the output to the input.
Window transposed_window(const Lowering& c, const Shape& x, const Shape& w) {
  Window window = window_without_padding(c, {w[2], w[3]});
  const Pair more = window_pair(c, "output_padding", {0, 0}, 0, 0);
  const std::vector<std::int64_t> pads = window_numbers(c, "pads", 0, -kMaxElements);
  const std::string automatic = c.node.text("auto_pad", "NOTSET");
  std::vector<std::int64_t> size = c.node.integers("output_shape");
  const std::size_t axes = c.rank(c.in(0)) - 2;
  if (size.size() == axes + 2) size.erase(size.begin(), size.begin() + 2);
  if (!size.empty() && (size.size() != axes || std::ranges::max(size) > kMaxElements))
    throw Problem("has a size of its output that does not fit");
  if (!size.empty() && axes == 1) size.insert(size.begin(), 1);
  if (size.empty() && automatic.starts_with("SAME")) size = {x[2] * window.step[0], x[3] * window.step[1]};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t whole = (x[2 + axis] - 1) * window.step[axis] +
                               (window.kernel[axis] - 1) * window.tap_step[axis] + 1 + more[axis];
    window.out[axis] = whole;
    if (!size.empty()) {
      const std::int64_t all = std::max<std::int64_t>(0, whole - size[axis]);
      window.before[axis] = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
      window.out[axis] = size[axis];
    } else if (!pads.empty()) {
      window.before[axis] = pads[axis];
      window.out[axis] = whole - pads[axis] - pads[axis + 2];
    }
    if (window.before[axis] < 0 || window.before[axis] > kMaxWindow || window.out[axis] < 1)
      throw Problem("has pads that do not fit");
  }
  return window;
}

// The places of a transposed convolution's output that are `phase` modulo the step are a convolution of the
// input with some of the taps.
struct Phase {
  std::int64_t first_tap = 0, taps_apart = 1, taps = 0;
  std::int64_t tap_step = 0, before = 0;  // of the convolution's window
};
Phase phase_of(const Window& window, std::size_t axis, std::int64_t phase) {
  const std::int64_t step = window.step[axis], dilation = window.tap_step[axis], kernel = window.kernel[axis];
  const auto offset = [&](std::int64_t tap) { return phase + window.before[axis] - tap * dilation; };
  Phase made;
  made.taps_apart = step / std::gcd(step, dilation);
  while (made.first_tap < kernel && offset(made.first_tap) % step != 0) ++made.first_tap;
  if (made.first_tap < kernel) made.taps = (kernel - made.first_tap - 1) / made.taps_apart + 1;
  made.tap_step = -(made.taps_apart * dilation / step);
  made.before = -(offset(made.first_tap) / step);
  return made;
}

int convolved_phase(Lowering& c, std::vector<int> inputs, const Phase& rows, const Phase& columns, Pair out) {
  const Shape x = c.shape(inputs[0]), w = c.shape(inputs[1]);
  if (rows.taps == 0 || columns.taps == 0) {
    const int start = inputs.size() > 2 ? c.along(inputs[2], 1, 4) : c.scalar(0.0F);
    return c.expand(start, {x[0], w[0], out[0], out[1]});
  }
  inputs[1] = c.slice(inputs[1], 2, rows.first_tap, rows.taps, rows.taps_apart);
  inputs[1] = c.slice(inputs[1], 3, columns.first_tap, columns.taps, columns.taps_apart);
  const Window window{{rows.taps, columns.taps},
                      {1, 1},
                      {rows.tap_step, columns.tap_step},
                      {rows.before, columns.before},
                      out};
  return c.add(Convolve{window, group_count(c)}, inputs);
}

Made convolve_transposed(Lowering& c) {
  std::vector<int> inputs{as_maps(c, c.in(0)), as_maps(c, c.in(1))};
  if (c.has(2)) inputs.push_back(c.in(2));
  const Shape x = c.shape(inputs[0]), w = c.shape(inputs[1]);
  const std::int64_t groups = group_count(c), depth = w[0] / groups, outputs = w[1] * groups;
  if (x[1] != w[0] || depth * groups != w[0])
    throw Problem("has weights of " + text_of(w) + " in " + std::to_string(groups) +
                  " groups, which do not fit an input of " + text_of(x));
  const Window window = transposed_window(c, x, w);
  // Weights by output and input, as a convolution has them.
  const int by_output = c.swap_axes(c.reshape(inputs[1], {groups, depth, w[1], w[2], w[3]}), 1, 2);
  inputs[1] = c.reshape(by_output, {outputs, depth, w[2], w[3]});
  const Pair step = window.step;
  const Pair part{(window.out[0] + step[0] - 1) / step[0], (window.out[1] + step[1] - 1) / step[1]};
  std::vector<int> rows;
  for (std::int64_t row = 0; row < step[0]; ++row) {
    std::vector<int> columns;
    for (std::int64_t column = 0; column < step[1]; ++column) {
      const int made =
          convolved_phase(c, inputs, phase_of(window, 0, row), phase_of(window, 1, column), part);
      columns.push_back(c.reshape(made, {x[0], outputs, part[0], part[1], 1}));
    }
    rows.push_back(c.reshape(c.concat(columns, 4), {x[0], outputs, part[0], 1, part[1] * step[1]}));
  }
  int made = c.reshape(c.concat(rows, 3), {x[0], outputs, part[0] * step[0], part[1] * step[1]});
  for (const std::size_t axis : {0, 1}) made = c.slice(made, 2 + axis, 0, window.out[axis]);
  return of_maps(c, made);
}

// --- products of matrices

// A vector is a matrix of one row or column.
Made multiply(Lowering& c) {
  const Shape a = c.shape(c.in(0)), b = c.shape(c.in(1));
  if (a.empty() || b.empty()) throw Problem("multiplies a scalar");
  const int first = a.size() == 1 ? c.reshape(c.in(0), {1, a[0]}) : c.in(0);
  const int second = b.size() == 1 ? c.reshape(c.in(1), {b[0], 1}) : c.in(1);
  const int made = c.add(Product(), {first, second});
  Shape shape = c.shape(made);
  if (b.size() == 1) shape.pop_back();
  if (a.size() == 1) shape.erase(shape.end() - (b.size() == 1 ? 1 : 2));
  return c.reshape(made, shape);
}

// The sums begin with the third input, unless products are scaled.
Made multiply_and_add(Lowering& c) {
  const Shape first = c.shape(c.in(0)), second = c.shape(c.in(1));
  if (first.size() != 2 || second.size() != 2)
    throw Problem("multiplies " + text_of(first) + " by " + text_of(second));
  const int a = c.is_set("transA") ? c.swap_axes(c.in(0), 0, 1) : c.in(0);
  const int b = c.is_set("transB") ? c.swap_axes(c.in(1), 0, 1) : c.in(1);
  const float alpha = c.real("alpha", 1), beta = c.real("beta", 1);
  int added = c.has(2) ? c.in(2) : c.scalar(0.0F);
  if (c.has(2) && beta != 1) added = c.map([=](const Term& x) { return x * beta; }, added);
  if (alpha == 1) return c.add(Product(), c.has(2) ? std::vector{a, b, added} : std::vector{a, b});
  const auto scaled = [=](const Term& x, const Term& more) {
    return Term::call(Function::multiply_add, {x, alpha, more});
  };
  return c.map(scaled, c.add(Product(), {a, b}), added);
}

// --- reductions

Term square(const Term& x) {
  return x * x;
}

// Calls `f(x, axes)` for the reduced axes, which stay, and drops them where the node says so.
template <int f(Lowering&, int, const Axes&)>
Made reduced(Lowering& c) {
  int x = c.in(0);
  const std::size_t rank = c.rank(x);
  const std::vector<std::int64_t> given = c.integers(1, "axes");
  std::vector<bool> is_reduced(rank, given.empty() && !c.is_set("noop_with_empty_axes"));
  for (const std::int64_t axis : given) is_reduced[Lowering::axis(axis, rank)] = true;
  Axes axes;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (is_reduced[axis]) axes.push_back(axis);
  }
  const bool is_boolean = c.data(x) == DataType::boolean;
  if (is_boolean) x = c.cast(x, DataType::u8);
  int made = f(c, x, axes);
  if (is_boolean) made = c.cast(made, DataType::boolean);
  return c.is_set("keepdims", true) ? made : c.without(made, axes);
}

template <Fold fold>
int fold_along(Lowering& c, int x, const Axes& axes) {
  return c.reduce(fold, x, axes);
}
int mean_of(Lowering& c, int x, const Axes& axes) {
  return c.mean(x, axes);
}
int absolute_sum(Lowering& c, int x, const Axes& axes) {
  return c.reduce(Fold::sum, c.map(Function::absolute, {x}), axes);
}
int square_sum(Lowering& c, int x, const Axes& axes) {
  return c.reduce(Fold::sum, c.map(square, x), axes);
}
int root_of_square_sum(Lowering& c, int x, const Axes& axes) {
  return c.map(Function::square_root, {square_sum(c, x, axes)});
}
int logarithm_of_sum(Lowering& c, int x, const Axes& axes) {
  return c.map(Function::logarithm, {c.reduce(Fold::sum, x, axes)});
}
int exponential_from(Lowering& c, int x, int largest) {
  return c.map([](const Term& a, const Term& b) { return Term::call(Function::exponential, {a - b}); }, x,
               largest);
}
int logarithm_of_exponentials(Lowering& c, int x, const Axes& axes) {
  const int largest = c.reduce(Fold::maximum, x, axes);
  return c.map(Function::add, {largest, logarithm_of_sum(c, exponential_from(c, x, largest), axes)});
}

// Axes that softmax works on: one from opset 13 on, all from one on before.
Axes softmax_axes(const Lowering& c) {
  if (c.opset() >= 13) return {c.axis(-1)};
  return Lowering::axes_from(c.axis(1), c.rank(c.in(0)));
}

Made softmax(Lowering& c) {
  const Axes axes = softmax_axes(c);
  const int powers = exponential_from(c, c.in(0), c.reduce(Fold::maximum, c.in(0), axes));
  return c.map(Function::divide, {powers, c.reduce(Fold::sum, powers, axes)});
}

Made log_softmax(Lowering& c) {
  const Axes axes = softmax_axes(c);
  const int x = c.in(0), largest = c.reduce(Fold::maximum, x, axes);
  const int sum = c.reduce(Fold::sum, exponential_from(c, x, largest), axes);
  const auto of = [](const Term& a, const Term& b, const Term& all) {
    return a - b - Term::call(Function::logarithm, {all});
  };
  return c.map(of, x, largest, sum);
}

// 1 for the first of the largest numbers, and 0 for the others.
Made hardmax(Lowering& c) {
  const Shape shape = c.known_shape(c.in(0));
  const Axes axes = softmax_axes(c);
  Shape joined(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axes[0] + 1));
  for (std::size_t i = 1; i < axes.size(); ++i) joined[axes[0]] *= shape[axes[i]];
  joined.insert(joined.end(), shape.begin() + static_cast<std::ptrdiff_t>(axes.back()) + 1, shape.end());
  const int x = c.reshape(c.in(0), joined);
  const int places = c.places(joined[axes[0]], axes[0], joined.size());
  const auto is_best = [](const Term& best, const Term& place) {
    return (best == place).cast(DataType::f32);
  };
  const int best = c.add(ArgReduce{true, axes[0], false}, {x});
  return c.reshape(c.map(is_best, best, places), shape);
}

Made cumulative_sum(Lowering& c) {
  int x = c.in(0);
  const std::vector<std::int64_t> given = c.integers(1, "");
  if (given.size() != 1) throw Problem("needs one axis");
  const std::size_t axis = Lowering::axis(given[0], c.rank(x));
  const std::int64_t side = c.known_shape(x)[axis];
  const bool from_end = c.is_set("reverse");
  const auto turned = [&](int y) { return from_end && side > 0 ? c.slice(y, axis, side - 1, side, -1) : y; };
  x = turned(x);
  if (c.is_set("exclusive")) {
    Pad pad{Shape(c.rank(x), 0), Shape(c.rank(x), 0), Padding::constant, {}};
    pad.before[axis] = 1;
    pad.value = with_type(c.data(x), []<typename T>() -> Scalar { return T{0}; });
    x = c.slice(c.add(pad, {x}), axis, 0, side);
  }
  return turned(c.add(Scan{axis}, {x}));
}

// --- powers and their sums

// |x|^p, and the p-th root of sums of them.
float exponent_of(const Lowering& c) {
  const auto p = static_cast<float>(c.node.integer("p", 2));
  if (p < 1) throw Problem("has the exponent " + std::to_string(p));
  return p;
}
int powers_of(Lowering& c, int x) {
  const float p = exponent_of(c);
  if (p == 2) return c.map(square, x);
  const int size = c.map(Function::absolute, {x});
  return p == 1 ? size : c.map(Function::power, {size}, {p});
}
int root_of(Lowering& c, int sum) {
  const float p = exponent_of(c);
  if (p == 1) return sum;
  return p == 2 ? c.map(Function::square_root, {sum}) : c.map(Function::power, {sum}, {1 / p});
}

// Numbers in parts of their norm along an axis; 0 where all are 0.
Made normalise_length(Lowering& c) {
  const int norm = root_of(c, c.reduce(Fold::sum, powers_of(c, c.in(0)), {c.axis(-1)}));
  const auto part = [](const Term& x, const Term& all) { return Term::select(all == 0, 0, x / all); };
  return c.map(part, c.in(0), norm);
}

// --- pooling

Axes places_of(const Lowering& c) {
  if (c.rank(c.in(0)) < 3) throw Problem("has an input of " + text_of(c.shape(c.in(0))));
  return Lowering::axes_from(2, c.rank(c.in(0)));
}

Made max_pool(Lowering& c) {
  if (c.node.outputs.size() > 1) throw Problem("reports indices, which is not supported");
  const int x = as_maps(c, c.in(0));
  return of_maps(c, c.add(WindowFold{Fold::maximum, window_of(c, x, {0, 0}).window}, {x}));
}

// Taps that count, of each place of an axis: those in the map, or in the padded one.
std::vector<float> counts_of(const PaddedWindow& padded, std::size_t axis, std::int64_t side,
                             bool with_padding) {
  std::vector<float> counts;
  for (std::int64_t at = 0; at < padded.window.out[axis]; ++at) {
    std::int64_t count = 0;
    for (std::int64_t tap = 0; tap < padded.window.kernel[axis]; ++tap) {
      const std::int64_t place = padded.window.position(axis, at, tap);
      count += with_padding ? place < side + padded.behind[axis] : place >= 0 && place < side;
    }
    counts.push_back(static_cast<float>(count));
  }
  return counts;
}

Made average_pool(Lowering& c) {
  const int x = as_maps(c, c.in(0));
  const PaddedWindow padded = window_of(c, x, {0, 0});
  const bool with_padding = c.is_set("count_include_pad");
  Tensor counts(DataType::f32, {padded.window.out[0], padded.window.out[1]});
  auto next = counts.as<float>().begin();
  for (const float rows : counts_of(padded, 0, c.shape(x)[2], with_padding)) {
    for (const float columns : counts_of(padded, 1, c.shape(x)[3], with_padding))
      *next++ = std::max(1.0F, rows * columns);
  }
  const bool are_equal =
      std::ranges::adjacent_find(counts.as<float>(), std::not_equal_to()) == counts.as<float>().end();
  const int divisor = are_equal ? c.scalar(counts.as<float>()[0]) : c.constant(std::move(counts));
  return of_maps(c, c.map(Function::divide, {c.add(WindowFold{Fold::sum, padded.window}, {x}), divisor}));
}

Made norm_pool(Lowering& c) {
  const int x = as_maps(c, c.in(0));
  const WindowFold sum{Fold::sum, window_of(c, x, {0, 0}).window};
  return of_maps(c, root_of(c, c.add(sum, {powers_of(c, x)})));
}

// --- samples

Made grid_sample(Lowering& c) {
  const std::string mode = c.choice("mode", "bilinear", {"bilinear", "linear", "nearest"});
  const std::string padding = c.choice("padding_mode", "zeros", {"zeros", "border"});
  const GridSample sample{mode == "nearest", c.is_set("align_corners"),
                          padding == "border" ? Border::edge : Border::zeros};
  return c.add(sample, {c.in(0), c.in(1)});
}

constexpr OnnxOperator kComputes[] = {
    {"AveragePool", 1, 1, average_pool},
    {"Conv", 2, 3, convolve},
    {"ConvTranspose", 2, 3, convolve_transposed},
    {"CumSum", 2, 2, cumulative_sum},
    {"Gemm", 2, 3, multiply_and_add},
    {"GlobalAveragePool", 1, 1, [](Lowering& c) -> Made { return c.mean(c.in(0), places_of(c)); }},
    {"GlobalLpPool", 1, 1,
     [](Lowering& c) -> Made {
       return root_of(c, c.reduce(Fold::sum, powers_of(c, c.in(0)), places_of(c)));
     }},
    {"GlobalMaxPool", 1, 1,
     [](Lowering& c) -> Made { return c.reduce(Fold::maximum, c.in(0), places_of(c)); }},
    {"GridSample", 2, 2, grid_sample},
    {"Hardmax", 1, 1, hardmax},
    {"LogSoftmax", 1, 1, log_softmax},
    {"LpNormalization", 1, 1, normalise_length},
    {"LpPool", 1, 1, norm_pool},
    {"MatMul", 2, 2, multiply},
    {"MaxPool", 1, 1, max_pool, 2},
    {"ReduceL1", 1, 2, reduced<absolute_sum>},
    {"ReduceL2", 1, 2, reduced<root_of_square_sum>},
    {"ReduceLogSum", 1, 2, reduced<logarithm_of_sum>},
    {"ReduceLogSumExp", 1, 2, reduced<logarithm_of_exponentials>},
    {"ReduceMax", 1, 2, reduced<fold_along<Fold::maximum>>},
    {"ReduceMean", 1, 2, reduced<mean_of>},
    {"ReduceMin", 1, 2, reduced<fold_along<Fold::minimum>>},
    {"ReduceProd", 1, 2, reduced<fold_along<Fold::product>>},
    {"ReduceSum", 1, 2, reduced<fold_along<Fold::sum>>},
    {"ReduceSumSquare", 1, 2, reduced<square_sum>},
    {"Softmax", 1, 1, softmax},
};

}  // namespace

std::span<const OnnxOperator> compute_operators() {
  return kComputes;
}

}  // namespace sightline::nn
