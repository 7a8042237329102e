#include "apps/cli/version_text.hpp"

#include <CLI/Version.hpp>
#include <algorithm>

#include "apps/cli/library_versions.hpp"
#include "base/hardware.hpp"
#if SIGHTLINE_DISPLAY
#include "display/sdl_version.hpp"
#endif

namespace sightline::apps {

std::string version_report() {
  const BuildInfo build = build_info();
  std::vector<LibraryVersion> libraries = library_versions();
#if SIGHTLINE_DISPLAY
  libraries.push_back(display::sdl_version());
#endif
  libraries.push_back({"CLI11", CLI11_VERSION, ""});
  libraries.push_back({"compiler", build.compiler, ""});
  std::size_t width = 0;
  for (const LibraryVersion& library : libraries) width = std::max(width, library.name.size());

  std::string text = "sightline " + build.version + " (" + build.build_type + " build)\n\n";
  for (const LibraryVersion& library : libraries)
    text += library.name + std::string(width + 2 - library.name.size(), ' ') + version_text(library) + "\n";
  text.pop_back();  // the parser ends the last line
  return text;
}

}  // namespace sightline::apps
