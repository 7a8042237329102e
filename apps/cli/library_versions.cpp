#include "apps/cli/library_versions.hpp"

#include <cairo.h>
#include <fmt/core.h>
#include <hwy/highway.h>
#include <oneapi/tbb/version.h>
#include <spdlog/version.h>
#include <toml++/toml.h>

#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "faces/gallery/gallery.hpp"
#include "media/library_versions.hpp"
#include "opencl/loader_version.hpp"
#include "texture/tiles/library_versions.hpp"

namespace sightline {
namespace {

std::string dotted(int major, int minor, int patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

std::string pugixml_version() {  // 1130: 1.13.0
  return dotted(PUGIXML_VERSION / 1000, PUGIXML_VERSION / 10 % 100, PUGIXML_VERSION % 10);
}

std::string fmt_version() {  // 90100: 9.1.0
  return dotted(FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100);
}

}  // namespace

std::vector<LibraryVersion> library_versions() {
  std::vector<LibraryVersion> all = media::library_versions();
  all.push_back(opencl::loader_version());
  all.push_back({"oneTBB", TBB_VERSION_STRING, TBB_runtime_version()});
  all.push_back({"Highway", dotted(HWY_MAJOR, HWY_MINOR, HWY_PATCH), ""});
  all.push_back({"cairo", CAIRO_VERSION_STRING, cairo_version_string()});
  all.push_back({"spdlog", dotted(SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH), ""});
  all.push_back({"fmt", fmt_version(), ""});
  all.push_back({"toml++", dotted(TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH), ""});
  all.push_back(
      {"nlohmann-json",
       dotted(NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH), ""});
  all.push_back({"pugixml", pugixml_version(), ""});
  all.push_back(gallery::library_version());
  for (LibraryVersion& one : tiles::library_versions()) all.push_back(std::move(one));
  return all;
}

}  // namespace sightline
