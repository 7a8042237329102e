#pragma once
/// Texts of models for `sightline model show`. Thread-safety: any thread.

#include <string>

namespace sightline {

/// "label          person\n": a property of a model.
std::string property_line(const std::string& name, const std::string& value);

/// "  seed               7\n": one of several under a property's line.
std::string detail_line(const std::string& name, const std::string& value);

/// Text about a model's origin: a JSON object as one line per value under the property's line; any other text
/// after the name, wrapped to 100 characters where words allow.
std::string provenance_lines(const std::string& name, const std::string& text);

}  // namespace sightline
