#pragma once
/// Detection of files of other kinds that were given as a model.

#include <filesystem>
#include <string_view>

#include "base/error.hpp"

namespace sightline {

/// Bytes of a file's beginning that foreign_kind looks at.
inline constexpr std::size_t kForeignHead = 512;

/// Kind of a file by its first bytes and extension, with an article ("an ONNX model", "a PNG picture", "a
/// text"); empty if unknown.
/// @param head  the first kForeignHead bytes, or all of a shorter file
Message foreign_kind(std::string_view head, const std::filesystem::path& file);

}  // namespace sightline
