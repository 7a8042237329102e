// Nodes that run by kernels on plain tensors.
#include "detectors/network/tensor_kernels.hpp"

#include <algorithm>
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

// Whether the matrices of a product, or stacks of them, lie as multiply_matrices needs them; runs it if so.
bool run_matrix_product(const Call& call, Tensor& out) {
  const Shape &a = call.in(0).shape(), &b = call.in(1).shape();
  if (a.size() < 2 || b.size() < 2 || out.size() == 0) return false;
  const std::int64_t rows = a[a.size() - 2], depth = a.back(), columns = b.back();
  const Shape stack(out.shape().begin(), out.shape().end() - 2);
  BroadcastWalk first(stack, {a.begin(), a.end() - 2}), second(stack, {b.begin(), b.end() - 2});
  std::fill_n(out.reals(), out.size(), 0.0F);
  for (std::int64_t i = 0; i < out.size() / (rows * columns); ++i, first.next(), second.next())
    multiply_matrices({call.in(0).reals() + first.offset() * rows * depth, depth, 1,
                       call.in(1).reals() + second.offset() * depth * columns, columns,
                       out.reals() + i * rows * columns, rows, depth, columns});
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
    for (std::int64_t j = 0; j < columns; ++j) {
      for (std::int64_t k = 0; k < depth; ++k)
        turned[static_cast<std::size_t>(k * columns + j)] = b.reals()[j * depth + k];
    }
  }
  multiply_matrices({a.reals(), ta ? 1 : a.dim(1), ta ? a.dim(1) : 1, tb ? turned.data() : b.reals(), columns,
                     out.reals(), rows, depth, columns});
  return true;
}

// Trailing axes that both tensors have in full count as one.
bool run_elements(const Call& call, char op, Tensor& out) {
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
  StridedWalk first(shape, a_steps), second(shape, b_steps);
  for (std::int64_t i = 0; i < out.size(); i += count, first.next(), second.next())
    binary_run(op, a.reals() + first.offset(), a_step, b.reals() + second.offset(), b_step, count,
               out.reals() + i);
  return true;
}

bool run_softmax_rows(const Call& call, Tensor& out) {
  const Tensor& x = call.in(0);
  const std::size_t axis = Call::axis(call.node.integer("axis", call.node.opset >= 13 ? -1 : 1), x.rank());
  if (axis + 1 != x.rank() || x.size() == 0) return false;
  const std::int64_t count = x.shape().back();
  for (std::int64_t i = 0; i < x.size(); i += count) softmax_row(x.reals() + i, out.reals() + i, count);
  return true;
}

}  // namespace

bool run_by_kernels(const Call& call, std::span<Tensor> outputs) {
  using Kinds = Activation::Kind;
  const std::string& op = call.node.op;
  Tensor& out = outputs[0];
  if (op == "MatMul") return run_matrix_product(call, out);
  if (op == "Gemm") return run_gemm_product(call, out);
  if (op == "Add") return run_elements(call, '+', out);
  if (op == "Sub") return run_elements(call, '-', out);
  if (op == "Mul") return run_elements(call, '*', out);
  if (op == "Div") return run_elements(call, '/', out);
  if (op == "Softmax") return run_softmax_rows(call, out);
  if (op != "Sigmoid" && op != "Relu") return false;
  activate_all(call.in(0), {op == "Relu" ? Kinds::relu : Kinds::sigmoid}, out);
  return true;
}

}  // namespace sightline::network
