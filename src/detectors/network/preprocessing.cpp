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
constexpr const char* kFitNames[] = {"standard", "fit_to_window", "fit_to_window_letterbox", "crop"};
constexpr int kWeightBits = 22;  // of Pillow's weights

}  // namespace

const char* to_string(Fit fit) {
  return kFitNames[static_cast<std::size_t>(fit)];
}

Fit fit_named(const std::string& word, const std::string& where) {
  for (std::size_t i = 0; i < std::size(kFitNames); ++i) {
    if (word == kFitNames[i]) return static_cast<Fit>(i);
  }
  throw Error(ExitCode::usage, where + ": resize_type '" + word + "' is not known",
              "known are: standard, fit_to_window, fit_to_window_letterbox, crop");
}

std::string text_of(const Preprocessing& p) {
  std::string text = fmt::format("{}x{}, {}, {}", p.size.width, p.size.height,
                                 p.channels == 1 ? "luma"
                                 : p.rgb         ? "RGB"
                                                 : "BGR",
                                 to_string(p.fit));
  if (p.fit == Fit::crop) {
    text += fmt::format(" {:g}", p.crop_fraction);
  } else if (p.fit != Fit::standard) {
    text += fmt::format(", pad {:g}", p.pad);
  }
  if (p.antialias) text += ", antialiased";
  return text + fmt::format(", mean {:g} {:g} {:g}, scale {:g} {:g} {:g}", p.mean[0], p.mean[1], p.mean[2],
                            p.scale[0], p.scale[1], p.scale[2]);
}

namespace {

// As torchvision resizes and cuts: the side that is cut least gets its size rounded down, the other one
// follows; halves of a pixel at the left and the top are rounded to an even number.
Placement place_cut(Size frame, const Preprocessing& p) {
  constexpr std::int64_t kLongest = 1 << 30;
  const auto wanted = [&](int side) { return static_cast<std::int64_t>(std::floor(side / p.crop_fraction)); };
  const std::int64_t width = wanted(p.size.width), height = wanted(p.size.height);
  Placement place;
  const bool is_tall = width * frame.height >= height * frame.width;
  place.width = static_cast<int>(is_tall ? width : std::min(height * frame.width / frame.height, kLongest));
  place.height = static_cast<int>(is_tall ? std::min(width * frame.height / frame.width, kLongest) : height);
  place.left = -static_cast<int>(std::nearbyint((place.width - p.size.width) / 2.0));
  place.top = -static_cast<int>(std::nearbyint((place.height - p.size.height) / 2.0));
  place.ratio_x = static_cast<double>(place.width) / frame.width;
  place.ratio_y = static_cast<double>(place.height) / frame.height;
  return place;
}

}  // namespace

Placement place(Size frame, const Preprocessing& p) {
  if (p.fit == Fit::crop) return place_cut(frame, p);
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

Letterbox::Axis::Axis(int source, int target, int begin, int end) {
  for (int i = begin; i < end; ++i) {
    const double at = (i + 0.5) * source / target - 0.5;
    const double fixed =
        std::clamp(std::floor(at * kMixOne + 0.5), 0.0, static_cast<double>(source - 1) * kMixOne);
    const auto whole = static_cast<std::int64_t>(fixed);
    first.push_back(static_cast<std::int32_t>(whole >> kMixBits));
    second.push_back(std::min(first.back() + 1, source - 1));
    weight.push_back(static_cast<std::int32_t>(whole & (kMixOne - 1)));
  }
}

// Pillow's precompute_coeffs, in the same order of operations.
Letterbox::Average::Average(int source, int target, int begin, int end) {
  const double scale = static_cast<double>(source) / target, support = std::max(scale, 1.0);
  for (int i = begin; i < end; ++i) {
    const double centre = (i + 0.5) * scale;
    const int first = std::max(static_cast<int>(centre - support + 0.5), 0);
    const int count = std::min(static_cast<int>(centre + support + 0.5), source) - first;
    windows.push_back({first, weights.size(), count});
    std::vector<double> shares;
    double sum = 0;
    for (int k = 0; k < count; ++k) {
      shares.push_back(std::max(1 - std::abs((k + first - centre + 0.5) * (1 / support)), 0.0));
      sum += shares.back();
    }
    for (const double share : shares)
      weights.push_back(static_cast<std::int32_t>(0.5 + share / sum * (1 << kWeightBits)));
  }
}

Letterbox::Letterbox(Size frame, const Preprocessing& preprocessing)
    : preprocessing_(preprocessing),
      placement_(place(frame, preprocessing)),
      values_(normalised_values(preprocessing)) {
  const auto [left, top, width, height, ratio_x, ratio_y] = placement_;
  visible_ = {std::max(left, 0),
              std::max(top, 0),
              {std::min(width, preprocessing.size.width), std::min(height, preprocessing.size.height)}};
  const int column = visible_.x - left, row = visible_.y - top;
  columns_ = Axis(frame.width, width, column, column + visible_.size.width);
  rows_ = Axis(frame.height, height, row, row + visible_.size.height);
  if (!preprocessing.antialias) return;
  across_ = Average(frame.width, width, column, column + visible_.size.width);
  down_ = Average(frame.height, height, row, row + visible_.size.height);
}

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

// Rows of a frame as RGB or luma, the last two of which are kept if they are neighbours.
class Letterbox::FrameRows {
 public:
  FrameRows(const PictureView& frame, int channels) : frame_(frame), channels_(channels) {}
  // Row c is that of channel c.
  GrayView row(int y) {
    Image<std::uint8_t>& image = converted_[y % 2];
    if (std::exchange(held_[y % 2], y) != y) {
      image.resize(frame_.width(), channels_);
      const PictureView row = part_of(frame_, 0, y, {frame_.width(), 1});
      if (channels_ == 3) {
        to_planar_rgb(row, image.view(), 0, 1);
      } else if (row.is_gray()) {
        std::copy_n(row.gray().row(0), frame_.width(), image.view().row(0));
      } else {
        to_gray(row.colour(), image.view(), 0, 1);
      }
    }
    return std::as_const(image).view();
  }

 private:
  const PictureView& frame_;
  int channels_;
  Image<std::uint8_t> converted_[2];
  int held_[2] = {-1, -1};
};

// Mixes have 30 bits. (Differences of neighbours need half the multiplications of weighted sums.)
void Letterbox::mix_rows(const std::uint8_t* upper, const std::uint8_t* lower, int below, const float* values,
                         float* row, std::ptrdiff_t step) const {
  const auto mix = [](int a, int b, int weight) { return (a << kMixBits) + (b - a) * weight; };
  for (std::size_t x = 0; x < columns_.first.size(); ++x) {
    // A column whose second place is beyond the last one has no weight for it.
    const std::int32_t first = columns_.first[x], right = columns_.weight[x];
    const int sum =
        mix(mix(upper[first], upper[first + 1], right), mix(lower[first], lower[first + 1], right), below);
    row[static_cast<std::ptrdiff_t>(x) * step] = values[(sum + (1 << (2 * kMixBits - 1))) >> (2 * kMixBits)];
  }
}

// Rows [first, last) of the frame: channel c of row y is row (y - first) * channels + c.
Image<std::uint8_t> Letterbox::average_along_rows(FrameRows& rows, int first, int last) const {
  const int channels = preprocessing_.channels;
  Image<std::uint8_t> averaged;
  averaged.resize(static_cast<int>(across_.windows.size()), (last - first) * channels);
  for (int y = first; y < last; ++y) {
    const GrayView row = rows.row(y);
    for (int c = 0; c < channels; ++c) {
      const std::uint8_t* const pixels = row.row(c);
      std::uint8_t* to = averaged.view().row((y - first) * channels + c);
      for (const Average::Window& window : across_.windows) {
        std::int32_t sum = 1 << (kWeightBits - 1);
        for (int k = 0; k < window.count; ++k)
          sum += across_.weights[window.weight + static_cast<std::size_t>(k)] * pixels[window.first + k];
        *to++ = static_cast<std::uint8_t>(sum >> kWeightBits);
      }
    }
  }
  return averaged;
}

// One row of a channel of the input, of rows that are averaged from `first` on.
void Letterbox::average_down(const Image<std::uint8_t>& averaged, int first, const Average::Window& window,
                             int colour, const float* values, float* row, std::ptrdiff_t step) const {
  std::vector<std::int32_t> sums(across_.windows.size(), 1 << (kWeightBits - 1));
  for (int k = 0; k < window.count; ++k) {
    const std::int32_t weight = down_.weights[window.weight + static_cast<std::size_t>(k)];
    const std::uint8_t* const pixels =
        averaged.view().row((window.first - first + k) * preprocessing_.channels + colour);
    for (std::size_t x = 0; x < sums.size(); ++x) sums[x] += weight * pixels[x];
  }
  for (std::size_t x = 0; x < sums.size(); ++x)
    row[static_cast<std::ptrdiff_t>(x) * step] = values[sums[x] >> kWeightBits];
}

void Letterbox::fill(const PictureView& frame, float* tensor, int begin, int end) const {
  const Preprocessing& p = preprocessing_;
  const int width = p.size.width, left = visible_.x, right = left + visible_.size.width;
  const int top = std::max(begin, visible_.y), bottom = std::min(end, visible_.y + visible_.size.height);
  const std::ptrdiff_t step = p.channels_last ? p.channels : 1;
  const std::ptrdiff_t plane = p.channels_last ? 1 : std::ptrdiff_t{width} * p.size.height;
  const auto visible_row = [&](int y) { return static_cast<std::size_t>(y - visible_.y); };
  FrameRows rows(frame, p.channels);
  Image<std::uint8_t> averaged;
  int first_averaged = 0;
  if (p.antialias && top < bottom) {
    const Average::Window last = down_.windows[visible_row(bottom - 1)];
    first_averaged = down_.windows[visible_row(top)].first;
    averaged = average_along_rows(rows, first_averaged, last.first + last.count);
  }
  for (int y = begin; y < end; ++y) {
    float* const first = tensor + std::ptrdiff_t{y} * width * step;
    const bool is_inside = y >= top && y < bottom;
    for (int c = 0; c < p.channels; ++c) {
      const float pad = values_[static_cast<std::size_t>(256 * p.channels + c)];
      float* const row = first + c * plane;
      for (int x = 0; x < (is_inside ? left : width); ++x) row[x * step] = pad;
      for (int x = right; is_inside && x < width; ++x) row[x * step] = pad;
    }
    if (!is_inside) continue;
    const std::size_t r = visible_row(y);
    for (int c = 0; c < p.channels; ++c) {
      const int colour = p.channels == 1 || p.rgb ? c : 2 - c;
      const float* const values = values_.data() + std::ptrdiff_t{256} * c;
      float* const row = first + c * plane + left * step;
      if (p.antialias) {
        average_down(averaged, first_averaged, down_.windows[r], colour, values, row, step);
      } else {
        const GrayView upper = rows.row(rows_.first[r]), lower = rows.row(rows_.second[r]);
        mix_rows(upper.row(colour), lower.row(colour), rows_.weight[r], values, row, step);
      }
    }
  }
}

}  // namespace sightline::network
