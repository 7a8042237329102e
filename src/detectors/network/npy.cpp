#include "detectors/network/npy.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/input_file.hpp"

namespace sightline::network {
namespace {

constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30;
constexpr std::size_t kPreamble = 10;  // magic, version, length of the header

template <typename T, typename To>
void convert(const std::string& bytes, std::size_t offset, To* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, bytes.data() + offset + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
    to[i] = static_cast<To>(value);
  }
}

// The dictionary of a header, as NumPy writes it: three keys, each once, in any order.
class Header {
 public:
  explicit Header(std::string_view text) : rest_(text) {
    take('{');
    while (!skip('}')) {
      read_entry();
      if (!skip(',')) {
        take('}');
        break;
      }
    }
    if (!trim().empty() || !type_ || !is_in_rows_ || !shape_) refuse();
  }
  std::string_view type() const { return *type_; }
  const Shape& shape() const { return *shape_; }

 private:
  [[noreturn]] static void refuse() { throw nn::Problem("has a header that is not NumPy's"); }

  std::string_view trim() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n\t"), rest_.size()));
    return rest_;
  }
  bool skip(char sign) {
    if (!trim().starts_with(sign)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void take(char sign) {
    if (!skip(sign)) refuse();
  }
  std::string_view quoted() {
    const char mark = skip('"') ? '"' : '\'';
    if (mark == '\'') take(mark);
    const std::size_t end = rest_.find(mark);
    if (end == std::string_view::npos) refuse();
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }
  void read_entry() {
    const std::string_view key = quoted();
    take(':');
    if (key == "descr" && !type_) {
      type_ = quoted();
    } else if (key == "fortran_order" && !is_in_rows_) {
      if (!trim().starts_with("False")) throw nn::Problem("is not in row-major order");
      rest_.remove_prefix(5);
      is_in_rows_ = true;
    } else if (key == "shape" && !shape_) {
      read_shape();
    } else {
      refuse();
    }
  }
  void read_shape() {
    shape_.emplace();
    take('(');
    while (!skip(')')) {
      std::int64_t side = 0;
      const auto [end, error] = std::from_chars(trim().data(), rest_.data() + rest_.size(), side);
      if (error == std::errc::result_out_of_range) throw nn::Problem("has a shape that is too large");
      if (error != std::errc() || side < 0 || shape_->size() == nn::kMaxRank) refuse();
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      shape_->push_back(side);
      if (!skip(',')) {
        take(')');
        break;
      }
    }
  }

  std::string_view rest_;
  std::optional<std::string_view> type_;
  bool is_in_rows_ = false;
  std::optional<Shape> shape_;
};

template <typename T>
Tensor tensor_of(const std::string& bytes, std::size_t offset, const Shape& shape) {
  constexpr bool is_real = std::is_floating_point_v<T>;
  const std::int64_t count = elements_of(shape);
  const std::size_t wanted = static_cast<std::size_t>(count) * sizeof(T), there = bytes.size() - offset;
  if (there < wanted) throw nn::Problem("is truncated");
  if (there > wanted) throw nn::Problem("has " + std::to_string(there - wanted) + " bytes behind its values");
  using Element = std::conditional_t<is_real, float, std::int64_t>;
  Tensor tensor(is_real ? DataType::f32 : DataType::i64, shape);
  convert<T>(bytes, offset, tensor.as<Element>().data(), count);
  return tensor;
}

Tensor parse(const std::string& bytes) {
  if (bytes.size() < kPreamble || !bytes.starts_with("\x93NUMPY") || bytes[6] != 1)
    throw nn::Problem("is no .npy file");
  const std::size_t length = static_cast<std::uint8_t>(bytes[8]) + 256U * static_cast<std::uint8_t>(bytes[9]);
  if (bytes.size() - kPreamble < length) throw nn::Problem("is truncated");
  const Header header(std::string_view(bytes).substr(kPreamble, length));
  const std::size_t offset = kPreamble + length;
  if (header.type() == "<f4") return tensor_of<float>(bytes, offset, header.shape());
  if (header.type() == "<f8") return tensor_of<double>(bytes, offset, header.shape());
  if (header.type() == "<i4") return tensor_of<std::int32_t>(bytes, offset, header.shape());
  if (header.type() == "<i8") return tensor_of<std::int64_t>(bytes, offset, header.shape());
  throw nn::Problem("is not of float32, float64, int32 or int64");
}

}  // namespace

Tensor read_npy(const std::filesystem::path& file) {
  refuse_special_file(file);
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  std::ifstream stream(file, std::ios::binary);
  if (error || !stream) throw Error(ExitCode::input, "cannot read '" + file.string() + "'");
  try {
    if (size > kMostBytes) throw nn::Problem("is larger than 1 GiB");
    std::string bytes(static_cast<std::size_t>(size), '\0');
    stream.read(bytes.data(), static_cast<std::streamsize>(size));
    if (stream.gcount() != static_cast<std::streamsize>(size)) throw nn::Problem("cannot be read");
    return parse(bytes);
  } catch (const nn::Problem& problem) {
    throw Error(ExitCode::input, "'" + file.string() + "' " + problem.what());
  }
}

}  // namespace sightline::network
