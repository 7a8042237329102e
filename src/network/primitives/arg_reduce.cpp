#include "network/primitives/checks.hpp"
#include "network/primitives/rows.hpp"

namespace sightline::nn {

Types ArgReduce::infer(InputTypes inputs) const {
  check_count(inputs, 1, 1);
  check_axis(inputs, axis);
  if (inputs[0].shape[axis] == 0) throw Problem("has nothing to choose from");
  return {{DataType::i64, with_ones(inputs[0].shape, std::array{axis})}};
}

void ArgReduce::evaluate(Inputs inputs, Outputs outputs) const {
  const Tensor& x = *inputs[0];
  const std::int64_t step = strides_of(x.shape())[axis];
  with_type(x.data(), [&]<typename T>() {
    for_each_row(x, outputs[0], axis, [&](std::int64_t first, std::int64_t to) {
      const T* const row = x.as<T>().data() + first;
      std::int64_t best = 0;
      for (std::int64_t i = 1; i < x.dim(axis); ++i) {
        const T a = row[i * step], b = row[best * step];
        const bool is_better = largest ? is_before(a, b) : is_before(b, a);
        const bool is_worse = largest ? is_before(b, a) : is_before(a, b);
        if (is_better || (last && !is_worse)) best = i;
      }
      outputs[0].as<std::int64_t>()[to] = best;
    });
  });
}

}  // namespace sightline::nn
