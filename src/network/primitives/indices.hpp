#pragma once
/// Places that indices name, for Gather and Scatter.

#include "network/primitives/primitive.hpp"

namespace sightline::nn {

/// An index from -side to side - 1, as one from 0. Throws Problem out of range.
std::int64_t checked_index(std::int64_t index, std::int64_t side);

/// The shape of what is read. Throws Problem if the indices do not fit.
/// @param inputs  x and indices
Shape gathered_shape(By by, std::size_t axis, std::size_t batch, InputTypes inputs);

/// Parts of a tensor that lie in one piece, one for each index, in their order.
struct Pieces {
  std::vector<std::int64_t> first;  ///< offsets
  std::int64_t size = 1;            ///< elements of each
};
/// @param by  element or tuple. Throws Problem if an index is out of range.
Pieces pieces_of(By by, std::size_t axis, std::size_t batch, const Tensor& x, const Tensor& indices);

}  // namespace sightline::nn
