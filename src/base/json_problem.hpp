#pragma once
/// What is wrong with a JSON text, for people.

#include <exception>
#include <string>

namespace sightline {

/// What nlohmann's library throws of a text, without its own mark in front
/// ("[json.exception.parse_error.101]") and no longer than a person reads: "line 3, column 7: syntax error
/// while parsing value - ...", "key 'textures' not found". Of any other exception what it says. Whoever shows
/// it says which file it is of.
std::string json_problem(const std::exception& error);

}  // namespace sightline
