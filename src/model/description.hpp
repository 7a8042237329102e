#pragma once
/// What models are described with, for `sightline model show`. Thread-safety: any thread.

#include <string>

namespace sightline {

/// "label          person\n": a property of a model.
std::string property_line(const std::string& name, const std::string& value);

/// "  seed               7\n": one of several under a property's line.
std::string detail_line(const std::string& name, const std::string& value);

/// How a model was made: a line a value of a JSON object under the property's line. Any other text stands
/// behind the name, in lines of 100 characters or, where a word is longer, more.
std::string provenance_lines(const std::string& name, const std::string& text);

}  // namespace sightline
