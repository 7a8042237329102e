#include "display/software_screen.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "image/colour.hpp"
#include "image/screen_rows.hpp"

namespace sightline::display {
namespace {

constexpr std::size_t kSlack = Columns::kSlack;

std::size_t bytes(int count) {
  return static_cast<std::size_t>(count);
}

int half(int length) {
  return (length + 1) / 2;
}

PackedFormat packed_format(media::PlaneKind kind) {
  switch (kind) {
    case media::PlaneKind::rgb24:
      return PackedFormat::rgb24;
    case media::PlaneKind::bgr24:
      return PackedFormat::bgr24;
    case media::PlaneKind::rgba:
      return PackedFormat::rgba;
    default:
      return PackedFormat::bgra;
  }
}

// Number of times that a picture can be halved without being smaller than the target, or its chroma smaller
// than a sample.
int halvings(Size from, Size to) {
  const auto fits = [&](int n) {
    return from.width >> n >= to.width && from.height >> n >= to.height && half(from.width) >> n > 0 &&
           half(from.height) >> n > 0;
  };
  int n = 0;
  while (n < PictureScaler::kMaxHalvings && fits(n + 1)) ++n;
  return n;
}

std::uint32_t word(const Ink& ink) {
  return 0xFF000000u | static_cast<std::uint32_t>(ink.red << 16 | ink.green << 8 | ink.blue);
}

void paint_fill(const Fill& fill, const Pixels& screen) {
  const Rect r = intersection(fill.rect, {0, 0, screen.size.width, screen.size.height});
  for (int y = r.y; y < r.bottom(); ++y) {
    std::uint8_t* row = screen.at(r.x, y);
    if (fill.ink.alpha == 255) {
      std::fill_n(reinterpret_cast<std::uint32_t*>(row), std::max(0, r.width), word(fill.ink));
    } else {
      blend_color(row, r.width, word(fill.ink), fill.ink.alpha + (fill.ink.alpha >> 7));
    }
  }
}

void paint_words(const Words& words, TextCache& text, const Pixels& screen) {
  const Rect room = intersection(words.bounds, {0, 0, screen.size.width, screen.size.height});
  text.for_each_run(words.text, words.font, [&](const TextCache::Run& run, int x) {
    const auto coverage = run.mask.coverage.view();
    const int left = words.x + x + run.mask.left, top = words.baseline + run.mask.top;
    const Rect r = intersection(room, {left, top, coverage.width(), coverage.height()});
    for (int row = r.y; row < r.bottom(); ++row) {
      const std::uint8_t* cover = coverage.row(row - top) + (r.x - left);
      std::uint8_t* pixel = screen.at(r.x, row);
      for (int i = 0; i < r.width; ++i, pixel += 4) {
        if (cover[i] == 0) continue;
        const int alpha = cover[i] * words.ink.alpha / 255, rest = 255 - alpha;
        pixel[0] = static_cast<std::uint8_t>((pixel[0] * rest + words.ink.blue * alpha + 127) / 255);
        pixel[1] = static_cast<std::uint8_t>((pixel[1] * rest + words.ink.green * alpha + 127) / 255);
        pixel[2] = static_cast<std::uint8_t>((pixel[2] * rest + words.ink.red * alpha + 127) / 255);
      }
    }
  });
}

}  // namespace

void PictureScaler::Axis::set(int from_length, int to_length, double samples) {
  if (from == from_length && to == to_length && ratio == samples) return;
  from = from_length;
  to = to_length;
  ratio = samples;
  columns = Columns(from, to, ratio);
}

void PictureScaler::prepare(Plane& plane, const std::uint8_t* data, std::ptrdiff_t stride, Size size,
                            int channels, Size target) {
  plane.data = data;
  plane.stride = stride;
  plane.channels = channels;
  plane.full_width = size.width;
  plane.width = size.width >> halvings_;
  // Chroma has half the samples of both picture and target: the ratio is the same.
  plane.across.set(plane.width, target.width, ratio_x_);
  plane.down.set(size.height >> halvings_, target.height, ratio_y_);
  const std::size_t row = bytes(plane.width * channels) + kSlack;
  if (plane.mixed.size() < row) plane.mixed.resize(row);
  plane.resampled.resize(bytes(target.width));
  for (Level& level : plane.levels) level.number[0] = level.number[1] = -1;
}

// A row of the plane, halved `halvings_` times; valid until the next but one is asked for.
const std::uint8_t* PictureScaler::source_row(Plane& plane, int row) const {
  return halved_row(plane, halvings_, row);
}

const std::uint8_t* PictureScaler::halved_row(Plane& plane, int times, int row) {
  if (times == 0) return plane.data + row * plane.stride;
  Level& level = plane.levels[times - 1];
  std::vector<std::uint8_t>& out = level.rows[row & 1];
  if (level.number[row & 1] == row) return out.data();
  const int width = plane.full_width >> times;
  const std::uint8_t* upper = halved_row(plane, times - 1, 2 * row);
  const std::uint8_t* lower = halved_row(plane, times - 1, 2 * row + 1);
  out.resize(bytes(width * plane.channels));
  halve_rows(upper, lower, width, plane.channels, out.data());
  level.number[row & 1] = row;
  return out.data();
}

// A row of the target, of the source's width.
const std::uint8_t* PictureScaler::mixed_row(Plane& plane, int row) const {
  const int first = plane.down.columns.first[bytes(row)], weight = plane.down.columns.weight[bytes(row)];
  const std::uint8_t* upper = source_row(plane, first);
  if (weight == 0) return upper;
  mix_rows(upper, source_row(plane, first + 1), weight, plane.width * plane.channels, plane.mixed.data());
  return plane.mixed.data();
}

// A row of the target, of the target's width.
const std::uint8_t* PictureScaler::resample(Plane& plane, const std::uint8_t* row) {
  const Axis& across = plane.across;
  if (across.is_identity()) return row;
  if (row != plane.mixed.data())
    std::memcpy(plane.mixed.data(), row, bytes(plane.width));  // copied for the
                                                               // padding
  mix_columns(plane.mixed.data(), across.columns, plane.resampled.data());
  return plane.resampled.data();
}

void PictureScaler::draw(const media::DisplayPlanes& planes, const Rect& place, const Pixels& screen) {
  if (place.empty() || planes.size.width <= 0 || planes.size.height <= 0) return;
  halvings_ = halvings(planes.size, {place.width, place.height});
  const double scale = 1.0 / (1 << halvings_);
  ratio_x_ = scale * planes.size.width / place.width;
  ratio_y_ = scale * planes.size.height / place.height;
  if (planes.kind == media::PlaneKind::i420 || planes.kind == media::PlaneKind::nv12) {
    draw_yuv(planes, place, screen);
  } else {
    draw_packed(planes, place, screen);
  }
}

void PictureScaler::draw_yuv(const media::DisplayPlanes& planes, const Rect& place, const Pixels& screen) {
  const YuvWeights weights =
      yuv_weights(planes.matrix == media::YuvMatrix::bt709, planes.range == LumaRange::full);
  const bool in_pairs = planes.kind == media::PlaneKind::nv12;
  const Size chroma{half(planes.size.width), half(planes.size.height)};
  const Size chroma_target{half(place.width), half(place.height)};
  prepare(planes_[0], planes.data[0], planes.stride[0], planes.size, 1, {place.width, place.height});
  for (int i = 1; i <= 2; ++i) {
    const int from = in_pairs ? 1 : i;
    prepare(planes_[i], planes.data[from], planes.stride[from], chroma, in_pairs ? 2 : 1, chroma_target);
    if (in_pairs) split_[i - 1].resize(bytes(planes_[i].width));
  }
  const std::uint8_t *u = nullptr, *v = nullptr;
  for (int y = 0; y < place.height; ++y) {
    if (y % 2 == 0) {
      u = mixed_row(planes_[1], y / 2);
      if (in_pairs) {
        split_pairs(u, planes_[1].width, split_[0].data(), split_[1].data());
        u = split_[0].data();
        v = split_[1].data();
      } else {
        v = mixed_row(planes_[2], y / 2);
      }
      u = resample(planes_[1], u);
      v = resample(planes_[2], v);
    }
    yuv_to_bgra(resample(planes_[0], mixed_row(planes_[0], y)), u, v, place.width, weights,
                screen.at(place.x, place.y + y));
  }
}

void PictureScaler::draw_packed(const media::DisplayPlanes& planes, const Rect& place, const Pixels& screen) {
  const PackedFormat format = packed_format(planes.kind);
  Plane& plane = planes_[0];
  prepare(plane, planes.data[0], planes.stride[0], planes.size, bytes_per_pixel(format),
          {place.width, place.height});
  bgra_.resize(bytes(4 * plane.width) + kSlack);
  for (int y = 0; y < place.height; ++y) {
    const std::uint8_t* row = mixed_row(plane, y);
    std::uint8_t* target = screen.at(place.x, place.y + y);
    const bool is_scaled = !plane.across.is_identity();
    packed_to_bgra(row, format, plane.width, is_scaled ? bgra_.data() : target);
    if (is_scaled) mix_columns_bgra(bgra_.data(), plane.across.columns, target);
  }
}

void fill_around(const Rect& place, const Ink& ink, const Pixels& screen) {
  const int width = screen.size.width, height = screen.size.height;
  for (const Rect& side :
       {Rect{0, 0, width, place.y}, Rect{0, place.bottom(), width, height - place.bottom()},
        Rect{0, place.y, place.x, place.height},
        Rect{place.right(), place.y, width - place.right(), place.height}})
    paint_fill({side, ink}, screen);
}

void paint(const Scene& scene, TextCache& text, const Pixels& screen) {
  for (const auto& item : scene) {
    if (const auto* fill = std::get_if<Fill>(&item)) {
      paint_fill(*fill, screen);
    } else {
      paint_words(std::get<Words>(item), text, screen);
    }
  }
}

}  // namespace sightline::display
