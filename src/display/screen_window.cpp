#include "display/screen_window.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "display/x11_errors.hpp"

namespace sightline::display {
namespace {

constexpr Size kSmallest{160, 120};

[[noreturn]] void fail(const std::string& reason, const Message& remedy) {
  throw Error(ExitCode::failed, "cannot open a window: there is no display (" + reason + ")", remedy);
}

// The picture's own size; no more than nine tenths of the screen, so that a frame and bars find room, and, by
// whole factors, no less than a third of a small screen.
Size first_size(Size picture, double pixel_aspect) {
  const double width = std::max(1.0, picture.width * pixel_aspect), height = std::max(1, picture.height);
  SDL_Rect usable{0, 0, 1280, 720};
  SDL_GetDisplayUsableBounds(0, &usable);
  double scale = std::min({1.0, 0.9 * usable.w / width, 0.9 * usable.h / height});
  if (width == usable.w && height == usable.h) scale = 1;  // made for this screen
  while (scale >= 1 && width * scale * 2 <= 640 && height * scale * 2 <= 480) scale *= 2;
  return {std::max(kSmallest.width, static_cast<int>(std::lround(width * scale))),
          std::max(kSmallest.height, static_cast<int>(std::lround(height * scale)))};
}

}  // namespace

Video::Video(const Message& remedy) {
  SDL_SetMainReady();
  SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");                  // the program has its own
  SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");  // a window among others, not a game
  SDL_SetHint(SDL_HINT_QUIT_ON_LAST_WINDOW_CLOSE, "0");
  survive_x11_errors();
  if (SDL_InitSubSystem(SDL_INIT_VIDEO) != 0) fail(SDL_GetError(), remedy);
  // Without a screen, SDL falls back to drivers that show nothing, which is accepted only on request.
  const std::string driver = SDL_GetCurrentVideoDriver();
  const bool shows_nothing = driver == "offscreen" || driver == "dummy" || driver == "evdev";
  if (shows_nothing && !SDL_GetHint(SDL_HINT_VIDEODRIVER)) {
    SDL_QuitSubSystem(SDL_INIT_VIDEO);
    fail("neither X11 nor Wayland", remedy);
  }
  SDL_StopTextInput();  // keys are commands
}

Video::~Video() {
  if (!is_abandoned_) SDL_QuitSubSystem(SDL_INIT_VIDEO);
}

void throw_sdl_error(const std::string& what) {
  throw Error(ExitCode::failed, what + " (" + SDL_GetError() + ")",
              "run `sightline live --headless` without a window");
}

double aspect_of(const Rational& own, const Rational& otherwise) {
  return own.num > 0 && own.den > 0               ? own.value()
         : otherwise.num > 0 && otherwise.den > 0 ? otherwise.value()
                                                  : 1;
}

ScreenWindow::ScreenWindow(const std::string& title, Size picture, const WindowOptions& options,
                           const Message& remedy)
    : video_(remedy) {
  const Size size = first_size(picture, aspect_of({0, 1}, options.sample_aspect));
  if (!options.software) {
    make_window(title, size);
    screen_ = make_renderer_screen(window_.get(), text_, true, options.vsync);
  }
  if (!screen_) {
    // Anew: the window of a renderer that was tried may be tied to it.
    make_window(title, size);
    screen_ = make_surface_screen(window_.get(), text_);
  }
  if (!screen_) {
    make_window(title, size);
    screen_ = make_renderer_screen(window_.get(), text_, false, options.vsync);
  }
  if (!screen_) throw_sdl_error("cannot draw into a window");
  SDL_SetWindowMinimumSize(window_.get(), kSmallest.width, kSmallest.height);
  notice_lost_connection(window_.get(), is_lost_);
  wake_event_ = SDL_RegisterEvents(1);
  if (options.full_screen) set_full_screen(true);
  if (!options.hidden) SDL_ShowWindow(window_.get());
}

ScreenWindow::~ScreenWindow() {
  if (is_lost_) {
    static_cast<void>(screen_.release());
    static_cast<void>(window_.release());
    video_.abandon();
    return;
  }
  screen_.reset();
  SDL_ShowCursor(SDL_ENABLE);
}

void ScreenWindow::make_window(const std::string& title, Size size) {
  window_.reset();
  window_.reset(SDL_CreateWindow(title.c_str(), SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, size.width,
                                 size.height,
                                 SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI | SDL_WINDOW_HIDDEN));
  if (!window_) throw_sdl_error("cannot open a window");
}

double ScreenWindow::density() const {
  int width = 0, height = 0;
  SDL_GetWindowSize(window_.get(), &width, &height);
  return width > 0 ? static_cast<double>(screen_->size().width) / width : 1;
}

void ScreenWindow::set_full_screen(bool on) {
  if (is_lost_) return;
  SDL_SetWindowFullscreen(window_.get(), on ? Uint32{SDL_WINDOW_FULLSCREEN_DESKTOP} : 0u);
  is_stale_ = true;
}

bool ScreenWindow::is_full_screen() const {
  return (SDL_GetWindowFlags(window_.get()) & SDL_WINDOW_FULLSCREEN_DESKTOP) != 0;
}

bool ScreenWindow::is_minimised() const {
  return (SDL_GetWindowFlags(window_.get()) & SDL_WINDOW_MINIMIZED) != 0;
}

std::optional<SDL_Event> ScreenWindow::next_event() {
  // SDL_PollEvent would stop before events that came while earlier ones were taken.
  SDL_PumpEvents();
  if (is_lost_) throw Error(ExitCode::failed, "the connection to the window's screen was lost");
  SDL_Event event;
  while (SDL_PeepEvents(&event, 1, SDL_GETEVENT, SDL_FIRSTEVENT, SDL_LASTEVENT) == 1) {
    if (event.type == wake_event_) {
      is_waking_ = false;
      is_woken_ = true;
    } else if (event.type == SDL_WINDOWEVENT) {
      const auto what = event.window.event;
      if (what == SDL_WINDOWEVENT_EXPOSED || what == SDL_WINDOWEVENT_SIZE_CHANGED ||
          what == SDL_WINDOWEVENT_RESTORED)
        is_stale_ = true;
      if (what == SDL_WINDOWEVENT_CLOSE) event.type = SDL_QUIT;
      if (what == SDL_WINDOWEVENT_CLOSE || what == SDL_WINDOWEVENT_LEAVE) return event;
    } else if (event.type == SDL_RENDER_TARGETS_RESET || event.type == SDL_RENDER_DEVICE_RESET) {
      screen_->reset();
      is_stale_ = true;
    } else {
      return event;
    }
  }
  return std::nullopt;
}

void ScreenWindow::wait_for_event(std::chrono::steady_clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  if (left.count() > 0)
    SDL_WaitEventTimeout(nullptr, static_cast<int>(std::min<std::int64_t>(left.count(), 1'000'000)));
}

void ScreenWindow::wake() noexcept {
  if (is_lost_ || is_waking_.exchange(true)) return;
  SDL_Event event{};
  event.type = wake_event_;
  if (SDL_PushEvent(&event) != 1) is_waking_ = false;
}

}  // namespace sightline::display
