#include "detectors/network/npy.hpp"

#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "base/input_file.hpp"

namespace sightline::network {
namespace {

constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30;
constexpr std::size_t kPreamble = 10;  // magic, version, length of the header

template <typename T, typename To>
void convert(const std::string& bytes, std::size_t offset, To* to, std::int64_t count) {
  if (bytes.size() - offset < static_cast<std::size_t>(count) * sizeof(T)) throw Problem("is truncated");
  for (std::int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, bytes.data() + offset + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
    to[i] = static_cast<To>(value);
  }
}

Shape shape_of(const std::string& header) {
  Shape shape;
  std::size_t at = header.find("'shape': (");
  if (at == std::string::npos) throw Problem("has no shape");
  const std::size_t end = header.find(')', at);
  while ((at = header.find_first_of("0123456789", at)) < end) {
    std::int64_t side = 0;
    const auto read = std::from_chars(header.data() + at, header.data() + header.size(), side);
    if (read.ec != std::errc()) throw Problem("has a shape that is too large");
    shape.push_back(side);
    at = static_cast<std::size_t>(read.ptr - header.data());
  }
  return shape;
}

Tensor parse(const std::string& bytes) {
  if (bytes.size() < kPreamble || !bytes.starts_with("\x93NUMPY") || bytes[6] != 1)
    throw Problem("is no .npy file");
  const std::size_t length = static_cast<std::uint8_t>(bytes[8]) + 256U * static_cast<std::uint8_t>(bytes[9]);
  if (bytes.size() - kPreamble < length) throw Problem("is truncated");
  const std::string header = bytes.substr(kPreamble, length);
  if (header.find("'fortran_order': False") == std::string::npos) throw Problem("is not in row-major order");
  const auto is = [&](const char* type) { return header.find(type) != std::string::npos; };
  const bool is_real = is("'<f4'") || is("'<f8'");
  if (!is_real && !is("'<i4'") && !is("'<i8'")) throw Problem("is not of float32, float64, int32 or int64");
  const Shape shape = shape_of(header);
  const std::int64_t count = elements_of(shape);
  if (bytes.size() - kPreamble - length < static_cast<std::size_t>(count) * 4) throw Problem("is truncated");
  Tensor tensor(is_real ? Kind::real : Kind::whole, shape);
  const std::size_t offset = kPreamble + length;
  if (is("'<f4'")) convert<float>(bytes, offset, tensor.reals(), count);
  if (is("'<f8'")) convert<double>(bytes, offset, tensor.reals(), count);
  if (is("'<i4'")) convert<std::int32_t>(bytes, offset, tensor.wholes(), count);
  if (is("'<i8'")) convert<std::int64_t>(bytes, offset, tensor.wholes(), count);
  return tensor;
}

}  // namespace

Tensor read_npy(const std::filesystem::path& file) {
  refuse_special_file(file);
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  std::ifstream stream(file, std::ios::binary);
  if (error || !stream) throw Error(ExitCode::input, "cannot read '" + file.string() + "'");
  try {
    if (size > kMostBytes) throw Problem("is larger than 1 GiB");
    std::string bytes(static_cast<std::size_t>(size), '\0');
    stream.read(bytes.data(), static_cast<std::streamsize>(size));
    if (stream.gcount() != static_cast<std::streamsize>(size)) throw Problem("cannot be read");
    return parse(bytes);
  } catch (const Problem& problem) {
    throw Error(ExitCode::input, "'" + file.string() + "' " + problem.what());
  }
}

}  // namespace sightline::network
