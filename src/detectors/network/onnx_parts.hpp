#pragma once
/// What reading an ONNX file may cost.

#include <span>

namespace sightline::network {

/// Counts the parts of an ONNX file before it is read: an empty part takes two bytes there, and 150 in
/// memory. Throws Problem where they would take too much memory, lie too deep in one another, or are damaged.
void check_parts(std::span<const char> bytes);

}  // namespace sightline::network
