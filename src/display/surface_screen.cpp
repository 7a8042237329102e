#include <algorithm>
#include <cstring>

#include "display/screens.hpp"

namespace sightline::display {
namespace {

class SurfaceScreen final : public Screen {
 public:
  SurfaceScreen(SDL_Window* window, TextCache& text) : window_(window), text_(text) {
    name_ = "software";
    surface();
  }

  Size size() const override {
    const SDL_Surface* own = SDL_GetWindowSurface(window_);
    return own ? Size{own->w, own->h} : Size{};
  }

  void draw(const View& view) override {
    SDL_Surface* target = surface();
    const bool is_direct = target->format->format == SDL_PIXELFORMAT_RGB888 ||
                           target->format->format == SDL_PIXELFORMAT_ARGB8888;
    if (SDL_LockSurface(target) != 0) throw_sdl_error("cannot draw into the window");
    Pixels pixels{static_cast<std::uint8_t*>(target->pixels), {target->w, target->h}, target->pitch};
    if (!is_direct) {
      // Screens of other depths: drawn apart and converted.
      apart_.resize(static_cast<std::size_t>(target->w) * static_cast<std::size_t>(target->h) * 4);
      pixels.data = apart_.data();
      pixels.stride = static_cast<std::ptrdiff_t>(target->w) * 4;
    }
    const Rect screen{0, 0, pixels.size.width, pixels.size.height};
    const bool is_alone = view.pictures.size() == 1;
    fill_around(is_alone ? intersection(view.pictures.front().place, screen) : Rect{}, kSurround, pixels);
    scalers_.resize(std::max(scalers_.size(), view.pictures.size()));
    for (std::size_t i = 0; i < view.pictures.size(); ++i)
      draw_picture(view.pictures[i], scalers_[i], pixels);
    paint(*view.scene, text_, pixels);
    if (!is_direct)
      SDL_ConvertPixels(target->w, target->h, SDL_PIXELFORMAT_RGB888, pixels.data,
                        static_cast<int>(pixels.stride), target->format->format, target->pixels,
                        target->pitch);
    SDL_UnlockSurface(target);
  }

  void show() override {
    // Fails where the size has changed since; the event that says so brings a redraw.
    if (SDL_UpdateWindowSurface(window_) != 0 && !SDL_GetWindowSurface(window_))
      throw_sdl_error("cannot show a picture");
  }

  std::vector<std::uint8_t> read() override {
    SDL_Surface* own = surface();
    std::vector<std::uint8_t> rgb(static_cast<std::size_t>(own->w) * static_cast<std::size_t>(own->h) * 3);
    SDL_ConvertPixels(own->w, own->h, own->format->format, own->pixels, own->pitch, SDL_PIXELFORMAT_RGB24,
                      rgb.data(), own->w * 3);
    return rgb;
  }

 private:
  void draw_picture(const ShownPicture& picture, PictureScaler& scaler, const Pixels& pixels) {
    const Rect place = picture.place;
    const Rect seen = intersection(place, {0, 0, pixels.size.width, pixels.size.height});
    if (seen == place) return scaler.draw(*picture.planes, place, pixels);
    if (seen.empty()) return;
    // A part of a picture whose last pixels are cut by the screen's edge: drawn apart, whole.
    cut_.resize(static_cast<std::size_t>(place.width) * static_cast<std::size_t>(place.height) * 4);
    const Pixels whole{
        cut_.data(), {place.width, place.height}, static_cast<std::ptrdiff_t>(place.width) * 4};
    scaler.draw(*picture.planes, {0, 0, place.width, place.height}, whole);
    for (int y = seen.y; y < seen.bottom(); ++y)
      std::memcpy(pixels.at(seen.x, y), whole.at(seen.x - place.x, y - place.y),
                  static_cast<std::size_t>(seen.width) * 4);
  }

  // The window's; SDL makes a new one after each change of size.
  SDL_Surface* surface() {
    SDL_Surface* own = SDL_GetWindowSurface(window_);
    if (!own) throw_sdl_error("the window has no memory to draw into");
    return own;
  }

  SDL_Window* window_;
  TextCache& text_;
  std::vector<PictureScaler> scalers_;  // by picture
  std::vector<std::uint8_t> apart_, cut_;
};

}  // namespace

std::unique_ptr<Screen> make_surface_screen(SDL_Window* window, TextCache& text) {
  // Else SDL would copy the surface to a texture of OpenGL, however that is computed.
  SDL_SetHint(SDL_HINT_FRAMEBUFFER_ACCELERATION, "0");
  if (!SDL_GetWindowSurface(window)) return nullptr;
  return std::make_unique<SurfaceScreen>(window, text);
}

}  // namespace sightline::display
