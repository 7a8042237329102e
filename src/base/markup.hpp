#pragma once
/// Text inside XML, SVG and HTML.

#include <string>

namespace sightline {

/// Text for between tags or in a quoted attribute: marked-up characters escaped, bytes that are not UTF-8
/// replaced, control characters (line ends too) made blanks.
std::string escape_markup(const std::string& text);

}  // namespace sightline
