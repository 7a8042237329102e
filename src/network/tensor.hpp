#pragma once
/// Tensors: typed arrays in row-major order. A type is a data type and a shape.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "image/view.hpp"

namespace sightline::nn {

/// Types of elements. A boolean is one byte, 0 or 1.
enum class DataType : std::uint8_t { f32, i64, i32, u8, i8, boolean };

/// Sides of a tensor, outermost first; {}: a scalar. A side of kUnknown is decided by each frame.
using Shape = std::vector<std::int64_t>;

inline constexpr std::int64_t kUnknown = -1;
inline constexpr std::size_t kMaxRank = 8;
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 28;  ///< of one tensor

/// Problem of a node: what is wrong, as a predicate ("has weights of 1x2"). Graph and Reference put the
/// node's name in front.
class Problem : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// "f32", "boolean".
std::string_view text_of(DataType type);
/// "1x3x416x416", "scalar"; sides that are not known are "?".
std::string text_of(const Shape& shape);

/// Whether no side is kUnknown.
bool is_known(const Shape& shape);
/// Product of the sides. Throws Problem if a side is negative, or the shape exceeds kMaxRank or kMaxElements.
std::int64_t elements_of(const Shape& shape);
/// Bytes of one element.
constexpr std::size_t bytes_of(DataType type) {
  return type == DataType::i64 ? 8 : type == DataType::f32 || type == DataType::i32 ? 4 : 1;
}

struct TensorType {
  DataType data = DataType::f32;
  Shape shape;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

/// "f32 1x3x416x416".
std::string text_of(const TensorType& type);
/// Bytes of a tensor. Throws as elements_of.
std::int64_t bytes_of(const TensorType& type);

/// The data type whose elements are C++'s T.
template <typename T>
inline constexpr DataType kDataTypeOf = [] {
  if constexpr (std::is_same_v<T, float>) return DataType::f32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DataType::i64;
  if constexpr (std::is_same_v<T, std::int32_t>) return DataType::i32;
  if constexpr (std::is_same_v<T, std::uint8_t>) return DataType::u8;
  if constexpr (std::is_same_v<T, std::int8_t>) return DataType::i8;
  if constexpr (std::is_same_v<T, bool>) return DataType::boolean;
}();

/// Calls `f.operator()<T>()` with the C++ type of a data type's elements.
template <typename F>
decltype(auto) with_type(DataType type, const F& f) {
  switch (type) {
    case DataType::i64:
      return f.template operator()<std::int64_t>();
    case DataType::i32:
      return f.template operator()<std::int32_t>();
    case DataType::u8:
      return f.template operator()<std::uint8_t>();
    case DataType::i8:
      return f.template operator()<std::int8_t>();
    case DataType::boolean:
      return f.template operator()<bool>();
    case DataType::f32:
      break;
  }
  return f.template operator()<float>();
}

/// Calls `f.operator()<T>()` with an unsigned type of as many bytes: for code that moves elements as they
/// are.
template <typename F>
decltype(auto) with_bytes(DataType type, const F& f) {
  switch (bytes_of(type)) {
    case 8:
      return f.template operator()<std::uint64_t>();
    case 4:
      return f.template operator()<std::uint32_t>();
    default:
      return f.template operator()<std::uint8_t>();
  }
}

/// A tensor that owns its elements, in memory aligned to 64 bytes, or lies in memory of the caller's. Copies
/// copy the elements.
/// Thread-safety: as std::vector.
class Tensor {
 public:
  Tensor() : Tensor(DataType::f32, {0}) {}
  /// Elements are unspecified. Throws as elements_of.
  explicit Tensor(TensorType type);
  Tensor(DataType data, Shape shape) : Tensor(TensorType{data, std::move(shape)}) {}
  Tensor(const Tensor& other);
  Tensor& operator=(const Tensor& other) { return *this = Tensor(other); }
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(Tensor&&) noexcept = default;

  /// A tensor in memory of the caller's, which is aligned to 64 bytes and large enough. Throws as
  /// elements_of.
  static Tensor over(TensorType type, std::byte* memory);
  /// A tensor of these elements. Throws Problem if their number does not fit the shape.
  template <typename T>
  static Tensor of(Shape shape, const std::vector<T>& values) {
    return of_elements<T>(std::move(shape), values.size(), [&](std::size_t i) { return values[i]; });
  }
  /// A vector, or a scalar.
  template <typename T>
  static Tensor vector(const std::vector<T>& values) {
    return of<T>({static_cast<std::int64_t>(values.size())}, values);
  }
  template <typename T>
  static Tensor scalar(T value) {
    return of_elements<T>({}, 1, [&](std::size_t) { return value; });
  }

  const TensorType& type() const { return type_; }
  DataType data() const { return type_.data; }
  const Shape& shape() const { return type_.shape; }
  std::int64_t dim(std::size_t axis) const { return type_.shape[axis]; }
  std::size_t rank() const { return type_.shape.size(); }
  std::int64_t size() const { return size_; }  ///< elements

  /// The elements. Throws std::logic_error if they are of another type.
  template <typename T>
  std::span<T> as() {
    check_type(kDataTypeOf<T>);
    return {reinterpret_cast<T*>(bytes_.data()), static_cast<std::size_t>(size_)};
  }
  template <typename T>
  std::span<const T> as() const {
    return const_cast<Tensor*>(this)->as<T>();  // NOLINT: the result is const
  }
  /// The elements as unsigned integers of as many bytes (with_bytes).
  template <typename T>
  T* raw() {
    return reinterpret_cast<T*>(bytes_.data());
  }
  template <typename T>
  const T* raw() const {
    return reinterpret_cast<const T*>(bytes_.data());
  }
  std::span<std::byte> bytes() { return {bytes_.data(), bytes_.size()}; }
  std::span<const std::byte> bytes() const { return {bytes_.data(), bytes_.size()}; }

  /// The same elements in another shape of as many.
  void reshape(Shape shape);
  /// Elements of i32 or i64 as i64: axes, sides, places. Throws Problem for other types.
  std::vector<std::int64_t> integers() const;

 private:
  template <typename T, typename At>
  static Tensor of_elements(Shape shape, std::size_t count, const At& at) {
    Tensor tensor(kDataTypeOf<T>, std::move(shape));
    if (static_cast<std::size_t>(tensor.size()) != count)
      throw Problem("has " + std::to_string(count) + " elements for a tensor of " + text_of(tensor.shape()));
    for (std::size_t i = 0; i < count; ++i) tensor.as<T>()[i] = at(i);
    return tensor;
  }
  void check_type(DataType wanted) const;

  TensorType type_;
  std::int64_t size_ = 0;
  AlignedBuffer<std::byte> bytes_;
};

/// An element as a float or double, whatever its type.
template <typename Number = float>
Number number_at(const Tensor& tensor, std::int64_t i) {
  return with_type(tensor.data(), [&]<typename T>() { return static_cast<Number>(tensor.raw<T>()[i]); });
}

/// One element of any type.
class Scalar {
 public:
  Scalar() = default;
  template <typename T>
  requires std::is_arithmetic_v<T> Scalar(T value) : data_(kDataTypeOf<T>) {
    if constexpr (std::is_same_v<T, float>) {
      bits_ = std::bit_cast<std::uint32_t>(value);
    } else {
      bits_ = static_cast<std::int64_t>(value);
    }
  }
  DataType data() const { return data_; }
  /// The value. Throws std::logic_error if it is of another type.
  template <typename T>
  T as() const {
    if (data_ != kDataTypeOf<T>) throw std::logic_error("a scalar has another type");
    if constexpr (std::is_same_v<T, float>) {
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits_));
    } else {
      return static_cast<T>(bits_);
    }
  }
  /// Whether both have the same type and bits: a NaN equals itself, and -0 is not 0.
  friend bool operator==(const Scalar& a, const Scalar& b) = default;

 private:
  DataType data_ = DataType::f32;
  std::int64_t bits_ = 0;
};

}  // namespace sightline::nn
