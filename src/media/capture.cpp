#include "media/capture.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <cstdlib>

#if SIGHTLINE_CAPTURE
#include <libavdevice/version.h>
#endif

namespace sightline::media {
namespace {

/// The X11 display, as x11grab names it.
std::string display_of(const std::string& input) {
  const std::string rest = input.substr(kScreen.size());
  if (!rest.empty() && !rest.starts_with('+')) return rest;
  const char* display = std::getenv("DISPLAY");
  if (!display || !*display)
    throw Error(ExitCode::input, "there is no screen to capture: DISPLAY is not set",
                "name the X server's display, for example screen::0");
  return display + rest;
}

void ask_for(Dictionary& settings, const CaptureOptions& capture) {
  if (capture.size.width > 0)
    settings.set("video_size",
                 std::to_string(capture.size.width) + "x" + std::to_string(capture.size.height));
  if (capture.frame_rate > 0) settings.set("framerate", std::to_string(capture.frame_rate));
  if (!capture.pixel_format.empty()) settings.set("input_format", capture.pixel_format);
}

}  // namespace

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

const AVInputFormat& capture_format(InputKind kind, std::string& url, const std::string& name,
                                    const CaptureOptions& capture, Dictionary& settings) {
  const bool is_generator = kind == InputKind::generator, is_screen = kind == InputKind::screen;
  if (is_generator) url = url.substr(kGenerator.size());
  if (is_screen) url = display_of(url);
  if (!is_generator) ask_for(settings, capture);
  load_capture(name);
  const char* const format = is_generator ? "lavfi" : is_screen ? "x11grab" : "v4l2";
  const AVInputFormat* const found = av_find_input_format(format);
  if (!found)
    throw Error(ExitCode::input,
                "cannot open '" + name + "': this machine's libavdevice is built without " + format);
  return *found;
}

Error capture_error(InputKind kind, const std::string& name, int code) {
  const std::string reason = " (" + error_text(code) + ")";
  if (kind == InputKind::generator)
    return Error(ExitCode::input, "cannot set up the generator '" + name + "'" + reason,
                 "check the filter graph, for instance lavfi:testsrc=size=640x480:rate=25");
  if (kind == InputKind::screen)
    return Error(
        ExitCode::input, "cannot capture '" + name + "'" + reason,
        code == AVERROR(EINVAL)
            ? "the part must lie on the screen, and one at an offset needs a size (--size=640x480)"_message
            : "check that an X server runs there (echo $DISPLAY) and gives you access");
  std::string remedy =
      "`sightline devices --cameras` lists the formats, sizes and frame rates of each camera";
  if (code == AVERROR(ENOENT) || code == AVERROR(ENODEV) || code == AVERROR(ENXIO))
    remedy = "check that it is plugged in; `sightline devices --cameras` lists the cameras that are";
  if (code == AVERROR(EACCES) || code == AVERROR(EPERM))
    remedy = "join the group video: sudo usermod -aG video $USER, then log in again";
  if (code == AVERROR(EBUSY)) remedy = "close the other program that is using it";
  return Error(ExitCode::input, "cannot open the camera '" + name + "'" + reason, remedy);
}

}  // namespace sightline::media
