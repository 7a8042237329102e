#pragma once
/// Error messages that are made without allocating, so that making them cannot fail.

#include <string>
#include <string_view>

namespace sightline {

/// Sets a message, or a short one where there is no memory for it.
inline void set_message(std::string& message, std::string_view text) noexcept {
  try {
    message = text;
  } catch (...) {
    message = "out of memory";  // short enough for a string's own storage
  }
}

}  // namespace sightline
