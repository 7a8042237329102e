#include "base/versions.hpp"

namespace sightline {

std::string version_text(const LibraryVersion& library) {
  if (library.running.empty()) return library.built;
  if (library.running == library.built || library.built.empty()) return library.running;
  return library.running + " (built with " + library.built + ")";
}

}  // namespace sightline
