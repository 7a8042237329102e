#include "image/size_text.hpp"

#include <charconv>

namespace sightline {

std::optional<Size> to_size(std::string_view text) {
  Size size;
  const char* const end = text.data() + text.size();
  const auto [cross, width_error] = std::from_chars(text.data(), end, size.width);
  if (width_error != std::errc() || cross == end || *cross != 'x') return std::nullopt;
  const auto [rest, height_error] = std::from_chars(cross + 1, end, size.height);
  if (height_error != std::errc() || rest != end || size.width < 1 || size.height < 1) return std::nullopt;
  return size;
}

}  // namespace sightline
