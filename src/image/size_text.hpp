#pragma once
/// Sizes as text.

#include <optional>
#include <string_view>

#include "image/view.hpp"

namespace sightline {

/// The size that a text such as "1280x720" names; none where it names none, or a side below 1.
std::optional<Size> to_size(std::string_view text);

}  // namespace sightline
