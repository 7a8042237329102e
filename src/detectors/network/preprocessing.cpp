#include "detectors/network/preprocessing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace sightline::network {
namespace {

constexpr int kMixBits = 11;
constexpr std::uint32_t kMixOne = 1U << kMixBits;
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

ColourView colour_of(const PictureView& frame) {
  if (frame.is_gray()) {
    const GrayView gray = frame.gray();
    return {{gray.data(), gray.data(), gray.data()}, gray.stride(), 1, gray.size()};
  }
  const PackedView& colour = frame.colour();
  const int red = red_byte(colour.format);
  return {{colour.data + red, colour.data + 1, colour.data + 2 - red},
          colour.stride,
          bytes_per_pixel(colour.format),
          colour.size()};
}

ColourView colour_of_planes(GrayView rgb) {
  const int height = rgb.height() / 3;
  return {{rgb.row(0), rgb.row(height), rgb.row(2 * height)}, rgb.stride(), 1, {rgb.width(), height}};
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

void Letterbox::fill_row(const ColourView& frame, int channel, int y, float* row, std::ptrdiff_t step) const {
  const auto c = static_cast<std::size_t>(channel);
  const int width = preprocessing_.size.width, place = y - placement_.top;
  const float* const values = values_.data() + 256 * c;
  const float pad = values_[256 * static_cast<std::size_t>(preprocessing_.channels) + c];
  if (place < 0 || place >= placement_.height) {
    for (int x = 0; x < width; ++x) row[x * step] = pad;
    return;
  }
  for (int x = 0; x < placement_.left; ++x) row[x * step] = pad;
  for (int x = placement_.left + placement_.width; x < width; ++x) row[x * step] = pad;
  const auto r = static_cast<std::size_t>(place);
  const std::ptrdiff_t upper = rows_.first[r] * frame.row_step, lower = rows_.second[r] * frame.row_step;
  float* const to = row + placement_.left * step;
  // Sums have 30 bits. `pixel` gives the value at an offset.
  const auto mix_row = [&](const auto& pixel) {
    const auto below = static_cast<std::uint32_t>(rows_.weight[r]), above = kMixOne - below;
    for (int x = 0; x < placement_.width; ++x) {
      const auto i = static_cast<std::size_t>(x);
      const std::ptrdiff_t first = columns_.first[i] * frame.pixel_step;
      const std::ptrdiff_t second = columns_.second[i] * frame.pixel_step;
      const auto right = static_cast<std::uint32_t>(columns_.weight[i]), left = kMixOne - right;
      const std::uint32_t sum = (pixel(upper + first) * left + pixel(upper + second) * right) * above +
                                (pixel(lower + first) * left + pixel(lower + second) * right) * below;
      to[x * step] = values[(sum + (1U << (2 * kMixBits - 1))) >> (2 * kMixBits)];
    }
  };
  if (preprocessing_.channels == 1) {  // the luma of image/gray.hpp
    mix_row([&](std::ptrdiff_t at) -> std::uint32_t {
      return (77U * frame.channel[0][at] + 150U * frame.channel[1][at] + 29U * frame.channel[2][at] + 128U) >>
             8;
    });
  } else {
    const std::uint8_t* const plane = frame.channel[preprocessing_.rgb ? c : 2 - c];
    mix_row([plane](std::ptrdiff_t at) -> std::uint32_t { return plane[at]; });
  }
}

void Letterbox::fill(const ColourView& frame, float* tensor, int begin, int end) const {
  const Preprocessing& p = preprocessing_;
  const std::ptrdiff_t plane = static_cast<std::ptrdiff_t>(p.size.width) * p.size.height;
  for (int c = 0; c < p.channels; ++c) {
    for (int y = begin; y < end; ++y) {
      const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(y) * p.size.width;
      float* const row = p.channels_last ? tensor + offset * p.channels + c : tensor + c * plane + offset;
      fill_row(frame, c, y, row, p.channels_last ? p.channels : 1);
    }
  }
}

}  // namespace sightline::network
