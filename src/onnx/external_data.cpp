#include "onnx/external_data.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "network/tensor.hpp"
#include "onnx/parts.hpp"

namespace sightline::nn {
namespace {

namespace fs = std::filesystem;

const std::string* entry_of(const onnx::TensorProto& tensor, std::string_view key) {
  const auto& all = tensor.external_data();
  const auto found = std::ranges::find_if(all, [&](const auto& one) { return one.key() == key; });
  return found == all.end() ? nullptr : &found->value();
}

std::string shown(const std::string& location) {
  return "'" + short_name(location) + "'";
}

std::optional<std::uint64_t> bytes_given(const onnx::TensorProto& tensor, std::string_view key,
                                         const std::string& location) {
  const std::string* const text = entry_of(tensor, key);
  if (!text) return {};
  std::uint64_t number = 0;
  const char* const end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc() || rest != end)
    throw Problem("keeps its data in " + shown(location) + " with the " + std::string(key) + " '" +
                  short_name(*text) + "', which is no number of bytes");
  return number;
}

bool leads_out(const fs::path& location) {
  return location.is_absolute() || std::ranges::find(location, fs::path("..")) != location.end();
}

}  // namespace

ExternalData::ExternalData(fs::path model, std::uint64_t max_bytes)
    : model_(std::move(model)), max_bytes_(max_bytes) {}

std::span<const char> ExternalData::read(const onnx::TensorProto& tensor, std::uint64_t bytes) {
  const std::string* const location = entry_of(tensor, "location");
  if (!location || location->empty()) throw Problem("has external data, but names no file for it");
  const std::uint64_t offset = bytes_given(tensor, "offset", *location).value_or(0);
  const std::uint64_t length = bytes_given(tensor, "length", *location).value_or(bytes);
  if (length != bytes)
    throw Problem("has " + std::to_string(length) + " bytes of data in " + shown(*location) + ", not " +
                  std::to_string(bytes));
  open(*location);
  if (offset > size_ || length > size_ - offset)
    throw Problem("needs " + std::to_string(length) + " bytes from byte " + std::to_string(offset) + " of " +
                  shown(*location) + ", which has " + std::to_string(size_) + why_too_short());
  if (length > max_bytes_ - taken_)
    throw Problem("has " + std::to_string(length) + " bytes of data in " + shown(*location) +
                  ", which together with the model and its other data exceed the limit of its size; "
                  "raise it with " +
                  option("max_model_size").text(Words::command_line));
  taken_ += length;
  data_.resize(length);
  stream_.clear();
  stream_.seekg(static_cast<std::streamoff>(offset));
  stream_.read(data_.data(), static_cast<std::streamsize>(length));
  if (stream_.gcount() != static_cast<std::streamsize>(length))
    throw Problem("cannot be read from " + shown(*location));
  return data_;
}

void ExternalData::open(const std::string& location) {
  if (model_.empty())
    throw Problem("keeps its data in the file " + shown(location) +
                  ", which cannot be found for a model in memory; load the model from its file");
  if (location == location_) return;
  location_.clear();
  const fs::path file = find(location);
  std::error_code error;
  size_ = fs::file_size(file, error);
  stream_ = std::ifstream(file, std::ios::binary);
  if (error || !stream_)
    throw Problem("keeps its data in " + shown(location) + ", which cannot be opened; check its permissions");
  files_.insert(file);
  location_ = location;
}

fs::path ExternalData::find(const std::string& location) const {
  if (leads_out(location) || location.find('\0') != std::string::npos)
    throw Problem("keeps its data in " + shown(location) +
                  ", which is not a path inside the folder of the model");
  std::error_code error;
  fs::path file = fs::canonical(model_.parent_path() / location, error);
  if (error)
    throw Problem("keeps its data in " + shown(location) +
                  ", which is missing; copy that file into the folder of the model");
  if (!is_in_folder(file))
    throw Problem("keeps its data in " + shown(location) +
                  ", a link out of the folder of the model; copy the file there");
  if (!fs::is_regular_file(file, error))
    throw Problem("keeps its data in " + shown(location) + ", which is no regular file");
  return file;
}

bool ExternalData::is_in_folder(const fs::path& resolved) const {
  std::error_code error;
  const fs::path own = fs::canonical(fs::absolute(model_).parent_path(), error);
  const fs::path linked = fs::canonical(model_, error).parent_path();
  return std::ranges::any_of(std::array{own, linked}, [&](const fs::path& folder) {
    return !folder.empty() && std::ranges::mismatch(folder, resolved).in1 == folder.end();
  });
}

std::string ExternalData::why_too_short() {
  constexpr std::string_view kPointer = "version https://git-lfs";
  std::string head(kPointer.size(), '\0');
  stream_.clear();
  stream_.seekg(0);
  stream_.read(head.data(), static_cast<std::streamsize>(head.size()));
  return head == kPointer ? "; it is only a pointer of Git LFS: get the file itself with `git lfs pull`" : "";
}

}  // namespace sightline::nn
