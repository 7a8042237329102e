#pragma once
/// Files that are given as a model and are something else.

#include <filesystem>
#include <string>
#include <string_view>

namespace sightline {

/// Bytes of a file's beginning that foreign_kind looks at.
inline constexpr std::size_t kForeignHead = 512;

/// What a file is by its first bytes and its extension, with its article ("an ONNX model", "a PNG picture",
/// "a text"); empty where that is not known.
/// @param head  the first kForeignHead bytes, or the whole of a shorter file
std::string foreign_kind(std::string_view head, const std::filesystem::path& file);

}  // namespace sightline
