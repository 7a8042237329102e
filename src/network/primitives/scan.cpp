#include "network/primitives/checks.hpp"
#include "network/primitives/fold.hpp"
#include "network/primitives/rows.hpp"

namespace sightline::nn {

Types Scan::infer(InputTypes inputs) const {
  check_count(inputs, 1, 1);
  check_number(inputs, 0);
  check_axis(inputs, axis);
  return {inputs[0]};
}

void Scan::evaluate(Inputs inputs, Outputs outputs) const {
  const Tensor& x = *inputs[0];
  const std::int64_t step = strides_of(x.shape())[axis];
  with_number(x.data(), [&]<typename T>() {
    for_each_row(x, outputs[0], axis, [&](std::int64_t first, std::int64_t /*the same*/) {
      T sum{0};
      for (std::int64_t i = 0; i < x.dim(axis); ++i) {
        const std::int64_t at = first + i * step;
        outputs[0].as<T>()[at] = sum = functions::add(x.as<T>()[at], sum);
      }
    });
  });
}

}  // namespace sightline::nn
