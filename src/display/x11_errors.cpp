#include "display/x11_errors.hpp"

#include <X11/Xlib.h>
#include <spdlog/spdlog.h>

#include <array>
#include <string>

namespace sightline::display {
namespace {

int log_error(Display* display, XErrorEvent* error) {
  std::array<char, 128> reason{}, request{};
  const std::string code = std::to_string(error->request_code);
  XGetErrorText(display, error->error_code, reason.data(), static_cast<int>(reason.size()));
  XGetErrorDatabaseText(display, "XRequest", code.c_str(), code.c_str(), request.data(),
                        static_cast<int>(request.size()));
  spdlog::log(error->error_code == BadWindow ? spdlog::level::debug : spdlog::level::warn,
              "the X server refused a request ({}: {}); the window may not look as it should", request.data(),
              reason.data());
  return 0;
}

}  // namespace

void survive_x11_errors() {
  XSetErrorHandler(log_error);
}

}  // namespace sightline::display
