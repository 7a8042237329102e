#include <algorithm>
#include <numeric>

#include "network/primitives/checks.hpp"
#include "network/primitives/rows.hpp"

namespace sightline::nn {
namespace {

void check_taken(std::int64_t count, std::int64_t side) {
  if (count < 0 || (side != kUnknown && count > side))
    throw Problem("takes " + std::to_string(count) + " of " + std::to_string(side) + " elements");
}

// Places of a row's elements, the first `count` of which are in order.
template <typename T>
void order_first(const T* row, std::int64_t step, bool largest, std::int64_t count,
                 std::vector<std::int64_t>& places) {
  std::iota(places.begin(), places.end(), 0);
  const auto stands_before = [&](std::int64_t i, std::int64_t k) {
    const T a = row[i * step], b = row[k * step];
    const bool before = largest ? is_before(a, b) : is_before(b, a);
    const bool behind = largest ? is_before(b, a) : is_before(a, b);
    return before || (!behind && i < k);
  };
  std::partial_sort(places.begin(), places.begin() + count, places.end(), stands_before);
}

}  // namespace

Types TopK::infer(InputTypes inputs) const {
  check_count(inputs, 1, count == kUnknown ? 2 : 1);
  check_number(inputs, 0);
  check_axis(inputs, axis);
  if (inputs.size() > 1) check_index(inputs, 1);
  Shape shape = inputs[0].shape;
  if (count != kUnknown) check_taken(count, shape[axis]);
  shape[axis] = count;
  return {{inputs[0].data, shape}, {DataType::i64, shape}};
}

void TopK::evaluate(Inputs inputs, Outputs outputs) const {
  const Tensor& x = *inputs[0];
  Shape shape = x.shape();
  shape[axis] = count == kUnknown ? integer_of(*inputs[1]) : count;
  check_taken(shape[axis], x.dim(axis));
  if (count == kUnknown) {
    outputs[0] = Tensor(x.data(), shape);
    outputs[1] = Tensor(DataType::i64, shape);
  }
  const std::int64_t step = strides_of(x.shape())[axis];
  std::vector<std::int64_t> places(static_cast<std::size_t>(x.dim(axis)));
  with_type(x.data(), [&]<typename T>() {
    for_each_row(x, outputs[0], axis, [&](std::int64_t first, std::int64_t to) {
      const T* const row = x.as<T>().data() + first;
      order_first(row, step, largest, shape[axis], places);
      for (std::int64_t i = 0; i < shape[axis]; ++i, to += step) {
        const std::int64_t place = places[static_cast<std::size_t>(i)];
        outputs[0].as<T>()[to] = row[place * step];
        outputs[1].as<std::int64_t>()[to] = place;
      }
    });
  });
}

}  // namespace sightline::nn
