#include "model/safetensors.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/json_problem.hpp"
#include "model/foreign_file.hpp"
#include "model/safetensors_header.hpp"

namespace sightline {

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian");

namespace {

constexpr std::size_t kLengthBytes = 8;

struct TypeName {
  DType type;
  const char* name;
  std::size_t size;
};
constexpr std::array<TypeName, 7> kTypes{{{DType::u8, "U8", 1},
                                          {DType::i8, "I8", 1},
                                          {DType::i16, "I16", 2},
                                          {DType::i32, "I32", 4},
                                          {DType::i64, "I64", 8},
                                          {DType::f32, "F32", 4},
                                          {DType::f64, "F64", 8}}};

const TypeName& entry_of(DType type) {
  return *std::find_if(kTypes.begin(), kTypes.end(),
                       [&](const TypeName& entry) { return entry.type == type; });
}

[[noreturn]] void refuse(const std::string& name, const std::string& problem) {
  throw Error(ExitCode::model, "'" + name + "': " + problem).about(name);
}

/// Bytes of an array; no value if they exceed 64 bits or a length is negative.
std::optional<std::uint64_t> byte_count(const TensorShape& shape, std::size_t element) {
  // A length of zero makes the product zero, whatever overflows before it.
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t length) { return length < 0; }))
    return std::nullopt;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::uint64_t bytes = element;
  for (const std::int64_t length : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(length), &bytes)) return std::nullopt;
  }
  return bytes;
}

std::string shape_text(const TensorShape& shape) {
  std::string text = "[";
  for (const std::int64_t length : shape) {
    if (text.size() > 1) text += ", ";
    text += length == Safetensors::kAny ? "any" : std::to_string(length);
  }
  return text + "]";
}

template <typename T>
std::optional<std::size_t> first_not_finite(const std::vector<std::byte>& bytes) {
  for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    if (!std::isfinite(value)) return i;
  }
  return std::nullopt;
}

/// Arrays as they lie in the file: larger numbers first (each array then starts aligned), then by name.
std::vector<std::pair<const std::string*, const Tensor*>> file_order(
    const std::map<std::string, Tensor>& tensors) {
  std::vector<std::pair<const std::string*, const Tensor*>> order;
  for (const auto& [name, tensor] : tensors) order.emplace_back(&name, &tensor);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return size_of(a.second->dtype) > size_of(b.second->dtype);
  });
  return order;
}

/// Sorts the entries by place and makes sure that they cover the data exactly, each with the bytes of its
/// shape.
void check_layout(std::vector<SafetensorsEntry>& entries, std::uint64_t data_size, const std::string& name) {
  for (const auto& entry : entries) {
    const std::string tensor = "array '" + entry.name + "' ";
    if (entry.begin > entry.end || entry.end > data_size) {
      refuse(name, tensor + "lies at bytes " + std::to_string(entry.begin) + " to " +
                       std::to_string(entry.end) + " of " + std::to_string(data_size));
    }
    const auto bytes = byte_count(entry.shape, size_of(entry.dtype));
    if (!bytes || *bytes != entry.end - entry.begin) {
      refuse(name, tensor + "of " + to_string(entry.dtype) + ' ' + shape_text(entry.shape) + " has " +
                       std::to_string(entry.end - entry.begin) + " bytes");
    }
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  std::uint64_t covered = 0;
  for (const auto& entry : entries) {
    if (entry.begin != covered) {
      refuse(name, std::string(entry.begin < covered ? "overlapping arrays" : "a gap") + " before array '" +
                       entry.name + "' at byte " + std::to_string(entry.begin) + " of the data");
    }
    covered = entry.end;
  }
  if (covered != data_size) {
    refuse(name, std::to_string(data_size - covered) + " bytes at the end belong to no array");
  }
}

[[noreturn]] void refuse_kind(const std::filesystem::path& path, const Message& kind) {
  throw Error(ExitCode::model, "'" + path.string() + "' is " + kind + ", not a model of Sightline",
              "models are .safetensors files that `sightline train` writes, OpenCV's cascades (.xml), and "
              "networks (.onnx); `--model=people` names one that ships"_message)
      .about(path.string());
}

/// Throws if the file does not begin like safetensors and is of another known kind. Reads from the beginning.
void refuse_foreign(std::ifstream& file, const std::filesystem::path& path) {
  std::string head(kForeignHead, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  file.clear();
  if (head.size() > kLengthBytes && head[kLengthBytes] == '{') return;
  const Message kind = head.empty() ? "empty" : foreign_kind(head, path);
  if (kind.empty()) return;
  refuse_kind(path, kind);
}

}  // namespace

const char* to_string(DType type) {
  return entry_of(type).name;
}

std::size_t size_of(DType type) {
  return entry_of(type).size;
}

std::optional<DType> dtype_named(std::string_view name) {
  for (const auto& entry : kTypes) {
    if (entry.name == name) return entry.type;
  }
  return std::nullopt;
}

Safetensors Safetensors::load(const std::filesystem::path& path, std::uint64_t max_bytes) {
  const std::string name = path.string();
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    throw Error(ExitCode::model, "no model file '" + name + "'", "check the path");
  }
  if (std::filesystem::is_directory(status)) refuse_kind(path, "a folder");
  if (!std::filesystem::is_regular_file(status)) refuse(name, "is not a file");
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (!error && size > max_bytes) {
    throw Error(ExitCode::model,
                "'" + name + "' has " + std::to_string(size) + " bytes, more than a model may have (" +
                    std::to_string(max_bytes >> 20) + " MiB)",
                "give a larger --max-model-size if it is meant to be so large"_message);
  }
  std::ifstream file(path, std::ios::binary);
  if (error || !file || fault::strikes(fault::Kind::open, "Safetensors"))
    refuse(name, "cannot be read: " + std::string(std::strerror(errno)));
  refuse_foreign(file, path);
  const auto read_at = [&](std::uint64_t offset, std::span<std::byte> bytes) {
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file || fault::strikes(fault::Kind::read, "Safetensors")) refuse(name, "cannot be read to its end");
  };
  return read(read_at, size, name);
}

std::string safetensors_kind(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  const std::uint64_t size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  std::uint64_t length = 0;
  if (error || !file.read(reinterpret_cast<char*>(&length), sizeof length)) return {};
  if (length > kMaxSafetensorsHeader || length > size - kLengthBytes) return {};
  std::string header(length, '\0');
  if (!file.read(header.data(), static_cast<std::streamsize>(length))) return {};
  std::map<std::string, std::string> metadata;
  try {
    parse_safetensors_header(header, path.string(), metadata);
  } catch (const Error&) {
    return {};
  }
  const auto kind = metadata.find("kind");
  return kind == metadata.end() ? std::string() : kind->second;
}

Safetensors Safetensors::parse(std::span<const std::byte> file, const std::string& name) {
  const auto read_at = [&](std::uint64_t offset, std::span<std::byte> bytes) {
    std::copy_n(file.data() + offset, bytes.size(), bytes.data());
  };
  return read(read_at, file.size(), name);
}

Safetensors Safetensors::read(const ReadAt& read_at, std::uint64_t file_size, const std::string& name) {
  if (file_size < kLengthBytes) refuse(name, "is too short for a safetensors file");
  std::uint64_t length = 0;
  read_at(0, std::as_writable_bytes(std::span(&length, 1)));
  if (length > kMaxSafetensorsHeader || length > file_size - kLengthBytes) {
    throw Error(ExitCode::model,
                "'" + name + "': a header of " + std::to_string(length) + " bytes in a file of " +
                    std::to_string(file_size),
                "the file is cut short or not in the safetensors format");
  }
  std::string header(length, '\0');
  read_at(kLengthBytes, std::as_writable_bytes(std::span(header)));

  Safetensors result;
  result.name_ = name;
  auto entries = parse_safetensors_header(header, name, result.metadata);
  check_layout(entries, file_size - kLengthBytes - length, name);
  for (auto& entry : entries) {
    Tensor& tensor = result.tensors_[entry.name];
    tensor.dtype = entry.dtype;
    tensor.shape = std::move(entry.shape);
    tensor.bytes.resize(entry.end - entry.begin);
    if (!tensor.bytes.empty()) read_at(kLengthBytes + length + entry.begin, tensor.bytes);
  }
  return result;
}

std::vector<std::byte> Safetensors::serialize() const {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  const auto order = file_order(tensors_);
  std::size_t data_size = 0;
  for (const auto& [name, tensor] : order) {
    const std::size_t end = data_size + tensor->bytes.size();
    header[*name] = {
        {"dtype", to_string(tensor->dtype)}, {"shape", tensor->shape}, {"data_offsets", {data_size, end}}};
    data_size = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::exception& error) {
    throw Error(ExitCode::failed, "a model's names and texts must be UTF-8: " + json_problem(error));
  }
  text.resize((text.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes, ' ');

  const std::uint64_t length = text.size();
  std::vector<std::byte> file(kLengthBytes + text.size() + data_size);
  std::byte* out = file.data();
  const auto append = [&](const void* from, std::size_t size) {
    if (size > 0) std::memcpy(out, from, size);
    out += size;
  };
  append(&length, sizeof(length));
  append(text.data(), text.size());
  for (const auto& [name, tensor] : order) append(tensor->bytes.data(), tensor->bytes.size());
  return file;
}

void Safetensors::save(const std::filesystem::path& path) const {
  const std::vector<std::byte> bytes = serialize();
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  // Renaming over a device or folder would replace it or fail obscurely.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw Error(ExitCode::failed, "cannot write model '" + path.string() + "': it exists and is not a file");
  }
  AtomicFile file(path);
  std::error_code error = file.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!error && ::fsync(file.descriptor()) != 0) error = {errno, std::generic_category()};
  if (fault::strikes(fault::Kind::write, "Safetensors"))
    error = std::make_error_code(std::errc::no_space_on_device);
  if (!error) error = file.finish();
  if (error) {
    throw Error(ExitCode::failed, "cannot write model '" + path.string() + "': " + error.message(),
                "check the folder, its permissions and the space left");
  }
}

void Safetensors::set_bytes(const std::string& tensor, DType type, const TensorShape& shape,
                            std::span<const std::byte> bytes) {
  if (byte_count(shape, size_of(type)) != bytes.size() || shape.size() > kMaxTensorRank) {
    throw std::invalid_argument("array '" + tensor + "' of shape " + shape_text(shape) + " cannot hold " +
                                std::to_string(bytes.size() / size_of(type)) + " values");
  }
  if (tensor == "__metadata__") throw std::invalid_argument("an array cannot be called __metadata__");
  tensors_[tensor] = {type, shape, {bytes.begin(), bytes.end()}};
}

const Tensor& Safetensors::at(const std::string& tensor) const {
  const auto found = tensors_.find(tensor);
  if (found == tensors_.end()) refuse(name_, "has no array '" + tensor + "'");
  return found->second;
}

const Tensor& Safetensors::checked(const std::string& tensor, DType type,
                                   const TensorShape& expected_shape) const {
  const Tensor& found = at(tensor);
  const bool fits =
      std::equal(found.shape.begin(), found.shape.end(), expected_shape.begin(), expected_shape.end(),
                 [](std::int64_t have, std::int64_t want) { return want == kAny || have == want; });
  if (found.dtype != type || !fits) {
    refuse(name_, "array '" + tensor + "' is " + to_string(found.dtype) + ' ' + shape_text(found.shape) +
                      " where " + to_string(type) + ' ' + shape_text(expected_shape) + " is expected");
  }
  std::optional<std::size_t> bad;
  if (type == DType::f32) bad = first_not_finite<float>(found.bytes);
  if (type == DType::f64) bad = first_not_finite<double>(found.bytes);
  if (bad)
    refuse(name_, "array '" + tensor + "' has a value that is not finite at index " + std::to_string(*bad));
  return found;
}

}  // namespace sightline
