#pragma once
/// Kinds of inputs, by their names.

#include <string>
#include <string_view>

namespace sightline::media {

enum class InputKind { standard_input, generator, camera, screen, network, file };

constexpr std::string_view kGenerator = "lavfi:";  ///< prefix of a generator's name
constexpr std::string_view kScreen = "screen:";    ///< prefix of a screen's name

/// Kind of an input, by its name. A pattern of images counts as a file, and so does a name of no other kind.
InputKind kind_of(const std::string& input);

/// A file's name without "file:" or "file://" in front.
std::string without_file_scheme(const std::string& name);

}  // namespace sightline::media
