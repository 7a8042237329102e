#pragma once
/// Versions of the libraries that Sightline uses, for reports.

#include <string>

namespace sightline {

struct LibraryVersion {
  std::string name;
  std::string built;    ///< version of the headers it was built with; empty if they do not tell
  std::string running;  ///< version of the loaded library; empty for header-only libraries
};

/// Text for one library: "59.27.100", "59.27.100 (built with 59.16.100)".
std::string version_text(const LibraryVersion& library);

}  // namespace sightline
