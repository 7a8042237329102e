#pragma once
/// Class names as exporters write them into a file: a Python or JSON literal in a text.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sightline::network {

/// Names by class number: "{0: 'cat', 1: 'dog'}" in any order, with numbers as keys or as texts, "['cat',
/// 'dog']", JSON of the same, '{"cat": 0, "dog": 1}', or a list separated by line ends or commas. A number
/// that has no name is "". Nothing where the text is none of these, or gives a number twice.
std::optional<std::vector<std::string>> parse_class_names(std::string_view text);

}  // namespace sightline::network
