#pragma once
// Frames of known colours, and a window that nobody sees.

#include <SDL.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include "display/window.hpp"
#include "media/decoded_picture.hpp"
#include "media/ffmpeg.hpp"

namespace sightline::display::test {

inline std::shared_ptr<AVFrame> make_picture(AVPixelFormat format, Size size) {
  return std::shared_ptr<AVFrame>(media::make_picture(format, size.width, size.height));
}

inline Frame to_frame(std::shared_ptr<AVFrame> picture, int number = 1) {
  return media::FrameBuilder().build(std::move(picture), number, number / 30.0);
}

/// Sets each sample of a plane.
inline void fill_plane(AVFrame& picture, int plane, int width, int height,
                       const std::function<int(int, int)>& value) {
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      picture.data[plane][y * picture.linesize[plane] + x] = static_cast<std::uint8_t>(value(x, y));
}

inline int half(int length) {
  return (length + 1) / 2;
}

/// A yuv420p frame of one colour.
inline Frame flat_frame(Size size, int y, int u = 128, int v = 128, int number = 1) {
  const auto picture = make_picture(AV_PIX_FMT_YUV420P, size);
  picture->colorspace = AVCOL_SPC_SMPTE170M;
  fill_plane(*picture, 0, size.width, size.height, [&](int, int) { return y; });
  fill_plane(*picture, 1, half(size.width), half(size.height), [&](int, int) { return u; });
  fill_plane(*picture, 2, half(size.width), half(size.height), [&](int, int) { return v; });
  return to_frame(picture, number);
}

using Rgb = std::array<int, 3>;

/// The formula of ITU-R BT.601 and BT.709.
inline Rgb exact_rgb(int y, int u, int v, bool bt709, bool full_range) {
  const double red = bt709 ? 0.2126 : 0.299, blue = bt709 ? 0.0722 : 0.114;
  const double luma = full_range ? y : (y - 16) * 255.0 / 219;
  const double cb = (u - 128) * (full_range ? 1 : 255.0 / 224),
               cr = (v - 128) * (full_range ? 1 : 255.0 / 224);
  const double r = luma + 2 * (1 - red) * cr, b = luma + 2 * (1 - blue) * cb;
  const double g = (luma - red * r - blue * b) / (1 - red - blue);
  const auto level = [](double value) {
    return static_cast<int>(std::lround(std::clamp(value, 0.0, 255.0)));
  };
  return {level(r), level(g), level(b)};
}

struct Shown {
  Size size;
  std::vector<std::uint8_t> rgb;
  Rgb at(int x, int y) const {
    const std::size_t i = 3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(size.width) +
                               static_cast<std::size_t>(x));
    return {rgb[i], rgb[i + 1], rgb[i + 2]};
  }
};

inline int difference(const Rgb& a, const Rgb& b) {
  return std::max({std::abs(a[0] - b[0]), std::abs(a[1] - b[1]), std::abs(a[2] - b[2])});
}

inline Overlay nothing() {
  Overlay overlay;
  overlay.hud = HudMode::off;
  return overlay;
}

/// Everything that can be shown, at its longest.
inline Overlay everything() {
  Overlay o;
  o.labels = {"person"};
  for (int i = 0; i < 10; ++i) o.objects.push_back({{10.0 * i, 5.0 * i, 40, 60}, 1.5 - 0.1 * i, 0, i});
  o.hud = HudMode::full;
  o.help = o.paused = true;
  o.source = "rtsp://camera.example/with/a/rather/long/path?and=parameters";
  o.state = "reopening in 1 s: Connection refused by the other side";
  o.message = "saved /home/somebody/pictures/of/a/long/day/picture-000001.png";
  o.recording = Recording{"recording-0001-of-many-files.mkv", 3725};
  o.rates = {29.97, 14.2, 1234567.8};
  o.latency = {38.2, 36.1, 99999.9, std::nan("")};
  for (int i = 0; i < 12; ++i)
    o.drops.push_back({"cause of dropped frames number " + std::to_string(i), 1'000'000'007LL * i});
  o.schedule = "hybrid";
  o.mapping =
      "prepare, classify and group on the processor; filter and histogram on the device; "
      "a_word_that_is_much_too_long_to_fit_into_any_line_of_the_panel_at_all";
  o.drop_policy = "newest";
  o.processors = {"CPU", "device"};
  for (int s = 0; s < 9; ++s) {
    Lane lane{"stage number " + std::to_string(s), s % 3, {}};
    for (int f = 0; f < 20; ++f)
      lane.intervals.push_back({(f - 2) * 33'000'000LL, (f + s) * 33'000'000LL, f - 5});
    o.lanes.push_back(std::move(lane));
  }
  return o;
}

/// A hidden window of SDL's dummy driver, drawn on the processor, of a given size in pixels.
class HiddenWindow {
 public:
  explicit HiddenWindow(Size size, Rational sample_aspect = {0, 1}) {
    setenv("SDL_VIDEODRIVER", "dummy", 1);
    WindowOptions options;
    options.software = options.hidden = true;
    options.sample_aspect = sample_aspect;
    window_ = std::make_unique<Window>("test", size, options);
    resize(size);
  }
  void resize(Size size) {
    SDL_SetWindowMinimumSize(sdl(), 1, 1);
    SDL_SetWindowSize(sdl(), size.width, size.height);
    drain();
  }
  SDL_Window* sdl() const {
    for (Uint32 id = 1; id < 100'000; ++id)
      if (SDL_Window* window = SDL_GetWindowFromID(id)) return window;
    return nullptr;
  }
  void drain() {
    while (window_->poll()) {
    }
  }
  Shown show(const Frame& frame, const Overlay& overlay = nothing()) {
    window_->present(frame, overlay);
    return shown();
  }
  Shown shown() { return {window_->output_size(), window_->shown_rgb()}; }
  Window* operator->() { return window_.get(); }

 private:
  std::unique_ptr<Window> window_;
};

}  // namespace sightline::display::test
