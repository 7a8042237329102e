// Iota and Dimension.
#include "network/functions.hpp"
#include "network/primitives/checks.hpp"

namespace sightline::nn {

Types Iota::infer(InputTypes inputs) const {
  check_count(inputs, 0, count == kUnknown ? 1 : 0);
  if (start.data() != step.data() || start.data() == DataType::boolean)
    throw Problem("counts from " + std::string(text_of(start.data())) + " by " +
                  std::string(text_of(step.data())));
  if (!inputs.empty()) check_index(inputs, 0);
  return {{start.data(), {count}}};
}

void Iota::evaluate(Inputs inputs, Outputs outputs) const {
  if (!inputs.empty()) outputs[0] = Tensor(start.data(), {integer_of(*inputs[0])});
  with_type(start.data(), [&]<typename T>() {
    using functions::add, functions::multiply;
    if constexpr (!std::is_same_v<T, bool>) {
      std::int64_t i = 0;
      for (T& y : outputs[0].as<T>()) y = add(start.as<T>(), multiply(functions::cast<T>(i++), step.as<T>()));
    }
  });
}

Types Dimension::infer(InputTypes inputs) const {
  check_count(inputs, 1, 1);
  check_axis(inputs, axis);
  return {{DataType::i64, {}}};
}

void Dimension::evaluate(Inputs inputs, Outputs outputs) const {
  outputs[0].as<std::int64_t>()[0] = inputs[0]->dim(axis);
}

}  // namespace sightline::nn
