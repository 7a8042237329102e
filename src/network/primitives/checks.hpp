#pragma once
/// Checks of inputs that primitives share. All throw Problem; inputs are counted from 1 in messages.

#include <cstddef>
#include <cstdint>

#include "network/primitives/primitive.hpp"

namespace sightline::nn {

void check_count(InputTypes inputs, std::size_t least, std::size_t most);
void check_type(InputTypes inputs, std::size_t i, DataType type);
/// f32 or an integer.
void check_number(InputTypes inputs, std::size_t i);
/// i64 or i32.
void check_index(InputTypes inputs, std::size_t i);
void check_rank(InputTypes inputs, std::size_t i, std::size_t least, std::size_t most = kMaxRank);
void check_axis(InputTypes inputs, std::size_t axis);
/// Whether two sides, or shapes, may be equal once they are known.
bool may_equal(std::int64_t a, std::int64_t b);
bool may_equal(const Shape& a, const Shape& b);
void check_shape(InputTypes inputs, std::size_t i, const Shape& wanted);

/// The only element of an input that is a scalar, or has one element, of i64 or i32.
std::int64_t integer_of(const Tensor& tensor);
/// `shape` with its unknown sides from a vector of integers. Throws Problem if that has another length.
Shape filled(Shape shape, const Tensor& sizes);

}  // namespace sightline::nn
