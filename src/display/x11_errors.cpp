#include "display/x11_errors.hpp"

#include <SDL_syswm.h>
#include <X11/Xlib.h>

#include <array>
#include <string>

#include "base/log.hpp"

namespace sightline::display {
namespace {

int log_error(Display* display, XErrorEvent* error) {
  std::array<char, 128> reason{}, request{};
  const std::string code = std::to_string(error->request_code);
  XGetErrorText(display, error->error_code, reason.data(), static_cast<int>(reason.size()));
  XGetErrorDatabaseText(display, "XRequest", code.c_str(), code.c_str(), request.data(),
                        static_cast<int>(request.size()));
  logger().log(error->error_code == BadWindow ? spdlog::level::debug : spdlog::level::warn,
               "the X server refused a request ({}: {}); the window may look wrong", request.data(),
               reason.data());
  return 0;
}

// Xlib then calls the connection's exit handler, which decides whether the program ends.
int log_lost_connection(Display* display) {
  static std::atomic<bool> is_said{false};  // Xlib comes here again with each request that follows
  if (!is_said.exchange(true))
    logger().warn("the connection to the X server '{}' broke", DisplayString(display));
  return 0;
}

}  // namespace

void survive_x11_errors() {
  XSetErrorHandler(log_error);
  XSetIOErrorHandler(log_lost_connection);
}

void notice_lost_connection(SDL_Window* window, std::atomic<bool>& is_lost) {
  SDL_SysWMinfo info{};
  SDL_VERSION(&info.version);
  if (!SDL_GetWindowWMInfo(window, &info) || info.subsystem != SDL_SYSWM_X11) return;
  XSetIOErrorExitHandler(
      info.info.x11.display, [](Display*, void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; },
      &is_lost);
}

}  // namespace sightline::display
