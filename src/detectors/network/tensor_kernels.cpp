// Nodes that run by kernels on plain tensors.
#include "detectors/network/tensor_kernels.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "detectors/network/broadcast.hpp"

namespace sightline::network {
namespace {

// An activation of all elements; the last few go through a block of their own.
void activate_all(const Tensor& x, const Activation& activation, Tensor& out) {
  const std::int64_t blocks = x.size() / kBlock, rest = x.size() % kBlock;
  activate_row(x.reals(), static_cast<int>(blocks), activation, out.reals());
  float block[kBlock] = {};
  std::copy_n(x.reals() + blocks * kBlock, rest, block);
  if (rest > 0) activate_row(block, 1, activation, block);
  std::copy_n(block, rest, out.reals() + blocks * kBlock);
}

// Runs a product of matrices, of stacks of them, or of matrices with a vector.
bool run_matrix_product(const Call& call, Tensor& out, Part part) {
  Shape a = call.in(0).shape(), b = call.in(1).shape();
  if (a.size() < 2 || b.empty() || out.size() == 0) return false;
  const std::int64_t depth = a.back(), columns = b.size() == 1 ? 1 : b.back();
  std::int64_t rows = a[a.size() - 2];
  Shape stack(out.shape().begin(), out.shape().end() - (b.size() == 1 ? 1 : 2));
  a.resize(a.size() - 2);
  b.resize(b.size() - std::min<std::size_t>(b.size(), 2));
  if (elements_of(b) == 1 && elements_of(a) == elements_of(stack)) {  // all with the same one
    rows *= elements_of(stack);
    a.clear();
    b.clear();
    stack.clear();
  }
  BroadcastWalk first(stack, a), second(stack, b);
  const std::int64_t all = out.size() / columns, end = part.end(all);
  for (std::int64_t i = 0; i < all; i += rows, first.next(), second.next()) {
    const std::int64_t from = std::max(i, part.begin(all)), count = std::min(i + rows, end) - from;
    if (count <= 0) continue;
    float* const to = out.reals() + from * columns;
    std::fill_n(to, count * columns, 0.0F);
    multiply_matrices({call.in(0).reals() + (first.offset() * rows + from - i) * depth, depth, 1,
                       call.in(1).reals() + second.offset() * depth * columns, columns, to, count, depth,
                       columns});
  }
  return true;
}

bool run_gemm_product(const Call& call, Tensor& out) {
  if (call.node.real("alpha", 1) != 1 || call.node.real("beta", 1) != 1) return false;
  const Tensor &a = call.in(0), &b = call.in(1);
  const bool ta = call.node.integer("transA", 0) != 0, tb = call.node.integer("transB", 0) != 0;
  const std::int64_t rows = out.dim(0), columns = out.dim(1), depth = a.dim(ta ? 0 : 1);
  BroadcastWalk added(out.shape(), call.has(2) ? call.in(2).shape() : Shape{});
  for (std::int64_t i = 0; i < out.size(); ++i, added.next())
    out.reals()[i] = call.has(2) ? call.in(2).reals()[added.offset()] : 0.0F;
  std::vector<float> turned;
  if (tb) {
    turned.resize(static_cast<std::size_t>(b.size()));
    transpose_matrix(b.reals(), depth, turned.data(), columns, columns, depth);
  }
  multiply_matrices({a.reals(), ta ? 1 : a.dim(1), ta ? a.dim(1) : 1, tb ? turned.data() : b.reals(), columns,
                     out.reals(), rows, depth, columns});
  return true;
}

// Repeats a tensor up to a shape, from an axis on. Returns the end of what it wrote.
float* repeat(const float* from, const Shape& shape, const std::vector<std::int64_t>& steps, std::size_t axis,
              float* to) {
  if (axis == shape.size()) {
    *to = *from;
    return to + 1;
  }
  float* end = repeat(from, shape, steps, axis + 1, to);
  const std::int64_t count = end - to;
  for (std::int64_t i = 1; i < shape[axis]; ++i)
    end = steps[axis] == 0 ? std::copy_n(to, count, end)
                           : repeat(from + i * steps[axis], shape, steps, axis + 1, end);
  return end;
}

// Trailing axes that both tensors have in full count as one.
bool run_elements(const Call& call, char op, Tensor& out) {
  constexpr std::int64_t kShort = 16;
  const Tensor &a = call.in(0), &b = call.in(1);
  if (a.kind() != Kind::real || out.size() == 0) return false;
  Shape shape = out.shape();
  std::vector<std::int64_t> a_steps = broadcast_steps(shape, a.shape()),
                            b_steps = broadcast_steps(shape, b.shape());
  std::int64_t count = 1, a_step = 1, b_step = 1;
  while (!shape.empty()) {
    const bool a_goes_on = a_steps.back() == (a_step ? count : 0) || shape.back() == 1;
    const bool b_goes_on = b_steps.back() == (b_step ? count : 0) || shape.back() == 1;
    if (count > 1 && !(a_goes_on && b_goes_on)) break;
    if (count == 1 && shape.back() > 1) {
      a_step = a_steps.back();
      b_step = b_steps.back();
      if (std::max(a_step, b_step) > 1) return false;
    }
    count *= shape.back();
    shape.pop_back();
    a_steps.pop_back();
    b_steps.pop_back();
  }
  if (count < kShort && count < out.size() && std::max(a.size(), b.size()) == out.size()) {
    // Runs are too short: the one that is repeated is written out first.
    const bool is_first = a.size() == out.size();
    const Tensor& other = is_first ? b : a;
    repeat(other.reals(), out.shape(), broadcast_steps(out.shape(), other.shape()), 0, out.reals());
    binary_run(op, is_first ? a.reals() : out.reals(), 1, is_first ? out.reals() : b.reals(), 1, out.size(),
               out.reals());
    return true;
  }
  StridedWalk first(shape, a_steps), second(shape, b_steps);
  for (std::int64_t i = 0; i < out.size(); i += count, first.next(), second.next())
    binary_run(op, a.reals() + first.offset(), a_step, b.reals() + second.offset(), b_step, count,
               out.reals() + i);
  return true;
}

// Rows along the axes [begin, end) together.
AxisRows axis_rows(const Shape& shape, std::size_t begin, std::size_t end) {
  const std::int64_t step = elements_between(shape, end, shape.size());
  return {elements_between(shape, begin, end), step, 0, elements_between(shape, 0, begin) * step};
}

// Along one axis from opset 13 on, and along all from one on before.
bool run_softmax_rows(const Call& call, Tensor& out, Part part) {
  const Tensor& x = call.in(0);
  if (x.size() == 0) return false;
  const bool is_one = call.node.opset >= 13;
  const std::size_t axis = Call::axis(call.node.integer("axis", is_one ? -1 : 1), x.rank());
  AxisRows rows = axis_rows(x.shape(), axis, is_one ? axis + 1 : x.rank());
  rows.first = part.begin(rows.last);
  rows.last = part.end(rows.last);
  softmax_rows(rows, x.reals(), out.reals());
  return true;
}

// Sums or means along axes that lie side by side.
bool run_row_sums(const Call& call, bool is_mean, Tensor& out) {
  const Tensor& x = call.in(0);
  if (x.kind() != Kind::real || x.size() == 0) return false;
  std::set<std::size_t> axes;
  for (const std::int64_t axis : call.wholes(1, "axes")) axes.insert(Call::axis(axis, x.rank()));
  if (axes.empty() || *axes.rbegin() - *axes.begin() + 1 != axes.size()) return false;
  const AxisRows rows = axis_rows(x.shape(), *axes.begin(), *axes.rbegin() + 1);
  sum_rows(rows, x.reals(), out.reals());
  for (std::int64_t i = 0; i < out.size() && is_mean; ++i) out.reals()[i] /= static_cast<float>(rows.count);
  return true;
}

// Matrices, or stacks of them, whose rows and columns change places. Each may be several axes.
bool run_turned_matrices(const Call& call, Tensor& out) {
  const Tensor& x = call.in(0);
  const std::vector<std::int64_t> order = call.node.integers("perm");
  if (x.kind() != Kind::real || x.size() == 0 || order.size() != x.rank()) return false;
  std::vector<std::size_t> axes;  // axes of one element may be anywhere
  for (const std::int64_t number : order) {
    const std::size_t axis = Call::axis(number, x.rank());
    if (x.dim(axis) > 1) axes.push_back(axis);
  }
  std::vector<std::size_t> turned = axes;
  std::ranges::sort(turned);
  const auto first = std::ranges::mismatch(turned, axes).in1;
  if (first == turned.end()) return false;
  const auto row_axes = std::rotate(
      first, std::ranges::find(turned, axes[static_cast<std::size_t>(first - turned.begin())]), turned.end());
  if (turned != axes) return false;
  std::int64_t rows = 1, columns = 1;
  for (auto axis = first; axis != turned.end(); ++axis) (axis < row_axes ? columns : rows) *= x.dim(*axis);
  for (std::int64_t i = 0; i < x.size(); i += rows * columns)
    transpose_matrix(x.reals() + i, columns, out.reals() + i, rows, rows, columns);
  return true;
}

bool run_grid_samples(const Call& call, Tensor& out) {
  const Tensor &x = call.in(0), &grid = call.in(1);
  const Sampler sampler(call);
  if (sampler.is_nearest()) return false;
  const std::int64_t plane = x.dim(2) * x.dim(3), places = grid.dim(1) * grid.dim(2), channels = x.dim(1);
  std::vector<nn::Sample> samples(static_cast<std::size_t>(places));
  for (std::int64_t n = 0; n < x.dim(0); ++n) {
    for (std::int64_t i = 0; i < places; ++i)
      samples[static_cast<std::size_t>(i)] = sampler.at(grid.reals() + (n * places + i) * 2);
    for (std::int64_t c = n * channels; c < (n + 1) * channels; ++c)
      nn::mix_samples(x.reals() + c * plane, samples, 1, false, out.reals() + c * places);
  }
  return true;
}

// Squares are what powers are mostly for.
bool run_square(const Call& call, Tensor& out) {
  const Tensor &x = call.in(0), &exponent = call.in(1);
  if (x.kind() != Kind::real || exponent.kind() != Kind::real || exponent.size() != 1 ||
      exponent.reals()[0] != 2.0F || out.size() != x.size())
    return false;
  binary_run('*', x.reals(), 1, x.reals(), 1, x.size(), out.reals());
  return true;
}

}  // namespace

std::int64_t parts_of(const Call& call, const TensorType& output) {
  constexpr std::int64_t kExponential = 32;                      // what one costs in multiply-adds
  constexpr std::int64_t kLeastWork = 1 << 19, kMostParts = 64;  // some microseconds
  std::int64_t work = 0;                                         // multiply-adds of each output
  if (call.node.op == "Softmax") work = kExponential;
  if (call.node.op == "MatMul" && call.in(0).rank() >= 2 && call.in(1).rank() >= 1)
    work = call.in(0).shape().back();
  return std::clamp<std::int64_t>(elements_of(output.shape) * work / kLeastWork, 1, kMostParts);
}

bool run_by_kernels(const Call& call, std::span<Tensor> outputs, Part part) {
  using Kinds = Activation::Kind;
  const std::string& op = call.node.op;
  Tensor& out = outputs[0];
  if (op == "MatMul") return run_matrix_product(call, out, part);
  if (op == "Gemm") return run_gemm_product(call, out);
  if (op == "Add") return run_elements(call, '+', out);
  if (op == "Sub") return run_elements(call, '-', out);
  if (op == "Mul") return run_elements(call, '*', out);
  if (op == "Div") return run_elements(call, '/', out);
  if (op == "Softmax") return run_softmax_rows(call, out, part);
  if (op == "ReduceSum" || op == "ReduceMean") return run_row_sums(call, op == "ReduceMean", out);
  if (op == "Transpose") return run_turned_matrices(call, out);
  if (op == "GridSample") return run_grid_samples(call, out);
  if (op == "Pow") return run_square(call, out);
  if (op == "Exp") {
    exponential_run(call.in(0).reals(), out.size(), out.reals());
    return true;
  }
  if (op != "Sigmoid" && op != "Relu") return false;
  activate_all(call.in(0), {op == "Relu" ? Kinds::relu : Kinds::sigmoid}, out);
  return true;
}

}  // namespace sightline::network
