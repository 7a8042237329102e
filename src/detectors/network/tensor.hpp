#pragma once
/// Tensors of a network: real or whole numbers in row-major order.

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "image/view.hpp"

namespace sightline::network {

/// Float32, or whole numbers of 64 bits: these stand for int32, int64, uint8 and bool (0 and 1).
enum class Kind : std::uint8_t { real, whole };

using Shape = std::vector<std::int64_t>;

inline constexpr std::size_t kMaxRank = 8;
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 28;  ///< of one tensor

/// Problem of a node, without its name, which the caller that runs the node adds.
class Problem : public std::runtime_error {
 public:
  explicit Problem(const Message& text)
      : std::runtime_error(text.text(Words::command_line)), message_(std::make_shared<Message>(text)) {}
  const Message& message() const noexcept { return *message_; }

 private:
  std::shared_ptr<const Message> message_;
};

/// "1x3x416x416"; dimensions that are not known are "?".
std::string text_of(const Shape& shape);

/// Product of the dimensions. Throws Problem if a dimension is negative, or the shape exceeds kMaxRank or
/// kMaxElements.
std::int64_t elements_of(const Shape& shape);

struct TensorType {
  Kind kind = Kind::real;
  Shape shape;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

/// Bytes of a tensor's memory. Throws as elements_of.
std::int64_t bytes_of(const TensorType& type);

/// A number without its fraction. NaN, and numbers that a T cannot hold, become the least T, as conversions
/// of x86-64 processors, and so of ONNX Runtime, have it.
template <typename T>
T truncated(float x) {
  constexpr auto kLeast = static_cast<float>(std::numeric_limits<T>::min());  // a power of two
  return x >= kLeast && x < -kLeast ? static_cast<T>(x) : std::numeric_limits<T>::min();
}

/// A tensor, with or without memory: one without stands for a value of which only the type is known.
/// Thread-safety: as std::vector.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Kind kind, Shape shape) { allocate({kind, std::move(shape)}); }
  /// A vector of whole numbers.
  static Tensor of(const std::vector<std::int64_t>& values);
  static Tensor scalar(float value);
  /// The type alone.
  static Tensor typed(TensorType type) {
    Tensor tensor;
    tensor.type_ = std::move(type);
    return tensor;
  }

  /// Real numbers in memory of the caller's, which is large enough.
  static Tensor view(const TensorType& type, float* memory) {
    Tensor tensor = typed(type);
    tensor.size_ = elements_of(type.shape);
    tensor.has_data_ = true;
    tensor.reals_.bind(memory, static_cast<std::size_t>(tensor.size_));
    return tensor;
  }

  /// Contents are unspecified afterwards. Memory that is large enough is used again.
  void allocate(TensorType type);
  /// The same elements under another shape of as many.
  void reshape(Shape shape) { type_.shape = std::move(shape); }

  const TensorType& type() const { return type_; }
  Kind kind() const { return type_.kind; }
  const Shape& shape() const { return type_.shape; }
  std::int64_t dim(std::size_t axis) const { return type_.shape[axis]; }
  std::size_t rank() const { return type_.shape.size(); }
  std::int64_t size() const { return size_; }  ///< elements in memory
  bool has_data() const { return has_data_; }

  float* reals() { return reals_.data(); }
  const float* reals() const { return reals_.data(); }
  std::int64_t* wholes() { return wholes_.data(); }
  const std::int64_t* wholes() const { return wholes_.data(); }
  /// An element as a number of type T, whatever its kind.
  template <typename T>
  T as(std::int64_t i) const {
    if (kind() == Kind::whole) return static_cast<T>(wholes()[i]);
    if constexpr (std::is_integral_v<T>) {
      return truncated<T>(reals()[i]);
    } else {
      return static_cast<T>(reals()[i]);
    }
  }
  std::span<const std::int64_t> whole_span() const { return {wholes(), static_cast<std::size_t>(size_)}; }

 private:
  TensorType type_;
  std::int64_t size_ = 0;
  bool has_data_ = false;
  AlignedBuffer<float> reals_;
  AlignedBuffer<std::int64_t> wholes_;
};

}  // namespace sightline::network
