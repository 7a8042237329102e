#include "network/primitives/checks.hpp"
#include "network/strided.hpp"

namespace sightline::nn {

Types NonZero::infer(InputTypes inputs) const {
  check_count(inputs, 1, 1);
  return {{DataType::i64, {static_cast<std::int64_t>(inputs[0].shape.size()), kUnknown}}};
}

void NonZero::evaluate(Inputs inputs, Outputs outputs) const {
  const Tensor& x = *inputs[0];
  std::vector<Shape> places;
  with_type(x.data(), [&]<typename T>() {
    const T* next = x.as<T>().data();
    for_each_index(x.shape(), [&](const Shape& place) {
      if (*next++ != T{0}) places.push_back(place);
    });
  });
  const auto count = static_cast<std::int64_t>(places.size());
  outputs[0] = Tensor(DataType::i64, {static_cast<std::int64_t>(x.rank()), count});
  auto to = outputs[0].as<std::int64_t>().begin();
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    for (const Shape& place : places) *to++ = place[axis];
  }
}

}  // namespace sightline::nn
