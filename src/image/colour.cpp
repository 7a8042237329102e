#include "image/colour.hpp"

#include <algorithm>
#include <cmath>

namespace sightline {
namespace {

struct Rgb {
  std::uint8_t red, green, blue;
};

// As SIMD instructions do it: the rounded high half of a product of 1.15 fixed-point numbers.
int multiply_15(int a, int b) {
  return (a * b + 0x4000) >> 15;
}

std::uint8_t level(int sum) {
  return static_cast<std::uint8_t>(std::clamp(std::min(sum, 32767) >> 6, 0, 255));
}

Rgb rgb_of(int y, int u, int v, const YuvWeights& weights) {
  const int luma = multiply_15(y << 7, weights.luma) + weights.offset;
  const int cu = (u - 128) * 256, cv = (v - 128) * 256;
  return {level(luma + multiply_15(cv, weights.red_v)),
          level(luma + multiply_15(cu, weights.green_u) + multiply_15(cv, weights.green_v)),
          level(luma + multiply_15(cu, weights.blue_u))};
}

Rgb colour_at(const PictureView& picture, int x, int y) {
  if (!picture.is_gray()) {
    const PackedView& packed = picture.colour();
    const std::uint8_t* const pixel = packed.row(y) + x * bytes_per_pixel(packed.format);
    const int red = red_byte(packed.format);
    return {pixel[red], pixel[1], pixel[2 - red]};
  }
  const std::uint8_t luma = picture.gray().at(x, y);
  if (!picture.chroma()) return {luma, luma, luma};
  const ChromaView& chroma = *picture.chroma();
  const int at = chroma.sample_of(x);
  return rgb_of(luma, chroma.u_row(y)[at], chroma.v_row(y)[at], chroma.weights);
}

}  // namespace

YuvWeights yuv_weights(const LumaShares& shares, bool full_range) {
  const auto [red, blue] = shares;
  const double green = 1 - red - blue;
  const double luma = full_range ? 1 : 255.0 / 219, chroma = full_range ? 1 : 255.0 / 224;
  const auto fixed = [](double value, double one) {
    return static_cast<std::int16_t>(std::lround(value * one));
  };
  YuvWeights w{};
  w.luma = fixed(luma, 16384);
  w.offset = fixed((full_range ? 0 : -16 * luma) + 0.5, 64);
  w.red_v = fixed(2 * (1 - red) * chroma, 8192);
  w.blue_u = fixed(2 * (1 - blue) * chroma, 8192);
  w.green_u = fixed(-2 * (1 - blue) * blue / green * chroma, 8192);
  w.green_v = fixed(-2 * (1 - red) * red / green * chroma, 8192);
  return w;
}

void yuv_to_bgra_reference(const std::uint8_t* y, const std::uint8_t* u, const std::uint8_t* v, int width,
                           const YuvWeights& weights, std::uint8_t* bgra) {
  for (int x = 0; x < width; ++x, bgra += 4) {
    const auto [red, green, blue] = rgb_of(y[x], u[x / 2], v[x / 2], weights);
    bgra[0] = blue;
    bgra[1] = green;
    bgra[2] = red;
    bgra[3] = 255;
  }
}

void to_planar_rgb_reference(const PictureView& picture, ImageView<std::uint8_t> rgb, int y_begin, int y_end,
                             int x_begin) {
  const int height = picture.height();
  for (int y = y_begin; y < y_end; ++y) {
    for (int x = x_begin; x < picture.width(); ++x) {
      const auto [red, green, blue] = colour_at(picture, x, y);
      rgb.at(x, y) = red;
      rgb.at(x, y + height) = green;
      rgb.at(x, y + 2 * height) = blue;
    }
  }
}

}  // namespace sightline
