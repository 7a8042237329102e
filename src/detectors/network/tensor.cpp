#include "detectors/network/tensor.hpp"

#include <algorithm>

namespace sightline::network {

std::string text_of(const Shape& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (const std::int64_t side : shape)
    text += (text.empty() ? "" : "x") + (side < 0 ? std::string("?") : std::to_string(side));
  return text;
}

std::int64_t elements_of(const Shape& shape) {
  if (shape.size() > kMaxRank)
    throw Problem("a tensor has " + std::to_string(shape.size()) + " dimensions, more than the limit of " +
                  std::to_string(kMaxRank));
  std::int64_t count = 1;
  for (const std::int64_t side : shape) {
    if (side < 0) throw Problem("a tensor has the shape " + text_of(shape));
    // A tensor without elements has other sides that count, too.
    if (side > kMaxElements || count * std::max<std::int64_t>(side, 1) > kMaxElements)
      throw Problem("a tensor of " + text_of(shape) + " is larger than the limit of " +
                    std::to_string(kMaxElements) + " elements");
    count *= std::max<std::int64_t>(side, 1);
  }
  return std::ranges::find(shape, 0) == shape.end() ? count : 0;
}

std::int64_t bytes_of(const TensorType& type) {
  return elements_of(type.shape) * (type.kind == Kind::real ? 4 : 8);
}

Tensor Tensor::of(const std::vector<std::int64_t>& values) {
  Tensor tensor(Kind::whole, {static_cast<std::int64_t>(values.size())});
  std::ranges::copy(values, tensor.wholes());
  return tensor;
}

Tensor Tensor::scalar(float value) {
  Tensor tensor(Kind::real, {});
  *tensor.reals() = value;
  return tensor;
}

void Tensor::allocate(TensorType type) {
  const std::int64_t count = elements_of(type.shape);
  if (type.kind == Kind::real) {
    reals_.resize(static_cast<std::size_t>(count));
  } else {
    wholes_.resize(static_cast<std::size_t>(count));
  }
  type_ = std::move(type);
  size_ = count;
  has_data_ = true;
}

}  // namespace sightline::network
