#include <algorithm>

#include "network/functions.hpp"
#include "network/primitives/checks.hpp"
#include "network/primitives/indices.hpp"

namespace sightline::nn {
namespace {

// What becomes of an element that is there and one that comes.
template <typename T>
T combined(Combine how, T old, T one) {
  if constexpr (!std::is_same_v<T, bool>) {
    switch (how) {
      case Combine::add:
        return functions::add(old, one);
      case Combine::multiply:
        return functions::multiply(old, one);
      case Combine::minimum:
        return functions::minimum(old, one);
      case Combine::maximum:
        return functions::maximum(old, one);
      case Combine::replace:
        break;
    }
  }
  return one;
}

}  // namespace

Types Scatter::infer(InputTypes inputs) const {
  check_count(inputs, 3, 3);
  if (by == By::index) throw Problem("writes all of a place, which Scatter cannot");
  if (combine != Combine::replace) check_number(inputs, 0);
  check_type(inputs, 2, inputs[0].data);
  check_shape(inputs, 2, gathered_shape(by, axis, 0, inputs));
  return {inputs[0]};
}

void Scatter::evaluate(Inputs inputs, Outputs outputs) const {
  const Pieces pieces = pieces_of(by, axis, 0, *inputs[0], *inputs[1]);
  std::ranges::copy(inputs[0]->bytes(), outputs[0].bytes().begin());
  with_type(inputs[0]->data(), [&]<typename T>() {
    const T* next = inputs[2]->as<T>().data();
    for (const std::int64_t first : pieces.first) {
      T* const at = outputs[0].as<T>().data() + first;
      for (std::int64_t i = 0; i < pieces.size; ++i) at[i] = combined(combine, at[i], *next++);
    }
  });
}

}  // namespace sightline::nn
