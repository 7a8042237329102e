#include "network/tensor.hpp"

#include <algorithm>

namespace sightline::nn {

std::string_view text_of(DataType type) {
  switch (type) {
    case DataType::f32:
      return "f32";
    case DataType::i64:
      return "i64";
    case DataType::i32:
      return "i32";
    case DataType::u8:
      return "u8";
    case DataType::i8:
      return "i8";
    case DataType::boolean:
      return "boolean";
  }
  return "";
}

std::string text_of(const Shape& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (const std::int64_t side : shape)
    text += (text.empty() ? "" : "x") + (side < 0 ? std::string("?") : std::to_string(side));
  return text;
}

std::string text_of(const TensorType& type) {
  return std::string(text_of(type.data)) + " " + text_of(type.shape);
}

bool is_known(const Shape& shape) {
  return std::ranges::find(shape, kUnknown) == shape.end();
}

std::int64_t elements_of(const Shape& shape) {
  if (shape.size() > kMaxRank)
    throw Problem("has a tensor of " + std::to_string(shape.size()) + " dimensions, more than the limit of " +
                  std::to_string(kMaxRank));
  std::int64_t count = 1;
  for (const std::int64_t side : shape) {
    if (side < 0) throw Problem("has a tensor of the shape " + text_of(shape));
    // A tensor without elements has other sides that count, too.
    const std::int64_t factor = std::max<std::int64_t>(side, 1);
    if (side > kMaxElements || count * factor > kMaxElements)
      throw Problem("has a tensor of " + text_of(shape) + ", larger than the limit of " +
                    std::to_string(kMaxElements) + " elements");
    count *= factor;
  }
  return std::ranges::find(shape, 0) == shape.end() ? count : 0;
}

std::int64_t bytes_of(const TensorType& type) {
  return elements_of(type.shape) * static_cast<std::int64_t>(bytes_of(type.data));
}

Tensor::Tensor(TensorType type) : type_(std::move(type)), size_(elements_of(type_.shape)) {
  bytes_.resize(static_cast<std::size_t>(bytes_of(type_)));
}

Tensor::Tensor(const Tensor& other) : Tensor(other.type_) {
  std::ranges::copy(other.bytes(), bytes().begin());
}

Tensor Tensor::over(TensorType type, std::byte* memory) {
  Tensor tensor;
  tensor.type_ = std::move(type);
  tensor.size_ = elements_of(tensor.type_.shape);
  tensor.bytes_.bind(memory, static_cast<std::size_t>(bytes_of(tensor.type_)));
  return tensor;
}

void Tensor::reshape(Shape shape) {
  if (elements_of(shape) != size_)
    throw Problem("makes " + text_of(shape) + " of " + text_of(type_.shape) + ", which has other elements");
  type_.shape = std::move(shape);
}

std::vector<std::int64_t> Tensor::integers() const {
  if (data() == DataType::i32) return {as<std::int32_t>().begin(), as<std::int32_t>().end()};
  if (data() == DataType::i64) return {as<std::int64_t>().begin(), as<std::int64_t>().end()};
  throw Problem("needs integers, not " + std::string(text_of(data())));
}

void Tensor::check_type(DataType wanted) const {
  if (wanted != data())
    throw std::logic_error("a tensor of " + text_of(type_) + " is read as " + std::string(text_of(wanted)));
}

}  // namespace sightline::nn
