#include "network/primitives/checks.hpp"
#include "network/primitives/fold.hpp"
#include "network/primitives/window.hpp"
#include "network/strided.hpp"

namespace sightline::nn {

Types WindowFold::infer(InputTypes inputs) const {
  check_count(inputs, 1, 1);
  check_number(inputs, 0);
  check_rank(inputs, 0, 2);
  return {{inputs[0].data, windowed_shape(window, inputs[0].shape)}};
}

void WindowFold::evaluate(Inputs inputs, Outputs outputs) const {
  const Tensor& x = *inputs[0];
  const std::int64_t height = x.dim(x.rank() - 2), width = x.dim(x.rank() - 1);
  with_number(x.data(), [&]<typename T>() {
    const T* plane = x.as<T>().data();
    T* to = outputs[0].as<T>().data();
    for (std::int64_t p = elements_between(x.shape(), 0, x.rank() - 2); p > 0; --p, plane += height * width) {
      for_each_pair(window.out, [&](std::int64_t y, std::int64_t column) {
        T all = initial<T>(fold);
        for_each_pair(window.kernel, [&](std::int64_t ky, std::int64_t kx) {
          const std::int64_t row = window.position(0, y, ky), at = window.position(1, column, kx);
          if (row >= 0 && row < height && at >= 0 && at < width)
            all = folded(fold, all, plane[row * width + at]);
        });
        *to++ = all;
      });
    }
  });
}

}  // namespace sightline::nn
