#pragma once
/// Internal to src/display: the ways to a window's pixels. Includes SDL, which no header for others does.

#include <SDL.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "display/scene.hpp"
#include "display/software_screen.hpp"
#include "media/planes.hpp"

namespace sightline::display {

template <auto Destroy>
struct SdlDelete {
  template <typename T>
  void operator()(T* object) const {
    Destroy(object);
  }
};
using WindowPtr = std::unique_ptr<SDL_Window, SdlDelete<SDL_DestroyWindow>>;
using RendererPtr = std::unique_ptr<SDL_Renderer, SdlDelete<SDL_DestroyRenderer>>;
using TexturePtr = std::unique_ptr<SDL_Texture, SdlDelete<SDL_DestroyTexture>>;

/// Colour around the picture.
inline constexpr Ink kSurround{10, 11, 13, 255};

struct ShownPicture {
  const media::DisplayPlanes* planes = nullptr;  ///< never null
  bool is_new = false;                           ///< the planes are not those of the last call
  Rect place;                                    ///< may reach past the screen, by at most the screen's size
};

/// Input of a drawing.
struct View {
  std::vector<ShownPicture> pictures;  ///< from the back to the front
  const Scene* scene = nullptr;
};

/// Throws an Error (failed): what could not be done, and SDL's reason.
[[noreturn]] void throw_sdl_error(const std::string& what);

/// Draws into a window, which must outlive it. Thread-safety: the main thread.
class Screen {
 public:
  virtual ~Screen() = default;
  virtual Size size() const = 0;
  /// Draws; `show` hands it to the screen.
  virtual void draw(const View& view) = 0;
  virtual void show() = 0;
  /// RGB pixels of the last `draw`, before `show`.
  virtual std::vector<std::uint8_t> read() = 0;
  /// Called when uploaded data are lost.
  virtual void reset() {}
  const std::string& name() const { return name_; }

 protected:
  std::string name_;
};

/// Draws on the processor, straight into the memory that the window system is given; null if it gives
/// none.
std::unique_ptr<Screen> make_surface_screen(SDL_Window* window, TextCache& text);

/// Draws through SDL's renderers. Null if there is none, and with `graphics_card` where what there is
/// computes on the processor.
std::unique_ptr<Screen> make_renderer_screen(SDL_Window* window, TextCache& text, bool graphics_card,
                                             bool vsync);

/// True if an OpenGL renderer's name is that of a software renderer.
bool computes_on_processor(std::string name);

}  // namespace sightline::display
