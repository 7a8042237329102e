#include "media/capture.hpp"

#include <dlfcn.h>

#include "base/error.hpp"
#include "media/ffmpeg.hpp"
#if SIGHTLINE_CAPTURE
#include <libavdevice/version.h>
#endif

namespace sightline::media {

std::string capture_library() {
#if SIGHTLINE_CAPTURE
  return "libavdevice.so." AV_STRINGIFY(LIBAVDEVICE_VERSION_MAJOR);
#else
  return "";
#endif
}

void load_capture(const std::string& input, const std::string& library) {
  const auto refuse = [&](const std::string& problem, const std::string& remedy) {
    throw Error(ExitCode::input, "cannot open '" + input + "': " + problem, remedy);
  };
  if (library.empty()) {
    refuse("this build of Sightline has no capture devices and generators",
           "build it with -DSIGHTLINE_CAPTURE=ON");
  }
  // Its parts refer to each other by address: it is never unloaded. Opening it again costs nothing.
  void* const handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!handle) {
    refuse(dlerror(), "install libavdevice (libavdevice59 on Debian 12) for capture devices and generators");
  }
  using Register = void (*)();
  const auto register_all = reinterpret_cast<Register>(dlsym(handle, "avdevice_register_all"));
  if (!register_all) refuse("'" + library + "' is not libavdevice", "");
  register_all();
}

}  // namespace sightline::media
