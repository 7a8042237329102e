#include "display/window.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "display/screens.hpp"

namespace sightline::display {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Size kSmallest{160, 120};

// SDL's video part, as long as this lives.
class Video {
 public:
  Video() {
    SDL_SetMainReady();
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");                  // the program has its own
    SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");  // a window among others, not a game
    SDL_SetHint(SDL_HINT_QUIT_ON_LAST_WINDOW_CLOSE, "0");
    if (SDL_InitSubSystem(SDL_INIT_VIDEO) != 0) fail(SDL_GetError());
    // Where there is no screen, SDL falls back to drivers that show nothing; fine only where they are asked
    // for.
    const std::string driver = SDL_GetCurrentVideoDriver();
    const bool shows_nothing = driver == "offscreen" || driver == "dummy" || driver == "evdev";
    if (shows_nothing && !SDL_GetHint(SDL_HINT_VIDEODRIVER)) {
      SDL_QuitSubSystem(SDL_INIT_VIDEO);
      fail("neither X11 nor Wayland");
    }
    SDL_StopTextInput();  // keys are commands
  }
  ~Video() { SDL_QuitSubSystem(SDL_INIT_VIDEO); }
  Video(const Video&) = delete;
  Video& operator=(const Video&) = delete;

 private:
  [[noreturn]] static void fail(const std::string& reason) {
    throw Error(ExitCode::failed, "cannot open a window: there is no display (" + reason + ")",
                "run with --headless, or set DISPLAY or WAYLAND_DISPLAY to a screen");
  }
};

double aspect_of(const media::Rational& own, const media::Rational& otherwise) {
  return own.num > 0 && own.den > 0               ? own.value()
         : otherwise.num > 0 && otherwise.den > 0 ? otherwise.value()
                                                  : 1;
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

std::optional<Command> command_of(const SDL_KeyboardEvent& key) {
  if (key.keysym.mod & (KMOD_CTRL | KMOD_ALT | KMOD_GUI)) return std::nullopt;
  const bool is_repeat = key.repeat != 0;
  SDL_Keycode code = key.keysym.sym;
  if (code >= SDLK_KP_1 && code <= SDLK_KP_6) code = '1' + (code - SDLK_KP_1);
  if (const auto command = display::command_of(code, is_repeat)) return command;
  // Digits are where they are on every keyboard, whether they need Shift or not.
  const SDL_Scancode place = key.keysym.scancode;
  if (place >= SDL_SCANCODE_1 && place <= SDL_SCANCODE_6)
    return display::command_of('1' + (place - SDL_SCANCODE_1), is_repeat);
  return std::nullopt;
}

}  // namespace

void throw_sdl_error(const std::string& what) {
  throw Error(ExitCode::failed, what + " (" + SDL_GetError() + ")",
              "run with --headless to go without a window");
}

struct Window::Impl {
  Impl(const std::string& title, Size first_frame, const WindowOptions& window_options)
      : options(window_options) {
    const Size size = first_size(first_frame, aspect_of({0, 1}, options.sample_aspect));
    if (!options.software) {
      make_window(title, size);
      screen = make_renderer_screen(window.get(), text, true, options.vsync);
    }
    if (!screen) {
      // Anew: the window of a renderer that was tried may be tied to it.
      make_window(title, size);
      screen = make_surface_screen(window.get(), text);
    }
    if (!screen) {
      make_window(title, size);
      screen = make_renderer_screen(window.get(), text, false, options.vsync);
    }
    if (!screen) throw_sdl_error("cannot draw into a window");
    SDL_SetWindowMinimumSize(window.get(), kSmallest.width, kSmallest.height);
    wake_event = SDL_RegisterEvents(1);
    if (options.full_screen) set_full_screen(true);
    if (!options.hidden) SDL_ShowWindow(window.get());
  }
  ~Impl() {
    screen.reset();
    SDL_ShowCursor(SDL_ENABLE);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void make_window(const std::string& title, Size size) {
    window.reset();
    window.reset(SDL_CreateWindow(title.c_str(), SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, size.width,
                                  size.height,
                                  SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI | SDL_WINDOW_HIDDEN));
    if (!window) throw_sdl_error("cannot open a window");
  }

  Uint32 flags() const { return SDL_GetWindowFlags(window.get()); }

  void set_full_screen(bool on) {
    SDL_SetWindowFullscreen(window.get(), on ? Uint32{SDL_WINDOW_FULLSCREEN_DESKTOP} : 0u);
    SDL_ShowCursor(on ? SDL_DISABLE : SDL_ENABLE);
    is_stale = true;
  }

  void draw() {
    const Size output = screen->size();
    View view;
    view.scene = &scene;
    scene.clear();
    if (!frame.empty()) {
      if (is_new) planes = media::planes_of(frame, store);
      view.planes = &planes;
      view.is_new = is_new;
      view.place = place_picture(planes.size, aspect_of(planes.sample_aspect, options.sample_aspect), output);
      add_boxes(scene, text, overlay, planes.size, view.place);
    }
    add_panels(scene, text, overlay, output);
    screen->draw(view);
    is_new = false;
  }

  void redraw() {
    is_stale = false;
    if (flags() & SDL_WINDOW_MINIMIZED) return;
    draw();
    screen->show();
  }

  // What an event means to others, having done what it means to the window.
  std::optional<Command> take(const SDL_Event& event) {
    if (event.type == wake_event) {
      is_waking = false;
      is_woken = true;
      return std::nullopt;
    }
    switch (event.type) {
      case SDL_QUIT:
        return Command::quit;
      case SDL_WINDOWEVENT:
        if (event.window.event == SDL_WINDOWEVENT_CLOSE) return Command::quit;
        if (event.window.event == SDL_WINDOWEVENT_EXPOSED ||
            event.window.event == SDL_WINDOWEVENT_SIZE_CHANGED ||
            event.window.event == SDL_WINDOWEVENT_RESTORED)
          is_stale = true;
        return std::nullopt;
      case SDL_RENDER_TARGETS_RESET:
      case SDL_RENDER_DEVICE_RESET:
        screen->reset();
        is_stale = true;
        return std::nullopt;
      case SDL_MOUSEBUTTONDOWN:
        if (event.button.button != SDL_BUTTON_LEFT || event.button.clicks != 2) return std::nullopt;
        return full_screen_toggled();
      case SDL_KEYDOWN: {
        const auto command = command_of(event.key);
        return command == Command::full_screen ? full_screen_toggled() : command;
      }
      default:
        return std::nullopt;
    }
  }
  std::optional<Command> full_screen_toggled() {
    set_full_screen(!(flags() & SDL_WINDOW_FULLSCREEN_DESKTOP));
    return Command::full_screen;
  }

  std::optional<Command> poll() {
    // SDL_PollEvent would stop before events that came while earlier ones were taken.
    SDL_PumpEvents();
    SDL_Event event;
    while (SDL_PeepEvents(&event, 1, SDL_GETEVENT, SDL_FIRSTEVENT, SDL_LASTEVENT) == 1)
      if (const auto command = take(event)) return command;
    if (is_stale) redraw();
    return std::nullopt;
  }

  WindowOptions options;
  Video video;
  TextCache text;
  WindowPtr window;
  std::unique_ptr<Screen> screen;
  Uint32 wake_event = 0;
  std::atomic<bool> is_waking{false};  // an event is on its way
  bool is_woken = false;
  bool is_stale = false;  // what the screen shows is not what was drawn
  media::Frame frame;
  bool is_new = false;  // the frame has not been drawn
  Overlay overlay;
  media::PlaneStore store;
  media::DisplayPlanes planes;
  Scene scene;
};

Window::Window(const std::string& title, Size first_frame, const WindowOptions& options)
    : impl_(std::make_unique<Impl>(title, first_frame, options)) {}
Window::~Window() = default;

void Window::present(const media::Frame& frame, const Overlay& overlay) {
  if (frame.picture() != impl_->frame.picture()) impl_->is_new = true;
  impl_->frame = frame;
  impl_->overlay = overlay;
  impl_->redraw();
}

void Window::redraw() {
  impl_->redraw();
}

std::optional<Command> Window::poll() {
  return impl_->poll();
}

std::optional<Command> Window::wait(std::chrono::milliseconds timeout) {
  const auto until = Clock::now() + timeout;
  while (true) {
    if (const auto command = impl_->poll()) return command;
    if (std::exchange(impl_->is_woken, false)) return std::nullopt;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() <= 0) return std::nullopt;
    // Left in the queue, for `poll` to take.
    SDL_WaitEventTimeout(nullptr, static_cast<int>(std::min<std::int64_t>(left.count(), 1'000'000)));
  }
}

void Window::wake() noexcept {
  if (impl_->is_waking.exchange(true)) return;
  SDL_Event event{};
  event.type = impl_->wake_event;
  if (SDL_PushEvent(&event) != 1) impl_->is_waking = false;
}

void Window::set_title(const std::string& title) {
  SDL_SetWindowTitle(impl_->window.get(), title.c_str());
}

void Window::set_full_screen(bool on) {
  impl_->set_full_screen(on);
}

bool Window::is_full_screen() const {
  return (impl_->flags() & SDL_WINDOW_FULLSCREEN_DESKTOP) != 0;
}

Size Window::output_size() const {
  return impl_->screen->size();
}

const std::string& Window::renderer() const {
  return impl_->screen->name();
}

std::vector<std::uint8_t> Window::shown_rgb() {
  impl_->draw();
  return impl_->screen->read();
}

}  // namespace sightline::display
