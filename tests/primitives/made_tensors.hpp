#pragma once
/// Tensors of awkward values, and plain ways to look at them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <vector>

#include "network/primitives/primitive.hpp"

namespace sightline::nn {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Numbers from -9 to 9 that are no simple fractions; the same ones for the same seed.
template <typename T = float>
Tensor made(const Shape& shape, std::uint32_t seed = 1) {
  Tensor tensor(kDataTypeOf<T>, shape);
  for (T& one : tensor.as<T>()) {
    seed = seed * 1664525 + 1013904223;
    const auto number = static_cast<float>(seed >> 8) / 16777216.0F * 18 - 9;
    one = std::is_same_v<T, bool> ? static_cast<T>(number > 0) : static_cast<T>(number);
  }
  return tensor;
}

/// The same, but every third number is NaN, an infinity, a zero of either sign, huge or denormal.
inline Tensor made_odd(const Shape& shape, std::uint32_t seed = 1) {
  constexpr float kOdd[] = {kNan, kInfinity, -kInfinity, 0.0F, -0.0F, 3e38F, 1e-42F};
  Tensor tensor = made(shape, seed);
  for (std::size_t i = seed % 3; i < tensor.as<float>().size(); i += 3)
    tensor.as<float>()[i] = kOdd[(i / 3 + seed) % std::size(kOdd)];
  return tensor;
}

/// Whether two tensors have the same types and bits; NaN equals NaN.
inline testing::AssertionResult same(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type())
    return testing::AssertionFailure() << text_of(a.type()) << " and " << text_of(b.type());
  return with_type(a.data(), [&]<typename T>() -> testing::AssertionResult {
    for (std::size_t i = 0; i < a.as<T>().size(); ++i) {
      const T x = a.as<T>()[i], y = b.as<T>()[i];
      if (!(Scalar(x) == Scalar(y)) && (x == x || y == y))
        return testing::AssertionFailure() << "element " << i << ": " << +x << " and " << +y;
    }
    return testing::AssertionSuccess();
  });
}

inline std::vector<Tensor> run_all(const Primitive& primitive, const std::vector<Tensor>& inputs) {
  std::vector<const Tensor*> pointers;
  for (const Tensor& one : inputs) pointers.push_back(&one);
  return evaluate(primitive, pointers);
}
inline Tensor run(const Primitive& primitive, const std::vector<Tensor>& inputs) {
  return run_all(primitive, inputs).at(0);
}

inline void expect_refused(const Primitive& primitive, const Types& inputs) {
  EXPECT_THROW(infer(primitive, inputs), Problem) << name_of(primitive);
}

/// The only output's shape.
inline Shape inferred(const Primitive& primitive, const Types& inputs) {
  return infer(primitive, inputs).at(0).shape;
}

/// All places of a shape, in row-major order.
inline std::vector<Shape> places_of(const Shape& shape) {
  std::vector<Shape> places{{}};
  for (const std::int64_t side : shape) {
    std::vector<Shape> longer;
    for (const Shape& place : places) {
      for (std::int64_t i = 0; i < side; ++i) {
        longer.push_back(place);
        longer.back().push_back(i);
      }
    }
    places = std::move(longer);
  }
  return places;
}

/// An element by its place.
template <typename T>
T at(const Tensor& tensor, const Shape& place) {
  std::int64_t index = 0;
  for (std::size_t axis = 0; axis < place.size(); ++axis) index = index * tensor.dim(axis) + place[axis];
  return tensor.as<T>()[static_cast<std::size_t>(index)];
}

/// A tensor whose elements are `f(place)`.
template <typename T>
Tensor tensor_of(const Shape& shape, const std::function<T(const Shape&)>& f) {
  Tensor tensor(kDataTypeOf<T>, shape);
  std::size_t next = 0;
  for (const Shape& place : places_of(shape)) tensor.as<T>()[next++] = f(place);
  return tensor;
}

/// Calls `f.operator()<T>()` for all types of numbers.
template <typename F>
void for_all_numbers(const F& f) {
  f.template operator()<float>();
  f.template operator()<std::int64_t>();
  f.template operator()<std::int32_t>();
  f.template operator()<std::uint8_t>();
  f.template operator()<std::int8_t>();
}

}  // namespace sightline::nn
