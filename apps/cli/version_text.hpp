#pragma once
/// Text of `--version`.

#include <string>

namespace sightline::apps {

/// The program's version on the first line, what it is built on in the lines after it.
std::string version_report();

}  // namespace sightline::apps
