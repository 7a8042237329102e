#include "detectors/network/preprocessing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "image/colour.hpp"

namespace sightline::network {
namespace {

constexpr int kMixBits = 11;
constexpr int kMixOne = 1 << kMixBits;
constexpr const char* kFitNames[] = {"standard", "fit_to_window", "fit_to_window_letterbox"};

}  // namespace

const char* to_string(Fit fit) {
  return kFitNames[static_cast<std::size_t>(fit)];
}

Fit fit_named(const std::string& word, const std::string& where) {
  for (std::size_t i = 0; i < std::size(kFitNames); ++i) {
    if (word == kFitNames[i]) return static_cast<Fit>(i);
  }
  throw Error(ExitCode::usage, where + ": resize_type '" + word + "' is not known",
              "known are: standard, fit_to_window, fit_to_window_letterbox");
}

std::string text_of(const Preprocessing& p) {
  std::string text = fmt::format("{}x{}, {}, {}", p.size.width, p.size.height,
                                 p.channels == 1 ? "luma"
                                 : p.rgb         ? "RGB"
                                                 : "BGR",
                                 to_string(p.fit));
  if (p.fit != Fit::standard) text += fmt::format(", pad {:g}", p.pad);
  return text + fmt::format(", mean {:g} {:g} {:g}, scale {:g} {:g} {:g}", p.mean[0], p.mean[1], p.mean[2],
                            p.scale[0], p.scale[1], p.scale[2]);
}

Placement place(Size frame, const Preprocessing& p) {
  Placement place{0,
                  0,
                  p.size.width,
                  p.size.height,
                  static_cast<double>(p.size.width) / frame.width,
                  static_cast<double>(p.size.height) / frame.height};
  if (p.fit == Fit::standard) return place;
  const double ratio = std::min(place.ratio_x, place.ratio_y);
  place.ratio_x = place.ratio_y = ratio;
  place.width = std::clamp(static_cast<int>(std::floor(frame.width * ratio + 0.5)), 1, p.size.width);
  place.height = std::clamp(static_cast<int>(std::floor(frame.height * ratio + 0.5)), 1, p.size.height);
  if (p.fit == Fit::fit_to_window_letterbox) {
    place.left = (p.size.width - place.width) / 2;
    place.top = (p.size.height - place.height) / 2;
  }
  return place;
}

Letterbox::Axis::Axis(int source, int target) {
  for (int i = 0; i < target; ++i) {
    const double at = (i + 0.5) * source / target - 0.5;
    const double fixed =
        std::clamp(std::floor(at * kMixOne + 0.5), 0.0, static_cast<double>(source - 1) * kMixOne);
    const auto whole = static_cast<std::int64_t>(fixed);
    first.push_back(static_cast<std::int32_t>(whole >> kMixBits));
    second.push_back(std::min(first.back() + 1, source - 1));
    weight.push_back(static_cast<std::int32_t>(whole & (kMixOne - 1)));
  }
}

Letterbox::Letterbox(Size frame, const Preprocessing& preprocessing)
    : preprocessing_(preprocessing),
      placement_(place(frame, preprocessing)),
      columns_(frame.width, placement_.width),
      rows_(frame.height, placement_.height),
      values_(normalised_values(preprocessing)) {}

std::vector<float> normalised_values(const Preprocessing& preprocessing) {
  const auto channels = static_cast<std::size_t>(preprocessing.channels);
  const auto normalised = [&](double value, std::size_t c) {
    return static_cast<float>((value - preprocessing.mean[c]) / preprocessing.scale[c]);
  };
  std::vector<float> values;
  for (std::size_t c = 0; c < channels; ++c) {
    for (int value = 0; value < 256; ++value) values.push_back(normalised(value, c));
  }
  for (std::size_t c = 0; c < channels; ++c) values.push_back(normalised(preprocessing.pad, c));
  return values;
}

// Mixes have 30 bits. (Differences of neighbours need half the multiplications of weighted sums.)
void Letterbox::mix_rows(const std::uint8_t* upper, const std::uint8_t* lower, int below, const float* values,
                         float* row, std::ptrdiff_t step) const {
  const auto mix = [](int a, int b, int weight) { return (a << kMixBits) + (b - a) * weight; };
  const std::size_t width = columns_.first.size();
  for (std::size_t x = 0; x < width; ++x) {
    // A column whose second place is beyond the last one has no weight for it.
    const std::int32_t first = columns_.first[x], right = columns_.weight[x];
    const int sum =
        mix(mix(upper[first], upper[first + 1], right), mix(lower[first], lower[first + 1], right), below);
    row[static_cast<std::ptrdiff_t>(x) * step] = values[(sum + (1 << (2 * kMixBits - 1))) >> (2 * kMixBits)];
  }
}

void Letterbox::fill(const PictureView& frame, float* tensor, int begin, int end) const {
  const Preprocessing& p = preprocessing_;
  const int width = p.size.width, right = placement_.left + placement_.width;
  const std::ptrdiff_t step = p.channels_last ? p.channels : 1;
  const std::ptrdiff_t plane = p.channels_last ? 1 : std::ptrdiff_t{width} * p.size.height;
  // Rows of the frame, even and odd ones: those that are mixed are neighbours.
  Image<std::uint8_t> converted[2];
  int held[2] = {-1, -1};
  const auto row_of = [&](int y) {
    Image<std::uint8_t>& image = converted[y % 2];
    if (std::exchange(held[y % 2], y) != y) {
      image.resize(frame.width(), p.channels);
      const PictureView row = part_of(frame, 0, y, {frame.width(), 1});
      if (p.channels == 3) {
        to_planar_rgb(row, image.view(), 0, 1);
      } else if (row.is_gray()) {
        std::copy_n(row.gray().row(0), frame.width(), image.view().row(0));
      } else {
        to_gray(row.colour(), image.view(), 0, 1);
      }
    }
    return std::as_const(image).view();
  };
  for (int y = begin; y < end; ++y) {
    float* const first = tensor + std::ptrdiff_t{y} * width * step;
    const int place = y - placement_.top;
    const bool is_inside = place >= 0 && place < placement_.height;
    for (int c = 0; c < p.channels; ++c) {
      const float pad = values_[static_cast<std::size_t>(256 * p.channels + c)];
      float* const row = first + c * plane;
      for (int x = 0; x < (is_inside ? placement_.left : width); ++x) row[x * step] = pad;
      for (int x = right; is_inside && x < width; ++x) row[x * step] = pad;
    }
    if (!is_inside) continue;
    const auto r = static_cast<std::size_t>(place);
    const GrayView upper = row_of(rows_.first[r]), lower = row_of(rows_.second[r]);
    for (int c = 0; c < p.channels; ++c) {
      const int colour = p.channels == 1 || p.rgb ? c : 2 - c;
      mix_rows(upper.row(colour), lower.row(colour), rows_.weight[r],
               values_.data() + std::ptrdiff_t{256} * c, first + c * plane + placement_.left * step, step);
    }
  }
}

}  // namespace sightline::network
