#pragma once
/// What pixels outside a picture are taken for by operators that look at neighbours.

#include <cstdint>
#include <optional>
#include <string_view>

namespace sightline {

enum class BorderRule {
  wrap,     ///< the opposite edge's: the picture repeats
  clamp,    ///< the edge's own
  reflect,  ///< mirrored about the edge's pixel, which is not repeated: -1 is 1
  skip,     ///< none: pixels whose neighbours lie outside have no result
};
/// "wrap", "clamp", "reflect" or "skip".
const char* to_string(BorderRule rule);
/// None for any other text.
std::optional<BorderRule> parse_border_rule(std::string_view text);

/// The pixel of a line of `length` (at least 1) that stands for pixel `i`, which may be any; `rule` is not
/// `skip`.
std::int64_t inside_index(std::int64_t i, std::int64_t length, BorderRule rule);

}  // namespace sightline
