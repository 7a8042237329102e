#include "display/window.hpp"

#include <cmath>
#include <utility>

#include "display/geometry.hpp"
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
  if (code == SDLK_KP_ENTER) code = SDLK_RETURN;
  if (const auto command = display::command_of(code, is_repeat)) return command;
  // Digits are where they are on every keyboard, whether they need Shift or not.
  const SDL_Scancode place = key.keysym.scancode;
  if (place >= SDL_SCANCODE_1 && place <= SDL_SCANCODE_6)
    return display::command_of('1' + (place - SDL_SCANCODE_1), is_repeat);
  return std::nullopt;
}

// For tiles of one size; the screen's limits apply.
Size window_size(Size picture, std::size_t tiles) {
  const Size grid = tile_grid(tiles, {16, 9});
  return {picture.width * grid.width, picture.height * grid.height};
}

}  // namespace

struct Window::Impl {
  // A tile, and what drawing it again needs.
  struct Drawn {
    Tile tile;
    bool is_new = false;  // the frame has not been drawn
    media::PlaneStore store;
    media::DisplayPlanes planes;
    Rect place;  // of the tile
  };

  Impl(const std::string& title, Size picture, const WindowOptions& window_options)
      : options(window_options),
        base(title, picture, window_options,
             "run with --headless=true, or set DISPLAY or WAYLAND_DISPLAY to a screen"_message) {
    show_cursor();
  }

  void set_full_screen(bool on) {
    base.set_full_screen(on);
    show_cursor();
  }
  void show_cursor() const { SDL_ShowCursor(base.is_full_screen() ? SDL_DISABLE : SDL_ENABLE); }

  void set_tiles(std::vector<Tile> shown, std::size_t chosen_tile) {
    tiles.resize(shown.size());
    for (std::size_t i = 0; i < shown.size(); ++i) {
      if (!shown[i].frame.shares_pixels_with(tiles[i].tile.frame)) tiles[i].is_new = true;
      tiles[i].tile = std::move(shown[i]);
    }
    chosen = chosen_tile;
  }

  void draw() {
    const Size output = base.screen().size();
    View view;
    view.scene = &scene;
    scene.clear();
    const std::vector<Rect> places =
        tile_places(tiles.size(), output, static_cast<int>(std::lround(3 * base.density())));
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      tiles[i].place = places[i];
      add_picture(tiles[i], view);
    }
    // The pictures of other tiles are at other numbers then.
    if (view.pictures.size() != pictures) {
      for (ShownPicture& picture : view.pictures) picture.is_new = true;
      pictures = view.pictures.size();
    }
    if (tiles.size() > 1) {
      for (std::size_t i = 0; i < tiles.size(); ++i)
        add_tile(scene, base.text(), tiles[i].tile.overlay, output, places[i], i == chosen, base.density());
      add_panels(scene, base.text(), of_the_window(tiles[chosen].tile.overlay), output, base.density());
    } else if (!tiles.empty()) {
      add_panels(scene, base.text(), tiles.front().tile.overlay, output, base.density());
    }
    base.screen().draw(view);
    for (Drawn& tile : tiles) tile.is_new = false;
  }

  void add_picture(Drawn& drawn, View& view) {
    if (drawn.tile.frame.empty()) return;
    if (drawn.is_new) drawn.planes = media::planes_of(drawn.tile.frame, drawn.store);
    const media::DisplayPlanes& planes = drawn.planes;
    Rect place = place_picture(planes.size, aspect_of(planes.sample_aspect, options.sample_aspect),
                               {drawn.place.width, drawn.place.height});
    place.x += drawn.place.x;
    place.y += drawn.place.y;
    view.pictures.push_back({&planes, drawn.is_new, place});
    add_boxes(scene, base.text(), drawn.tile.overlay, planes.size, place, base.density());
  }

  // Without what each tile shows.
  static Overlay of_the_window(Overlay overlay) {
    overlay.state.clear();
    overlay.recording.reset();
    overlay.paused = false;
    if (overlay.hud == HudMode::compact) overlay.hud = HudMode::off;
    return overlay;
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
        if (event.button.button != SDL_BUTTON_LEFT) return std::nullopt;
        if (event.button.clicks == 2) return full_screen_toggled();
        return tile_chosen(event.button.x, event.button.y);
      case SDL_KEYDOWN: {
        const auto command = command_of(event.key);
        return command == Command::full_screen ? full_screen_toggled() : command;
      }
      default:
        return std::nullopt;
    }
  }
  std::optional<Command> tile_chosen(int x, int y) {
    const Rect pointer{static_cast<int>(x * base.density()), static_cast<int>(y * base.density()), 1, 1};
    for (std::size_t i = 0; tiles.size() > 1 && i < tiles.size(); ++i) {
      if (intersection(pointer, tiles[i].place).empty()) continue;
      clicked = i;
      return Command::choose_tile;
    }
    return std::nullopt;
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
  std::vector<Drawn> tiles;
  std::size_t chosen = 0, clicked = 0;
  std::size_t pictures = 0;  // in the last drawing
  Scene scene;
};

Window::Window(const std::string& title, Size first_frame, const WindowOptions& options, std::size_t tiles)
    : impl_(std::make_unique<Impl>(title, window_size(first_frame, tiles), options)) {}
Window::~Window() = default;

void Window::present(const Frame& frame, const Overlay& overlay) {
  impl_->set_tiles({{frame, overlay}}, 0);
  impl_->redraw();
}

void Window::present(std::vector<Tile> tiles, std::size_t chosen) {
  impl_->set_tiles(std::move(tiles), chosen);
  impl_->redraw();
}

std::size_t Window::clicked_tile() const {
  return impl_->clicked;
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
