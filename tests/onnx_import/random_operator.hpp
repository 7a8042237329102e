#pragma once
/// Single operators with random attributes and operands of awkward shapes: those that random chains do not
/// have.

#include <span>
#include <string_view>

#include "network/onnx_builder.hpp"

namespace sightline::test {

/// Their names.
std::vector<std::string_view> random_operators();
/// A network of one operator, and of what brings its operands about; the same one for the same seed.
OnnxBuilder random_operator(std::string_view name, std::uint64_t seed);

}  // namespace sightline::test
