#pragma once
/// Encodings of text files that users bring.

#include <filesystem>
#include <string_view>

#include "base/error.hpp"

namespace sightline {

/// Text without the byte order mark that Windows editors write at the beginning of UTF-8. Part of `text`.
std::string_view without_byte_order_mark(std::string_view text);

/// Throws Error (`code`) where the beginning of a file's text tells that it is UTF-16 or UTF-32.
void refuse_wide_text(std::string_view text, const std::filesystem::path& file,
                      ExitCode code = ExitCode::input);

}  // namespace sightline
