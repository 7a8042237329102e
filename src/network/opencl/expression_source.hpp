#pragma once
/// Expressions as text, for four elements at once.

#include <string>
#include <vector>

#include "network/expression.hpp"

namespace sightline::nn {

/// Whether devices have all functions of an expression: those of f32 and of booleans.
bool has_text(const Expression& expression);

struct ExpressionText {
  std::string statements;            ///< declare variables
  std::vector<std::string> results;  ///< names of float4
};
/// @param operands  texts of float4
ExpressionText text_for(const Expression& expression, const std::vector<std::string>& operands);

/// A float with all its bits.
std::string literal(float number);

}  // namespace sightline::nn
