#pragma once
/// Parts of an ONNX file: what reading them may cost, and their names in messages.

#include <span>
#include <string>

namespace sightline::nn {

/// Counts the parts of an ONNX file before it is read: an empty part takes two bytes there, and 150 in
/// memory. Throws Problem where they would take too much memory, lie too deep in one another, or are damaged.
void check_parts(std::span<const char> bytes);

/// A name or text of the file, for messages: cut to 256 bytes, control characters as '?'.
std::string short_name(const std::string& name);

}  // namespace sightline::nn
