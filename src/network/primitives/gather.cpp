#include <algorithm>

#include "network/primitives/checks.hpp"
#include "network/primitives/indices.hpp"
#include "network/strided.hpp"

namespace sightline::nn {
namespace {

// All of each place on the axis.
void gather_places(const Tensor& x, const std::vector<std::int64_t>& index, std::size_t axis, Tensor& to) {
  const std::int64_t side = x.dim(axis), inner = elements_between(x.shape(), axis + 1, x.rank());
  with_bytes(x.data(), [&]<typename T>() {
    T* next = to.raw<T>();
    for (std::int64_t outer = 0; outer < elements_between(x.shape(), 0, axis); ++outer) {
      for (const std::int64_t i : index)
        next = std::copy_n(x.raw<T>() + (outer * side + checked_index(i, side)) * inner, inner, next);
    }
  });
}

}  // namespace

Types Gather::infer(InputTypes inputs) const {
  check_count(inputs, 2, 2);
  return {{inputs[0].data, gathered_shape(by, axis, batch, inputs)}};
}

void Gather::evaluate(Inputs inputs, Outputs outputs) const {
  const Tensor& x = *inputs[0];
  if (by == By::index) return gather_places(x, inputs[1]->integers(), axis, outputs[0]);
  const Pieces pieces = pieces_of(by, axis, batch, x, *inputs[1]);
  with_bytes(x.data(), [&]<typename T>() {
    T* next = outputs[0].raw<T>();
    for (const std::int64_t first : pieces.first) next = std::copy_n(x.raw<T>() + first, pieces.size, next);
  });
}

}  // namespace sightline::nn
