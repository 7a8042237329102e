// Convolutions and matrix products.
#include <algorithm>
#include <vector>

#include "detectors/network/broadcast.hpp"
#include "detectors/network/functions.hpp"
#include "detectors/network/lowering.hpp"
#include "detectors/network/window.hpp"

namespace sightline::network {
namespace {

using Types = std::vector<TensorType>;

constexpr std::int64_t kMaxWindow = 1024;  // side of kernels, steps and pads

Pair pair_attribute(const Node& node, std::string_view name, Pair fallback, std::int64_t least) {
  const std::vector<std::int64_t> given = node.integers(name);
  if (given.empty()) return fallback;
  if (given.size() != 2) throw Problem("'" + std::string(name) + "' is not for pictures");
  for (const std::int64_t one : given) {
    if (one < least || one > kMaxWindow)
      throw Problem("'" + std::string(name) + "' has " + std::to_string(one));
  }
  return {given[0], given[1]};
}

void check_picture(const Tensor& x) {
  if (x.rank() != 4) throw Problem("has an input of " + text_of(x.shape()) + ", not a batch of pictures");
}

std::int64_t group_count(const Call& call) {
  const std::int64_t groups = call.node.integer("group", 1);
  if (groups < 1 || groups > kMaxElements) throw Problem("has " + std::to_string(groups) + " groups");
  return groups;
}

const Shape& weights_shape(const Call& call) {
  const Shape& w = call.real(1).shape();
  if (w.size() != 4) throw Problem("has weights of " + text_of(w) + ", not of a convolution of pictures");
  return w;
}

// Input channels are checked against the weights; bias against outputs.
ConvolutionPlan weights_plan(const Call& call, std::int64_t outputs, std::int64_t inputs_per_weights) {
  const Tensor& x = call.real(0);
  check_picture(x);
  const Shape& w = call.real(1).shape();
  ConvolutionPlan plan;
  plan.batch = x.dim(0);
  plan.inputs = x.dim(1);
  plan.outputs = outputs;
  plan.groups = group_count(call);
  plan.in = {x.dim(2), x.dim(3)};
  if (plan.inputs % plan.groups != 0 || plan.outputs % plan.groups != 0 || plan.outputs < 1 ||
      inputs_per_weights != plan.inputs)
    throw Problem("has weights of " + text_of(w) + " in " + std::to_string(plan.groups) +
                  " groups, which do not fit an input of " + text_of(x.shape()));
  if (call.has(2) && call.real(2).shape() != Shape{plan.outputs})
    throw Problem("has a bias of " + text_of(call.in(2).shape()));
  return plan;
}

Types convolution_type(const Call& call) {
  const ConvolutionPlan plan = convolution_plan(call);
  return {{Kind::real, {plan.batch, plan.outputs, plan.window.out[0], plan.window.out[1]}}};
}

// Adds w * x to a row of sums, for one tap of a kernel.
void add_tap(float* sums, const float* x, std::int64_t step, float w, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) sums[i] = multiply_add(x[i * step], w, sums[i]);
}

// A picture with zeros around it, so that taps outside take part as zeros.
class PaddedPicture {
 public:
  PaddedPicture(Pair in, Pair before, Pair behind)
      : in_(in),
        before_(before),
        height_(in[0] + before[0] + behind[0]),
        width_(in[1] + before[1] + behind[1]) {}
  void fill(const float* x, std::int64_t channels) {
    planes_.assign(static_cast<std::size_t>(channels * height_ * width_), 0.0F);
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t y = 0; y < in_[0]; ++y)
        std::copy_n(x + (c * in_[0] + y) * in_[1], in_[1],
                    planes_.data() + (c * height_ + y + before_[0]) * width_ + before_[1]);
    }
  }
  const float* row(std::int64_t channel, std::int64_t y) const {
    return planes_.data() + (channel * height_ + y) * width_;
  }

 private:
  Pair in_, before_;
  std::int64_t height_, width_;
  std::vector<float> planes_;
};

// Sums of a product begin with the bias and go over kernel rows, kernel columns and input channels.
void run_convolution(const Call& call, std::span<Tensor> out) {
  const ConvolutionPlan plan = convolution_plan(call);
  const WindowPlan& window = plan.window;
  const auto [kernel_rows, kernel_columns] = window.kernel;
  const std::int64_t inputs = plan.inputs / plan.groups, outputs = plan.outputs / plan.groups;
  const float* weights = call.in(1).reals();
  PaddedPicture picture(plan.in, window.before, window.behind);
  for (std::int64_t n = 0; n < plan.batch; ++n) {
    picture.fill(call.in(0).reals() + n * plan.inputs * plan.in[0] * plan.in[1], plan.inputs);
    for (std::int64_t m = 0; m < plan.outputs; ++m) {
      const std::int64_t group = m / outputs;
      for (std::int64_t y = 0; y < window.out[0]; ++y) {
        float* sums = out[0].reals() + ((n * plan.outputs + m) * window.out[0] + y) * window.out[1];
        std::fill_n(sums, window.out[1], call.has(2) ? call.in(2).reals()[m] : 0.0F);
        for (std::int64_t ky = 0; ky < kernel_rows; ++ky) {
          for (std::int64_t kx = 0; kx < kernel_columns; ++kx) {
            for (std::int64_t c = 0; c < inputs; ++c) {
              const float* row =
                  picture.row(group * inputs + c, y * window.stride[0] + ky * window.dilation[0]);
              add_tap(sums, row + kx * window.dilation[1], window.stride[1],
                      weights[((m * inputs + c) * kernel_rows + ky) * kernel_columns + kx], window.out[1]);
            }
          }
        }
      }
    }
  }
}

Types transposed_type(const Call& call) {
  const ConvolutionPlan plan = transposed_plan(call);
  return {{Kind::real, {plan.batch, plan.outputs, plan.window.out[0], plan.window.out[1]}}};
}

// Of each output, the taps whose inputs are there take part, over kernel rows, kernel columns and input
// channels.
void run_transposed(const Call& call, std::span<Tensor> out) {
  const ConvolutionPlan plan = transposed_plan(call);
  const WindowPlan& window = plan.window;
  const std::int64_t inputs = plan.inputs / plan.groups, outputs = plan.outputs / plan.groups;
  const float *x = call.in(0).reals(), *weights = call.in(1).reals();
  // The input that a tap of the kernel brings to a place; -1 where there is none.
  const auto source = [&](std::size_t axis, std::int64_t at, std::int64_t tap) -> std::int64_t {
    const std::int64_t spread = at + window.before[axis] - tap * window.dilation[axis];
    if (spread < 0 || spread % window.stride[axis] != 0) return -1;
    return spread / window.stride[axis] < plan.in[axis] ? spread / window.stride[axis] : -1;
  };
  float* to = out[0].reals();
  for (std::int64_t n = 0; n < plan.batch; ++n) {
    for (std::int64_t m = 0; m < plan.outputs; ++m) {
      const std::int64_t first = m / outputs * inputs;
      for (std::int64_t y = 0; y < window.out[0]; ++y) {
        for (std::int64_t x_out = 0; x_out < window.out[1]; ++x_out, ++to) {
          float sum = call.has(2) ? call.in(2).reals()[m] : 0.0F;
          for (std::int64_t ky = 0; ky < window.kernel[0]; ++ky) {
            for (std::int64_t kx = 0; kx < window.kernel[1]; ++kx) {
              const std::int64_t row = source(0, y, ky), column = source(1, x_out, kx);
              if (row < 0 || column < 0) continue;
              for (std::int64_t c = first; c < first + inputs; ++c) {
                const float w =
                    weights[((c * outputs + m % outputs) * window.kernel[0] + ky) * window.kernel[1] + kx];
                sum =
                    multiply_add(x[((n * plan.inputs + c) * plan.in[0] + row) * plan.in[1] + column], w, sum);
              }
            }
          }
          *to = sum;
        }
      }
    }
  }
}

// --- matrix products

// Shapes of both as stacks of matrices; a vector is a matrix of one row or column.
struct MatrixShapes {
  Shape first, second, out;
};
MatrixShapes matrix_shapes(const Call& call) {
  MatrixShapes shapes{call.real(0).shape(), call.real(1).shape(), {}};
  if (shapes.first.empty() || shapes.second.empty()) throw Problem("multiplies a scalar");
  const bool row = shapes.first.size() == 1, column = shapes.second.size() == 1;
  if (row) shapes.first.insert(shapes.first.begin(), 1);
  if (column) shapes.second.push_back(1);
  const std::size_t a = shapes.first.size(), b = shapes.second.size();
  if (shapes.first[a - 1] != shapes.second[b - 2])
    throw Problem("multiplies " + text_of(call.in(0).shape()) + " by " + text_of(call.in(1).shape()));
  shapes.out = broadcast_shape({shapes.first.begin(), shapes.first.end() - 2},
                               {shapes.second.begin(), shapes.second.end() - 2});
  shapes.out.push_back(shapes.first[a - 2]);
  shapes.out.push_back(shapes.second[b - 1]);
  return shapes;
}

Types matrix_type(const Call& call) {
  MatrixShapes shapes = matrix_shapes(call);
  if (call.in(1).rank() == 1) shapes.out.pop_back();
  if (call.in(0).rank() == 1) shapes.out.erase(shapes.out.end() - (call.in(1).rank() == 1 ? 1 : 2));
  return {{Kind::real, shapes.out}};
}

// Adds the product of an M x K and a K x N matrix, which may lie transposed, to sums that are there.
struct MatrixView {
  const float* data;
  std::int64_t row_step, column_step;
};
void add_product(MatrixView a, MatrixView b, float* sums, std::int64_t rows, std::int64_t depth,
                 std::int64_t columns) {
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t k = 0; k < depth; ++k)
      add_tap(sums + i * columns, b.data + k * b.row_step, b.column_step,
              a.data[i * a.row_step + k * a.column_step], columns);
  }
}

void run_matrix(const Call& call, std::span<Tensor> out) {
  const MatrixShapes shapes = matrix_shapes(call);
  const std::int64_t rows = shapes.out[shapes.out.size() - 2], columns = shapes.out.back();
  const std::int64_t depth = shapes.first.back();
  const Shape stack(shapes.out.begin(), shapes.out.end() - 2);
  BroadcastWalk first(stack, {shapes.first.begin(), shapes.first.end() - 2});
  BroadcastWalk second(stack, {shapes.second.begin(), shapes.second.end() - 2});
  std::fill_n(out[0].reals(), out[0].size(), 0.0F);
  const std::int64_t size = rows * columns;
  for (std::int64_t i = 0; size > 0 && i < out[0].size() / size; ++i, first.next(), second.next()) {
    add_product({call.in(0).reals() + first.offset() * rows * depth, depth, 1},
                {call.in(1).reals() + second.offset() * depth * columns, columns, 1},
                out[0].reals() + i * size, rows, depth, columns);
  }
}

Types gemm_type(const Call& call) {
  const Shape &a = call.real(0).shape(), &b = call.real(1).shape();
  if (a.size() != 2 || b.size() != 2) throw Problem("multiplies " + text_of(a) + " by " + text_of(b));
  const bool ta = call.node.integer("transA", 0) != 0, tb = call.node.integer("transB", 0) != 0;
  if (a[ta ? 0 : 1] != b[tb ? 1 : 0]) throw Problem("multiplies " + text_of(a) + " by " + text_of(b));
  const Shape shape{a[ta ? 1 : 0], b[tb ? 0 : 1]};
  if (call.has(2) && broadcast_shape(call.real(2).shape(), shape) != shape)
    throw Problem("has a third input of " + text_of(call.in(2).shape()));
  return {{Kind::real, shape}};
}

// The sums begin with the third input, unless products are scaled.
void run_gemm(const Call& call, std::span<Tensor> out) {
  const Tensor &a = call.in(0), &b = call.in(1);
  const bool ta = call.node.integer("transA", 0) != 0, tb = call.node.integer("transB", 0) != 0;
  const float alpha = call.node.real("alpha", 1), beta = call.node.real("beta", 1);
  const std::int64_t rows = out[0].dim(0), columns = out[0].dim(1);
  std::vector<float> added(static_cast<std::size_t>(out[0].size()), 0.0F);
  if (call.has(2)) {
    BroadcastWalk walk(out[0].shape(), call.in(2).shape());
    for (float& one : added) {
      one = call.in(2).reals()[walk.offset()] * beta;
      walk.next();
    }
  }
  float* sums = out[0].reals();
  std::fill_n(sums, out[0].size(), 0.0F);
  if (alpha == 1) std::ranges::copy(added, sums);
  add_product({a.reals(), ta ? 1 : a.dim(1), ta ? a.dim(1) : 1},
              {b.reals(), tb ? 1 : b.dim(1), tb ? b.dim(1) : 1}, sums, rows, a.dim(ta ? 0 : 1), columns);
  if (alpha != 1) {
    for (std::size_t i = 0; i < added.size(); ++i) sums[i] = multiply_add(sums[i], alpha, added[i]);
  }
}

constexpr Operator kConvolutions[] = {
    {"Conv", 2, 3, 1, convolution_type, run_convolution, lower_one_axis},
    {"ConvTranspose", 2, 3, 1, transposed_type, run_transposed, lower_one_axis},
    {"Gemm", 2, 3, 1, gemm_type, run_gemm},
    {"MatMul", 2, 2, 1, matrix_type, run_matrix},
};

}  // namespace

WindowPlan window_plan(const Node& node, Pair sides, Pair kernel) {
  WindowPlan plan;
  plan.kernel = pair_attribute(node, "kernel_shape", kernel, 1);
  if (kernel[0] > 0 && plan.kernel != kernel) throw Problem("has weights of another size than its kernel");
  if (plan.kernel[0] < 1 || plan.kernel[1] < 1 || std::max(plan.kernel[0], plan.kernel[1]) > kMaxWindow)
    throw Problem("has no size of its kernel");
  plan.stride = pair_attribute(node, "strides", {1, 1}, 1);
  plan.dilation = pair_attribute(node, "dilations", {1, 1}, 1);
  const std::vector<std::int64_t> pads = node.integers("pads");
  if (!pads.empty() && pads.size() != 4) throw Problem("has pads that are not for pictures");
  const std::string automatic = node.text("auto_pad", "NOTSET");
  const bool up = kernel[0] == 0 && node.integer("ceil_mode", 0) != 0;  // of pooling alone
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t reach = (plan.kernel[axis] - 1) * plan.dilation[axis] + 1, step = plan.stride[axis];
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      const std::int64_t wanted = (sides[axis] + step - 1) / step;
      const std::int64_t all = std::max<std::int64_t>(0, (wanted - 1) * step + reach - sides[axis]);
      plan.before[axis] = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
      plan.behind[axis] = all - plan.before[axis];
    } else if (automatic == "NOTSET" && !pads.empty()) {
      plan.before[axis] = pads[axis];
      plan.behind[axis] = pads[axis + 2];
      if (std::min(pads[axis], pads[axis + 2]) < 0 || std::max(pads[axis], pads[axis + 2]) > kMaxWindow)
        throw Problem("has pads of " + std::to_string(pads[axis]) + " and " + std::to_string(pads[axis + 2]));
    }
    const std::int64_t room = sides[axis] + plan.before[axis] + plan.behind[axis] - reach;
    if (room < 0) throw Problem("has a kernel that is larger than its input");
    plan.out[axis] = (room + (up ? step - 1 : 0)) / step + 1;
    // A window must not begin in the padding behind.
    if (up && (plan.out[axis] - 1) * step >= sides[axis] + plan.before[axis]) --plan.out[axis];
  }
  return plan;
}

ConvolutionPlan convolution_plan(const Call& call) {
  const Shape& w = weights_shape(call);
  ConvolutionPlan plan = weights_plan(call, w[0], w[1] * group_count(call));
  plan.window = window_plan(call.node, plan.in, {w[2], w[3]});
  const WindowPlan& window = plan.window;
  elements_of({plan.inputs, plan.in[0] + window.before[0] + window.behind[0],
               plan.in[1] + window.before[1] + window.behind[1]});  // of the padded picture
  return plan;
}

ConvolutionPlan transposed_plan(const Call& call) {
  const Shape& w = weights_shape(call);
  ConvolutionPlan plan = weights_plan(call, w[1] * group_count(call), w[0]);
  WindowPlan& window = plan.window;
  window.kernel = pair_attribute(call.node, "kernel_shape", {w[2], w[3]}, 1);
  if (window.kernel != Pair{w[2], w[3]}) throw Problem("has weights of another size than its kernel");
  window.stride = pair_attribute(call.node, "strides", {1, 1}, 1);
  window.dilation = pair_attribute(call.node, "dilations", {1, 1}, 1);
  const Pair more = pair_attribute(call.node, "output_padding", {0, 0}, 0);
  const std::vector<std::int64_t> pads = call.node.integers("pads");
  const std::string automatic = call.node.text("auto_pad", "NOTSET");
  std::vector<std::int64_t> size = call.node.integers("output_shape");
  if (size.size() == 4) size.erase(size.begin(), size.begin() + 2);
  if (size.empty() && automatic.starts_with("SAME"))
    size = {plan.in[0] * window.stride[0], plan.in[1] * window.stride[1]};
  if ((!size.empty() && (size.size() != 2 || std::ranges::max(size) > kMaxElements)) ||
      (!pads.empty() && pads.size() != 4))
    throw Problem("has a size of its output that does not fit");
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t whole = (plan.in[axis] - 1) * window.stride[axis] +
                               (window.kernel[axis] - 1) * window.dilation[axis] + 1 + more[axis];
    if (!size.empty()) {
      const std::int64_t all = std::max<std::int64_t>(0, whole - size[axis]);
      window.before[axis] = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
      window.behind[axis] = all - window.before[axis];
    } else if (!pads.empty()) {
      window.before[axis] = pads[axis];
      window.behind[axis] = pads[axis + 2];
    }
    window.out[axis] = size.empty() ? whole - window.before[axis] - window.behind[axis] : size[axis];
    if (window.before[axis] < 0 || window.before[axis] > kMaxWindow || window.out[axis] < 1)
      throw Problem("has pads that do not fit");
  }
  return plan;
}

std::span<const Operator> convolution_operators() {
  return kConvolutions;
}

}  // namespace sightline::network
