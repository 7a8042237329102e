// The letterbox beside its formula: frames of all kinds and awkward sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "detectors/network/preprocessing.hpp"
#include "image/colour.hpp"

namespace sightline::network {
namespace {

enum class FrameKind { gray, yuv, pairs, full_chroma, rgb, bgra };

// A frame with random pixels.
struct LetterboxFrame {
  std::vector<std::uint8_t> bytes;
  PictureView view;

  LetterboxFrame(FrameKind kind, Size size, std::mt19937& random) : bytes(8 * size.width * size.height + 64) {
    std::ranges::generate(bytes, [&] { return static_cast<std::uint8_t>(random()); });
    if (kind == FrameKind::rgb || kind == FrameKind::bgra) {
      const PackedFormat format = kind == FrameKind::rgb ? PackedFormat::rgb24 : PackedFormat::bgra;
      view = PackedView{bytes.data(), size.width, size.height, bytes_per_pixel(format) * size.width, format};
      return;
    }
    const GrayView luma(bytes.data(), size.width, size.height, size.width);
    ChromaView chroma;
    chroma.u = bytes.data() + static_cast<std::ptrdiff_t>(size.width) * size.height;
    chroma.step = kind == FrameKind::pairs ? 2 : 1;
    chroma.shift_x = chroma.shift_y = kind == FrameKind::full_chroma ? 0 : 1;
    chroma.u_stride = chroma.v_stride = std::ptrdiff_t{chroma.step} * size.width;
    chroma.v = kind == FrameKind::pairs ? chroma.u + 1 : chroma.u + chroma.u_stride * size.height;
    chroma.weights = yuv_weights(true, false);
    view = kind == FrameKind::gray ? PictureView(luma) : PictureView(luma, chroma);
  }
};

// Value of a channel (of red, green, blue, or luma) at a pixel.
int value_at(const PictureView& frame, int channels, int channel, int x, int y) {
  if (channels == 1 && frame.is_gray()) return frame.gray().at(x, y);
  Image<std::uint8_t> rgb(frame.width(), 3 * frame.height());
  to_planar_rgb_reference(frame, rgb.view(), y, y + 1);
  const auto value = [&](int c) { return int{rgb.view().at(x, y + c * frame.height())}; };
  return channels == 1 ? (77 * value(0) + 150 * value(1) + 29 * value(2) + 128) >> 8 : value(channel);
}

struct LetterboxSample {
  int first = 0, second = 0, weight = 0;
};
LetterboxSample sample_of(int i, int source, int target) {
  const double at =
      std::clamp(std::floor(((i + 0.5) * source / target - 0.5) * 2048 + 0.5), 0.0, 2048.0 * (source - 1));
  const int whole = static_cast<int>(at);
  return {whole / 2048, std::min(whole / 2048 + 1, source - 1), whole % 2048};
}

void expect_formula(const PictureView& frame, const Preprocessing& p) {
  const Letterbox letterbox(frame.size(), p);
  const Placement at = letterbox.placement();
  const auto [width, height] = p.size;
  std::vector<float> tensor(static_cast<std::size_t>(p.channels * width * height), -1);
  const int middle = height / 2;  // bands may be filled one by one
  letterbox.fill(frame, tensor.data(), middle, height);
  letterbox.fill(frame, tensor.data(), 0, middle);
  std::vector<float> expected;
  for (int i = 0; i < p.channels * width * height; ++i) {
    const int pixel = p.channels_last ? i / p.channels : i % (width * height);
    const auto c = p.channels_last ? i % p.channels : i / (width * height);
    const int x = pixel % width - at.left, y = pixel / width - at.top;
    double value = p.pad;
    if (x >= 0 && y >= 0 && x < at.width && y < at.height) {
      const LetterboxSample column = sample_of(x, frame.width(), at.width),
                            row = sample_of(y, frame.height(), at.height);
      const auto mixed = [&](int source_y) {
        const int channel = p.rgb ? c : 2 - c;
        return value_at(frame, p.channels, channel, column.first, source_y) * (2048 - column.weight) +
               value_at(frame, p.channels, channel, column.second, source_y) * column.weight;
      };
      const int sum = mixed(row.first) * (2048 - row.weight) + mixed(row.second) * row.weight;
      value = (sum + (1 << 21)) >> 22;
    }
    const auto channel = static_cast<std::size_t>(c);
    expected.push_back(static_cast<float>((value - p.mean[channel]) / p.scale[channel]));
  }
  ASSERT_EQ(tensor, expected);
}

TEST(NetworkLetterbox, EqualsItsFormula) {
  std::mt19937 random(7);
  const auto number = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  for (int round = 0; round < 60; ++round) {
    const auto kind = static_cast<FrameKind>(round % 6);
    const Size size{number(1, 70), number(1, 20)};
    const LetterboxFrame frame(kind, {size.width + 7, size.height + 5}, random);
    // A part begins between chroma samples, and has a stride of its own.
    const PictureView part = part_of(frame.view, number(0, 7), number(0, 5), size);
    Preprocessing p;
    p.size = {number(1, 40), number(1, 24)};
    p.fit = static_cast<Fit>(number(0, 3));
    p.crop_fraction = number(1, 4) / 4.0;
    p.rgb = number(0, 1) == 1;
    p.channels = number(0, 3) == 0 ? 1 : 3;
    p.channels_last = number(0, 1) == 1;
    p.mean = {1.5, 20, 103.53};
    p.scale = {57.375, 1, 255};
    SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", " << size.width << "x"
                                    << size.height << " to " << text_of(p));
    expect_formula(part, p);
  }
}

}  // namespace
}  // namespace sightline::network
