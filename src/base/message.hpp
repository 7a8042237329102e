#pragma once
/// Messages of those who deal with failures, and must not fail themselves.

#include <string>
#include <string_view>

namespace sightline {

/// Sets a message, or a short one where there is no memory for it.
inline void set_message(std::string& message, std::string_view text) noexcept {
  try {
    message = text;
  } catch (...) {
    message = "out of memory";  // within what a string holds itself
  }
}

}  // namespace sightline
