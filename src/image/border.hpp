#pragma once
/// Border rules: values of pixels outside a picture, for operators with a neighbourhood.

#include <cstdint>
#include <optional>
#include <string_view>

namespace sightline {

enum class BorderRule {
  wrap,     ///< the opposite edge's: the picture repeats
  clamp,    ///< the edge's own
  reflect,  ///< mirrored about the edge's pixel, which is not repeated: -1 is 1
  skip,     ///< no values: pixels with neighbours outside have no result
};
/// "wrap", "clamp", "reflect" or "skip".
const char* to_string(BorderRule rule);
/// No value for any other text.
std::optional<BorderRule> parse_border_rule(std::string_view text);

/// Index in [0, length) of the pixel that replaces pixel `i`. `length` is at least 1, `i` may have any value,
/// `rule` is not `skip`.
std::int64_t inside_index(std::int64_t i, std::int64_t length, BorderRule rule);

}  // namespace sightline
