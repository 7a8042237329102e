#include <algorithm>
#include <cctype>
#include <string_view>

#include "display/screens.hpp"

namespace sightline::display {
namespace {

SDL_Rect to_sdl(const Rect& r) {
  return {r.x, r.y, r.width, r.height};
}

Uint32 texture_format(media::PlaneKind kind) {
  switch (kind) {
    case media::PlaneKind::i420:
      return SDL_PIXELFORMAT_IYUV;
    case media::PlaneKind::nv12:
      return SDL_PIXELFORMAT_NV12;
    case media::PlaneKind::rgb24:
      return SDL_PIXELFORMAT_RGB24;
    case media::PlaneKind::bgr24:
      return SDL_PIXELFORMAT_BGR24;
    case media::PlaneKind::rgba:
      return SDL_PIXELFORMAT_RGBA32;
    case media::PlaneKind::bgra:
      return SDL_PIXELFORMAT_BGRA32;
  }
  return SDL_PIXELFORMAT_UNKNOWN;
}

bool is_yuv(const media::DisplayPlanes& planes) {
  return planes.kind == media::PlaneKind::i420 || planes.kind == media::PlaneKind::nv12;
}

class RendererScreen final : public Screen {
 public:
  RendererScreen(RendererPtr renderer, const std::string& name, bool converts_yuv, TextCache& text)
      : renderer_(std::move(renderer)), text_(text), converts_yuv_(converts_yuv) {
    name_ = name;
  }
  ~RendererScreen() override { text_.clear(); }  // its textures are the renderer's

  Size size() const override {
    Size size;
    SDL_GetRendererOutputSize(renderer_.get(), &size.width, &size.height);
    return size;
  }

  void draw(const View& view) override {
    SDL_Renderer* r = renderer_.get();
    SDL_SetRenderDrawBlendMode(r, SDL_BLENDMODE_BLEND);
    SDL_SetRenderDrawColor(r, kSurround.red, kSurround.green, kSurround.blue, 255);
    SDL_RenderClear(r);
    pictures_.resize(std::max(pictures_.size(), view.pictures.size()));
    for (std::size_t i = 0; i < view.pictures.size(); ++i) {
      const ShownPicture& picture = view.pictures[i];
      Uploaded& uploaded = pictures_[i];
      if (picture.is_new || !uploaded.texture) upload(*picture.planes, uploaded);
      const SDL_Rect place = to_sdl(picture.place);
      if (SDL_RenderCopy(r, uploaded.texture.get(), nullptr, &place) != 0)
        throw_sdl_error("cannot draw a picture");
    }
    for (const auto& item : *view.scene) {
      if (const auto* fill = std::get_if<Fill>(&item)) {
        const SDL_Rect rect = to_sdl(fill->rect);
        SDL_SetRenderDrawColor(r, fill->ink.red, fill->ink.green, fill->ink.blue, fill->ink.alpha);
        SDL_RenderFillRect(r, &rect);
      } else {
        draw_words(std::get<Words>(item));
      }
    }
  }

  void show() override { SDL_RenderPresent(renderer_.get()); }

  std::vector<std::uint8_t> read() override {
    const Size all = size();
    std::vector<std::uint8_t> rgb(static_cast<std::size_t>(all.width) * static_cast<std::size_t>(all.height) *
                                  3);
    if (SDL_RenderReadPixels(renderer_.get(), nullptr, SDL_PIXELFORMAT_RGB24, rgb.data(), all.width * 3) != 0)
      throw_sdl_error("cannot read the screen");
    return rgb;
  }

  void reset() override {
    pictures_.clear();
    text_.clear();
  }

 private:
  // SDL has no BT.709 of full range; that, and all YUV where SDL converts on the processor, is converted
  // here.
  bool is_uploaded_as_is(const media::DisplayPlanes& planes) const {
    if (!is_yuv(planes)) return true;
    return converts_yuv_ && (planes.matrix == media::YuvMatrix::bt601 || planes.range == LumaRange::limited);
  }

  static SDL_YUV_CONVERSION_MODE conversion(const media::DisplayPlanes& planes) {
    return planes.range == LumaRange::full            ? SDL_YUV_CONVERSION_JPEG
           : planes.matrix == media::YuvMatrix::bt709 ? SDL_YUV_CONVERSION_BT709
                                                      : SDL_YUV_CONVERSION_BT601;
  }

  struct Uploaded {
    TexturePtr texture;
    Uint32 format = 0;
    SDL_YUV_CONVERSION_MODE mode = SDL_YUV_CONVERSION_AUTOMATIC;
    Size size;
  };

  void upload(const media::DisplayPlanes& planes, Uploaded& to) {
    const Uint32 format =
        is_uploaded_as_is(planes) ? texture_format(planes.kind) : Uint32{SDL_PIXELFORMAT_BGRA32};
    // Global in SDL, and taken over when a texture is made, which therefore must be new for another.
    const SDL_YUV_CONVERSION_MODE mode = conversion(planes);
    if (!to.texture || to.format != format || to.size != planes.size || to.mode != mode) {
      SDL_SetYUVConversionMode(mode);
      to.mode = mode;
      to.texture.reset(SDL_CreateTexture(renderer_.get(), format, SDL_TEXTUREACCESS_STREAMING,
                                         planes.size.width, planes.size.height));
      if (!to.texture)
        throw_sdl_error("cannot create a texture of " + std::to_string(planes.size.width) + "x" +
                        std::to_string(planes.size.height) + " pixels");
      to.format = format;
      to.size = planes.size;
      SDL_SetTextureBlendMode(to.texture.get(), SDL_BLENDMODE_NONE);
      SDL_SetTextureScaleMode(to.texture.get(), SDL_ScaleModeLinear);
    }
    SDL_Texture* const texture = to.texture.get();
    const auto stride = [&](int plane) { return static_cast<int>(planes.stride[plane]); };
    int failed = 0;
    if (!is_uploaded_as_is(planes)) {
      void* data = nullptr;
      int pitch = 0;
      failed = SDL_LockTexture(texture, nullptr, &data, &pitch);
      if (failed == 0) {
        scaler_.draw(planes, {0, 0, to.size.width, to.size.height},
                     {static_cast<std::uint8_t*>(data), to.size, pitch});
        SDL_UnlockTexture(texture);
      }
    } else if (planes.kind == media::PlaneKind::i420) {
      failed = SDL_UpdateYUVTexture(texture, nullptr, planes.data[0], stride(0), planes.data[1], stride(1),
                                    planes.data[2], stride(2));
    } else if (planes.kind == media::PlaneKind::nv12) {
      failed = SDL_UpdateNVTexture(texture, nullptr, planes.data[0], stride(0), planes.data[1], stride(1));
    } else {
      failed = SDL_UpdateTexture(texture, nullptr, planes.data[0], stride(0));
    }
    if (failed != 0) throw_sdl_error("cannot upload a picture");
  }

  SDL_Texture* texture_of(TextCache::Run& run) {
    if (!run.texture) {
      const auto coverage = run.mask.coverage.view();
      SDL_Texture* texture = SDL_CreateTexture(renderer_.get(), SDL_PIXELFORMAT_ARGB8888,
                                               SDL_TEXTUREACCESS_STATIC, coverage.width(), coverage.height());
      if (!texture) throw_sdl_error("cannot create a texture for text");
      run.texture =
          std::shared_ptr<void>(texture, [](void* t) { SDL_DestroyTexture(static_cast<SDL_Texture*>(t)); });
      pixels_.clear();
      for (int y = 0; y < coverage.height(); ++y)
        for (int x = 0; x < coverage.width(); ++x)
          pixels_.push_back(static_cast<std::uint32_t>(coverage.at(x, y)) << 24 | 0xFFFFFFu);
      SDL_UpdateTexture(texture, nullptr, pixels_.data(), coverage.width() * 4);
      SDL_SetTextureBlendMode(texture, SDL_BLENDMODE_BLEND);
    }
    return static_cast<SDL_Texture*>(run.texture.get());
  }

  void draw_words(const Words& words) {
    text_.for_each_run(words.text, words.font, [&](TextCache::Run& run, int x) {
      const Rect whole{words.x + x + run.mask.left, words.baseline + run.mask.top, run.mask.coverage.width(),
                       run.mask.coverage.height()};
      const Rect shown = intersection(whole, words.bounds);
      if (shown.empty()) return;
      SDL_Texture* texture = texture_of(run);
      SDL_SetTextureColorMod(texture, words.ink.red, words.ink.green, words.ink.blue);
      SDL_SetTextureAlphaMod(texture, words.ink.alpha);
      const SDL_Rect from{shown.x - whole.x, shown.y - whole.y, shown.width, shown.height},
          to = to_sdl(shown);
      SDL_RenderCopy(renderer_.get(), texture, &from, &to);
    });
  }

  RendererPtr renderer_;
  TextCache& text_;
  bool converts_yuv_;
  PictureScaler scaler_;
  std::vector<Uploaded> pictures_;
  std::vector<std::uint32_t> pixels_;
};

// The name that OpenGL gives the renderer whose context is current; empty for other interfaces.
std::string gl_renderer() {
  using GetString = const unsigned char* (*)(unsigned int);
  constexpr unsigned int kRenderer = 0x1F01;  // GL_RENDERER
  if (!SDL_GL_GetCurrentContext()) return {};
  const auto get_string = reinterpret_cast<GetString>(SDL_GL_GetProcAddress("glGetString"));
  const unsigned char* name = get_string ? get_string(kRenderer) : nullptr;
  return name ? reinterpret_cast<const char*>(name) : "";
}

}  // namespace

// Mesa's and Google's programs that stand in for a card.
bool computes_on_processor(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view program :
       {"llvmpipe", "softpipe", "swrast", "software rasterizer", "swiftshader"})
    if (name.find(program) != std::string::npos) return true;
  return false;
}

std::unique_ptr<Screen> make_renderer_screen(SDL_Window* window, TextCache& text, bool graphics_card,
                                             bool vsync) {
  SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "linear");
  const Uint32 flags = (graphics_card ? Uint32{SDL_RENDERER_ACCELERATED} : 0u) |
                       (vsync ? Uint32{SDL_RENDERER_PRESENTVSYNC} : 0u);
  RendererPtr renderer(SDL_CreateRenderer(window, -1, flags));
  SDL_RendererInfo info{};
  if (!renderer || SDL_GetRendererInfo(renderer.get(), &info) != 0) return nullptr;
  const bool is_accelerated = (info.flags & SDL_RENDERER_ACCELERATED) != 0;
  const std::string device = gl_renderer();
  if (graphics_card && (!is_accelerated || computes_on_processor(device))) return nullptr;
  const std::string name = std::string(info.name) + (device.empty() ? "" : ", " + device);
  return std::make_unique<RendererScreen>(std::move(renderer), name, is_accelerated, text);
}

}  // namespace sightline::display
