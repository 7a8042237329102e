#pragma once
// Text with one part replaced.

#include <stdexcept>
#include <string>

namespace sightline::test {

/// The text with the first `from` replaced by `to`.
/// @throws std::logic_error where there is no such part
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("no '" + from + "' in the text");
  return text.replace(at, from.size(), to);
}

}  // namespace sightline::test
