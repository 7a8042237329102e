#include "display/window.hpp"

#include <utility>

#include "display/screen_window.hpp"

namespace sightline::display {
namespace {

std::optional<Command> command_of(const SDL_KeyboardEvent& key) {
  if (key.keysym.mod & (KMOD_CTRL | KMOD_ALT | KMOD_GUI)) return std::nullopt;
  const bool is_repeat = key.repeat != 0;
  SDL_Keycode code = key.keysym.sym;
  if (code >= SDLK_KP_1 && code <= SDLK_KP_6) code = '1' + (code - SDLK_KP_1);
  if (code == SDLK_KP_PLUS) code = SDLK_PLUS;
  if (code == SDLK_KP_MINUS) code = SDLK_MINUS;
  if (const auto command = display::command_of(code, is_repeat)) return command;
  // Digits are where they are on every keyboard, whether they need Shift or not.
  const SDL_Scancode place = key.keysym.scancode;
  if (place >= SDL_SCANCODE_1 && place <= SDL_SCANCODE_6)
    return display::command_of('1' + (place - SDL_SCANCODE_1), is_repeat);
  return std::nullopt;
}

}  // namespace

struct Window::Impl {
  Impl(const std::string& title, Size first_frame, const WindowOptions& window_options)
      : options(window_options),
        base(title, first_frame, window_options,
             "run with --headless=true, or set DISPLAY or WAYLAND_DISPLAY to a screen"_message) {
    show_cursor();
  }

  void set_full_screen(bool on) {
    base.set_full_screen(on);
    show_cursor();
  }
  void show_cursor() const { SDL_ShowCursor(base.is_full_screen() ? SDL_DISABLE : SDL_ENABLE); }

  void draw() {
    const Size output = base.screen().size();
    View view;
    view.scene = &scene;
    scene.clear();
    if (!frame.empty()) {
      if (is_new) planes = media::planes_of(frame, store);
      view.planes = &planes;
      view.is_new = is_new;
      view.place = place_picture(planes.size, aspect_of(planes.sample_aspect, options.sample_aspect), output);
      add_boxes(scene, base.text(), overlay, planes.size, view.place, base.density());
    }
    add_panels(scene, base.text(), overlay, output, base.density());
    base.screen().draw(view);
    is_new = false;
  }

  void redraw() {
    base.set_stale(false);
    if (!base.is_visible()) return;
    draw();
    base.screen().show();
  }

  // Handles an event; returns the command for the window's user, if any.
  std::optional<Command> take(const SDL_Event& event) {
    switch (event.type) {
      case SDL_QUIT:
        return Command::quit;
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
    set_full_screen(!base.is_full_screen());
    return Command::full_screen;
  }

  std::optional<Command> poll() {
    while (const auto event = base.next_event())
      if (const auto command = take(*event)) return command;
    if (base.is_stale()) redraw();
    return std::nullopt;
  }

  WindowOptions options;
  ScreenWindow base;
  Frame frame;
  bool is_new = false;  // the frame has not been drawn
  Overlay overlay;
  media::PlaneStore store;
  media::DisplayPlanes planes;
  Scene scene;
};

Window::Window(const std::string& title, Size first_frame, const WindowOptions& options)
    : impl_(std::make_unique<Impl>(title, first_frame, options)) {}
Window::~Window() = default;

void Window::present(const Frame& frame, const Overlay& overlay) {
  if (!frame.shares_pixels_with(impl_->frame)) impl_->is_new = true;
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
  const auto until = std::chrono::steady_clock::now() + timeout;
  while (true) {
    if (const auto command = impl_->poll()) return command;
    if (impl_->base.was_woken() || std::chrono::steady_clock::now() >= until) return std::nullopt;
    ScreenWindow::wait_for_event(until);
  }
}

void Window::wake() noexcept {
  impl_->base.wake();
}

void Window::set_title(const std::string& title) {
  SDL_SetWindowTitle(impl_->base.sdl(), title.c_str());
}

void Window::set_full_screen(bool on) {
  impl_->set_full_screen(on);
}

bool Window::is_full_screen() const {
  return impl_->base.is_full_screen();
}

Size Window::output_size() const {
  return impl_->base.screen().size();
}

const std::string& Window::renderer() const {
  return impl_->base.screen().name();
}

std::vector<std::uint8_t> Window::shown_rgb() {
  impl_->draw();
  return impl_->base.screen().read();
}

}  // namespace sightline::display
