#pragma once
/// The safetensors container: named arrays of numbers with a map of strings, in one file.
///
/// Format: https://huggingface.co/docs/safetensors. 8 bytes header length (little-endian), a JSON header
/// `{"__metadata__":{..},"name":{"dtype":"F32","shape":[..],"data_offsets":[begin,end]},..}`, then the data.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sightline {

/// The number types read and written here; files with others (F16, BF16, BOOL, ...) are refused.
enum class DType { u8, i8, i16, i32, i64, f32, f64 };

/// The name in the file: "U8", "I8", "I16", "I32", "I64", "F32" or "F64".
const char* to_string(DType type);
/// Bytes of one number.
std::size_t size_of(DType type);

/// The DType of a C++ type.
template <typename T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, std::uint8_t>) return DType::u8;
  if constexpr (std::is_same_v<T, std::int8_t>) return DType::i8;
  if constexpr (std::is_same_v<T, std::int16_t>) return DType::i16;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::i32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::i64;
  if constexpr (std::is_same_v<T, float>) return DType::f32;
  if constexpr (std::is_same_v<T, double>) return DType::f64;
}

/// Lengths along each dimension, outermost first; row-major data. An empty shape is a single number.
using TensorShape = std::vector<std::int64_t>;

struct Tensor {
  DType dtype = DType::f32;
  TensorShape shape;
  std::vector<std::byte> bytes;  ///< little-endian, product(shape) numbers
};

/// An open container in memory; owns all its arrays.
///
/// Loading trusts nothing: whatever is wrong with a file gives Error(model) with the file and the reason, and
/// memory stays within a small multiple of the file's size, whatever its header claims.
/// Thread-safety: any number of readers; writers alone.
class Safetensors {
 public:
  /// In an expected shape: any length.
  static constexpr std::int64_t kAny = -1;

  Safetensors() = default;

  /// Reads and checks a file. Throws Error(model).
  /// @param max_bytes  larger files are refused, before anything is read or allocated
  static Safetensors load(const std::filesystem::path& path,
                          std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max());
  /// Parses a file in memory; `name` is the file's name in messages.
  static Safetensors parse(std::span<const std::byte> file, const std::string& name);

  /// The bytes of the file: a function of the content alone. Larger number types come first and then the
  /// order of names, so that every array is aligned to its numbers. Throws Error(failed) if a text is not
  /// UTF-8.
  std::vector<std::byte> serialize() const;
  /// Writes a temporary file beside `path` and renames it, so that no reader ever sees half a model. Throws
  /// Error(failed) with the system's reason.
  void save(const std::filesystem::path& path) const;

  /// Adds an array or replaces the one of that name. Throws std::invalid_argument where the count of values
  /// is not that of the shape, or where the name is `__metadata__`.
  template <typename T>
  void set(const std::string& tensor, const TensorShape& shape, std::span<const T> values) {
    set_bytes(tensor, dtype_of<T>(), shape, std::as_bytes(values));
  }

  bool contains(const std::string& tensor) const { return tensors_.contains(tensor); }
  /// All the arrays by name.
  const std::map<std::string, Tensor>& tensors() const { return tensors_; }
  /// Throws Error(model) with file and array if there is none of that name.
  const Tensor& at(const std::string& tensor) const;

  /// The values of an array, valid until it is replaced or the container is destroyed.
  ///
  /// Throws Error(model), with file, array, expectation and finding, if the array is missing, has another
  /// number type or shape (kAny matches any length), or holds a non-finite float.
  template <typename T>
  std::span<const T> array(const std::string& tensor, const TensorShape& expected_shape) const {
    const Tensor& found = checked(tensor, dtype_of<T>(), expected_shape);
    // The bytes come from operator new, aligned for every number type.
    return {reinterpret_cast<const T*>(found.bytes.data()), found.bytes.size() / sizeof(T)};
  }

  /// The file's `__metadata__`.
  std::map<std::string, std::string> metadata;

 private:
  using ReadAt = std::function<void(std::uint64_t offset, std::span<std::byte> bytes)>;
  static Safetensors read(const ReadAt& read_at, std::uint64_t file_size, const std::string& name);
  void set_bytes(const std::string& tensor, DType type, const TensorShape& shape,
                 std::span<const std::byte> bytes);
  const Tensor& checked(const std::string& tensor, DType type, const TensorShape& expected_shape) const;

  std::string name_ = "model";  ///< the file in messages
  std::map<std::string, Tensor> tensors_;
};

/// Text `kind` of a file's metadata, by which families tell their models from others'; empty if the file
/// has none, cannot be read or is no safetensors file. Reads no arrays.
std::string safetensors_kind(const std::filesystem::path& path);

}  // namespace sightline
