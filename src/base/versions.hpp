#pragma once
/// The version of a library that Sightline is built on, for reports of what ran.

#include <string>

namespace sightline {

struct LibraryVersion {
  std::string name;
  std::string built;    ///< version of the headers it was built with; empty where they do not tell
  std::string running;  ///< of the library that is loaded; empty where headers are all there is of it
};

/// What there is to say of one: "59.27.100", "59.27.100 (built with 59.16.100)".
std::string version_text(const LibraryVersion& library);

}  // namespace sightline
