#include "display/label_window.hpp"

#include <map>
#include <utility>

#include "display/screen_window.hpp"

namespace sightline::display {
namespace {

using Clock = std::chrono::steady_clock;

struct CursorDelete {
  void operator()(SDL_Cursor* cursor) const { SDL_FreeCursor(cursor); }
};

SDL_SystemCursor cursor_of(PointerShape shape) {
  switch (shape) {
    case PointerShape::arrow:
      return SDL_SYSTEM_CURSOR_ARROW;
    case PointerShape::cross:
      return SDL_SYSTEM_CURSOR_CROSSHAIR;
    case PointerShape::move:
      return SDL_SYSTEM_CURSOR_SIZEALL;
    case PointerShape::across:
      return SDL_SYSTEM_CURSOR_SIZEWE;
    case PointerShape::down:
      return SDL_SYSTEM_CURSOR_SIZENS;
    case PointerShape::falling:
      return SDL_SYSTEM_CURSOR_SIZENWSE;
    case PointerShape::rising:
      return SDL_SYSTEM_CURSOR_SIZENESW;
  }
  return SDL_SYSTEM_CURSOR_ARROW;
}

// The digit of a key, wherever it is and whatever else it types; none of another.
std::optional<int> digit_of(const SDL_Keysym& key) {
  if (key.sym >= SDLK_0 && key.sym <= SDLK_9) return key.sym - SDLK_0;
  if (key.sym == SDLK_KP_0 || key.scancode == SDL_SCANCODE_0) return 0;
  if (key.sym >= SDLK_KP_1 && key.sym <= SDLK_KP_9) return key.sym - SDLK_KP_1 + 1;
  if (key.scancode >= SDL_SCANCODE_1 && key.scancode <= SDL_SCANCODE_9)
    return key.scancode - SDL_SCANCODE_1 + 1;
  return std::nullopt;
}

// The planes of a part of a picture. Its corner is at even pixels, where chroma begins.
media::DisplayPlanes cropped(const media::DisplayPlanes& whole, const Rect& part) {
  media::DisplayPlanes planes = whole;
  planes.size = {part.width, part.height};
  const auto shift = [&](int plane, int x, int y, int bytes) {
    if (planes.data[plane])
      planes.data[plane] += y * planes.stride[plane] + static_cast<std::ptrdiff_t>(x) * bytes;
  };
  switch (whole.kind) {
    case media::PlaneKind::i420:
      shift(0, part.x, part.y, 1);
      shift(1, part.x / 2, part.y / 2, 1);
      shift(2, part.x / 2, part.y / 2, 1);
      break;
    case media::PlaneKind::nv12:
      shift(0, part.x, part.y, 1);
      shift(1, part.x / 2, part.y / 2, 2);
      break;
    case media::PlaneKind::rgb24:
    case media::PlaneKind::bgr24:
      shift(0, part.x, part.y, 3);
      break;
    case media::PlaneKind::rgba:
    case media::PlaneKind::bgra:
      shift(0, part.x, part.y, 4);
      break;
  }
  return planes;
}

}  // namespace

struct LabelWindow::Impl {
  Impl(const std::string& title, Size picture, const WindowOptions& options)
      : base(title, picture, options,
             "set DISPLAY or WAYLAND_DISPLAY to a screen; --convert-to works without one"_message) {
    // A click that brings the window to the front also draws nothing.
    SDL_SetHint(SDL_HINT_MOUSE_FOCUS_CLICKTHROUGH, "0");
  }

  void draw() {
    View screen_view;
    screen_view.scene = &scene;
    scene.clear();
    media::DisplayPlanes part;
    if (!frame.empty() && !view.part.empty() && !view.place.empty()) {
      part = cropped(planes, view.part);
      screen_view.pictures.push_back({&part, is_new, view.place});
    }
    rows = add_labels(scene, base.text(), overlay, base.screen().size(), density());
    base.screen().draw(screen_view);
    is_new = false;
  }

  double density() const { return base.density(); }

  std::optional<LabelInput> take(const SDL_Event& event) {
    switch (event.type) {
      case SDL_QUIT:
        return KeyInput{LabelCommand::quit};
      case SDL_WINDOWEVENT:
        return PointerInput{PointerInput::Kind::leave};
      case SDL_MOUSEBUTTONDOWN:
      case SDL_MOUSEBUTTONUP:
        return button(event.button);
      case SDL_MOUSEMOTION:
        if (event.motion.state & (SDL_BUTTON_RMASK | SDL_BUTTON_MMASK))
          return PanInput{event.motion.xrel * density(), event.motion.yrel * density()};
        return pointer(PointerInput::Kind::move, event.motion.x, event.motion.y);
      case SDL_MOUSEWHEEL: {
        int x = 0, y = 0;
        SDL_GetMouseState(&x, &y);
        const double steps =
            event.wheel.preciseY * (event.wheel.direction == SDL_MOUSEWHEEL_FLIPPED ? -1 : 1);
        return WheelInput{steps, x * density(), y * density()};
      }
      case SDL_KEYDOWN:
        return is_typing ? typed(event.key) : key(event.key);
      case SDL_TEXTINPUT:
        if (!is_typing) return std::nullopt;
        return TextInput{TextInput::Kind::typed, event.text.text};
      default:
        return std::nullopt;
    }
  }

  PointerInput pointer(PointerInput::Kind kind, int x, int y) const {
    return {kind, x * density(), y * density(), (SDL_GetModState() & KMOD_SHIFT) != 0};
  }

  std::optional<LabelInput> button(const SDL_MouseButtonEvent& event) {
    if (event.button != SDL_BUTTON_LEFT) return std::nullopt;
    const PointerInput at =
        pointer(event.type == SDL_MOUSEBUTTONDOWN ? PointerInput::Kind::press : PointerInput::Kind::release,
                event.x, event.y);
    if (at.kind == PointerInput::Kind::press)
      for (std::size_t i = 0; i < rows.size(); ++i)
        if (at.x >= rows[i].x && at.x < rows[i].right() && at.y >= rows[i].y && at.y < rows[i].bottom())
          return ClassInput{static_cast<int>(i)};
    return at;
  }

  std::optional<LabelInput> key(const SDL_KeyboardEvent& event) {
    const Uint16 held = event.keysym.mod;
    if (held & (KMOD_ALT | KMOD_GUI)) return std::nullopt;
    const bool control = (held & KMOD_CTRL) != 0, shift = (held & KMOD_SHIFT) != 0;
    const auto command = label_command_of(event.keysym.sym, control, shift, event.repeat != 0);
    if (command == LabelCommand::full_screen) base.toggle_full_screen();
    if (command) return KeyInput{*command, shift, control};
    // After commands, since the keys of digits type signs such as + on some keyboards.
    const auto digit = digit_of(event.keysym);
    if (!digit || control || event.repeat != 0) return std::nullopt;
    return ClassInput{*digit == 0 ? 9 : *digit - 1};
  }

  static std::optional<LabelInput> typed(const SDL_KeyboardEvent& event) {
    switch (event.keysym.sym) {
      case SDLK_RETURN:
      case SDLK_KP_ENTER:
        return TextInput{TextInput::Kind::accept, {}};
      case SDLK_ESCAPE:
        return TextInput{TextInput::Kind::cancel, {}};
      case SDLK_BACKSPACE:
        return TextInput{TextInput::Kind::erase, {}};
      default:
        return std::nullopt;
    }
  }

  ScreenWindow base;
  Frame frame;
  media::PlaneStore store;
  media::DisplayPlanes planes;
  bool is_new = false;  // the shown part of the frame has changed
  bool is_typing = false;
  PicturePart view;
  LabelOverlay overlay;
  Scene scene;
  std::vector<Rect> rows;  // rows of the class list
  PointerShape shape = PointerShape::arrow;
  std::map<PointerShape, std::unique_ptr<SDL_Cursor, CursorDelete>> cursors;
};

LabelWindow::LabelWindow(const std::string& title, Size picture, const WindowOptions& options)
    : impl_(std::make_unique<Impl>(title, picture, options)) {}
LabelWindow::~LabelWindow() = default;

void LabelWindow::set_frame(const Frame& frame) {
  impl_->frame = {};
  if (!frame.empty()) impl_->planes = media::planes_of(frame, impl_->store);
  impl_->frame = frame;
  impl_->is_new = true;
}

double LabelWindow::pixel_aspect() const {
  return impl_->frame.empty() ? 1 : aspect_of(impl_->planes.sample_aspect, {0, 1});
}

void LabelWindow::present(const PicturePart& view, const LabelOverlay& overlay) {
  impl_->is_new |= view.part != impl_->view.part;
  impl_->view = view;
  impl_->overlay = overlay;
  impl_->base.set_stale(false);
  if (!impl_->base.is_visible()) return;
  impl_->draw();
  impl_->base.screen().show();
}

std::optional<LabelInput> LabelWindow::wait(std::chrono::milliseconds timeout) {
  const auto until = Clock::now() + timeout;
  while (true) {
    while (const auto event = impl_->base.next_event())
      if (auto input = impl_->take(*event)) return input;
    if (impl_->base.was_woken() || impl_->base.is_stale() || Clock::now() >= until) return std::nullopt;
    ScreenWindow::wait_for_event(until);
  }
}

void LabelWindow::wake() noexcept {
  impl_->base.wake();
}

void LabelWindow::set_typing(bool on) {
  if (impl_->is_typing == on) return;
  impl_->is_typing = on;
  // The letter of the key that has begun it is not a part of it.
  if (on) SDL_StartTextInput();
  if (on) SDL_FlushEvent(SDL_TEXTINPUT);
  if (!on) SDL_StopTextInput();
}

void LabelWindow::set_shape(PointerShape shape) {
  if (shape == impl_->shape) return;
  impl_->shape = shape;
  auto& cursor = impl_->cursors[shape];
  // If there is none of that kind, the previous one stays.
  if (!cursor) cursor.reset(SDL_CreateSystemCursor(cursor_of(shape)));
  if (cursor) SDL_SetCursor(cursor.get());
}

void LabelWindow::set_title(const std::string& title) {
  SDL_SetWindowTitle(impl_->base.sdl(), title.c_str());
}

Size LabelWindow::output_size() const {
  return impl_->base.screen().size();
}

double LabelWindow::density() const {
  return impl_->density();
}

std::vector<std::uint8_t> LabelWindow::shown_rgb() {
  impl_->draw();
  return impl_->base.screen().read();
}

}  // namespace sightline::display
