// A window on an X server goes on where the server refuses a request.
#include <SDL.h>
#include <X11/Xlib.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "display/window.hpp"
#include "support/xvfb.hpp"

namespace sightline::display::test {
namespace {

using ConnectionPtr = std::unique_ptr<Display, decltype(&XCloseDisplay)>;

// As SDL does, which wakes itself over a second connection: that one may be served after the window is gone.
// Without what is tested, Xlib would end this whole program here.
TEST(DisplayX11, AnEventForAWindowThatIsGoneEndsNothing) {
  if (!sightline::test::Xvfb::is_installed()) GTEST_SKIP() << "no Xvfb to open a window on";
  const sightline::test::Xvfb server;
  setenv("SDL_VIDEODRIVER", "x11", 1);
  setenv("DISPLAY", server.display().c_str(), 1);
  {
    const Window window("test", {64, 48}, {});
    const ConnectionPtr other(XOpenDisplay(nullptr), &XCloseDisplay);
    ASSERT_NE(other, nullptr);
    const ::Window gone =
        XCreateSimpleWindow(other.get(), DefaultRootWindow(other.get()), 0, 0, 8, 8, 0, 0, 0);
    XDestroyWindow(other.get(), gone);
    XEvent event{};
    event.type = ClientMessage;
    event.xclient.format = 8;
    XSendEvent(other.get(), gone, False, NoEventMask, &event);
    XSync(other.get(), False);
    EXPECT_GE(NextRequest(other.get()), 4u) << "nothing was asked of the server";
  }
  setenv("SDL_VIDEODRIVER", "dummy", 1);
}

}  // namespace
}  // namespace sightline::display::test
